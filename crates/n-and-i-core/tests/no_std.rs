//! The core needs neither the standard library nor an allocator: `no-std/`, which has neither,
//! is built around it. What `no-std/` must not use shows that the build can fail.

// Miri starts no processes.
#![cfg(not(miri))]

use std::env;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn the_core_is_built_without_the_standard_library_and_without_an_allocator() {
    let built = build("plain", &[]);
    let messages = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{messages}");
}

#[test]
fn a_core_that_needed_an_allocator_would_not_be_built() {
    must_fail_with("needs-alloc", "no global memory allocator found");
}

#[test]
fn a_core_that_needed_the_standard_library_would_not_be_built() {
    must_fail_with("needs-std", "duplicate lang item");
}

fn must_fail_with(feature: &str, reason: &str) {
    let built = build(feature, &["--features", feature]);
    let messages = String::from_utf8_lossy(&built.stderr);
    assert!(!built.status.success(), "built with {feature}");
    assert!(messages.contains(reason), "not for lack of it: {messages}");
}

/// Builds the library with the cargo that runs this test, in a directory of this name, so
/// that no two builds wait for each other.
fn build(name: &str, arguments: &[&str]) -> Output {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/no-std/Cargo.toml");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-std").join(name);
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    Command::new(cargo)
        .args(["build", "--offline", "--quiet", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .args(arguments)
        // Flags for the tests, such as for coverage or a sanitizer, may need a runtime.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo can be run")
}
