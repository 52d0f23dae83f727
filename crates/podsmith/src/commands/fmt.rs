//! `podsmith fmt`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use podsmith_object::{Diagnostic, Diagnostics, Place};

use crate::cli::Global;
use crate::failure::{Failure, Outcome, exit};
use crate::output;

/// Format Podfiles in place.
#[derive(Args, Clone, Debug)]
pub struct FmtArgs {
    /// Podfiles, or directories with Podfiles; default: this directory. `-` formats stdin to stdout.
    #[arg(value_name = "FILE", default_value = ".")]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 when a file is not formatted.
    #[arg(long)]
    pub check: bool,
}

/// Formats.
///
/// # Errors
///
/// Every file that cannot be parsed. Such a file is left alone.
pub fn run(args: &FmtArgs, global: &Global) -> Outcome {
    if args.files.iter().any(|file| file.as_os_str() == "-") {
        let text = std::io::read_to_string(std::io::stdin().lock())?;
        let formatted = podsmith_podfile::fmt::format("<stdin>", &text)?;
        std::io::stdout().lock().write_all(formatted.as_bytes())?;
        return Ok(exit::DONE);
    }
    let (mut problems, mut unformatted) = (Diagnostics::new(), false);
    for file in podfiles(&args.files)? {
        let name = file.display().to_string();
        let read = std::fs::read_to_string(&file).map_err(|error| {
            Diagnostics::from(Diagnostic::error(error.to_string()).at(Place::file(name.as_str())))
        });
        match read.and_then(|text| Ok((podsmith_podfile::fmt::format(&name, &text)?, text))) {
            Err(more) => problems.extend(more),
            Ok((formatted, text)) if formatted == text => {}
            Ok((formatted, _)) => {
                unformatted = true;
                if !args.check {
                    output::replace_file(&file, formatted.as_bytes())
                        .map_err(|error| Failure::message(format!("could not write {name}: {error}")))?;
                }
                if !global.quiet {
                    writeln!(
                        std::io::stderr(),
                        "{} {name}",
                        if args.check { "not formatted:" } else { "formatted" }
                    )?;
                }
            }
        }
    }
    problems.into_result(())?;
    Ok(if args.check && unformatted { exit::FAILED } else { exit::DONE })
}

/// The files themselves, and the Podfiles directly in directories, in name order.
fn podfiles(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut found: Vec<PathBuf> = std::fs::read_dir(path)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "pf"))
            .collect();
        found.sort_unstable();
        files.extend(found);
    }
    Ok(files)
}
