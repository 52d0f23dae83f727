//! `podsmith completion`

use std::io::Write;

use clap::{Args, CommandFactory, ValueEnum};

use crate::cli::Cli;
use crate::failure::{Outcome, exit};

/// The shell to complete for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// Z shell.
    Zsh,
    /// Friendly interactive shell.
    Fish,
}

/// Print a shell completion script.
///
/// bash: `source <(podsmith completion bash)`. zsh: write it to a file `_podsmith` on your $fpath. fish: write it to
/// ~/.config/fish/completions/podsmith.fish.
#[derive(Args, Debug)]
pub struct CompletionArgs {
    /// The shell.
    pub shell: Shell,
}

/// Prints the script.
///
/// # Errors
///
/// When stdout cannot be written.
pub fn run(args: &CompletionArgs) -> Outcome {
    let mut command = Cli::command();
    let mut script = Vec::new();
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    clap_complete::generate(shell, &mut command, "podsmith", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(exit::DONE)
}
