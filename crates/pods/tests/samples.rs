//! Four pods with everything that is written for them, byte for byte.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use podsmith_pods::image::{Runtime, read_description};
use podsmith_pods::spec::{Pod, PodSpec};
use podsmith_pods::{Compiled, Request, compile};

const SHOP: &str = include_str!("samples/shop.yaml");
const DB: &str = include_str!("samples/db.yaml");
const EDGE: &str = include_str!("samples/edge.yaml");

struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        for (path, content) in files {
            let path = project.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    fn compile(&self, name: &str) -> Compiled {
        let request = Request {
            name: Some(name.into()),
            ..Request::new(self.path("pod.yaml"), Runtime::Bytes(b"#!runtime"))
        };
        compile(&request).unwrap_or_else(|problems| panic!("{problems}"))
    }
}

fn containers(compiled: &Compiled) -> &PodSpec {
    match &compiled.pod {
        Pod::Containers(pod) => pod,
        Pod::Executable(_) => panic!("not a pod of containers"),
    }
}

fn lines(text: &str) -> String {
    text.replace('|', "\n") + "\n"
}

fn seed(text: &str) -> String {
    text.replace("api: 1.0.0-beta2", "apiVersion: 1.0.0-beta1\npodRuntime: podman")
        .replace("weight:", "importance:")
}

#[test]
fn sample_a_in_the_newer_dialect() {
    let project =
        Project::new(&[("pod.yaml", SHOP), ("pod.env", "PORT=8080\n"), ("config/site/index.html", "hi")]);
    let compiled = project.compile("shop");
    assert_eq!(project.read("pod.portmappings.conf").unwrap(), "61001:18090:64:false\n");
    assert_eq!(
        project.read("pod.ingress.conf").unwrap(),
        lines(
            "bind 443|protocol https|host b.example.com a.example.com|weight 120|path_beg /api/ /|clusterport 61001|\
             bind 80|protocol http|host a.example.com|weight 100|redirect_to_https true"
        )
    );
    let pod = containers(&compiled);
    assert_eq!(pod.full_name(), "shop-0.3.1");
    let volumes: Vec<_> = pod.podman_volumes().into_iter().map(|(name, _)| name).collect();
    assert_eq!(volumes, ["data-shop-0.3.1", "pool-shop"]);
    assert_eq!(pod.ramdisks(), [("scratch".to_owned(), 8)]);
    assert_eq!(pod.host_ports(), [18090, 18091]);
    assert_eq!(pod.containers[1].args, ["-p", "8080"]);
    assert_eq!(pod.containers[1].env, [("MODE".to_owned(), "two words".to_owned())]);
    assert!(project.read(".pod.yaml").unwrap().contains("targetPort: 8080"));
    assert_eq!(compiled.warnings.to_string(), "");
}

#[test]
fn sample_a_in_the_older_dialect() {
    let text = seed(SHOP).replace("    shared: pod\n", "");
    let project =
        Project::new(&[("pod.yaml", &text), ("pod.env", "PORT=8080\n"), ("config/site/index.html", "hi")]);
    let compiled = project.compile("shop");
    assert_eq!(project.read("pod.proxy.conf").unwrap(), "61001:18090:64:false\n");
    assert_eq!(project.read("pod.portmappings.conf"), None);
    assert!(project.read("pod.ingress.conf").unwrap().contains("\nimportance 120\n"));
    let volumes: Vec<_> = containers(&compiled).podman_volumes().into_iter().map(|(name, _)| name).collect();
    assert_eq!(volumes, ["data-shop", "pool-shop"]);
}

#[test]
fn sample_b_has_an_encrypted_config() {
    let project = Project::new(&[("pod.yaml", DB), ("config/dbpass/password", "plain")]);
    let compiled = project.compile("db");
    assert_eq!(project.read("pod.portmappings.conf").unwrap(), "2000:15432:4096:true\n");
    assert_eq!(
        project.read("pod.ingress.conf").unwrap(),
        "bind 5432\nprotocol tcp\nhost db.example.com\nweight 100\nclusterport 2000\n"
    );
    let pod = containers(&compiled);
    assert_eq!(pod.ramdisks(), [("dbpass-unencrypted".to_owned(), 1), ("cache".to_owned(), 1)]);
    assert_eq!(pod.containers[0].image, "example/app:1.2.3-rc.1");
    assert_eq!(pod.container_name(&pod.containers[0]), "app-db-1.2.3-rc.1");
    assert!(compiled.warnings.to_string().contains("config/dbpass/password is not encrypted"));
}

