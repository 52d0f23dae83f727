//! One haproxy.cfg from the ingress rules of all pods.
//!
//! ```text
//! pod.ingress.conf … ──read──► rules ──generate──► text ──haproxy -c──► haproxy.cfg ──USR2──► HAProxy
//! ```

mod collect;
mod generate;
mod rules;
mod validate;

use std::path::PathBuf;

use podsmith_object::{Diagnostic, Diagnostics};

use crate::layout::write_if_changed;
pub use collect::collect;
pub use generate::{Surroundings, generate};
pub use rules::{Action, Protocol, Rule, parse as parse_rules};
pub use validate::Validation;

/// What to write.
#[derive(Clone, Debug)]
pub struct Options {
    /// Homes of hosts, cluster projects, or directories with `*.ingress.conf` files.
    pub dirs: Vec<PathBuf>,
    /// haproxy.cfg.
    pub output: PathBuf,
    /// The HAProxy program that checks the result; by default `haproxy` from the path.
    pub haproxy: PathBuf,
    /// What the configuration is for.
    pub surroundings: Surroundings,
    /// Cluster ports to leave out.
    pub excluded: Vec<u16>,
    /// A file with the number of the HAProxy master process, which is told about a new configuration.
    pub pid_file: Option<PathBuf>,
}

impl Options {
    /// The defaults.
    pub fn new(dirs: Vec<PathBuf>, output: impl Into<PathBuf>) -> Self {
        Self {
            dirs,
            output: output.into(),
            haproxy: "haproxy".into(),
            surroundings: Surroundings::default(),
            excluded: Vec::new(),
            pid_file: None,
        }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Rules used.
    pub rules: usize,
    /// The file was new or changed.
    pub changed: bool,
    /// HAProxy was told.
    pub reloaded: bool,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// Collects, generates, checks and writes. Nothing is written that HAProxy would refuse.
///
/// # Errors
///
/// Everything that is wrong with the rules, or what HAProxy says.
pub fn write(options: &Options) -> Result<Outcome, Diagnostics> {
    let rules = collect(&options.dirs, &options.excluded)?;
    let text = generate(&rules, &options.surroundings)?;
    let mut warnings = Diagnostics::new();
    match validate::validate(&options.haproxy, &rules, &options.surroundings)? {
        Validation::Good => {}
        Validation::NotInstalled => {
            let message =
                format!("{} is not there, the configuration was not checked", options.haproxy.display());
            warnings.push(Diagnostic::warning(message));
        }
    }
    let cannot = |verb: &str, path: &PathBuf, error: std::io::Error| {
        Diagnostics::from(
            Diagnostic::error(format!("cannot {verb} {}", path.display())).because(error.to_string()),
        )
    };
    let changed = write_if_changed(&options.output, text.as_bytes())
        .map_err(|error| cannot("write", &options.output, error))?;
    let mut reloaded = false;
    if let Some(path) = options.pid_file.as_ref().filter(|_| changed) {
        validate::reload(path).map_err(|error| cannot("reload the HAProxy of", path, error))?;
        reloaded = true;
    }
    Ok(Outcome { rules: rules.len(), changed, reloaded, warnings })
}
