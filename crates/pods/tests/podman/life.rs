//! Starting, looking, stopping, removing.

use std::net::TcpListener;

use crate::host::TestPod;

const TWO: &str = "\
volumes:
- {name: data, type: volume}
- {name: pool, type: volume, shared: pod}
containers:
- name: first
  image: IMAGE
  restart: always
  command: [sh, -c, \"trap 'echo first ends >> /data/order; exit 0' TERM; echo out; echo err >&2; while :; do sleep 0.1; done\"]
  mounts: [{volume: data, dest: /data}]
- name: second
  image: IMAGE
  restart: always
  command: [sh, -c, \"trap 'echo second ends >> /data/order; exit 3' TERM; echo yes > /data/shared; httpd -f -p 7000 -h /data & while :; do sleep 0.1; done\"]
  mounts: [{volume: data, dest: /data}, {volume: pool, dest: /pool}]
  env: [{name: ODD, value: 'a `date` $(id) \"q\" ;x'}]
";

#[test]
fn a_pod_lives_through_all_its_states() {
    let Some(pod) = TestPod::new("states", TWO, &[]) else { return };
    assert_eq!(pod.good(&["status"]), "non-existent\nreadiness: false\nliveness: false\n");
    assert_eq!(pod.good(&["ps"]), format!("pod: {}\nstatus: non-existing\n", pod.full_name()));
    assert!(pod.bad(&["start"]).contains("does not exist"));
    assert!(pod.bad(&["reload-configs", "x"]).contains("not running"));
    pod.good(&["create"]);
    pod.good(&["create"]);
    assert_eq!(pod.state(), "created");
    assert_eq!(pod.call(&["readiness"]).status.code(), Some(1));
    pod.good(&["start"]);
    pod.wait_state("running");
    assert!(pod.call(&["readiness"]).status.success() && pod.call(&["liveness"]).status.success());

    // The containers share the pod's network, and nothing in a value is special.
    pod.wait("an answer", |pod| {
        pod.call(&["exec", "first", "wget", "-qO-", "http://127.0.0.1:7000/shared"]).stdout == b"yes\n"
    });
    assert_eq!(pod.good(&["exec", "second", "sh", "-c", "echo \"$ODD\""]), "a `date` $(id) \"q\" ;x\n");
    assert_eq!(pod.call(&["shell", "--", "exit 7"]).status.code(), Some(7));
    assert_eq!(pod.call(&["shell", "-c", "nobody"]).status.code(), Some(1));

    // n runs, the same pod.
    let ids = (pod.id("first"), pod.id("second"));
    for _ in 0..3 {
        pod.good(&["run"]);
    }
    assert_eq!((pod.id("first"), pod.id("second")), ids);

    // Only the named container is new.
    pod.good(&["rerun", "second"]);
    assert_eq!(pod.id("first"), ids.0);
    assert_ne!(pod.id("second"), ids.1);
    assert!(pod.bad(&["rerun", "third"]).contains("first, second"));
    pod.wait_state("running");

    assert_eq!(pod.good(&["logs", "first", "-d", "name,stream", "-s", "stdout"]), "first stdout out\n");
    assert_eq!(pod.good(&["logs", "-d", "stream", "-s", "stderr", "-l", "-1"]), "stderr err\n");
    assert_eq!(pod.good(&["logs", "first", "-t", "4000000000"]), "");
    assert_eq!(pod.call(&["logs", "third"]).status.code(), Some(1));

    // Ended in reverse order, and able to start again.
    pod.good(&["exec", "first", "rm", "/data/order"]);
    pod.good(&["stop"]);
    assert_eq!(pod.state(), "stopped");
    assert_eq!(pod.container_status("second")["exitCode"], 3);
    pod.good(&["signal"]);
    pod.good(&["start"]);
    pod.wait_state("running");
    assert_eq!(pod.good(&["exec", "first", "cat", "/data/order"]), "second ends\nfirst ends\n");

    assert!(pod.bad(&["purge"]).contains("remove it before"));
    pod.good(&["rm", "-k"]);
    pod.good(&["rm"]);
    assert_eq!(pod.state(), "non-existent");
    let volumes = || pod.podman(&["volume", "ls", "--format", "{{.Name}}"]);
    assert!(volumes().contains(&format!("data-{}", pod.full_name())), "rm keeps volumes");
    pod.good(&["purge"]);
    pod.good(&["purge"]);
    assert!(!volumes().contains(&pod.full_name()));
}

#[test]
fn a_busy_port_and_a_missing_mount_are_refused() {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let yaml =
        format!("containers: [{{name: a, image: IMAGE, expose: [{{targetPort: 1, hostPort: {port}}}]}}]\n");
    let Some(pod) = TestPod::new("busy", &yaml, &[]) else { return };
    assert!(
        pod.bad(&["run"])
            .contains(&format!("Host port {port} is busy, can't create the pod {}", pod.full_name()))
    );
    assert_eq!(pod.state(), "non-existent");
    pod.compile("volumes: [{name: v, type: host, bind: nowhere}]\ncontainers: [{name: a, image: IMAGE, mounts: [{dest: /v, volume: v}]}]\n");
    assert!(pod.bad(&["create"]).contains("does not exist as"));
    assert!(pod.bad(&["frobnicate"]).contains("Unknown command"));
}

#[test]
fn purge_keeps_volumes_that_the_host_shares() {
    let volume = format!("shared_{}", std::process::id());
    let yaml = format!(
        "volumes: [{{name: {volume}, type: volume, shared: host}}]\ncontainers: [{{name: a, image: IMAGE}}]\n"
    );
    let Some(pod) = TestPod::new("purge", &yaml, &[]) else { return };
    let exists = || pod.podman(&["volume", "ls", "--format", "{{.Name}}"]).lines().any(|name| name == volume);
    pod.good(&["create-volumes"]);
    pod.good(&["create-volumes"]);
    pod.good(&["purge"]);
    assert!(exists());
    pod.good(&["purge", "--host-shared"]);
    assert!(!exists());
}

#[test]
fn containers_start_in_order_when_the_one_before_has_started() {
    let yaml = "\
volumes: [{name: data, type: volume}]
containers:
- name: job
  image: IMAGE
  restart: on-failure
  command: [sh, -c, 'echo job >> /data/log; [ -e /data/again ] || { touch /data/again; exit 1; }']
  mounts: [{volume: data, dest: /data}]
  startupProbe: {exit: true, timeout: 20}
- name: web
  image: IMAGE
  restart: always
  command: [sh, -c, 'echo web >> /data/log; sleep 1; touch /up; sleep 1000']
  mounts: [{volume: data, dest: /data}]
  startupProbe: {cmd: [test, -e, /up]}
- name: last
  image: IMAGE
  command: [sh, -c, 'echo last >> /data/log']
  mounts: [{volume: data, dest: /data}]
";
    let Some(pod) = TestPod::new("order", yaml, &[]) else { return };
    pod.good(&["run", "--wait", "50"]);
    pod.wait("last has ended", |pod| pod.container_status("last")["status"] == "exited");
    assert_eq!(pod.good(&["exec", "web", "cat", "/data/log"]), "job\njob\nweb\nlast\n");
    assert_eq!(pod.container_status("job")["startCount"], 2, "the first run failed");
}

#[test]
fn a_startup_that_is_too_slow_is_a_failure() {
    let yaml = "\
containers:
- name: slow
  image: IMAGE
  restart: on-failure
  command: [sh, -c, \"trap 'exit 0' TERM; while :; do sleep 0.1; done\"]
  startupProbe: {cmd: ['false'], timeout: 2}
- name: later
  image: IMAGE
";
    let Some(pod) = TestPod::new("slow", yaml, &[]) else { return };
    pod.good(&["run"]);
    pod.wait("a second try", |pod| pod.container_status("slow")["startCount"].as_u64() >= Some(2));
    assert_eq!(pod.state(), "not-ready");
    assert_eq!(pod.container_status("later")["status"], "non-existent");
    assert!(pod.bad(&["run", "--wait", "0"]).contains("is not ready"));
}

#[test]
fn policies_decide_about_restarts() {
    let mut yaml = "containers:\n".to_owned();
    for (name, restart, code) in [
        ("never_good", "never", 0),
        ("never_bad", "never", 4),
        ("always_good", "always", 0),
        ("failure_good", "on-failure", 0),
        ("failure_bad", "on-failure", 5),
        ("config_bad", "on-config", 6),
        ("interval", "on-interval:1", 0),
    ] {
        yaml += &format!(
            "- {{name: {name}, image: IMAGE, restart: '{restart}', command: [sh, -c, exit {code}]}}\n"
        );
    }
    let Some(pod) = TestPod::new("policies", &yaml, &[]) else { return };
    pod.good(&["run"]);
    let count = |name: &str| pod.container_status(name)["startCount"].as_u64().unwrap();
    for name in ["always_good", "failure_bad", "config_bad", "interval"] {
        pod.wait(name, |_| count(name) >= 2);
    }
    for name in ["never_good", "never_bad", "failure_good"] {
        assert_eq!(count(name), 1, "{name}");
    }
    assert_eq!(pod.container_status("never_bad")["exitCode"], 4);
    assert_eq!(pod.state(), "not-ready");
}
