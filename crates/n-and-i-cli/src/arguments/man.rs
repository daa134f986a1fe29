//! The arguments of `man`.

use std::path::PathBuf;

use clap::Args;

/// Print the manual page, or write one per command to a directory
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct ManArguments {
    /// Write all pages, n-and-i.1 and one for each command such as n-and-i-exec.1, to this directory; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Exit codes:
  0  printed or written
  1  it cannot be written
  2  wrong arguments

Examples:
  n-and-i man | man -l -
  n-and-i man --out man";
