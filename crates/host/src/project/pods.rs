//! The pods of a project.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use podsmith_object::Diagnostics;
use podsmith_pods::Request;
use podsmith_pods::compile::{compile_with, declared_version};
use podsmith_pods::image::Runtime;
use podsmith_pods::preprocess::{ClusterValues, EnvFile, PortPool};
use sha2::{Digest, Sha256};

use super::{Project, ProjectError, copy_tree};
use crate::layout::{Release, Wanted};

/// `pod[:version][@host]`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PodRef {
    /// Pod.
    pub pod: String,
    /// Version; `None` is the latest without a tag.
    pub version: Option<String>,
    /// Host; `None` is all it is attached to.
    pub host: Option<String>,
}

impl PodRef {
    /// Reads a reference.
    pub fn parse(text: &str) -> Self {
        let (rest, host) =
            text.split_once('@').map_or((text, None), |(rest, host)| (rest, Some(host.to_owned())));
        let (pod, version) = rest.split_once(':').map_or((rest, None), |(pod, v)| (pod, Some(v.to_owned())));
        Self { pod: pod.to_owned(), version: version.filter(|version| version != "latest"), host }
    }
}

impl fmt::Display for PodRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pod)?;
        if let Some(version) = &self.version {
            write!(f, ":{version}")?;
        }
        self.host.as_ref().map_or(Ok(()), |host| write!(f, "@{host}"))
    }
}

/// What a compilation made.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// New releases.
    pub made: Vec<PathBuf>,
    /// Releases that existed and were left alone.
    pub kept: Vec<PathBuf>,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// The numbers of a version without a tag.
