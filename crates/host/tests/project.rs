//! A cluster project on hosts that are directories.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use podsmith_host::layout::Wanted;
use podsmith_host::project::{Force, HostSettings, HostState, PodRef, Project, ProjectError};
use podsmith_pods::image::Runtime;

const RUNTIME: Runtime = Runtime::Bytes(b"#!runtime");

struct Cluster {
    dir: tempfile::TempDir,
    project: Project,
}

impl Cluster {
    /// A project with hosts `one` to `three` and the pod `web` in version 1.0.0.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::create(&dir.path().join("project"), "test").unwrap();
        for (index, name) in ["one", "two", "three"].iter().enumerate() {
            let settings = HostSettings {
                home: dir.path().join("homes").join(name),
                router: Some(format!("10.0.0.{index}:32767")),
            };
            project.register_host(name, &settings).unwrap();
            project.init_host(name).unwrap();
        }
        let cluster = Self { dir, project };
        cluster.source("1.0.0");
        for config in ["site/a", "site/sub/b", "_tpl/x"] {
            write(&cluster.pod_dir().join("config").join(config), "first");
        }
        fs::write(cluster.project.path().join("cluster-vars.env"), "IMAGE=app:1\nweb_mode=fast\n").unwrap();
        cluster
    }

    fn pod_dir(&self) -> PathBuf {
        self.project.path().join("_pods/web")
    }

    fn source(&self, version: &str) {
        let text = format!(
            "api: 1.0.0-beta2\npodVersion: {version}\nvolumes: [{{name: site, type: config}}]\ncontainers:\n- name: a\n  image: ${{IMAGE}}\n  \
             env: [{{name: M, value: '${{mode}}'}}]\n  mounts: [{{volume: site, dest: /s}}]\n  \
             expose: [{{targetPort: 80, hostPort: '${{HOSTPORTAUTO1}}', clusterPort: '${{CLUSTERPORTAUTO1}}'}}]\n"
        );
        write(&self.pod_dir().join("pod.yaml"), &text);
    }

    fn home(&self, host: &str) -> PathBuf {
        self.dir.path().join("homes").join(host)
    }

    fn release(&self, host: &str, version: &str) -> PathBuf {
        self.home(host).join("pods/web/release").join(version)
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn refused<T: std::fmt::Debug>(result: Result<T, ProjectError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn pods_are_compiled_for_their_hosts_and_brought_there() {
    let cluster = Cluster::new();
    let project = &cluster.project;
    let web = PodRef::parse("web");
    assert!(refused(project.compile(&web, &RUNTIME)).contains("attached to no host"));
    for host in ["one", "two"] {
        project.attach("web", host).unwrap();
    }
    assert!(refused(project.attach("web", "one")).contains("already"));
    assert!(refused(project.attach("nothing", "one")).contains("no pod"));
    assert!(refused(project.attach("web", "four")).contains("one, three, two"));
    assert_eq!(project.compile(&web, &RUNTIME).unwrap().made.len(), 2);
    assert_eq!(project.compile(&web, &RUNTIME).unwrap().kept.len(), 2, "a version is compiled once");

    // A second version: new ports on each host, one cluster port for all hosts.
    cluster.source("1.1.0");
    project.compile(&web, &RUNTIME).unwrap();
    for host in ["one", "two"] {
        project.sync(host, Force::No).unwrap();
        assert_eq!(
            read(&cluster.release(host, "1.0.0").join("pod.portmappings.conf")),
            "61000:30000:4096:false\n"
        );
        assert_eq!(
            read(&cluster.release(host, "1.1.0").join("pod.portmappings.conf")),
            "61001:30001:4096:false\n"
        );
    }
    let release = cluster.release("one", "1.0.0");
    assert_eq!(read(&release.join("config/site/sub/b")), "first");
    assert!(!release.join("config/_tpl").exists(), "underscored configs stay in the project");
    assert_eq!(read(&release.join("config/site.txt")).len(), 65);
    assert_eq!(
        read(&cluster.home("two").join("hosts.conf")),
        "10.0.0.1:32767\n10.0.0.0:32767\n10.0.0.2:32767\n"
    );

    project.release(&web).unwrap();
    assert_eq!(project.sync("one", Force::No).unwrap().states, ["web:1.0.0"]);
    assert_eq!(read(&release.join("pod.state")), "removed\n");
    assert!(refused(project.delete(&web)).contains("is not removed"));
    project.delete(&PodRef::parse("web:1.0.0")).unwrap();
    project.detach("web", "two").unwrap();
    project.sync("two", Force::No).unwrap();
    assert_eq!(
        read(&cluster.release("two", "1.1.0").join("pod.state")),
        "removed\n",
        "unknown releases are removed"
    );
    project.set_host_state("one", HostState::Inactive).unwrap();
    project.sync("one", Force::No).unwrap();
    assert_eq!(read(&cluster.release("one", "1.1.0").join("pod.state")), "removed\n");
}

#[test]
fn a_pod_that_does_not_compile_leaves_nothing() {
    let cluster = Cluster::new();
    for host in ["one", "two"] {
        cluster.project.attach("web", host).unwrap();
    }
    let text = read(&cluster.pod_dir().join("pod.yaml")).replace("image:", "imgae:");
    write(&cluster.pod_dir().join("pod.yaml"), &text);
    let message = refused(cluster.project.compile(&PodRef::parse("web"), &RUNTIME));
    assert!(message.contains("unknown key `imgae`"), "{message}");
    assert!(!cluster.project.path().join("one/pods/web/release/1.0.0").exists());
}

#[test]
fn configs_are_refilled_in_their_directory() {
    let cluster = Cluster::new();
    let (project, web) = (&cluster.project, PodRef::parse("web"));
    project.attach("web", "one").unwrap();
    project.compile(&web, &RUNTIME).unwrap();
    project.sync("one", Force::No).unwrap();
    let site = cluster.release("one", "1.0.0").join("config/site");
    let inode = fs::metadata(&site).unwrap().ino();
    write(&project.path().join("_config/web/site/a"), "other");
    fs::remove_file(project.path().join("_config/web/site/sub/b")).unwrap();
    project.update_config(&web).unwrap();
    assert_eq!(project.sync("one", Force::No).unwrap().configs, ["web:1.0.0:site"]);
    assert_eq!(read(&site.join("a")), "other");
    assert!(!site.join("sub/b").exists());
    assert_eq!(fs::metadata(&site).unwrap().ino(), inode, "containers have this directory mounted");
    assert_eq!(project.sync("one", Force::No).unwrap(), Default::default(), "nothing more to do");
}

#[test]
fn a_sync_that_was_cut_off_goes_on_and_two_do_not_mix() {
    let cluster = Cluster::new();
    let project = &cluster.project;
    project.attach("web", "one").unwrap();
    project.compile(&PodRef::parse("web"), &RUNTIME).unwrap();
    let lock = cluster.home("one").join("lock-token.txt");
    fs::write(&lock, "somebody").unwrap();
    assert!(refused(project.sync("one", Force::No)).contains("another sync"));
    // The other one died, with a release half copied.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    fs::File::options().write(true).open(&lock).unwrap().set_modified(old).unwrap();
    write(&cluster.home("one").join("pods/web/release/.1.0.0.part/pod"), "half");
    assert_eq!(project.sync("one", Force::No).unwrap().added, ["web:1.0.0"]);
    assert!(read(&cluster.release("one", "1.0.0").join("pod")).starts_with("#!runtime{"));
    assert!(!lock.exists());
}

#[test]
fn clashing_ports_and_foreign_homes_are_refused() {
    let cluster = Cluster::new();
    let project = &cluster.project;
    project.attach("web", "one").unwrap();
    project.compile(&PodRef::parse("web"), &RUNTIME).unwrap();
    let other = project.path().join("one/pods/other/release/1.0.0");
    write(&other.join("pod"), "");
    write(&other.join("pod.state"), "running");
    write(&other.join("pod.portmappings.conf"), "61005:30000:1:false\n");
    assert!(
        refused(project.sync("one", Force::No))
            .contains("host port 30000 of one is used by other:1.0.0 and web:1.0.0")
    );
    write(&other.join("pod.portmappings.conf"), "2000:61000:1:false\n");
    assert!(refused(project.sync("one", Force::No)).contains("is a cluster port too"));
    project.set_state(&PodRef::parse("other:1.0.0@one"), &Wanted::Stopped).unwrap();
    project.sync("one", Force::No).unwrap();
    fs::write(cluster.home("one").join("cluster-id.txt"), "another-1").unwrap();
    assert!(refused(project.sync("one", Force::No)).contains("not a home of this cluster"));
    assert!(refused(project.init_host("one")).contains("another cluster"));
}

#[test]
fn a_host_is_not_set_back_unless_forced() {
    let cluster = Cluster::new();
    let project = &cluster.project;
    let git = |args: &[&str]| {
        let identity =
            ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
        Command::new("git")
            .arg("-C")
            .arg(project.path())
            .args(identity)
            .args(args)
            .output()
            .is_ok_and(|o| o.status.success())
    };
    if !git(&["init", "-q"]) {
        println!("skipped: a_host_is_not_set_back_unless_forced: git is missing");
        return;
    }
    for message in ["first", "second"] {
        assert!(git(&["add", "-A"]) && git(&["commit", "-q", "--allow-empty", "-m", message]));
    }
    project.sync("one", Force::No).unwrap();
    assert_eq!(read(&cluster.home("one").join("commit-chain.txt")).lines().count(), 2);
    assert!(git(&["reset", "-q", "--hard", "HEAD~1"]));
    assert!(refused(project.sync("one", Force::No)).contains("force"));
    project.sync("one", Force::Yes).unwrap();
    assert_eq!(read(&cluster.home("one").join("commit-chain.txt")).lines().count(), 1);
}
