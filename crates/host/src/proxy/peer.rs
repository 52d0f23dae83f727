//! How proxies talk: one line each way, then the bytes of the client.
//!
//! ```text
//! A → B   PROXY TCP4 CLIENT HOST PORT P\r\n      P is the cluster port
//! B → A   SENDPROXY=true\r\n | SENDPROXY=false\r\n | BUSY\r\n | (closed)
//! ```

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::header::{self, Addresses, Parsed};
use super::pipe::{self, Header};
use super::route::{Local, Shared};

/// How long either side waits for the other's line.
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks the proxy at `host` for a pod; the stream then leads to it, with whether it wants a PROXY header.
pub(super) async fn ask(host: SocketAddr, addresses: Addresses) -> Option<(TcpStream, bool)> {
    let mut stream = timeout(PATIENCE, TcpStream::connect(host)).await.ok()?.ok()?;
    let _ = stream.set_nodelay(true);
    stream.write_all(header::v1(addresses).as_bytes()).await.ok()?;
    let line = timeout(PATIENCE, read_line(&mut stream)).await.ok()?.ok()?;
    match line.as_str() {
        "SENDPROXY=true" => Some((stream, true)),
        "SENDPROXY=false" => Some((stream, false)),
        _ => None,
    }
}

/// Reads up to the line break and not a byte further: what follows belongs to the pod.
async fn read_line(stream: &mut TcpStream) -> io::Result<String> {
    let mut line = Vec::new();
    while line.len() < 64 {
        match stream.read_u8().await? {
            b'\n' => break,
            byte => line.push(byte),
        }
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Serves another proxy.
pub(super) async fn serve(shared: &Shared, mut stream: TcpStream, peer: SocketAddr) {
    if !shared.tables().is_peer(peer.ip()) {
        tracing::warn!(%peer, "Refused a connection: it comes from no host of the cluster");
        return;
    }
    let Some((port, rest)) = timeout(PATIENCE, read_header(&mut stream)).await.ok().flatten() else { return };
    match shared.connect_local(port).await {
        Local::Pod(mut pod, send_proxy, _permit) => {
            let answer = format!("SENDPROXY={send_proxy}\r\n");
            if stream.write_all(answer.as_bytes()).await.is_ok() {
                // The other proxy deals with headers: it is the one that knows the client.
                let _ = pipe::join(&mut stream, &mut pod, Header::Ignore, rest).await;
            }
        }
        Local::Busy => {
            let _ = stream.write_all(b"BUSY\r\n").await;
        }
        Local::None => {}
    }
}

/// The cluster port that the header names, and bytes behind it.
async fn read_header(stream: &mut TcpStream) -> Option<(u16, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        match header::parse(&bytes) {
            Parsed::Header { length, addresses: Some(addresses) } => {
                return Some((addresses.destination.port(), bytes.split_off(length)));
            }
            Parsed::Header { addresses: None, .. } | Parsed::NotHeader => return None,
            Parsed::NeedMore => {}
        }
        let mut chunk = [0_u8; 256];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(chunk.get(..count)?);
    }
}
