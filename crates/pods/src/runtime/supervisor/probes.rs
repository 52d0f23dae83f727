//! Probes: one thread each, which ends when its container does.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use podsmith_podman::{Exit, probe};

use super::{Event, Shared};
use crate::spec::{Check, Container, Network, Probe};

/// Which probe a result belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Readiness,
    Liveness,
}

/// How often a startup check is tried.
const STARTUP_PERIOD: Duration = Duration::from_secs(1);

/// Tries `check` until it succeeds or `deadline` comes. Drop the returned sender to end it.
pub(super) fn startup(
    shared: Arc<Shared>,
    index: usize,
    generation: u64,
    check: Check,
    deadline: Instant,
    events: Sender<Event>,
) -> Sender<()> {
    let (keep, ended) = channel();
    std::thread::spawn(move || {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            if run(&shared, index, &check, left).is_ok() {
                let _ = events.send(Event::Started { index, generation });
                return;
            }
            if !pause(&ended, STARTUP_PERIOD) {
                return;
            }
        }
    });
    keep
}

/// Runs `probe` for as long as the returned sender lives.
pub(super) fn lasting(
    shared: Arc<Shared>,
    index: usize,
    generation: u64,
    kind: Kind,
    probe: Probe,
    events: Sender<Event>,
) -> Sender<()> {
    let (keep, ended) = channel();
    std::thread::spawn(move || {
        loop {
            let outcome = run(&shared, index, &probe.check, Duration::from_secs(probe.timeout));
            if events.send(Event::Probed { index, generation, kind, outcome }).is_err() {
                return;
            }
            if !pause(&ended, Duration::from_secs(probe.period)) {
                return;
            }
        }
    });
    keep
}

/// Waits; false means that the probe is no longer wanted.
fn pause(ended: &Receiver<()>, time: Duration) -> bool {
    ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

fn run(shared: &Shared, index: usize, check: &Check, limit: Duration) -> Result<(), String> {
    let spec = &shared.context.spec;
    let Some(container) = spec.containers.get(index) else { return Err("no such container".into()) };
    match check {
        Check::Cmd(argv) => {
            let name = spec.container_name(container);
            match shared.context.podman.exec(&name, argv, limit) {
                Ok(Exit::Code(0)) => Ok(()),
                Ok(Exit::Code(code)) => Err(format!("the probe ended with code {code}")),
                Ok(Exit::Deadline) => Err(format!("the probe took longer than {} s", limit.as_secs())),
                Err(error) => Err(error.to_string()),
            }
        }
        Check::Tcp { port } => first_success(shared, container, *port, |address| probe::tcp(address, limit)),
        Check::Http { port, path } => {
            first_success(shared, container, *port, |address| probe::http(address, path, limit))
        }
    }
}

fn first_success(
    shared: &Shared,
    container: &Container,
    port: u16,
    check: impl Fn(SocketAddr) -> Result<(), probe::Failure>,
) -> Result<(), String> {
    let addresses = addresses(shared, container, port);
    let mut last = format!("port {port} cannot be reached from the host: publish it with a hostPort");
    for address in addresses {
        match check(address) {
            Ok(()) => return Ok(()),
            Err(failure) => last = failure.to_string(),
        }
    }
    Err(last)
}

/// Where a port of a container is reached from the host: the pod's own address if there is one (not without root),
/// else the published port.
fn addresses(shared: &Shared, container: &Container, port: u16) -> Vec<SocketAddr> {
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if container.network == Network::Host {
        return vec![SocketAddr::new(local, port)];
    }
    let own = shared.address.filter(|_| rustix::process::geteuid().is_root());
    if let Some(address) = own {
        return vec![SocketAddr::new(address, port)];
    }
    let exposed = shared.context.spec.containers.iter().flat_map(|c| &c.expose);
    exposed
        .filter(|expose| expose.target_port == Some(port))
        .filter_map(|expose| {
            let host = expose.host_interface.or(shared.interface).unwrap_or(local);
            Some(SocketAddr::new(host, expose.host_port?))
        })
        .collect()
}
