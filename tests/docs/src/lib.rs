//! The Rust snippets of the README and the guides, compiled and run as documentation tests.

#[cfg(doctest)]
mod snippets {
    macro_rules! snippets {
        ($($name:ident: $file:literal),+ $(,)?) => {
            $(#[doc = include_str!(concat!("../../../", $file))] struct $name;)+
        };
    }

    snippets! {
        Readme: "README.md",
        GettingStarted: "docs/getting-started.md",
        Protocol: "docs/protocol.md",
        Rebalancing: "docs/rebalancing.md",
        Layouts: "docs/layouts.md",
        CommandLine: "docs/command-line.md",
        Clients: "docs/clients.md",
        Conformance: "docs/conformance.md",
        Limits: "docs/limits.md",
        Verification: "docs/verification.md",
    }
}
