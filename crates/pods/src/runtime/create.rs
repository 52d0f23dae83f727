//! Making the podman pod and what it needs: ports, directories, volumes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;

use podsmith_podman::{ContainerState, Listed, PodCreate};

use super::Failure;
use super::context::{CONFIG_LABEL, Context, DIRECTORY_LABEL, POD_LABEL, unix_seconds};
use super::ramdisks;
use super::status::{ContainerStatus, State, Status};
use crate::spec::{Network, VolumeKind};

/// What podman has of this pod.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The container that holds the network; it stands for the pod.
    pub infra: Option<Listed>,
    pub containers: Vec<Listed>,
}

impl Found {
    pub fn container(&self, name: &str) -> Option<&Listed> {
        self.containers.iter().find(|container| container.name() == name)
    }
}

/// Asks podman once for everything of this pod, and makes sure that it is ours.
pub(super) fn find(context: &Context) -> Result<Found, Failure> {
    let mut found = Found::default();
    for container in context.podman.list(POD_LABEL, Some(&context.pod()))? {
        let directory = container.label(DIRECTORY_LABEL).unwrap_or_default();
        if Path::new(directory) != context.dir {
            return Err(Failure::refused(format!(
                "pod {} exists already, made from {directory}",
                context.pod()
            )));
        }
        if container.is_infra {
            found.infra = Some(container);
        } else {
            found.containers.push(container);
        }
    }
    Ok(found)
}

/// How the pod that podman has compares with the pod that is wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fit {
    /// There is none.
    Absent,
    /// It can be used as it is.
    Usable,
    /// It has ended or has other ports: it must be made anew.
    Useless,
}

pub(super) fn fit(context: &Context, found: &Found, interface: Option<IpAddr>) -> Fit {
    match &found.infra {
        None if found.containers.is_empty() => Fit::Absent,
        None => Fit::Useless,
        Some(infra) => {
            let same = infra.label(CONFIG_LABEL) == Some(context.pod_hash(interface).as_str());
            let alive = matches!(infra.state, ContainerState::Created | ContainerState::Running);
            if same && alive { Fit::Usable } else { Fit::Useless }
        }
    }
}

/// Makes the pod. The checks come first, so that a refusal leaves nothing behind.
pub(super) fn make(context: &Context, interface: Option<IpAddr>) -> Result<(), Failure> {
    let pod = context.pod();
    check_mounts(context)?;
    check_ports(context, interface)?;
    context.console.info("Create volumes");
    volumes(context)?;
    context.console.info("Check ramdisks");
    ramdisks::fall_back(context)?;
    let log = context.path("log");
    std::fs::create_dir_all(&log).map_err(Failure::file("make", &log))?;
    context.console.info("Create pod");
    let mut create = PodCreate::new(&pod);
    for (name, value) in &context.spec.labels {
        create = create.label(name, value);
    }
    create = create
        .label(POD_LABEL, &pod)
        .label(DIRECTORY_LABEL, &context.dir.display().to_string())
        .label(CONFIG_LABEL, &context.pod_hash(interface));
    for ports in context.published(interface) {
        create = create.publish(&ports);
    }
    if let Some(address) = proxy_address(interface) {
        create = create.host("proxy", &address);
    }
    let id = context.podman.create_pod(&create)?;
    let status = Status {
        status: State::Created,
        created: unix_seconds(),
        host_interface: interface.map(|address| address.to_string()),
        ..blank_status(context)
    };
    status.write(&context.dir).map_err(Failure::file("write the status in", &context.dir))?;
    context.console.good(&format!("Pod {pod} created with id: {id}"));
    Ok(())
}

/// The status of a pod about which nothing is known.
pub(super) fn blank_status(context: &Context) -> Status {
    let spec = &context.spec;
    let containers = spec
        .containers
        .iter()
        .map(|container| ContainerStatus {
            name: container.name.clone(),
            container: spec.container_name(container),
            image: container.image.clone(),
            restart: container.restart.to_string(),
            mounts: container.mounts.iter().map(|mount| format!("{}:{}", mount.volume, mount.dest)).collect(),
            ports: container
                .expose
                .iter()
                .filter_map(|expose| Some(format!("{}:{}", expose.host_port?, expose.target_port?)))
                .collect(),
            network: if container.network == Network::Host { "host".into() } else { String::new() },
            status: "non-existent".into(),
            ..ContainerStatus::default()
        })
        .collect();
    Status {
        pod: spec.full_name(),
        pod_version: spec.version.clone(),
        host_ports: spec.host_ports(),
        updated: unix_seconds(),
        spec: context.spec_hash(),
        containers,
        ..Status::default()
    }
}

/// `proxy` in the containers' hosts file: what the host calls so, else the address of the host.
fn proxy_address(interface: Option<IpAddr>) -> Option<String> {
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let named = hosts.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse::<IpAddr>().ok()?;
        words.any(|name| name == "proxy").then(|| address.to_string())
    });
    named.or_else(|| interface.map(|address| address.to_string()))
}

fn check_mounts(context: &Context) -> Result<(), Failure> {
    for volume in &context.spec.volumes {
        let (path, what) = match &volume.kind {
            VolumeKind::Config { .. } => (context.dir.join("config").join(&volume.name), "config"),
            VolumeKind::Host { bind } => (bind.into(), "host volume"),
            _ => continue,
        };
        if !path.exists() {
            let message = format!(
                "{what} `{}` does not exist as {}, can't create the pod {}",
                volume.name,
                path.display(),
                context.pod()
            );
            return Err(Failure::refused(message));
        }
    }
    Ok(())
}

fn check_ports(context: &Context, interface: Option<IpAddr>) -> Result<(), Failure> {
    for expose in context.spec.containers.iter().flat_map(|container| &container.expose) {
        let Some(port) = expose.host_port else { continue };
        let address = expose.host_interface.or(interface).unwrap_or(Ipv4Addr::UNSPECIFIED.into());
        if let Err(error) = TcpListener::bind(SocketAddr::new(address, port)) {
            let reason = match error.kind() {
                std::io::ErrorKind::AddrInUse => format!("Host port {port} is busy"),
                _ => format!("Host port {port} cannot be bound ({error})"),
            };
            return Err(Failure::refused(format!("{reason}, can't create the pod {}", context.pod())));
        }
    }
    Ok(())
}

/// Creates the podman volumes that do not exist.
pub(super) fn volumes(context: &Context) -> Result<(), Failure> {
    let names: Vec<String> = context.spec.podman_volumes().into_iter().map(|(name, _)| name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(context.podman.create_volumes(&names)?)
}

/// Removes the podman pod and every container of it.
pub(super) fn unmake(context: &Context) -> Result<(), Failure> {
    context.podman.remove_pod(&context.pod())?;
    // Containers on the host's network may live outside of the pod.
    let outside: Vec<String> = context
        .spec
        .containers
        .iter()
        .filter(|container| container.network == Network::Host)
        .map(|container| context.spec.container_name(container))
        .collect();
    let outside: Vec<&str> = outside.iter().map(String::as_str).collect();
    Ok(context.podman.remove(&outside)?)
}
