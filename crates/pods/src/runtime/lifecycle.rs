//! Creating, starting, stopping and removing the pod as a whole.

use std::io::{BufRead, BufReader};
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::channel::{self, Request};
use super::context::{Context, executable};
use super::create::{self, Fit};
use super::status::{State, Status};
use super::{Failure, lock, ramdisks};
use crate::spec::Sharing;

/// How containers are ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Manner {
    /// A polite signal first, in reverse order of the start.
    Graceful,
    /// At once.
    Forced,
}

/// What `purge` does with volumes that all pods of the host share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum HostShared {
    Keep,
    Remove,
}

/// Seconds that a container has between the polite signal and the end.
pub(super) const GRACE: u64 = 10;

pub(super) fn download(context: &Context, force: bool) -> Result<u8, Failure> {
    let mut images: Vec<&str> = context.spec.containers.iter().map(|c| c.image.as_str()).collect();
    images.dedup();
    for image in images {
        if !force && context.podman.image_exists(image)? {
            context.console.info(&format!("Image {image} exists"));
            continue;
        }
        context.console.info(&format!("Pull image {image}"));
        context.podman.pull(image)?;
    }
    Ok(0)
}

pub(super) fn create(context: &Context, interface: Option<IpAddr>) -> Result<u8, Failure> {
    let _guard = lock::command(context)?;
    prepare(context, interface)?;
    Ok(0)
}

/// Makes the pod unless it is there already and fits.
fn prepare(context: &Context, interface: Option<IpAddr>) -> Result<(), Failure> {
    if lock::supervised(context) {
        context.console.info(&format!("Pod {} already created", context.pod()));
        return Ok(());
    }
    let found = create::find(context)?;
    match create::fit(context, &found, interface) {
        Fit::Usable => {
            context.console.info(&format!("Pod {} already created", context.pod()));
            return Ok(());
        }
        Fit::Useless => create::unmake(context)?,
        Fit::Absent => {}
    }
    create::make(context, interface)
}

pub(super) fn start(context: &Context) -> Result<u8, Failure> {
    let _guard = lock::command(context)?;
    if lock::supervised(context) {
        context.console.info(&format!("Pod {} already running", context.pod()));
        return Ok(0);
    }
    let interface = known_interface(context);
    let found = create::find(context)?;
    match create::fit(context, &found, interface) {
        Fit::Absent => {
            return Err(Failure::refused(format!("pod {} does not exist, create it first", context.pod())));
        }
        // A pod that was stopped starts again with new containers.
        Fit::Useless => {
            create::unmake(context)?;
            create::make(context, interface)?;
        }
        Fit::Usable => {}
    }
    supervise(context, interface)?;
    Ok(0)
}

/// The address that the pod was made with.
fn known_interface(context: &Context) -> Option<IpAddr> {
    Status::read(&context.dir)?.host_interface?.parse().ok()
}

pub(super) fn run(context: &Context, interface: Option<IpAddr>, wait: Option<u64>) -> Result<u8, Failure> {
    {
        let _guard = lock::command(context)?;
        run_locked(context, interface)?;
    }
    match wait {
        None => Ok(0),
        Some(seconds) => wait_ready(context, seconds),
    }
}

/// The step that daemons repeat. With nothing to do it asks no podman at all.
fn run_locked(context: &Context, interface: Option<IpAddr>) -> Result<(), Failure> {
    let pod = context.pod();
    if lock::supervised(context) {
        let status = Status::read(&context.dir).unwrap_or_default();
        let same_interface = status.host_interface == interface.map(|address| address.to_string());
        if status.spec == context.spec_hash() && same_interface {
            context.console.info(&format!("Pod {pod} already created"));
            context.console.info(&format!("Pod {pod} already running"));
            return Ok(());
        }
        // The pod was compiled anew: the new supervisor takes over and replaces only what differs.
        context.console.info(&format!("Pod {pod} changed, its supervisor is replaced"));
        channel::ask(&Request::Detach)?;
        wait_unsupervised(context)?;
    }
    prepare(context, interface)?;
    supervise(context, interface)
}

/// Starts the supervisor and waits until it holds its lock.
fn supervise(context: &Context, interface: Option<IpAddr>) -> Result<(), Failure> {
    let own = executable()?;
    let mut command = Command::new(&own);
    command.arg("supervise").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(address) = interface {
        command.arg(format!("--host-interface={address}"));
    }
    let mut child = command.spawn().map_err(Failure::file("start", &own))?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        let _ = BufReader::new(out).read_line(&mut line);
    }
    match line.trim() {
        "ready" => {
            context.console.info(&format!("Pod {} started, supervisor pid: {}", context.pod(), child.id()));
            Ok(())
        }
        "" => Err(Failure::refused("the supervisor ended before it was ready, see the log of the pod")),
        message => Err(Failure::refused(message)),
    }
}