#[test]
fn sample_c_is_an_executable() {
    use std::os::unix::fs::PermissionsExt;
    let text =
        "api: 1.0.0-beta2\nruntime: executable\npodVersion: 0.1.0\nexecutable:\n  file: bin/${flavour}\n";
    let project =
        Project::new(&[("pod.yaml", text), ("pod.env", "flavour=svc"), ("bin/svc", "#!/bin/sh\necho hi\n")]);
    project.compile("svc");
    assert_eq!(project.read("pod").unwrap(), "#!/bin/sh\necho hi\n");
    assert_eq!(fs::metadata(project.path("pod")).unwrap().permissions().mode() & 0o111, 0o111);
    assert_eq!(project.read("pod.portmappings.conf"), None);
    assert_eq!(project.read("pod.ingress.conf"), None);
    assert!(project.read(".pod.yaml").unwrap().contains("file: bin/svc"));
}

#[test]
fn the_ports_of_an_executable_may_stand_in_both_places() {
    let expose = "expose:\n  - hostPort: 8080\n    clusterPort: 1234\n    maxConn: 5\n";
    let inner = expose.replace('\n', "\n  ");
    let head =
        "apiVersion: 1.0.0-beta1\npodRuntime: executable\npodVersion: 0.1.0\nexecutable:\n  file: svc\n";
    for text in [format!("{head}{expose}"), format!("{head}  {}", inner.trim_end())] {
        let project = Project::new(&[("pod.yaml", &text), ("svc", "x")]);
        project.compile("svc");
        assert_eq!(project.read("pod.proxy.conf").unwrap(), "1234:8080:5:false\n");
        assert_eq!(project.read("pod.ingress.conf").unwrap(), "\n");
        assert_eq!(project.read("config/cluster/cluster.conf").unwrap(), "1234:8080:5:false\n");
    }
}

#[test]
fn sample_d_has_directives_and_redirects() {
    let project = Project::new(&[("edge.yaml", EDGE), ("edge.env", "A=true\nB=true\n")]);
    let request = Request {
        name: Some("edge".into()),
        output: Some(project.path("edgepod")),
        ..Request::new(project.path("edge.yaml"), Runtime::Bytes(b"x"))
    };
    let compiled = compile(&request).unwrap();
    assert_eq!(compiled.warnings.0.len(), 1);
    assert!(compiled.warnings.0[0].message.contains("NOTSET"));
    let pod = containers(&compiled);
    assert_eq!(pod.containers[0].restart.to_string(), "always");
    assert_eq!(pod.containers[0].working_dir.as_deref(), Some("/b"));
    assert!(pod.host_ports().is_empty());
    assert_eq!(project.read("edgepod.portmappings.conf"), None);
    assert_eq!(
        project.read("edgepod.ingress.conf").unwrap(),
        lines(
            "bind 80|protocol http|host old.example.com|weight 100|redirect_location https://new.example.com/x?y=1&z=2|\
             bind 80|protocol http|host *.old.example.com|weight 100|redirect_to_https true"
        )
    );
}

#[test]
fn the_description_stands_behind_the_runtime() {
    let project = Project::new(&[("edge.yaml", EDGE), ("edge.env", "A=true\nB=true\n")]);
    let request = Request {
        name: Some("edge".into()),
        ..Request::new(project.path("edge.yaml"), Runtime::Bytes(b"#!runtime"))
    };
    let compiled = compile(&request).unwrap();
    let file = project.path("edge");
    assert!(fs::read(&file).unwrap().starts_with(b"#!runtime{"));
    let read: PodSpec = serde_json::from_slice(&read_description(&file).unwrap().unwrap()).unwrap();
    assert_eq!(&read, containers(&compiled));
    // A compiled pod can be the runtime of the next one: only its own runtime is taken over.
    let again =
        Request { output: Some(project.path("again")), runtime: Runtime::File(file.clone()), ..request };
    compile(&again).unwrap();
    assert_eq!(fs::read(project.path("again")).unwrap(), fs::read(&file).unwrap());
    assert_eq!(read_description(Path::new("/proc/self/exe")).unwrap(), None);
}

#[test]
fn an_older_port_map_is_removed_when_it_becomes_empty() {
    let project = Project::new(&[
        ("edge.yaml", EDGE),
        ("edge.env", "A=true\nB=true\n"),
        ("edge.portmappings.conf", "old"),
        ("edge.ingress.conf", "old"),
    ]);
    let request = Request {
        name: Some("edge".into()),
        ..Request::new(project.path("edge.yaml"), Runtime::Bytes(b"x"))
    };
    compile(&request).unwrap();
    assert_eq!(project.read("edge.portmappings.conf"), None);
    assert!(project.read("edge.ingress.conf").unwrap().starts_with("bind 80\n"));
}

#[test]
fn automatic_ports_avoid_the_pods_beside_and_stay_the_same() {
    let text = "api: 1.0.0-beta2\npodVersion: 1.0.0\ncontainers:\n- name: a\n  image: a\n  expose:\n  - {targetPort: 80, hostPort: '${HOSTPORTAUTO1}', clusterPort: '${CLUSTERPORTAUTO1}'}\n";
    let project = Project::new(&[("pod.yaml", text), ("other.portmappings.conf", "61000:30000:1:false\n")]);
    for _ in 0..2 {
        project.compile("a");
        assert_eq!(project.read("pod.portmappings.conf").unwrap(), "61001:30001:4096:false\n");
    }
}

