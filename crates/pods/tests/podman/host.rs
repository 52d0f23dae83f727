//! A place to run compiled pods on the podman of this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use podsmith_pods::image::Runtime;
use podsmith_pods::{Request, compile};
use serde_json::Value;

pub const IMAGE: &str = "localhost/podsmith-test:1";

struct Machine {
    containers_conf: PathBuf,
    /// Kept for the life of the test process.
    _files: tempfile::TempDir,
}

/// Prepares podman once: its settings and an image from a busybox root file system.
fn machine() -> Option<&'static Machine> {
    static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();
    MACHINE.get_or_init(prepare).as_ref()
}

fn prepare() -> Option<Machine> {
    let files = tempfile::tempdir().unwrap();
    let conf = files.path().join("containers.conf");
    std::fs::write(
        &conf,
        "[engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\n[containers]\n\
         default_ulimits = [\"nofile=4096:4096\", \"nproc=4096:4096\"]\n",
    )
    .unwrap();
    let podman = |args: &[&str]| {
        Command::new("podman")
            .args(args)
            .env("CONTAINERS_CONF", &conf)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
    };
    if !podman(&["--version"]).is_ok_and(|status| status.success()) || !Path::new("/bin/busybox").exists() {
        return None;
    }
    if !podman(&["image", "exists", IMAGE]).unwrap().success() {
        let root = files.path().join("root");
        for directory in ["bin", "tmp", "etc", "root", "www"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::fs::copy("/bin/busybox", root.join("bin/busybox")).unwrap();
        let applets = Command::new("/bin/busybox").arg("--list").output().unwrap();
        for applet in String::from_utf8(applets.stdout).unwrap().lines().filter(|applet| *applet != "busybox")
        {
            std::os::unix::fs::symlink("busybox", root.join("bin").join(applet)).unwrap();
        }
        let archive = files.path().join("root.tar");
        let tar = Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&archive).arg(".").status();
        if !tar.is_ok_and(|status| status.success()) {
            return None;
        }
        let archive = archive.to_str().unwrap();
        if !podman(&["import", "--change", "ENV PATH=/bin", archive, IMAGE]).unwrap().success() {
            return None;
        }
    }
    Some(Machine { containers_conf: conf, _files: files })
}

/// One pod in a directory of its own. Dropping it removes everything.
pub struct TestPod {
    dir: tempfile::TempDir,
    name: String,
    environment: Vec<(String, String)>,
}

impl TestPod {
    /// Compiles `yaml`, in which `IMAGE` stands for the test image. Without podman the test is skipped.
    pub fn new(test: &str, yaml: &str, files: &[(&str, &[u8])]) -> Option<Self> {
        if machine().is_none() {
            println!("skipped: {test}: podman or a static busybox is missing");
            return None;
        }
        let pod = Self {
            dir: tempfile::tempdir().unwrap(),
            name: format!("t{}_{test}", std::process::id()),
            environment: Vec::new(),
        };
        for (path, content) in files {
            pod.write(path, content);
        }
        pod.compile(yaml);
        Some(pod)
    }

    pub fn with_environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn write(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn compile(&self, yaml: &str) {
        let head = "api: 1.0.0-beta2\npodVersion: 1.0.0\n";
        self.write("pod.yaml", format!("{head}{}", yaml.replace("IMAGE", IMAGE)).as_bytes());
        let runtime = Runtime::File(env!("CARGO_BIN_EXE_podsmith-pod").into());
        let request =
            Request { name: Some(self.name.clone()), ..Request::new(self.path("pod.yaml"), runtime) };
        compile(&request).unwrap_or_else(|problems| panic!("{problems}"));
    }

    pub fn full_name(&self) -> String {
        format!("{}-1.0.0", self.name)
    }

    pub fn container(&self, name: &str) -> String {
        format!("{name}-{}-1.0.0", self.name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.command_in(self.dir.path(), args)
    }

    /// Calls the copy of the pod in another directory.
    pub fn command_in(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(dir.join("pod"));
        command.args(args).env("CONTAINERS_CONF", &machine().unwrap().containers_conf).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Calls the pod. The file may be busy for a moment: another test that starts a process while ours is being written
    /// hands its descriptor on to that process until it executes its program.
    pub fn call(&self, args: &[&str]) -> Output {
        loop {
            match self.command(args).output() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                output => return output.unwrap(),
            }
        }
    }

    /// Calls the pod, expects success, and returns its standard output.
    pub fn good(&self, args: &[&str]) -> String {
        let output = self.call(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Calls the pod, expects exit code 1, and returns its standard error.
    pub fn bad(&self, args: &[&str]) -> String {
        let output = self.call(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// The first word of `status`.
    pub fn state(&self) -> String {
        self.good(&["status"]).lines().next().unwrap_or_default().to_owned()
    }

    pub fn ps(&self) -> Value {
        serde_json::from_str(&self.good(&["ps", "-o", "json"])).unwrap()
    }

    pub fn container_status(&self, name: &str) -> Value {
        let status = self.ps();
        let found = status["containers"].as_array().unwrap().iter().find(|c| c["name"] == name);
        found.unwrap().clone()
    }

    /// Waits until `condition` holds. The limit is generous: it only bounds a failure.
    pub fn wait(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !condition(self) {
            if Instant::now() > end {
                panic!("never: {what}\n{}\n{}", self.good(&["ps"]), self.good(&["logs", "-p"]));
            }
            std::thread::sleep(Duration::from_millis(40));
        }
    }

    pub fn wait_state(&self, state: &str) {
        self.wait(state, |pod| pod.state() == state);
    }

    /// podman's standard output.
    pub fn podman(&self, args: &[&str]) -> String {
        let output = Command::new("podman")
            .args(args)
            .env("CONTAINERS_CONF", &machine().unwrap().containers_conf)
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub fn id(&self, container: &str) -> String {
        self.podman(&["inspect", "--format", "{{.Id}}", &self.container(container)])
    }

    /// The text of the log of a container, without times.
    pub fn log(&self, container: &str) -> String {
        self.good(&["logs", container, "-d", "none"])
    }
}

impl Drop for TestPod {
    fn drop(&mut self) {
        let _ = self.call(&["rm", "-k"]);
        let _ = self.call(&["purge"]);
        let _ = self.call(&["create-ramdisks", "-d"]);
    }
}
