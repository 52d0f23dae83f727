//! Probes, signals, configs, secrets, logs.

use podsmith_pods::secrets::age::{Identity, encrypt};

use crate::host::TestPod;

/// Counts the HUP signals that it gets.
const COUNTER: &str = "trap 'echo hup' HUP; trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done";

#[test]
fn readiness_and_liveness_follow_the_container() {
    let yaml = "\
containers:
- name: web
  image: IMAGE
  restart: always
  command: [sh, -c, \"trap 'exit 0' TERM; mkdir -p /srv; touch /srv/ready /alive; httpd -f -p 8080 -h /srv & wait\"]
  readinessProbe: {http: {port: 8080, path: /ready}, period: 1, timeout: 5}
  livenessProbe: {cmd: [test, -e, /alive], period: 1, timeout: 10}
- name: side
  image: IMAGE
  restart: always
  command: [sleep, '1000']
  readinessProbe: {tcp: {port: 8080}, period: 1, timeout: 5}
";
    let Some(pod) = TestPod::new("probes", yaml, &[]) else { return };
    pod.good(&["run"]);
    pod.wait_state("running");
    pod.good(&["exec", "web", "rm", "/srv/ready"]);
    pod.wait_state("not-ready");
    assert!(pod.container_status("web")["message"].as_str().unwrap().contains("404"));
    pod.good(&["exec", "web", "touch", "/srv/ready"]);
    pod.wait_state("running");
    pod.good(&["exec", "web", "rm", "/alive"]);
    pod.wait("the container is replaced", |pod| pod.container_status("web")["startCount"] == 2);
    pod.wait_state("running");
    assert_eq!(pod.container_status("web")["livenessFailures"], 1);
    assert_eq!(pod.container_status("side")["startCount"], 1);
}

#[test]
fn signals_and_changed_configs_reach_their_containers() {
    let yaml = format!(
        "\
volumes: [{{name: conf, type: config}}]
containers:
- {{name: user, image: IMAGE, command: [sh, -c, \"{COUNTER}\"], signal: [{{sig: HUP}}], mounts: [{{volume: conf, dest: /conf}}]}}
- {{name: other, image: IMAGE, command: [sh, -c, \"{COUNTER}\"], signal: [{{cmd: [kill, -HUP, '1']}}]}}
- {{name: job, image: IMAGE, restart: on-config, command: [cat, /conf/a], mounts: [{{volume: conf, dest: /conf}}]}}
"
    );
    let Some(pod) = TestPod::new("signals", &yaml, &[("config/conf/a", b"one\n")]) else { return };
    pod.good(&["run"]);
    let count = |name: &str| pod.log(name).lines().filter(|line| *line == "hup").count();
    pod.wait("all are up", |pod| {
        pod.log("user") == "up\n"
            && pod.log("other") == "up\n"
            && pod.container_status("job")["status"] == "exited"
    });
    pod.good(&["signal", "other"]);
    pod.wait("a command is a signal too", |_| count("other") == 1);
    assert_eq!(count("user"), 0);
    assert!(pod.bad(&["signal", "nobody"]).contains("user, other, job"));

    // The same size, twice in a moment: each change is seen, its users are told once.
    pod.write("config/conf/a", b"two\n");
    pod.wait("the change is seen", |_| count("user") == 1);
    pod.write("config/conf/a", b"six\n");
    pod.wait("the second change is seen", |_| count("user") == 2);
    pod.wait("the job ran again", |pod| pod.log("job").ends_with("six\n"));
    pod.good(&["reload-configs", "conf"]);
    pod.wait("told on demand", |_| count("user") == 3);
    assert_eq!(count("other"), 1);
    pod.good(&["reload-configs", "unknown"]);
    assert!(pod.bad(&["reload-configs"]).contains("at least one"));
}

#[test]
fn secrets_are_plain_only_in_memory() {
    let key = Identity::generate().unwrap();
    let sealed = |text: &str| encrypt(text.as_bytes(), &[key.recipient()]).unwrap();
    let yaml = format!(
        "\
volumes: [{{name: pass, type: config, encrypted: true}}]
containers:
- {{name: user, image: IMAGE, command: [sh, -c, \"cat /run/pass/word; {COUNTER}\"], signal: [{{sig: HUP}}], mounts: [{{volume: pass, dest: /run/pass}}]}}
"
    );
    let files: &[(&str, &[u8])] = &[("config/pass/word.age", &sealed("correct horse\n"))];
    let Some(pod) = TestPod::new("secrets", &yaml, files) else { return };
    let pod = pod.with_environment("PODSMITH_AGE_KEY", "nothing");
    assert!(pod.bad(&["run"]).contains("AGE-SECRET-KEY-1"), "a clear message without a key");
    let pod = pod.with_environment("PODSMITH_AGE_KEY", &key.to_secret_text());
    pod.good(&["run"]);
    pod.wait("the secret is read", |pod| pod.log("user").starts_with("correct horse\nup"));
    pod.write("config/pass/word.age", &sealed("battery staple\n"));
    pod.wait("the user is told", |pod| pod.log("user").ends_with("hup\n"));
    assert_eq!(pod.good(&["exec", "user", "cat", "/run/pass/word"]), "battery staple\n");
    assert!(pod.good(&["exec", "user", "stat", "-c", "%a %T", "-f", "/run/pass"]).contains("tmpfs"));
    // Nothing below the pod's directory holds the plaintext, except what the container itself printed.
    let found = std::process::Command::new("grep")
        .args(["-rl", "battery staple"])
        .arg(pod.path("."))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn ramdisks_are_real_for_root_and_directories_otherwise() {
    let yaml = "\
volumes: [{name: fast, type: ramdisk, size: 1M}]
containers: [{name: a, image: IMAGE, command: [sleep, '1000'], mounts: [{volume: fast, dest: /fast}]}]
";
    let Some(pod) = TestPod::new("ramdisk", yaml, &[]) else { return };
    assert_eq!(pod.good(&["ramdisk-config"]), "fast:1M\n");
    assert_eq!(pod.good(&["create-ramdisks", "-l"]), "fast:1M\n");
    let warning = String::from_utf8(pod.call(&["create"]).stderr).unwrap();
    assert!(warning.contains("a plain directory is used instead"), "{warning}");
    pod.good(&["rm"]);
    assert!(!pod.path("ramdisk/fast").exists(), "the stand-in is removed");
    if !rustix::process::geteuid().is_root() {
        assert!(pod.bad(&["create-ramdisks"]).contains("only root"));
        return;
    }
    pod.good(&["create-ramdisks"]);
    pod.good(&["run"]);
    pod.wait_state("running");
    let filled = pod.call(&["exec", "a", "dd", "if=/dev/zero", "of=/fast/x", "bs=1M", "count=2"]);
    assert!(String::from_utf8_lossy(&filled.stderr).contains("No space left"));
    pod.good(&["rm", "-k"]);
    assert!(pod.path("ramdisk/fast/x").exists(), "a real ramdisk is left to its owner");
}

#[test]
fn logs_are_bounded_and_rotated_files_are_read() {
    let yaml = "\
containers:
- name: loud
  image: IMAGE
  command: [sh, -c, 'i=0; while :; do i=$((i+1)); echo line $i of a log that grows; [ $((i % 200)) = 0 ] && sleep 0.3; done']
";
    let Some(pod) = TestPod::new("logs", yaml, &[]) else { return };
    let pod = pod.with_environment("PODSMITH_LOG_BYTES", "20000").with_environment("PODSMITH_LOG_FILES", "2");
    pod.good(&["run"]);
    let rotated = || {
        let files = std::fs::read_dir(pod.path("log")).unwrap().flatten();
        files.filter(|file| file.file_name().to_string_lossy().starts_with("loud.log.")).count()
    };
    pod.wait("two rotated files", |_| rotated() == 2);
    pod.good(&["kill"]);
    let lines = pod.log("loud");
    let numbers: Vec<u64> = lines.lines().filter_map(|line| line.split(' ').nth(1)?.parse().ok()).collect();
    let gap = numbers.windows(2).find(|pair| pair[0] + 1 != pair[1]);
    assert_eq!(gap, None, "nothing is lost between the files");
}