fn wait_unsupervised(context: &Context) -> Result<(), Failure> {
    let end = Instant::now() + Duration::from_secs(30);
    while lock::supervised(context) {
        if Instant::now() > end {
            return Err(Failure::refused("the supervisor does not end"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn wait_ready(context: &Context, seconds: u64) -> Result<u8, Failure> {
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        let status = Status::read(&context.dir).unwrap_or_default();
        if status.readiness {
            return Ok(0);
        }
        if Instant::now() >= end || !lock::supervised(context) {
            let reasons: Vec<String> = status
                .containers
                .iter()
                .filter(|container| !container.ready)
                .map(|c| format!("{} ({})", c.name, c.message.as_deref().unwrap_or(&c.status)))
                .collect();
            let message =
                format!("pod {} is not ready after {seconds} s: {}", context.pod(), reasons.join(", "));
            return Err(Failure::refused(message));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub(super) fn stop(context: &Context, manner: Manner) -> Result<u8, Failure> {
    let _guard = lock::command(context)?;
    stop_locked(context, manner)?;
    Ok(0)
}

fn stop_locked(context: &Context, manner: Manner) -> Result<(), Failure> {
    if lock::supervised(context) {
        let request = if manner == Manner::Graceful { Request::Stop } else { Request::Kill };
        channel::ask(&request)?;
        return wait_unsupervised(context);
    }
    // The supervisor is gone: act in its place.
    let found = create::find(context)?;
    if found.infra.is_none() && found.containers.is_empty() {
        return Ok(());
    }
    end_containers(context, manner)?;
    let mut status = Status::read(&context.dir).unwrap_or_else(|| create::blank_status(context));
    status.status = State::Exited;
    status.readiness = false;
    status.liveness = false;
    status.pid = 0;
    for container in &mut status.containers {
        container.ready = false;
        if container.status == "running" {
            container.status = "exited".into();
        }
    }
    status.write(&context.dir).map_err(Failure::file("write the status in", &context.dir))
}

/// Ends the containers in reverse order of the start, then the pod.
pub(super) fn end_containers(context: &Context, manner: Manner) -> Result<(), Failure> {
    let names: Vec<String> = context.spec.containers.iter().map(|c| context.spec.container_name(c)).collect();
    match manner {
        Manner::Graceful => {
            for name in names.iter().rev() {
                context.podman.stop(&[name], GRACE)?;
            }
        }
        Manner::Forced => {
            let all: Vec<&str> = names.iter().rev().map(String::as_str).collect();
            context.podman.stop(&all, 0)?;
        }
    }
    context.podman.call(&["pod", "stop", "--ignore", "--time=0", &context.pod()])?;
    Ok(())
}

pub(super) fn remove(context: &Context, manner: Manner) -> Result<u8, Failure> {
    let _guard = lock::command(context)?;
    remove_locked(context, manner)?;
    Ok(0)
}

fn remove_locked(context: &Context, manner: Manner) -> Result<(), Failure> {
    stop_locked(context, manner)?;
    create::unmake(context)?;
    ramdisks::remove_fakes(context);
    crate::secrets::remove_store(&context.pod());
    let status = Status { status: State::Removed, ..create::blank_status(context) };
    status.write(&context.dir).map_err(Failure::file("write the status in", &context.dir))
}

pub(super) fn rerun(context: &Context, interface: Option<IpAddr>, manner: Manner) -> Result<u8, Failure> {
    let _guard = lock::command(context)?;
    let interface = interface.or_else(|| known_interface(context));
    remove_locked(context, manner)?;
    run_locked(context, interface)?;
    Ok(0)
}

pub(super) fn create_volumes(context: &Context) -> Result<u8, Failure> {
    create::volumes(context)?;
    Ok(0)
}

pub(super) fn purge(context: &Context, shared: HostShared) -> Result<u8, Failure> {
    let _guard = lock::command(context)?;
    let found = create::find(context)?;
    if found.infra.is_some() || !found.containers.is_empty() {
        return Err(Failure::refused(format!("pod {} exists, remove it before you purge it", context.pod())));
    }
    let mut names = Vec::new();
    for (name, sharing) in context.spec.podman_volumes() {
        if sharing == Sharing::Host && shared == HostShared::Keep {
            context
                .console
                .info(&format!("Volume {name} is shared by the host and stays; --host-shared removes it"));
        } else {
            names.push(name);
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    context.podman.remove_volumes(&names)?;
    Ok(0)
}
