//! The proxy: a connection to a cluster port finds a pod on some host.
//!
//! ```text
//! client ─► cluster port P of the proxy on host A ──► pod on A, if one serves P
//!                                                └─► proxy on host B, port 32767: `PROXY … P`, `SENDPROXY=…` ─► pod on B
//! ```
//!
//! The port map and the list of hosts are read again when they change; connections and the counts behind `maxConn`
//! live on. A second proxy can be started beside the first (the ports are shared), and the first one ends when its
//! connections do: a new version loses no connection.

mod config;
mod header;
mod limit;
mod map;
mod peer;
mod pipe;
mod route;
mod server;

pub use config::{ConfigError, PortRange, Settings};
pub use header::{Addresses, Parsed, parse as parse_header, v1 as header_v1};
pub use map::{Mapping, Tables};
pub use server::{ProxyError, Running, run, start};
