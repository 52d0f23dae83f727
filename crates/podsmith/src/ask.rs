//! Questions to the person at the terminal.

use std::io::{BufRead, IsTerminal, Write};

use crate::cli::Global;
use crate::failure::Failure;

/// Asks a yes-or-no question on the terminal; no is the default.
///
/// # Errors
///
/// With `--non-interactive`, or where there is no terminal: the question becomes an error that names `--yes`.
pub fn confirm(question: &str, global: &Global) -> Result<bool, Failure> {
    if global.non_interactive || !std::io::stdin().is_terminal() {
        let problem = podsmith_object::Diagnostic::error(format!("this needs an answer: {question}"));
        return Err(problem.with_hint("answer yes beforehand with --yes").into());
    }
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