#[test]
fn automatic_ports_avoid_the_other_pods_of_a_host() {
    let text = "api: 1.0.0-beta2\npodVersion: 1.0.0\ncontainers:\n- name: a\n  image: a\n  expose:\n  - {targetPort: 80, hostPort: '${HOSTPORTAUTO1}', clusterPort: '${CLUSTERPORTAUTO1}'}\n";
    let project = Project::new(&[
        ("pod.yaml", text),
        ("home/pods/a/release/1.0.0/x", ""),
        ("home/pods/a/release/0.9.0/pod.portmappings.conf", "61000:30000:1:false\n"),
        ("home/pods/b/release/2.0.0/pod.portmappings.conf", "61001:30001:1:false\n"),
    ]);
    let output = project.path("home/pods/a/release/1.0.0/pod");
    let request = Request {
        name: Some("a".into()),
        output: Some(output),
        ..Request::new(project.path("pod.yaml"), Runtime::Bytes(b"x"))
    };
    for _ in 0..2 {
        compile(&request).unwrap();
        let map = project.read("home/pods/a/release/1.0.0/pod.portmappings.conf").unwrap();
        assert_eq!(map, "61002:30002:4096:false\n");
    }
}

#[test]
fn one_pod_in_four_spellings_gives_the_same() {
    let block = "api: 1.0.0-beta2\npodVersion: 1.0.0\ncontainers:\n    - name: a\n      image: b:1\n      restart: always\n      args:\n          - \"80\"\n          - -x\n";
    let unindented = "api: 1.0.0-beta2\npodVersion: 1.0.0\ncontainers:\n- name: a\n  image: b:1\n  restart: always\n  args:\n  - 80\n  - -x\n";
    let flow = "{api: 1.0.0-beta2, podVersion: 1.0.0, containers: [{name: a, image: 'b:1', restart: always, args: [80, -x]}]}\n";
    let quoted = "api: '1.0.0-beta2' # the version\npodVersion: \"1.0.0\"\ncontainers: # all\n  - name: 'a'\n    image: \"b:1\" # x\n    restart: always # y\n    args: ['80', \"-x\"]\n";
    let all: Vec<Vec<u8>> = [block, unindented, flow, quoted]
        .iter()
        .map(|text| {
            let project = Project::new(&[("pod.yaml", text)]);
            project.compile("same");
            fs::read(project.path("pod")).unwrap()
        })
        .collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn the_source_is_never_overwritten() {
    let project = Project::new(&[("pod", EDGE)]);
    let request =
        Request { name: Some("edge".into()), ..Request::new(project.path("pod"), Runtime::Bytes(b"x")) };
    assert!(compile(&request).unwrap_err().to_string().contains("would be overwritten"));
    assert_eq!(project.read("pod").unwrap(), EDGE);
}

#[test]
fn the_example_compiles_without_warnings() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pods");
    let read = |path: &str| fs::read_to_string(example.join(path)).unwrap();
    let project = Project::new(&[
        ("pod.yaml", &read("pod.yaml")),
        ("pod.env", &read("pod.env")),
        ("config/site/index.html", &read("config/site/index.html")),
    ]);
    let compiled = project.compile("shop");
    assert_eq!(compiled.warnings.to_string(), "");
    assert_eq!(project.read("pod.portmappings.conf").unwrap(), "61000:30000:512:false\n");
}

#[test]
fn what_is_missing_on_disk_is_told_with_its_line() {
    let project = Project::new(&[("pod.yaml", SHOP), ("pod.env", "PORT=8080\n")]);
    let requests = [Request {
        name: Some("shop".into()),
        ..Request::new(project.path("pod.yaml"), Runtime::Bytes(b"x"))
    }];
    let results = podsmith_pods::compile_all(&requests);
    let message = results[0].as_ref().unwrap_err().to_string();
    assert!(message.contains("pod.yaml:4:11: config `site` does not exist as "), "{message}");
    assert!(project.read("pod").is_none() && project.read(".pod.yaml").is_none(), "nothing is written");
}

#[test]
fn compiling_the_same_again_touches_nothing() {
    use std::os::unix::fs::MetadataExt;
    let project =
        Project::new(&[("pod.yaml", SHOP), ("pod.env", "PORT=8080\n"), ("config/site/index.html", "hi")]);
    let files = ["pod", ".pod.yaml", "pod.portmappings.conf", "pod.ingress.conf"];
    let inodes = || files.map(|file| fs::metadata(project.path(file)).unwrap().ino());
    project.compile("shop");
    let before = inodes();
    project.compile("shop");
    assert_eq!(inodes(), before);
    // A damaged or changed file is written again.
    let mut bytes = fs::read(project.path("pod")).unwrap();
    bytes[0] ^= 1;
    fs::write(project.path("pod"), &bytes).unwrap();
    project.compile("shop");
    assert!(fs::read(project.path("pod")).unwrap().starts_with(b"#!runtime"));
}
