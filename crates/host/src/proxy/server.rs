//! Listening, reloading, ending.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use super::config::{ConfigError, Settings};
use super::header::Addresses;
use super::limit::Limits;
use super::map::Tables;
use super::peer;
use super::pipe::{self, Header};
use super::route::{Local, Shared};

/// How often the port map and the list of hosts are looked at.
const RELOAD: Duration = Duration::from_secs(1);

/// Why the proxy cannot work.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The port for other proxies is taken.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The operating system refuses.
    #[error("cannot {verb}")]
    System {
        /// What we did.
        verb: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Runs the proxy of a configuration file until SIGTERM or SIGINT; SIGHUP reads the tables at once.
///
/// # Errors
///
/// The configuration is wrong or its address is taken.
pub fn run(config: &Path) -> Result<(), ProxyError> {
    let settings = Settings::read(config)?;
    let system = |verb| move |source| ProxyError::System { verb, source };
    raise_file_limit();
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(4);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .map_err(system("start the event loop"))?;
    runtime.block_on(async {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).map_err(system("listen for signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(system("listen for signals"))?;
        let mut hangup = signal(SignalKind::hangup()).map_err(system("listen for signals"))?;
        let running = start(settings)?;
        loop {
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                _ = hangup.recv() => running.reload(),
            }
        }
        running.stop().await;
        Ok(())
    })
}

/// Thousands of ports need thousands of files.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// A proxy at work. Dropping it ends it without waiting for connections.
#[derive(Debug)]
pub struct Running {
    stop: watch::Sender<bool>,
    reload: mpsc::Sender<()>,
    /// Every task holds a sender: when all are gone, the last connection has ended.
    idle: mpsc::Receiver<()>,
    drain: Duration,
    address: SocketAddr,
}

impl Running {
    /// Where other proxies are served.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads the tables now.
    pub fn reload(&self) {
        let _ = self.reload.try_send(());
    }

    /// Accepts nothing more and waits for open connections, at most as long as the settings say.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        let _ = tokio::time::timeout(self.drain, self.idle.recv()).await;
    }
}

/// Starts a proxy in the present runtime.
///
/// # Errors
///
/// The port for other proxies is taken. A cluster port that is taken is told and left out.
pub fn start(settings: Settings) -> Result<Running, ProxyError> {
    let (tables_sender, tables) = watch::channel(Arc::new(read_tables(&settings).unwrap_or_default()));
    let (stop, stopped) = watch::channel(false);
    let (reload, reload_receiver) = mpsc::channel(1);
    let (alive, idle) = mpsc::channel(1);
    let drain = Duration::from_secs(settings.drain);
    let ranges = settings.cluster_ports.clone();
    let (host, port) = (settings.host, settings.port);
    let shared = Arc::new(Shared { settings, tables, limits: Limits::default() });
    let address = SocketAddr::new(host, port);
    let listener = listen(address).map_err(|source| ProxyError::Listen { address, source })?;
    let address = listener.local_addr().unwrap_or(address);
    let task = Task { shared: shared.clone(), stopped, alive };
    tokio::spawn(task.clone().accept(listener, None));
    for port in ranges.iter().flat_map(|range| range.first..=range.last).filter(|other| *other != port) {
        match listen(SocketAddr::new(host, port)) {
            Ok(listener) => drop(tokio::spawn(task.clone().accept(listener, Some(port)))),
            Err(error) => tracing::warn!(port, %error, "Cannot listen on a cluster port"),
        }
    }
    tokio::spawn(keep_tables(shared, tables_sender, reload_receiver));
    Ok(Running { stop, reload, idle, drain, address })
}

/// Shares the port with a proxy that is about to replace us, or that we replace.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    TcpListener::from_std(socket.into())
}

fn read_tables(settings: &Settings) -> io::Result<Tables> {
    let ports = std::fs::read_to_string(&settings.ports_conf)?;
    let hosts = std::fs::read_to_string(&settings.hosts_conf)?;
    Ok(Tables::parse(&ports, &hosts))
}

/// Reads the tables now and then. A file that cannot be read changes nothing.
async fn keep_tables(
    shared: Arc<Shared>,
    tables: watch::Sender<Arc<Tables>>,
    mut reload: mpsc::Receiver<()>,
) {
    let mut timer = tokio::time::interval(RELOAD);
    loop {
        tokio::select! {
            _ = timer.tick() => {}
            asked = reload.recv() => if asked.is_none() { return },
        }
        let Ok(read) = read_tables(&shared.settings) else { continue };
        tables.send_if_modified(|known| {
            let changed = **known != read;
            if changed {
                tracing::info!(ports = read.mappings.len(), hosts = read.hosts.len(), "Read the tables");
                *known = Arc::new(read);
            }
            changed
        });
    }
}

#[derive(Clone)]
struct Task {
    shared: Arc<Shared>,
    stopped: watch::Receiver<bool>,
    alive: mpsc::Sender<()>,
}

impl Task {
    /// Accepts clients of a cluster port, or other proxies.
    async fn accept(mut self, listener: TcpListener, cluster_port: Option<u16>) {
        loop {
            let accepted = tokio::select! {
                _ = self.stopped.changed() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, from)) => self.spawn(stream, from, cluster_port),
                // Out of files: wait for connections to end.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        // Clients that are connected already but not yet accepted would be cut off.
        while let Ok(Ok((stream, from))) =
            tokio::time::timeout(Duration::from_millis(10), listener.accept()).await
        {
            self.spawn(stream, from, cluster_port);
        }
    }

    fn spawn(&self, stream: TcpStream, from: SocketAddr, cluster_port: Option<u16>) {
        let (shared, alive) = (self.shared.clone(), self.alive.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            match cluster_port {
                Some(port) => serve_client(&shared, stream, from, port).await,
                None => peer::serve(&shared, stream, from).await,
            }
            drop(alive);
        });
    }
}

/// Leads a client to a pod: on this host if it can be, else on the hosts in their order.
async fn serve_client(shared: &Shared, mut client: TcpStream, from: SocketAddr, port: u16) {
    let to = client.local_addr().unwrap_or(SocketAddr::new(shared.settings.host, port));
    let addresses =
        Addresses { source: canonical(from), destination: SocketAddr::new(canonical(to).ip(), port) };
    let header = |send_proxy| if send_proxy { Header::Send(addresses) } else { Header::Strip };
    if let Local::Pod(mut pod, send_proxy, _permit) = shared.connect_local(port).await {
        let _ = pipe::join(&mut client, &mut pod, header(send_proxy), Vec::new()).await;
        return;
    }
    let tables = shared.tables();
    for host in tables.hosts.iter().filter(|host| !shared.is_own(**host)) {
        if let Some((mut stream, send_proxy)) = peer::ask(*host, addresses).await {
            let _ = pipe::join(&mut client, &mut stream, header(send_proxy), Vec::new()).await;
            return;
        }
    }
    tracing::debug!(port, "No host serves the port");
}

fn canonical(address: SocketAddr) -> SocketAddr {
    let ip: IpAddr = address.ip().to_canonical();
    SocketAddr::new(ip, address.port())
}
