//! Where the keys of encrypted configs come from.
//!
//! In this order, the first that is there: `$PODSMITH_AGE_KEY` (the key itself), `$PODSMITH_AGE_KEY_FILE`,
//! `$PODSMITH_AGE_KEY_COMMAND` (a program and its arguments, separated by blanks, that prints the key),
//! `$CREDENTIALS_DIRECTORY/age.key` (systemd), `age.key` in the host's home (the directory above the pod that holds
//! `cluster-id.txt`), `age.key` in the user's configuration directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

use super::age::Identity;

/// Why there is no key.
#[derive(Debug, Error)]
pub enum KeyError {
    /// Nothing was configured.
    #[error(
        "there is no key for encrypted configs: set PODSMITH_AGE_KEY_FILE, PODSMITH_AGE_KEY or PODSMITH_AGE_KEY_COMMAND"
    )]
    None,
    /// A file cannot be read.
    #[error("cannot read the key file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The command failed.
    #[error("the key command `{command}` failed: {reason}")]
    Command {
        /// The program.
        command: String,
        /// Why.
        reason: String,
    },
    /// There is no key in it.
    #[error("{origin} holds no line `AGE-SECRET-KEY-1…`")]
    Empty {
        /// Where we looked.
        origin: String,
    },
}

/// Reads the keys for a pod in `pod_dir`.
///
/// # Errors
///
/// There is no key, or it cannot be read.
pub fn identities(pod_dir: &Path) -> Result<Vec<Identity>, KeyError> {
    identities_from(|name| std::env::var(name).ok().filter(|value| !value.is_empty()), pod_dir)
}

fn identities_from(
    variable: impl Fn(&str) -> Option<String>,
    pod_dir: &Path,
) -> Result<Vec<Identity>, KeyError> {
    if let Some(text) = variable("PODSMITH_AGE_KEY") {
        return parse(&text, "PODSMITH_AGE_KEY");
    }
    if let Some(path) = variable("PODSMITH_AGE_KEY_FILE") {
        return read(Path::new(&path));
    }
    if let Some(command) = variable("PODSMITH_AGE_KEY_COMMAND") {
        return run(&command);
    }
    let credentials =
        variable("CREDENTIALS_DIRECTORY").map(|directory| Path::new(&directory).join("age.key"));
    let home = pod_dir.ancestors().find(|directory| directory.join("cluster-id.txt").is_file());
    let user = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")))
        .map(|directory| directory.join("podsmith/age.key"));
    let found = [credentials, home.map(|home| home.join("age.key")), user];
    match found.into_iter().flatten().find(|path| path.is_file()) {
        Some(path) => read(&path),
        None => Err(KeyError::None),
    }
}

fn read(path: &Path) -> Result<Vec<Identity>, KeyError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| KeyError::File { path: path.to_owned(), source })?;
    parse(&text, &path.display().to_string())
}

fn run(command: &str) -> Result<Vec<Identity>, KeyError> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default().to_owned();
    let failed = |reason: String| KeyError::Command { command: program.clone(), reason };
    let output = Command::new(&program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    parse(&String::from_utf8_lossy(&output.stdout), &format!("the output of `{program}`"))
}

fn parse(text: &str, origin: &str) -> Result<Vec<Identity>, KeyError> {
    let keys: Vec<Identity> = text.lines().filter_map(Identity::parse).collect();
    if keys.is_empty() { Err(KeyError::Empty { origin: origin.to_owned() }) } else { Ok(keys) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_source_that_is_set_wins() {
        let key = Identity::generate().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("age.key");
        std::fs::write(&file, format!("# created\n{}\n", key.to_secret_text())).unwrap();
        let path = file.display().to_string();
        let found = |settings: &[(&str, String)]| {
            let settings = settings.to_vec();
            identities_from(
                move |name| settings.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()),
                dir.path(),
            )
            .map(|keys| keys.len())
        };
        assert_eq!(found(&[("PODSMITH_AGE_KEY", key.to_secret_text())]).unwrap(), 1);
        assert_eq!(found(&[("PODSMITH_AGE_KEY_FILE", path.clone())]).unwrap(), 1);
        assert_eq!(found(&[("PODSMITH_AGE_KEY_COMMAND", format!("cat {path}"))]).unwrap(), 1);
        assert_eq!(found(&[("CREDENTIALS_DIRECTORY", dir.path().display().to_string())]).unwrap(), 1);
        assert!(matches!(found(&[("PODSMITH_AGE_KEY", "x".into())]), Err(KeyError::Empty { .. })));
        assert!(matches!(
            found(&[("PODSMITH_AGE_KEY_COMMAND", "false".into())]),
            Err(KeyError::Command { .. })
        ));
        assert!(matches!(found(&[]), Err(KeyError::None)));
        std::fs::write(dir.path().join("cluster-id.txt"), "x").unwrap();
        assert_eq!(found(&[]).unwrap(), 1, "the host's home");
    }
}
