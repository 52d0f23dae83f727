//! Moving bytes between two connections.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

use super::header::{self, Addresses, Parsed};

/// What to do with the header that a client may send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Header {
    /// The pod wants none: take it off.
    Strip,
    /// The pod wants one: pass it on, or make one from these addresses.
    Send(Addresses),
    /// There is none to look for.
    Ignore,
}

/// A client that says nothing for so long is waiting for the server.
const SILENCE: Duration = Duration::from_secs(1);

const SMALLEST: usize = 8 * 1024;
const LARGEST: usize = 64 * 1024;

/// Moves bytes both ways until both sides have ended. `first` are bytes of the client that were read already.
pub(super) async fn join(
    client: &mut TcpStream,
    server: &mut TcpStream,
    header: Header,
    first: Vec<u8>,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let up = async {
        begin(&mut from_client, &mut to_server, header, first).await?;
        pump(&mut from_client, &mut to_server).await
    };
    let down = pump(&mut from_server, &mut to_client);
    tokio::try_join!(up, down).map(drop)
}

/// Deals with the header. The other direction flows meanwhile, so that a server which speaks first is heard.
async fn begin(
    client: &mut ReadHalf<'_>,
    server: &mut WriteHalf<'_>,
    header: Header,
    mut bytes: Vec<u8>,
) -> io::Result<()> {
    if header == Header::Ignore {
        return if bytes.is_empty() { Ok(()) } else { server.write_all(&bytes).await };
    }
    let mut made = false;
    loop {
        let parsed = header::parse(&bytes);
        let complete = match (parsed, header) {
            (Parsed::Header { length, .. }, Header::Strip) => {
                bytes.drain(..length);
                true
            }
            (Parsed::Header { length, .. }, Header::Send(_)) => {
                if made {
                    bytes.drain(..length);
                }
                true
            }
            (Parsed::NotHeader, _) => {
                send_own(server, header, &mut made).await?;
                true
            }
            _ => false,
        };
        if complete {
            break;
        }
        let mut chunk = [0_u8; 1024];
        // Bytes that may become a header are not held for ever, and a server that wants a header gets one.
        let patient = made || header == Header::Strip && bytes.is_empty();
        let read = client.read(&mut chunk);
        let count = if patient {
            read.await?
        } else {
            match timeout(SILENCE, read).await {
                Ok(count) => count?,
                Err(_) => {
                    send_own(server, header, &mut made).await?;
                    if bytes.is_empty() {
                        continue;
                    }
                    break;
                }
            }
        };
        if count == 0 {
            send_own(server, header, &mut made).await?;
            break;
        }
        bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
    }
    server.write_all(&bytes).await
}

async fn send_own(server: &mut WriteHalf<'_>, header: Header, made: &mut bool) -> io::Result<()> {
    if let Header::Send(addresses) = header
        && !*made
    {
        *made = true;
        server.write_all(header::v1(addresses).as_bytes()).await?;
    }
    Ok(())
}

/// Moves bytes one way. An idle connection holds no buffer, a busy one gets a larger one.
async fn pump(from: &mut ReadHalf<'_>, to: &mut WriteHalf<'_>) -> io::Result<()> {
    let mut buffer: Vec<u8> = Vec::new();
    let mut size = SMALLEST;
    loop {
        from.readable().await?;
        buffer.clear();
        buffer.reserve_exact(size);
        // Unlike a bare system call this knows that a short read has emptied the socket, which saves the call that
        // would only say so.
        let count = from.read_buf(&mut buffer).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer).await?;
        if count < size {
            buffer = Vec::new();
        } else if size < LARGEST {
            size *= 2;
        }
    }
}
