//! Choosing a pod for a cluster port.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::config::Settings;
use super::limit::{Limits, Permit};
use super::map::{Mapping, Tables};

/// How long a pod on this host may take to accept.
const LOCAL_LIMIT: Duration = Duration::from_secs(3);

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub settings: Settings,
    pub tables: watch::Receiver<Arc<Tables>>,
    pub limits: Limits,
}

/// The answer for a cluster port on this host.
pub(super) enum Local {
    /// Connected; the permit is held as long as the connection.
    Pod(TcpStream, bool, Permit),
    /// All pods have as many connections as they may.
    Busy,
    /// No pod serves it.
    None,
}

impl Shared {
    pub fn tables(&self) -> Arc<Tables> {
        self.tables.borrow().clone()
    }

    /// True for an address of this proxy itself.
    pub fn is_own(&self, address: SocketAddr) -> bool {
        address.port() == self.settings.port
            && address.ip().to_canonical() == self.settings.host.to_canonical()
    }

    /// Connects to a pod of this host that serves `port`, chosen at random among those with a free place.
    pub async fn connect_local(&self, port: u16) -> Local {
        let tables = self.tables();
        let mut mappings: Vec<Mapping> = tables.mappings.get(&port).cloned().unwrap_or_default();
        shuffle(&mut mappings);
        let mut busy = false;
        for mapping in mappings {
            let Some(permit) = self.limits.take(&mapping) else {
                busy = true;
                continue;
            };
            let address = SocketAddr::new(self.settings.pod_host, mapping.host_port);
            if let Ok(Ok(stream)) = timeout(LOCAL_LIMIT, TcpStream::connect(address)).await {
                let _ = stream.set_nodelay(true);
                return Local::Pod(stream, mapping.send_proxy, permit);
            }
        }
        if busy { Local::Busy } else { Local::None }
    }
}

/// Fair enough for spreading load: the seed is new in every call.
fn shuffle<T>(items: &mut [T]) {
    use std::hash::{BuildHasher, RandomState};
    for last in (1..items.len()).rev() {
        let random = RandomState::new().hash_one(last);
        let other = usize::try_from(random % (last as u64 + 1)).unwrap_or(0);
        items.swap(last, other);
    }
}
