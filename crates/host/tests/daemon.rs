//! The daemon with pods that write down how they are called.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use podsmith_host::daemon::{DaemonError, Options, serve, status};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

type Daemon = (oneshot::Sender<()>, JoinHandle<Result<(), DaemonError>>);

struct Host {
    dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    daemon: Option<Daemon>,
}

impl Host {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(dir.path().join("pods")).unwrap();
        fs::write(dir.path().join("cluster-id.txt"), "test-1\n").unwrap();
        fs::write(dir.path().join("hosts.conf"), "10.1.2.3:32767\n10.1.2.4:32767\n").unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { dir, runtime, daemon: None }
    }

    fn release(&self, pod: &str) -> PathBuf {
        self.dir.path().join(format!("pods/{pod}/release/1.0.0"))
    }

    /// A pod that appends each call to `calls`, with `extra` shell lines behind that.
    fn pod(&self, name: &str, extra: &str) -> PathBuf {
        let dir = self.release(name);
        fs::create_dir_all(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        fs::write(dir.join("pod"), format!("#!/bin/sh\necho \"$*\" >> calls\n{extra}\n")).unwrap();
        fs::set_permissions(dir.join("pod"), fs::Permissions::from_mode(0o755)).unwrap();
        self.state(name, "running");
        dir
    }

    fn state(&self, pod: &str, state: &str) {
        fs::write(self.release(pod).join("pod.state"), format!("{state}\n")).unwrap();
    }

    fn calls(&self, pod: &str) -> Vec<String> {
        let text = fs::read_to_string(self.release(pod).join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn start(&mut self) {
        let options = Options { dir: self.dir.path().to_owned(), round: Duration::from_millis(30) };
        let (stop, stopped) = oneshot::channel();
        let daemon = self.runtime.spawn(async move {
            serve(&options, async {
                let _ = stopped.await;
            })
            .await
        });
        self.daemon = Some((stop, daemon));
    }

    fn stop(&mut self) {
        let (stop, daemon) = self.daemon.take().unwrap();
        stop.send(()).unwrap();
        self.runtime.block_on(daemon).unwrap().unwrap();
    }

    fn wait(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(20);
        while !condition(self) {
            assert!(Instant::now() < end, "never: {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn called(&self, pod: &str, call: &str) {
        self.wait(&format!("{pod} {call}"), |host| host.calls(pod).iter().any(|known| known == call));
    }

    fn port_map(&self) -> String {
        fs::read_to_string(self.dir.path().join("portmappings.conf")).unwrap_or_default()
    }
}

fn write_status(dir: &std::path::Path, status: &str, ready: u8, age: u64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let text = format!("pod: x\nupdated: {}\nstatus: {status}\nreadiness: {ready}\n", now - age);
    fs::write(dir.join(".pod.status"), text).unwrap();
}

#[test]
fn states_become_calls() {
    let mut host = Host::new();
    let web = host.pod("web", "");
    write_status(&web, "running", 1, 0);
    host.start();
    host.called("web", "run --host-interface=10.1.2.3");
    fs::write(web.join("pod.action"), "rerun a b\n").unwrap();
    host.called("web", "rerun a b");
    assert!(!web.join("pod.action").exists(), "an action is done once");
    fs::write(web.join("pod.action"), "rm\n").unwrap();
    host.wait("a wrong action is taken away", |_| !web.join("pod.action").exists());
    host.state("web", "stopped");
    host.called("web", "stop");
    host.state("web", "nonsense");
    host.state("web", "removed");
    host.called("web", "rm");
    host.stop();
    let actions: Vec<String> =
        host.calls("web").into_iter().filter(|call| !call.contains("ramdisk")).collect();
    assert_eq!(actions, ["run --host-interface=10.1.2.3", "rerun a b", "stop", "rm"]);
}

#[test]
fn a_failed_run_is_tried_again_and_pods_outlive_the_daemon() {
    let mut host = Host::new();
    let web = host.pod("web", "case $1 in run) [ -e tried ] || { touch tried; exit 1; };; esac");
    write_status(&web, "running", 1, 0);
    let runs = |host: &Host| host.calls("web").iter().filter(|call| call.starts_with("run")).count();
    host.start();
    host.wait("a second run", |host| runs(host) == 2);
    let report = status(host.dir.path()).unwrap();
    assert_eq!(
        (report.pods[0].pod.as_str(), report.pods[0].wanted.as_str(), report.pods[0].ready),
        ("web", "running", true)
    );
    host.stop();
    assert!(!host.calls("web").iter().any(|call| call.starts_with("stop") || call.starts_with("rm")));
    host.start();
    host.wait("a new daemon runs what should run", |host| runs(host) == 3);
    host.stop();
}

#[test]
fn the_port_map_has_what_is_running_ready_and_fresh() {
    let mut host = Host::new();
    let good = host.pod("good", "");
    let unready = host.pod("unready", "");
    let stale = host.pod("stale", "");
    let stopped = host.pod("stopped", "");
    host.state("stopped", "stopped");
    write_status(&good, "running", 1, 0);
    write_status(&unready, "running", 0, 0);
    write_status(&stale, "running", 1, 700);
    write_status(&stopped, "running", 1, 0);
    for (dir, port) in [(&good, 30_002), (&unready, 30_003), (&stale, 30_004), (&stopped, 30_005)] {
        fs::write(dir.join("pod.portmappings.conf"), format!("61001:{port}:9:false \n61000:{port}:9:true\n"))
            .unwrap();
    }
    let executable = host.pod("executable", "case $1 in readiness) [ -e ready ];; esac");
    fs::write(executable.join("pod.proxy.conf"), "2000:8080:5:false\n").unwrap();
    host.start();
    host.wait("the ready pod", |host| host.port_map() == "61000:30002:9:true\n61001:30002:9:false\n");
    write_status(&unready, "running", 1, 0);
    host.wait("now ready", |host| host.port_map().contains(":30003:"));
    write_status(&good, "running", 0, 0);
    write_status(&unready, "running", 0, 0);
    host.wait("nobody", |host| host.port_map() == "\n");
    host.called("executable", "readiness");
    host.stop();
}

#[test]
fn two_daemons_do_not_share_a_home_and_nothing_is_no_home() {
    let mut host = Host::new();
    host.pod("web", "");
    host.start();
    host.called("web", "run --host-interface=10.1.2.3");
    let options = Options::new(host.dir.path());
    let second = host.runtime.block_on(serve(&options, std::future::pending()));
    assert!(matches!(second, Err(DaemonError::Taken { .. })));
    let empty = tempfile::tempdir().unwrap();
    let none = host.runtime.block_on(serve(&Options::new(empty.path()), std::future::pending()));
    assert!(matches!(none, Err(DaemonError::NoHome { .. })));
    host.stop();
}

#[test]
fn as_root_pods_run_as_the_owner_of_the_home_with_real_ramdisks() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: as_root_pods_run_as_the_owner_of_the_home_with_real_ramdisks: needs root");
        return;
    }
    let mut host = Host::new();
    let web = host.pod(
        "web",
        "id -u > uid-$1\ncase \"$*\" in 'create-ramdisks -l') echo fast:1M; echo ../bad:1M;; esac",
    );
    write_status(&web, "running", 1, 0);
    let nobody = 65_534;
    for path in [host.dir.path().to_owned(), web.clone()] {
        std::os::unix::fs::chown(path, Some(nobody), Some(nobody)).unwrap();
    }
    host.start();
    host.called("web", "run --host-interface=10.1.2.3");
    host.wait("who ran it", |_| fs::read_to_string(web.join("uid-run")).is_ok_and(|text| text == "65534\n"));
    assert_eq!(
        fs::read_to_string(web.join("uid-create-ramdisks")).unwrap(),
        "65534\n",
        "asked without privileges"
    );
    assert!(podsmith_pods::ramdisk::is_mounted(&web.join("ramdisk/fast")));
    host.state("web", "removed");
    host.called("web", "rm");
    host.wait("unmounted", |_| !podsmith_pods::ramdisk::is_mounted(&web.join("ramdisk/fast")));
    host.stop();
}
