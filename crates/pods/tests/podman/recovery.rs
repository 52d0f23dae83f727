//! What survives: a killed supervisor, a pod that was ended behind our back, a new compilation.

use rustix::process::{Pid, Signal, kill_process};

use crate::host::TestPod;

const SLEEPERS: &str = "\
labels: [{name: zebra, value: stripes}]
containers:
- {name: a, image: IMAGE, restart: always, command: [sleep, '1000']}
- {name: b, image: IMAGE, restart: always, command: [sleep, '1000']}
";

fn supervisor(pod: &TestPod) -> Pid {
    Pid::from_raw(i32::try_from(pod.ps()["pid"].as_i64().unwrap()).unwrap()).unwrap()
}

#[test]
fn a_killed_supervisor_is_replaced_and_never_doubled() {
    let Some(pod) = TestPod::new("killed", SLEEPERS, &[]) else { return };
    pod.good(&["run"]);
    pod.wait_state("running");
    let before = (pod.id("a"), pod.id("b"));
    kill_process(supervisor(&pod), Signal::KILL).unwrap();
    pod.wait_state("broken");
    assert!(pod.good(&["ps"]).contains("\nstatus: unknown\n"));
    assert_eq!(pod.call(&["liveness"]).status.code(), Some(1));

    // Several at once: one supervisor, the same containers.
    let calls: Vec<_> = (0..3).map(|_| pod.command(&["run"]).spawn().unwrap()).collect();
    for mut call in calls {
        assert!(call.wait().unwrap().success());
    }
    pod.wait_state("running");
    assert_eq!((pod.id("a"), pod.id("b")), before, "running containers are taken over");
    assert_eq!(pod.call(&["supervise"]).status.code(), Some(1));

    // A container that ended while nobody looked is started again.
    kill_process(supervisor(&pod), Signal::KILL).unwrap();
    pod.wait_state("broken");
    pod.podman(&["kill", &pod.container("b")]);
    pod.good(&["run"]);
    pod.wait("b is new", |pod| pod.container_status("b")["startCount"] == 2);
    assert_eq!(pod.id("a"), before.0);

    // Without a supervisor stop and rm act by themselves.
    kill_process(supervisor(&pod), Signal::KILL).unwrap();
    pod.wait_state("broken");
    pod.good(&["kill"]);
    assert_eq!(pod.state(), "stopped");
}

/// A reboot ends the pod's network with everything else.
#[test]
fn a_pod_that_was_ended_from_outside_starts_anew() {
    let Some(pod) = TestPod::new("outside", SLEEPERS, &[]) else { return };
    pod.good(&["run"]);
    pod.wait_state("running");
    let before = pod.id("a");
    pod.podman(&["pod", "stop", "--time=0", &pod.full_name()]);
    pod.wait_state("stopped");
    pod.good(&["run"]);
    pod.wait_state("running");
    assert_ne!(pod.id("a"), before);
}

#[test]
fn a_new_compilation_replaces_only_what_changed() {
    let Some(pod) = TestPod::new("changed", SLEEPERS, &[]) else { return };
    pod.good(&["run"]);
    pod.wait_state("running");
    let before = (pod.id("a"), pod.id("b"));
    pod.compile(&SLEEPERS.replace(
        "{name: b, image: IMAGE, restart: always,",
        "{name: b, image: IMAGE, restart: always, env: [{name: X, value: y}],",
    ));
    pod.good(&["run"]);
    pod.wait("b is new", |pod| pod.id("b") != before.1 && pod.state() == "running");
    assert_eq!(pod.id("a"), before.0);
    pod.compile(SLEEPERS.rsplit_once("- {name: b").unwrap().0);
    pod.good(&["run"]);
    pod.wait("b is gone", |pod| pod.id("b").is_empty() && pod.state() == "running");
    assert_eq!(pod.id("a"), before.0);
}

#[test]
fn a_run_with_nothing_to_do_and_a_status_start_no_podman() {
    let Some(pod) = TestPod::new("nothing", SLEEPERS, &[]) else { return };
    pod.write("podman", b"#!/bin/sh\necho called >> \"$(dirname \"$0\")/calls\"\nexec podman \"$@\"\n");
    let wrapper = pod.path("podman");
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let pod = pod.with_environment("PODSMITH_PODMAN", wrapper.to_str().unwrap());
    pod.good(&["run"]);
    pod.wait_state("running");
    let calls = || std::fs::read_to_string(pod.path("calls")).unwrap().lines().count();
    let before = calls();
    for action in ["run", "run", "status", "ps", "info", "readiness", "liveness"] {
        pod.good(&[action]);
    }
    assert_eq!(calls(), before);
}

/// A disk without a free byte: the pod goes on, is supervised, and can be stopped.
#[test]
fn a_full_disk_does_not_end_a_pod() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: a_full_disk_does_not_end_a_pod: needs root");
        return;
    }
    let Some(pod) = TestPod::new("full", SLEEPERS, &[]) else { return };
    let disk = podsmith_pods::ramdisk::directory(&pod.path(""), "disk");
    podsmith_pods::ramdisk::mount(&pod.path(""), "disk", 200).unwrap();
    for file in ["pod", "pod.yaml"] {
        std::fs::copy(pod.path(file), disk.join(file)).unwrap();
    }
    let call = |args: &[&str]| {
        let output = pod.command_in(&disk, args).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert!(call(&["run", "--wait", "40"]).0);
    let filled = std::fs::write(disk.join("filler"), vec![0_u8; 200 << 20]);
    assert!(filled.is_err(), "the disk is full");
    pod.podman(&["kill", &pod.container("b")]);
    pod.wait("b is started again", |pod| {
        pod.podman(&["inspect", "--format", "{{.State.Status}}", &pod.container("b")]) == "running"
    });
    std::fs::remove_file(disk.join("filler")).unwrap();
    pod.wait("the status is fresh again", |_| call(&["ps"]).1.contains("startCount: 2"));
    assert!(call(&["rm", "-k"]).0);
    podsmith_pods::ramdisk::unmount(&pod.path(""), "disk").unwrap();
}
