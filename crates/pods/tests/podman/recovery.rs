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
