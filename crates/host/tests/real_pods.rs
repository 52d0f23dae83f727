//! Compiled pods on the real podman under the daemon.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use podsmith_host::daemon::{Options, serve};
use podsmith_pods::image::Runtime;
use podsmith_pods::{Request, compile};

const TEST: &str = "ready_pods_are_in_the_port_map_and_lost_supervisors_come_back";
/// Made by the tests of the crate `pods`.
const IMAGE: &str = "localhost/podsmith-test:1";

/// The runtime lies beside the directory of this test, if it was built.
fn runtime() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    Some(own.parent()?.parent()?.join("podsmith-pod")).filter(|path| path.is_file())
}

fn podman(args: &[&str]) -> bool {
    Command::new("podman").args(args).output().is_ok_and(|output| output.status.success())
}

fn wait(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        let _ = Command::new(self.0.join("pod")).args(["rm", "-k"]).output();
    }
}

#[test]
fn ready_pods_are_in_the_port_map_and_lost_supervisors_come_back() {
    let Some(runtime) = runtime().filter(|_| podman(&["image", "exists", IMAGE])) else {
        println!("skipped: {TEST}: run the tests of podsmith-pods first, with podman");
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let conf = home.path().join("containers.conf");
    let text = "[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\n[containers]\ndefault_ulimits = [\"nofile=4096:4096\", \"nproc=4096:4096\"]\n";
    fs::write(&conf, text).unwrap();
    let release = home.path().join("pods/web/release/1.0.0");
    fs::create_dir_all(&release).unwrap();
    fs::write(home.path().join("cluster-id.txt"), "real-1").unwrap();
    // The daemon has no special environment: the pod finds its settings through a script in its place.
    let program = release.join("podman");
    fs::write(&program, format!("#!/bin/sh\nCONTAINERS_CONF={} exec podman \"$@\"\n", conf.display()))
        .unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let port = std::net::TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port();
    let yaml = format!(
        "api: 1.0.0-beta2\npodVersion: 1.0.0\ncontainers:\n- name: a\n  image: {IMAGE}\n  restart: always\n  \
         command: [sh, -c, 'touch /ready; exec sleep 1000']\n  readinessProbe: {{cmd: [test, -e, /ready], period: 1}}\n  \
         expose: [{{targetPort: 80, hostPort: {port}, clusterPort: 2000}}]\n"
    );
    fs::write(release.join("pod.yaml"), yaml).unwrap();
    let name = format!("daemon{}", std::process::id());
    let request = Request {
        name: Some(name.clone()),
        ..Request::new(release.join("pod.yaml"), Runtime::File(runtime))
    };
    compile(&request).unwrap();
    // A pod called `pod` that speaks through the compiled one, with podman of our choice.
    fs::rename(release.join("pod"), release.join("compiled")).unwrap();
    let script = format!(
        "#!/bin/sh\nPODSMITH_PODMAN={} exec \"$(dirname \"$0\")/compiled\" \"$@\"\n",
        program.display()
    );
    fs::write(release.join("pod"), script).unwrap();
    fs::set_permissions(release.join("pod"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(release.join("pod.state"), "running").unwrap();
    let _removed = Removed(&release);

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let options = Options { dir: home.path().to_owned(), round: Duration::from_millis(100) };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let daemon = runtime.spawn(async move {
        serve(&options, async {
            let _ = stopped.await;
        })
        .await
    });
    let map = || fs::read_to_string(home.path().join("portmappings.conf")).unwrap_or_default();
    let line = format!("2000:{port}:4096:false\n");
    wait("the pod is ready", || map() == line);
    let container = format!("a-{name}-1.0.0");
    assert!(podman(&["exec", &container, "rm", "/ready"]));
    wait("not ready, not in the map", || map() == "\n");
    assert!(podman(&["exec", &container, "touch", "/ready"]));
    wait("ready again", || map() == line);

    // The supervisor dies; the daemon brings it back.
    let status = || podsmith_pods::runtime::status::Status::current(&release).unwrap_or_default();
    let first = status().pid;
    let pid = rustix::process::Pid::from_raw(i32::try_from(first).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    wait("a new supervisor", || status().pid != first && status().readiness);
    wait("back in the map", || map() == line);

    fs::write(release.join("pod.state"), "removed").unwrap();
    wait("removed", || !podman(&["container", "exists", &container]) && map() == "\n");
    stop.send(()).unwrap();
    runtime.block_on(daemon).unwrap().unwrap();
}
