//! How actions talk to the supervisor: one JSON line each way over a socket in the pod's directory.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Failure;

/// The socket, relative to the pod's directory: an absolute path may be longer than a socket's name can be.
pub(super) const SOCKET: &str = ".pod.sock";

/// What the supervisor is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub(super) enum Request {
    /// Stop all containers and end.
    Stop,
    /// Kill all containers and end.
    Kill,
    /// End, but leave the containers running.
    Detach,
    /// Make these containers anew.
    Rerun { containers: Vec<String> },
    /// Signal these containers, or all.
    Signal { containers: Vec<String> },
    /// Tell the users of these configs.
    Reload { configs: Vec<String> },
}

/// The supervisor's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub error: Option<String>,
}

/// Sends a request and waits for the answer. The working directory is the pod's.
pub(super) fn ask(request: &Request) -> Result<(), Failure> {
    let broken =
        |source| Failure::File { verb: "talk to the supervisor through", path: SOCKET.into(), source };
    let stream = UnixStream::connect(SOCKET).map_err(broken)?;
    let mut line = serde_json::to_string(request).unwrap_or_default();
    line.push('\n');
    (&stream).write_all(line.as_bytes()).map_err(broken)?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).map_err(broken)?;
    match serde_json::from_str::<Answer>(&answer) {
        Ok(Answer { error: None }) => Ok(()),
        Ok(Answer { error: Some(message) }) => Err(Failure::refused(message)),
        Err(_) => Err(Failure::refused("the supervisor ended before it answered")),
    }
}

/// Opens the socket. Only the holder of the supervisor's lock may call this, so an old file is nobody's.
pub(super) fn listen() -> Result<UnixListener, Failure> {
    let path = Path::new(SOCKET);
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::file("remove", path)(error));
        }
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(Failure::file("listen on", path))?;
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, owner_only).map_err(Failure::file("protect", path))?;
    Ok(listener)
}

/// Reads the request of one connection.
pub(super) fn read(stream: &UnixStream) -> Option<Request> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(5))).ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// Answers a request.
pub(super) fn answer(mut stream: &UnixStream, error: Option<String>) {
    let mut line = serde_json::to_string(&Answer { error }).unwrap_or_default();
    line.push('\n');
    let _ = stream.write_all(line.as_bytes());
}
