//! One bad file for each rule, and all mistakes of a file in one run.

#![allow(clippy::unwrap_used)]

use podsmith_pods::read::{Context, read, valid_name, valid_version};

fn problems(text: &str) -> Vec<String> {
    let context = Context { file: "pod.yaml", name: "web", source_dir: "/src" };
    match read(text, context) {
        Ok((_, warnings)) => panic!("accepted, with warnings {warnings}\n{text}"),
        Err(found) => found.0.iter().map(|d| d.to_string().lines().next().unwrap().to_owned()).collect(),
    }
}

fn accepted(text: &str) {
    let context = Context { file: "pod.yaml", name: "web", source_dir: "/src" };
    if let Err(found) = read(text, context) {
        panic!("{found}\n{text}");
    }
}

/// A pod whose only container has one more line.
fn container(line: &str) -> String {
    format!(
        "api: 1.0.0-beta2\npodVersion: 1.0.0\nvolumes:\n- {{name: vol, type: volume}}\ncontainers:\n- name: a\n  image: b\n  {line}\n"
    )
}

fn volume(item: &str) -> String {
    format!("api: 1.0.0-beta2\npodVersion: 1.0.0\nvolumes:\n- {item}\ncontainers: [{{name: a, image: b}}]\n")
}

fn ingress(rule: &str) -> String {
    container(&format!(
        "expose: [{{targetPort: 80, hostPort: 8080, clusterPort: 2000, ingress: [{{{rule}}}]}}]"
    ))
}