fn numbers(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

impl Project {
    fn pod_source(&self, pod: &str) -> Result<PathBuf, ProjectError> {
        let dir = self.path().join("_pods").join(pod);
        if !dir.join("pod.yaml").is_file() {
            return ProjectError::refused(format!(
                "there is no pod `{pod}`: {} is missing",
                dir.join("pod.yaml").display()
            ));
        }
        Ok(dir)
    }

    /// The hosts that a pod is attached to, sorted.
    pub fn attached(&self, pod: &str) -> Vec<String> {
        self.hosts()
            .into_iter()
            .filter(|host| self.path().join(host).join("pods").join(pod).is_dir())
            .collect()
    }

    /// Attaches a pod to a host; the first time its configs are imported.
    ///
    /// # Errors
    ///
    /// There is no such pod or host, or it is attached already.
    pub fn attach(&self, pod: &str, host: &str) -> Result<(), ProjectError> {
        self.pod_source(pod)?;
        let dir = self.host(host)?.path().join("pods").join(pod);
        if dir.exists() {
            return ProjectError::refused(format!("pod `{pod}` is attached to `{host}` already"));
        }
        if !self.path().join("_config").join(pod).exists() {
            self.import_config(pod)?;
        }
        let release = dir.join("release");
        fs::create_dir_all(&release).map_err(ProjectError::file("make", &release))
    }

    /// Detaches a pod: its directory is kept under a hidden name.
    ///
    /// # Errors
    ///
    /// It is not attached.
    pub fn detach(&self, pod: &str, host: &str) -> Result<(), ProjectError> {
        let dir = self.host(host)?.path().join("pods").join(pod);
        if !dir.is_dir() {
            return ProjectError::refused(format!("pod `{pod}` is not attached to `{host}`"));
        }
        hide(&dir)
    }

    /// Copies all configs of a pod into the project, over what is there.
    ///
    /// # Errors
    ///
    /// There is no such pod.
    pub fn import_config(&self, pod: &str) -> Result<(), ProjectError> {
        let source = self.pod_source(pod)?.join("config");
        let target = self.path().join("_config").join(pod);
        fs::create_dir_all(&target).map_err(ProjectError::file("make", &target))?;
        if source.is_dir() { copy_tree(&source, &target) } else { Ok(()) }
    }

    /// Compiles the present version of a pod for the hosts it is attached to. When one fails, none is made.
    ///
    /// # Errors
    ///
    /// The pod does not compile, or is attached nowhere.
    pub fn compile(&self, reference: &PodRef, runtime: &Runtime) -> Result<Compilation, ProjectError> {
        let hosts = self.attached(&reference.pod);
        let wanted: Vec<String> = hosts
            .into_iter()
            .filter(|host| reference.host.as_ref().is_none_or(|only| only == host))
            .collect();
        if wanted.is_empty() {
            return ProjectError::refused(format!("pod {reference} is attached to no host"));
        }
        let mut done = Compilation::default();
        // The same cluster ports on all hosts of one compilation.
        let (_, cluster) = self.ports_in_use("")?;
        let mut cluster_ports = PortPool::cluster(cluster);
        for host in wanted {
            if let Err(error) =
                self.compile_for(&reference.pod, &host, runtime, &mut cluster_ports, &mut done)
            {
                for dir in &done.made {
                    let _ = fs::remove_dir_all(dir);
                }
                return Err(error);
            }
        }
        Ok(done)
    }

    fn compile_for(
        &self,
        pod: &str,
        host: &str,
        runtime: &Runtime,
        cluster_ports: &mut PortPool,
        done: &mut Compilation,
    ) -> Result<(), ProjectError> {
        let source = self.pod_source(pod)?;
        let input = source.join("pod.yaml");
        let text = fs::read_to_string(&input).map_err(ProjectError::file("read", &input))?;
        let version = declared_version(&text).unwrap_or_default().to_owned();
        if !podsmith_pods::read::valid_version(&version) {
            return ProjectError::refused(format!("{}: podVersion `{version}` is invalid", input.display()));
        }
        let dir = self.host(host)?.path().join("pods").join(pod).join("release").join(&version);
        if dir.exists() {
            done.kept.push(dir);
            return Ok(());
        }
        done.made.push(dir.clone());
        self.copy_configs(pod, &dir)?;
        let path = self.path().join("cluster-vars.env");
        let file = EnvFile::parse(&fs::read_to_string(&path).unwrap_or_default());
        let (host_ports, _) = self.ports_in_use(host)?;
        let mut values = ClusterValues {
            pod,
            version: Some(version),
            file: &file,
            host_ports: PortPool::host(host_ports),
            cluster_ports: cluster_ports.clone(),
        };
        let request = Request {
            name: Some(pod.to_owned()),
            output: Some(dir.join("pod")),
            ..Request::new(&input, runtime.clone())
        };
        let compiled = compile_with(&request, &mut values).map_err(ProjectError::Compile)?;
        *cluster_ports = values.cluster_ports;
        done.warnings.extend(compiled.warnings);
        let state = dir.join("pod.state");
        fs::write(&state, "running\n").map_err(ProjectError::file("write", &state))
    }

    /// Copies the configs that belong to a release: directories whose names start with neither `_` nor a dot, each
    /// with a checksum of its content beside it.
    fn copy_configs(&self, pod: &str, release: &Path) -> Result<(), ProjectError> {
        let source = self.path().join("_config").join(pod);
        let target = release.join("config");
        fs::create_dir_all(&target).map_err(ProjectError::file("make", &target))?;
        for entry in fs::read_dir(&source).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(['_', '.']) || !entry.path().is_dir() {
                continue;
            }
            copy_tree(&entry.path(), &target.join(&name))?;
            let path = target.join(format!("{name}.txt"));
            let sum = checksum(&entry.path()).map_err(ProjectError::file("read", &entry.path()))?;
            fs::write(&path, sum + "\n").map_err(ProjectError::file("write", &path))?;
        }
        Ok(())
    }

    /// The releases that a reference means.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn releases(&self, reference: &PodRef) -> Result<Vec<Release>, ProjectError> {
        let mut found = Vec::new();
        for host in self.attached(&reference.pod) {
            if reference.host.as_ref().is_some_and(|only| *only != host) {
                continue;
            }
            let mut releases = self.host(&host)?.releases();
            releases.retain(|release| release.pod == reference.pod);
            match &reference.version {
                Some(version) => {
                    found.extend(releases.into_iter().filter(|release| release.version == *version))
                }
                None => found.extend(releases.into_iter().max_by_key(|release| numbers(&release.version))),
            }
        }
        if found.is_empty() {
            return ProjectError::refused(format!("there is no release {reference}"));
        }
        Ok(found)
    }

    /// Copies the project's configs of a pod into releases again; what is gone from the project goes.
    ///
    /// # Errors
    ///
    /// There is no such release.
    pub fn update_config(&self, reference: &PodRef) -> Result<(), ProjectError> {
        for release in self.releases(reference)? {
            let config = release.dir.join("config");
            if config.is_dir() {
                fs::remove_dir_all(&config).map_err(ProjectError::file("remove", &config))?;
            }
            self.copy_configs(&reference.pod, &release.dir)?;
        }
        Ok(())
    }

    /// Sets what releases should be.
    ///
    /// # Errors
    ///
    /// There is no such release.
    pub fn set_state(&self, reference: &PodRef, wanted: &Wanted) -> Result<(), ProjectError> {
        for release in self.releases(reference)? {
            let path = release.dir.join("pod.state");
            fs::write(&path, format!("{}\n", wanted.as_str())).map_err(ProjectError::file("write", &path))?;
        }
        Ok(())
    }

    /// Makes one version the only one that runs, on every host it is on.
    ///
    /// # Errors
    ///
    /// There is no such release.
    pub fn release(&self, reference: &PodRef) -> Result<(), ProjectError> {
        for chosen in self.releases(reference)? {
            let siblings = chosen.dir.parent().map(Path::to_owned).unwrap_or_default();
            for entry in fs::read_dir(&siblings).into_iter().flatten().flatten() {
                let path = entry.path().join("pod.state");
                if !path.is_file() {
                    continue;
                }
                let word = if entry.path() == chosen.dir { "running\n" } else { "removed\n" };
                fs::write(&path, word).map_err(ProjectError::file("write", &path))?;
            }
        }
        Ok(())
    }

    /// Hides releases that are removed.
    ///
    /// # Errors
    ///
    /// One of them is not.
    pub fn delete(&self, reference: &PodRef) -> Result<(), ProjectError> {
        for release in self.releases(reference)? {
            if release.wanted() != Some(Wanted::Removed) {
                return ProjectError::refused(format!(
                    "{} is not removed, set its state first",
                    release.id()
                ));
            }
            hide(&release.dir)?;
        }
        Ok(())
    }
}

/// Renames `X` to `.X.TIME`.
fn hide(dir: &Path) -> Result<(), ProjectError> {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let target = dir.with_file_name(format!(".{name}.{time}"));
    fs::rename(dir, &target).map_err(ProjectError::file("rename", dir))
}

/// The hash of the sorted list of hashes and names of all files below `dir`.
pub(super) fn checksum(dir: &Path) -> std::io::Result<String> {
    let mut lines = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(dir).unwrap_or(&path).display().to_string();
            lines.push(format!("{}  {name}\n", hex(&Sha256::digest(fs::read(&path)?))));
        }
    }
    lines.sort();
    Ok(hex(&Sha256::digest(lines.concat())))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
