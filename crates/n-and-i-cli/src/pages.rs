//! What other programs know of this one: completions for shells, manual pages.

use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use roff::{Roff, roman};

/// Headings of the long help that have a name of their own in a manual page.
const SECTIONS: [(&str, &str); 4] = [
    ("Environment of the program:", "ENVIRONMENT"),
    ("Exit codes:", "EXIT STATUS"),
    ("Example:", "EXAMPLES"),
    ("Examples:", "EXAMPLES"),
];

/// For bash: nothing to complete after `--`.
const OTHERS: &str = r#"
    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
        if [[ "$i" == -- ]]; then
            return 0
        fi
    done
"#;

/// Prints the completions for a shell.
pub(crate) fn complete(mut command: Command, shell: Shell) -> io::Result<()> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, &name, &mut script);
    if shell == Shell::Bash {
        // It looks the options of `a-b sub` up under another name than it has put them (clap
        // 6421).
        let [put, looked_up] =
            ["__subcmd__", "__"].map(|dash| name.replace('-', dash) + "__subcmd__");
        let text = String::from_utf8_lossy(&script).replace(&put, &looked_up);
        // What follows `--` is another program's: the shell's own completion is for that.
        let (start, rest) = text.split_once("    opts=\"\"\n").unwrap_or(("", &text));
        script = format!("{start}    opts=\"\"\n{OTHERS}{rest}").into_bytes();
    }
    io::stdout().write_all(&script)
}

/// Prints the manual page, or writes one per command to this directory.
pub(crate) fn manual(command: Command, directory: Option<&Path>) -> io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(directory) = directory else {
        return io::stdout().write_all(&page(command)?);
    };
    let failed = |path: &Path, error: io::Error| {
        let message = format!("{} cannot be written: {error}", path.display());
        io::Error::new(error.kind(), message)
    };
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    let all: Vec<_> = command.get_subcommands().cloned().collect();
    for command in all.into_iter().chain([command]) {
        let path = directory.join(Man::new(command.clone()).get_filename());
        std::fs::write(&path, page(command)?).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// Of one command, all that its long help says.
fn page(mut command: Command) -> io::Result<Vec<u8>> {
    let usage = command.render_usage().to_string();
    let help = command.get_after_long_help().or(command.get_after_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let has_commands = command.has_subcommands();
    let source = concat!("n-and-i ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    // What it makes itself lacks `--` and the names of values.
    let mut synopsis = Roff::new();
    synopsis.control("SH", ["SYNOPSIS"]);
    synopsis.text([roman(usage.trim_start_matches("Usage: "))]);
    synopsis.to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    more(&help).to_writer(&mut page)?;
    Ok(page)
}

/// The rest of a long help, with its lines as they are: there are tables in it.
fn more(help: &str) -> Roff {
    let mut roff = Roff::new();
    let mut section = "";
    for paragraph in help.split("\n\n") {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let (title, text) = match SECTIONS.iter().find(|(heading, _)| *heading == first) {
            Some((_, title)) => (*title, rest),
            None => ("NOTES", paragraph),
        };
        if title == section {
            roff.control("PP", []);
        } else {
            roff.control("SH", [title]);
            section = title;
        }
        roff.control("nf", []);
        text.lines().for_each(|line| {
            roff.text([roman(line)]);
        });
        roff.control("fi", []);
    }
    roff
}
