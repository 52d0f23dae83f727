//! TCP and HTTP checks that need no tool in the image.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Why a check did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No connection, or it broke.
    #[error("no answer from {address}")]
    Connection {
        /// Who was asked.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The answer was not a success.
    #[error("{address} answered {answer}")]
    Answer {
        /// Who was asked.
        address: SocketAddr,
        /// The status line.
        answer: String,
    },
}

/// Succeeds if a connection is accepted within `limit`.
///
/// # Errors
///
/// It is not.
pub fn tcp(address: SocketAddr, limit: Duration) -> Result<(), Failure> {
    TcpStream::connect_timeout(&address, limit)
        .map(drop)
        .map_err(|source| Failure::Connection { address, source })
}

/// Succeeds if a GET is answered with a status from 200 to 399 within `limit`.
///
/// # Errors
///
/// Anything else.
pub fn http(address: SocketAddr, path: &str, limit: Duration) -> Result<(), Failure> {
    let end = Instant::now() + limit;
    let broken = |source| Failure::Connection { address, source };
    let mut stream = TcpStream::connect_timeout(&address, limit).map_err(broken)?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: podsmith\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
    stream.set_write_timeout(Some(limit)).map_err(broken)?;
    stream.write_all(request.as_bytes()).map_err(broken)?;
    let mut head = Vec::new();
    let mut chunk = [0_u8; 256];
    while !head.contains(&b'\n') && head.len() < 1024 {
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left)).map_err(broken)?;
        let count = stream.read(&mut chunk).map_err(broken)?;
        if count == 0 {
            break;
        }
        head.extend_from_slice(&chunk[..count]);
    }
    let line = String::from_utf8_lossy(&head);
    let line = line.lines().next().unwrap_or_default().trim();
    let status = line
        .strip_prefix("HTTP/")
        .and_then(|rest| rest.split(' ').nth(1))
        .and_then(|s| s.parse::<u16>().ok());
    match status {
        Some(200..=399) => Ok(()),
        _ => Err(Failure::Answer { address, answer: format!("`{line}`") }),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn served(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0_u8; 512];
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(answer.as_bytes());
        });
        address
    }

    #[test]
    fn http_success_is_from_200_to_399() {
        let limit = Duration::from_secs(5);
        for (answer, good) in [
            ("HTTP/1.1 200 OK\r\n\r\n", true),
            ("HTTP/1.0 302 Found\r\n\r\n", true),
            ("HTTP/1.1 404 Not Found\r\n\r\n", false),
            ("HTTP/1.1 503\r\n\r\n", false),
            ("hello\r\n", false),
            ("", false),
        ] {
            assert_eq!(http(served(answer), "/", limit).is_ok(), good, "{answer:?}");
        }
    }

    #[test]
    fn a_closed_port_fails() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(tcp(address, Duration::from_secs(5)).is_err());
    }
}
