//! Starting one container and watching it end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

use podsmith_podman::ContainerRun;
use podsmith_podman::watch::Watch;

use super::super::Failure;
use super::super::context::{CONFIG_LABEL, Context, DIRECTORY_LABEL, POD_LABEL, hash};
use super::{Event, Shared};
use crate::secrets::store_for;
use crate::spec::{Container, Network, VolumeKind};

/// A started container.
#[derive(Debug)]
pub(super) struct Launched {
    pub pid: u32,
}

/// The call that starts a container. Its hash tells whether a running container is still the right one.
pub(super) fn plan(
    context: &Context,
    container: &Container,
    largest_log: u64,
) -> Result<(ContainerRun, String), Failure> {
    let spec = &context.spec;
    let name = spec.container_name(container);
    let mut run = ContainerRun::new(&name, &container.image).label(POD_LABEL, &spec.full_name());
    run = run.label(DIRECTORY_LABEL, &context.dir.display().to_string()).pod(&spec.full_name());
    if container.network == Network::Host {
        run = run.option("network", "host");
    }
    for (name, value) in &container.env {
        run = run.env(name, value);
    }
    for mount in &container.mounts {
        let Some(volume) = spec.volume(&mount.volume) else { continue };
        let (source, options) = mount_source(context, volume)?;
        run = run.mount(&source, &mount.dest, options);
    }
    if let Some(directory) = &container.working_dir {
        run = run.option("workdir", directory);
    }
    if let Some(millis) = container.cpu_millis {
        run = run.option("cpus", &format!("{}.{:03}", millis / 1000, millis % 1000));
    }
    if let Some(bytes) = container.memory_bytes {
        run = run.option("memory", &format!("{bytes}b"));
    }
    run = run
        .entrypoint(&container.command)
        .args(&container.args)
        .option("pidfile", &pid_file(context, container).display().to_string())
        .log_file(&context.log_file(&container.name), largest_log);
    let fingerprint = hash(&run.arguments().join("\0"));
    Ok((run.label(CONFIG_LABEL, &fingerprint), fingerprint))
}

fn mount_source(context: &Context, volume: &crate::spec::Volume) -> Result<(String, &'static str), Failure> {
    let below = |directory: &str| context.dir.join(directory).join(&volume.name).display().to_string();
    Ok(match &volume.kind {
        VolumeKind::Volume { shared } => (context.spec.podman_volume_name(&volume.name, *shared), "z,rw"),
        VolumeKind::Config { encrypted: false } => (below("config"), "z,ro"),
        VolumeKind::Config { encrypted: true } => {
            let store = store_for(&context.dir, &context.pod(), &volume.name).map_err(|source| {
                Failure::Secret { config: volume.name.clone(), source: Box::new(source) }
            })?;
            (store.path().display().to_string(), "z,ro")
        }
        VolumeKind::Ramdisk { .. } => (below("ramdisk"), "z,rw"),
        // A device cannot be given a label.
        VolumeKind::Host { bind } if !std::path::Path::new(bind).is_dir() => (bind.clone(), "rw,dev"),
        VolumeKind::Host { bind } => (bind.clone(), "z,rw,dev"),
    })
}

fn pid_file(context: &Context, container: &Container) -> PathBuf {
    context.dir.join("log").join(format!(".{}.pid", container.name))
}

/// Starts container `index`, fetching its image first if it is missing. Takes as long as podman takes.
pub(super) fn launch(
    shared: &Shared,
    index: usize,
    events: &Sender<Event>,
    generation: u64,
) -> Result<Launched, String> {
    let context = &shared.context;
    let container = context.spec.containers.get(index).ok_or("no such container")?;
    let tell = |failure: Failure| failure.tell();
    let (run, _) = plan(context, container, super::hard_bound(shared.bounds)).map_err(tell)?;
    let present = context.podman.image_exists(&container.image).map_err(|error| tell(error.into()))?;
    if !present {
        let _ = events.send(Event::Downloading { index, generation });
        context.podman.pull(&container.image).map_err(|error| tell(error.into()))?;
    }
    if shared.cancelled.load(Ordering::Relaxed) {
        return Err("the pod is being stopped".into());
    }
    let file = pid_file(context, container);
    let _ = std::fs::remove_file(&file);
    context.podman.run_detached(&run).map_err(|error| tell(error.into()))?;
    let pid = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    Ok(Launched { pid })
}

/// Tells when the process of a container has ended, with its exit code.
pub(super) fn watch(shared: Arc<Shared>, index: usize, generation: u64, pid: u32, events: Sender<Event>) {
    std::thread::spawn(move || {
        let watched = Watch::open(pid).and_then(|watch| watch.wait(None));
        let name = shared.context.spec.containers.get(index).map(|c| shared.context.spec.container_name(c));
        let name = name.unwrap_or_default();
        // Without a watch podman itself must wait.
        let limit =
            if watched.is_ok() { Duration::from_secs(30) } else { Duration::from_secs(u64::from(u32::MAX)) };
        let code = shared.context.podman.wait(&name, limit).unwrap_or(-1);
        let _ = events.send(Event::Exited { index, generation, code });
    });
}