#[test]
fn every_rule_names_its_place() {
    let mut wrong = Vec::new();
    let top = "podVersion: 1.0.0\ncontainers: [{name: a, image: b}]\n";
    for (text, line, part) in [
        (format!("api: 3\n{top}"), "pod.yaml:1:6", "`api` `3` is not supported"),
        (
            format!("apiVersion: 1.0.0-beta2\npodRuntime: podman\n{top}"),
            "pod.yaml:1:13",
            "`apiVersion` `1.0.0-beta2`",
        ),
        (format!("apiVersion: 1.0.0-beta1\n{top}"), "pod.yaml:1:1", "`podRuntime` is missing"),
        (format!("apiVersion: 1.0.0-beta1\nruntime: podman\n{top}"), "pod.yaml:2:10", "cannot be mixed"),
        (format!("api: 1.0.0-beta2\napiVersion: 1.0.0-beta1\n{top}"), "pod.yaml:1:6", "cannot be mixed"),
        (top.into(), "pod.yaml:1:1", "`api` is missing"),
        (format!("api: 1.0.0-beta2\nruntime: docker\n{top}"), "pod.yaml:2:10", "none of podman, executable"),
        (
            "api: 1.0.0-beta2\ncontainers: [{name: a, image: b}]\n".into(),
            "pod.yaml:1:1",
            "`podVersion` is missing",
        ),
        (
            "api: 1.0.0-beta2\npodVersion: 1.0\ncontainers: [{name: a, image: b}]\n".into(),
            "pod.yaml:2:13",
            "`1.0` is invalid",
        ),
        ("api: 1.0.0-beta2\npodVersion: 1.0.0\n".into(), "pod.yaml:1:1", "no containers"),
        (format!("api: 1.0.0-beta2\n{top}lables: []\n"), "pod.yaml:4:1", "unknown key `lables`"),
        (
            format!("api: 1.0.0-beta2\n{top}labels: [{{name: a, value: 'x y'}}]\n"),
            "pod.yaml:4:10",
            "invalid characters in labels[0]",
        ),
        (volume("{name: Vol, type: volume}"), "pod.yaml:4:10", "volumes[0].name `Vol` is malformed"),
        (volume("{name: _vol, type: volume}"), "pod.yaml:4:10", "malformed"),
        (volume("{name: v, type: disk}"), "pod.yaml:4:19", "none of ramdisk, config, volume, host"),
        (volume("{name: v, type: ramdisk, size: 1G}"), "pod.yaml:4:34", "must be in megabytes"),
        (volume("{name: v, type: volume, shared: all}"), "pod.yaml:4:35", "none of no, pod, host"),
        (
            volume("{name: v, type: volume, encrypted: true}"),
            "pod.yaml:4:38",
            "only config volumes can be encrypted",
        ),
        (
            volume("{name: v, type: config, encrypted: yes}"),
            "pod.yaml:4:38",
            "must be true or false, this is `yes`",
        ),
        (volume("{name: v, type: host}"), "pod.yaml:4:3", "`bind` is missing"),
        (volume("{name: v, type: volume, size: 1M}"), "pod.yaml:4:33", "only for volumes of type ramdisk"),
        (volume("{name: v, type: volume}\n- {name: v, type: volume}"), "pod.yaml:5:3", "already defined"),
        (container("name2: x"), "pod.yaml:8:3", "unknown key `name2`"),
        (container("workingDir: '/a b'"), "pod.yaml:8:15", "invalid characters"),
        (container("env: [{name: 1A, value: x}]"), "pod.yaml:8:9", "illegal characters"),
        (container("restart: sometimes"), "pod.yaml:8:12", "`sometimes` is invalid"),
        (container("restart: on-interval"), "pod.yaml:8:12", "on-interval:seconds"),
        (container("restart: on-interval:x"), "pod.yaml:8:12", "on-interval:seconds"),
        (container("network: bridge"), "pod.yaml:8:12", "none of host"),
        (container("signal: [{sig: HUP}, {cmd: [a]}]"), "pod.yaml:8:24", "only one of sig and cmd"),
        (container("signal: [{sig: HUP, cmd: [a]}]"), "pod.yaml:8:12", "only one of sig and cmd"),
        (container("signal: [{sig: HOP}]"), "pod.yaml:8:18", "`HOP` is not a signal"),
        (container("mounts: [{dest: x, volume: vol}]"), "pod.yaml:8:12", "must start with a slash"),
        (container("mounts: [{dest: /x, volume: val}]"), "pod.yaml:8:12", "volume `val`"),
        (container("startupProbe: {timeout: soon}"), "pod.yaml:8:27", "must be an integer"),
        (container("startupProbe: {exit: true, cmd: [a]}"), "pod.yaml:8:17", "only one of exit and cmd"),
        (
            container("startupProbe: {signal: [{container: z}]}"),
            "pod.yaml:8:27",
            "could not find container `z`",
        ),
        (container("readinessProbe: {timeout: x, cmd: [a]}"), "pod.yaml:8:29", "must be an integer"),
        (container("livenessProbe: {timeout: -1, cmd: [a]}"), "pod.yaml:8:28", "must be an integer"),
        (
            container("livenessProbe: {cmd: [a], tcp: {port: 1}}"),
            "pod.yaml:8:18",
            "only one of cmd, http and tcp",
        ),
        (container("cpu: fast"), "pod.yaml:8:8", "not an amount"),
        (container("expose: [{hostPort: 80}]"), "pod.yaml:8:12", "targetPort is missing"),
        (container("expose: [{targetPort: x, hostPort: 80}]"), "pod.yaml:8:25", "must be an integer"),
        (container("expose: [{targetPort: 0, hostPort: 80}]"), "pod.yaml:8:25", "between 1 and 65535"),
        (container("expose: [{targetPort: 1, hostPort: 65536}]"), "pod.yaml:8:38", "between 1 and 65535"),
        (
            container(
                "expose: [{targetPort: 1, hostPort: 80}, {targetPort: 2, hostPort: 80, hostInterface: 127.0.0.1}]",
            ),
            "pod.yaml:8:43",
            "can only be defined once",
        ),
        (
            container("expose: [{targetPort: 1, hostPort: 80, hostInterface: 1.2.3.400}]"),
            "pod.yaml:8:57",
            "must be an IP address",
        ),
        (
            container("expose: [{targetPort: 1, hostPort: 80, clusterPort: 80}]"),
            "pod.yaml:8:55",
            "between 1024 and 65535",
        ),
        (
            container("expose: [{targetPort: 1, hostPort: 80, clusterPort: 32767}]"),
            "pod.yaml:8:55",
            "between 30000 and 32767",
        ),
        (container("expose: [{targetPort: 1, clusterPort: 2000}]"), "pod.yaml:8:12", "without a hostPort"),
        (
            container("expose: [{targetPort: 1, hostPort: 80, maxConn: many}]"),
            "pod.yaml:8:51",
            "must be an integer",
        ),
        (
            container("expose: [{targetPort: 1, hostPort: 80, sendProxy: yes}]"),
            "pod.yaml:8:53",
            "true or false",
        ),
        (ingress("protocol: udp"), "pod.yaml:8:85", "none of http, https, tcp"),
        (ingress("protocol: tcp"), "pod.yaml:8:74", "a bind port must be provided"),
        (ingress("protocol: tcp, bind: 1, pathBeg: /"), "pod.yaml:8:74", "HTTP specific matching"),
        (ingress("protocol: tcp, bind: 1, redirectLocation: x"), "pod.yaml:8:74", "HTTP specific matching"),
        (ingress("protocol: http"), "pod.yaml:8:74", "missing http/s specific criterion"),
        (ingress("protocol: http, path: /a, pathBeg: /"), "pod.yaml:8:74", "cannot be used together"),
        (ingress("protocol: http, weight: high, pathBeg: /"), "pod.yaml:8:99", "must be an integer"),
        (ingress("protocol: http, importance: 1, pathBeg: /"), "pod.yaml:8:103", "cannot be mixed"),
        (ingress("protocol: https, redirectToHttps: true"), "pod.yaml:8:74", "cannot redirect to https"),
        (
            ingress("protocol: http, redirectToHttps: true, redirectPrefix: x"),
            "pod.yaml:8:74",
            "exclude each other",
        ),
        (ingress("protocol: http, errorfile: 418 /x"), "pod.yaml:8:102", "status 418"),
        (ingress("protocol: http, errorfile: /x"), "pod.yaml:8:102", "malformed"),
        (
            ingress("protocol: http, domain: 'a.b c/d', pathBeg: /"),
            "pod.yaml:8:99",
            "`c/d` is not a host name",
        ),
        (
            container("expose: [{targetPort: 1, hostPort: 2, ingress: [{protocol: http, pathBeg: /}]}]"),
            "pod.yaml:8:51",
            "lacking a hostPort and clusterPort",
        ),
    ] {
        let found = problems(&text);
        let expected = format!("error: {line}: ");
        if !found.iter().any(|problem| problem.starts_with(&expected) && problem.contains(part)) {
            wrong.push(format!("expected {expected}…{part}… in {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_mistakes_are_told_in_one_run() {
    let text = "api: 1.0.0-beta2\npodVersion: x\ncontainers:\n- name: A\n  imgae: b\n- name: b\n  image: c\n  restart: no\n";
    insta::assert_snapshot!(problems(text).join("\n"), @"
    error: pod.yaml:2:13: `podVersion` `x` is invalid
    error: pod.yaml:4:3: `image` is missing in containers[0]
    error: pod.yaml:4:9: containers[0].name `A` is malformed
    error: pod.yaml:5:3: unknown key `imgae` in containers[0]
    error: pod.yaml:8:12: containers[1].restart `no` is invalid
    ");
}

#[test]
fn a_message_shows_the_line_and_what_to_do() {
    let context = Context { file: "pod.yaml", name: "web", source_dir: "/src" };
    let found = read(&container("restrat: always"), context).unwrap_err();
    insta::assert_snapshot!(found.to_string(), @"
    error: pod.yaml:8:3: unknown key `restrat` in containers[0]
       |
     8 |   restrat: always
       |   ^
    hint: did you mean `restart`?
    ");
}

#[test]
fn what_looks_odd_but_is_right_is_accepted() {
    accepted(&container("env: [{name: _A, value: 010}, {name: B, value: }, {name: C, value: 'x `y` $z'}]"));
    accepted(&container(
        "expose: [{ingress: [{protocol: http, domain: '', redirectLocation: 'https://a/'}]}]",
    ));
    accepted(&container("expose: [{targetPort: '80', hostPort: \"8080\", sendProxy: 'true'}]"));
    accepted(&container("readinessProbe: {http: {port: 80}}"));
    accepted(&container("startupProbe:"));
    accepted(&volume("{name: _tpl, type: config}"));
    accepted(&ingress("protocol: http, domain: '*', pathBeg: /"));
    accepted(&ingress("protocol: tcp, bind: 5432"));
    accepted(
        "apiVersion: 1.0.0-beta1\npodRuntime: podman\npodVersion: 1.0.0-a.b-1\ncontainers: [{name: a, image: b}]\n",
    );
}

#[test]
fn host_network_ignores_expose_with_a_warning() {
    let context = Context { file: "pod.yaml", name: "web", source_dir: "/src" };
    let (_, warnings) = read(&container("network: host\n  expose: [{hostPort: 99999}]"), context).unwrap();
    assert!(warnings.to_string().contains("pod.yaml:9:12: containers[0].expose has no effect"));
}

#[test]
fn names_and_versions() {
    for name in ["a", "web", "a1", "a_b", "a__2"] {
        assert!(valid_name(name), "{name}");
    }
    for name in ["", "A", "1a", "a_", "_a", "a-b", "a.b", "ä"] {
        assert!(!valid_name(name), "{name}");
    }
    for version in ["0.0.1", "10.20.30", "1.0.0-rc.1", "1.0.0-", "1.0.0-a-b"] {
        assert!(valid_version(version), "{version}");
    }
    for version in ["", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.0-RC", "1.0.0+x", "1..0"] {
        assert!(!valid_version(version), "{version}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(api: 1.0.0-beta2\n|podVersion: 1.0.0\n|containers:\n|- name: a\n|  image: é\n|  args: [1, ~]\n|  expose:\n|[a-z:{}\\[\\] \n,-]{0,6}){0,12}") {
        let _ = read(&text, Context { file: "f", name: "a", source_dir: "/" });
    }
}
