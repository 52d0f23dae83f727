//! Asking HAProxy whether it would take a configuration, and telling it to.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use podsmith_object::{Diagnostic, Diagnostics};

use super::generate::{Surroundings, generate};
use super::rules::{Action, Rule};

/// What came of the check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Validation {
    /// HAProxy takes it.
    Good,
    /// There is no HAProxy to ask.
    NotInstalled,
}

/// Lets `haproxy -c` check the configuration. Certificates, error files and host names that only exist where HAProxy
/// will run are replaced by stand-ins.
pub(super) fn validate(
    haproxy: &Path,
    rules: &[Rule],
    surroundings: &Surroundings,
) -> Result<Validation, Diagnostics> {
    let problem = |verb: &str, error: io::Error| {
        Diagnostics::from(Diagnostic::error(format!("cannot {verb}")).because(error.to_string()))
    };
    let dir = tempfile::tempdir().map_err(|error| problem("make a temporary directory", error))?;
    let local =
        stand_ins(dir.path(), rules, surroundings).map_err(|error| problem("write stand-ins", error))?;
    let file = dir.path().join("haproxy.cfg");
    std::fs::write(&file, generate(rules, &local)?)
        .map_err(|error| problem("write a temporary file", error))?;
    let output = match Command::new(haproxy).arg("-c").arg("-f").arg(&file).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Validation::NotInstalled),
        Err(error) => return Err(problem("start haproxy", error)),
    };
    if output.status.success() {
        return Ok(Validation::Good);
    }
    let text = String::from_utf8_lossy(&output.stderr).replace(&file.display().to_string(), "haproxy.cfg");
    let mut refused = Diagnostic::error("HAProxy refuses the configuration, nothing was written");
    for line in text.lines().filter(|line| line.contains("[ALERT]")).take(10) {
        refused = refused.because(line.split_once(": ").map_or(line, |(_, message)| message));
    }
    Err(refused.into())
}

fn stand_ins(dir: &Path, rules: &[Rule], surroundings: &Surroundings) -> io::Result<Surroundings> {
    let mut local = surroundings.clone();
    local.certificates = usable_certificates(&surroundings.certificates);
    if local.certificates.is_empty() {
        let made =
            rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).map_err(io::Error::other)?;
        let path = dir.join("stand-in.pem");
        std::fs::write(&path, made.cert.pem() + &made.signing_key.serialize_pem())?;
        local.certificates.push(path);
    }
    use std::net::ToSocketAddrs;
    if (surroundings.proxy.as_str(), 1_u16).to_socket_addrs().is_err() {
        local.proxy = "127.0.0.1".into();
    }
    let stand_in = dir.join("stand-in.http");
    std::fs::write(&stand_in, "HTTP/1.0 503 Service Unavailable\r\n\r\n")?;
    for rule in rules {
        if let Action::Errorfile { file, .. } = &rule.action
            && !Path::new(file).is_file()
        {
            local.errorfiles.insert(file.clone(), stand_in.display().to_string());
        }
    }
    Ok(local)
}

/// Certificates that exist here; a directory must not be empty.
fn usable_certificates(paths: &[PathBuf]) -> Vec<PathBuf> {
    let usable = |path: &&PathBuf| match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.is_file(),
    };
    paths.iter().filter(usable).cloned().collect()
}

/// Tells the HAProxy master process to take the new configuration; open connections go on.
pub(super) fn reload(pid_file: &Path) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let text = std::fs::read_to_string(pid_file)?;
    let pid = text.split_whitespace().next().and_then(|word| word.parse().ok()).and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it holds no process number"))?;
    Ok(kill_process(pid, Signal::USR2)?)
}
