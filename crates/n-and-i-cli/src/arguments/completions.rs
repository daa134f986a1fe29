//! The arguments of `completions`.

use clap::Args;
use clap_complete::Shell;

/// Print what makes a shell complete this program's commands and options
///
/// The shell reads it from a file in a place of its own, or when it starts.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct CompletionsArguments {
    /// Which shell
    pub(super) shell: Shell,
}

const EXAMPLES: &str = "\
Exit codes:
  0  printed
  1  it cannot be written
  2  wrong arguments

Examples:
  n-and-i completions bash > n-and-i.bash      # to be read by ~/.bashrc: . n-and-i.bash
  n-and-i completions zsh > \"${fpath[1]}/_n-and-i\"
  n-and-i completions fish > ~/.config/fish/completions/n-and-i.fish";
