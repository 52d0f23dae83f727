//! From pod.yaml to the files of a release.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use podsmith_object::{Diagnostic, Diagnostics, Place, yaml};

use crate::conf;
use crate::image::{self, Runtime};
use crate::preprocess::{EnvFile, FileValues, Missing, PortPool, Processed, Values, preprocess};
use crate::read::{self, Context};
use crate::spec::{Pod, VolumeKind};

/// Whether the process's environment gives values.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Environment {
    /// As the dialect says: the older one reads it, the newer one does not.
    #[default]
    AsDialect,
    /// It does.
    Read,
}

/// What to compile.
#[derive(Clone, Debug)]
pub struct Request {
    /// The pod's name; by default the name of the directory that holds the input.
    pub name: Option<String>,
    /// pod.yaml.
    pub input: PathBuf,
    /// The compiled pod; by default the input without `.yaml`.
    pub output: Option<PathBuf>,
    /// Where relative paths in pod.yaml start; by default the input's directory.
    pub source_dir: Option<PathBuf>,
    /// False takes the file as it is.
    pub preprocess: bool,
    /// The process's environment.
    pub environment: Environment,
    /// Missing variables.
    pub missing: Missing,
    /// The executable that compiled pods start with.
    pub runtime: Runtime,
}

impl Request {
    /// Compiles `input` with the defaults.
    pub fn new(input: impl Into<PathBuf>, runtime: Runtime) -> Self {
        Self {
            name: None,
            input: input.into(),
            output: None,
            source_dir: None,
            preprocess: true,
            environment: Environment::AsDialect,
            missing: Missing::Warn,
            runtime,
        }
    }
}

/// What was compiled.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The pod.
    pub pod: Pod,
    /// Files written, in the order of writing.
    pub written: Vec<PathBuf>,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// Compiles a pod and writes its files. Nothing is written when something is wrong.
///
/// # Errors
///
/// Everything that is wrong with the input, or the file that could not be written.
pub fn compile(request: &Request) -> Result<Compiled, Diagnostics> {
    write(request, load(request, None)?)
}

/// As [`compile`], with values for the variables from elsewhere than the .env file.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_with(request: &Request, values: &mut dyn Values) -> Result<Compiled, Diagnostics> {
    write(request, load(request, Some(values))?)
}

/// Compiles many pods on all processors. The results stand in the order of the requests.
pub fn compile_all(requests: &[Request]) -> Vec<Result<Compiled, Diagnostics>> {
    let requests = &with_loaded_runtimes(requests);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(requests.len().max(1));
    let share = requests.len().div_ceil(workers).max(1);
    std::thread::scope(|scope| {
        let started: Vec<_> = requests
            .chunks(share)
            .map(|part| (part.len(), scope.spawn(|| part.iter().map(compile).collect::<Vec<_>>())))
            .collect();
        let failed = || Err(Diagnostic::error("the compiler ended unexpectedly").into());
        let joined = started.into_iter().flat_map(|(count, thread)| {
            thread.join().unwrap_or_else(|_| std::iter::repeat_with(failed).take(count).collect())
        });
        joined.collect()
    })
}

/// The requests with each runtime read once.
fn with_loaded_runtimes(requests: &[Request]) -> Vec<Request> {
    let mut loaded: BTreeMap<PathBuf, Runtime> = BTreeMap::new();
    let requests = requests.iter().map(|request| {
        let Runtime::File(path) = &request.runtime else { return request.clone() };
        let runtime = loaded.entry(path.clone()).or_insert_with(|| request.runtime.clone().loaded());
        Request { runtime: runtime.clone(), ..request.clone() }
    });
    requests.collect()
}

/// Reads a pod without writing anything: the first half of [`compile`].
///
/// # Errors
///
/// Everything that is wrong with the input.
pub fn read_pod(request: &Request) -> Result<(Pod, Diagnostics), Diagnostics> {
    load(request, None).map(|loaded| (loaded.pod, loaded.warnings))
}

struct Loaded {
    pod: Pod,
    processed: Processed,
    warnings: Diagnostics,
    source_dir: PathBuf,
    output: PathBuf,
}

fn load(request: &Request, values: Option<&mut dyn Values>) -> Result<Loaded, Diagnostics> {
    let file = request.input.to_string_lossy().into_owned();
    let text = read_text(&request.input)?;
    let directory = parent(&request.input);
    let output = request.output.clone().unwrap_or_else(|| request.input.with_extension(""));
    if output == request.input {
        let message = format!("{} would be overwritten by the compiled pod", request.input.display());
        return Err(Diagnostic::error(message).with_hint("name the output with -o").into());
    }
    let source_dir = request.source_dir.clone().unwrap_or_else(|| directory.to_owned());
    let absolute = std::path::absolute(&source_dir).unwrap_or_else(|_| source_dir.clone());
    let name = request.name.clone().unwrap_or_else(|| directory_name(directory));
    let processed = match values {
        _ if !request.preprocess => Processed::unchanged(&text),
        Some(values) => preprocess(&file, &text, values, request.missing)?,
        None => process(&file, &text, &mut file_values(request, &text, &output)?, request.missing)?,
    };
    let context = Context { file: &file, name: &name, source_dir: &absolute.to_string_lossy() };
    let (pod, found) =
        read::read(&processed.text, context).map_err(|problems| processed.relocate(problems, &text))?;
    let mut warnings = processed.warnings.clone();
    warnings.extend(processed.relocate(found, &text));
    check_files(&pod, &output, &source_dir, &mut warnings)
        .map_err(|problems| place(problems, &processed, &file, &text))?;
    Ok(Loaded { pod, processed, warnings, source_dir, output })
}

/// Preprocesses, with `${podVersion}` taken from the text itself.
fn process(
    file: &str,
    text: &str,
    values: &mut FileValues,
    missing: Missing,
) -> Result<Processed, Diagnostics> {
    if let Some(version) = declared_version(text) {
        let own: &mut dyn Values = values;
        let resolved = preprocess(file, version, own, Missing::Warn).map_or(String::new(), |done| done.text);
        values.version = Some(resolved);
    }
    preprocess(file, text, values, missing)
}

/// The text after `podVersion:` at column 0, before YAML is read.
pub fn declared_version(text: &str) -> Option<&str> {
    let value = text.lines().find_map(|line| line.strip_prefix("podVersion:"))?;
    let value = value.split(" #").next().unwrap_or(value).trim();
    let unquoted = value.strip_prefix(['"', '\'']).and_then(|inner| inner.strip_suffix(['"', '\'']));
    Some(unquoted.unwrap_or(value))
}

fn file_values(request: &Request, text: &str, output: &Path) -> Result<FileValues, Diagnostics> {
    let env_path = request.input.with_extension("env");
    let file = if env_path.is_file() { EnvFile::parse(&read_text(&env_path)?) } else { EnvFile::default() };
    let seed = text.lines().any(|line| line.starts_with("apiVersion:"));
    let environment = if seed || request.environment == Environment::Read {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    } else {
        BTreeMap::new()
    };
    let (host, cluster) = ports_beside(output);
    Ok(FileValues {
        version: None,
        file,
        environment,
        host_ports: PortPool::host(host),
        cluster_ports: PortPool::cluster(cluster),
    })
}

/// The host and cluster ports of the other pods: those compiled into the same directory, and in the layout of a host
/// (`pods/POD/release/VERSION/pod`) those of the whole host. The pod's own port map does not count, so that compiling
/// again gives the same ports.
fn ports_beside(output: &Path) -> (BTreeSet<u16>, BTreeSet<u16>) {
    let (mut host, mut cluster) = (BTreeSet::new(), BTreeSet::new());
    let own = output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for directory in directories_beside(parent(output)) {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let stem = name.strip_suffix(".portmappings.conf").or_else(|| name.strip_suffix(".proxy.conf"));
            if stem.is_none_or(|stem| stem == own && directory == parent(output)) {
                continue;
            }
            for line in std::fs::read_to_string(entry.path()).unwrap_or_default().lines() {
                let mut numbers = line.split(':').filter_map(|part| part.parse::<u16>().ok());
                cluster.extend(numbers.next());
                host.extend(numbers.next());
            }
        }
    }
    (host, cluster)
}

/// `directory` itself, and its fellows if it is the release of a pod on a host.
fn directories_beside(directory: &Path) -> Vec<PathBuf> {
    let named = |path: Option<&Path>, name: &str| {
        path.filter(|path| path.file_name().is_some_and(|n| n == name)).map(Path::to_owned)
    };
    let release = named(directory.parent(), "release");
    let pods = release.as_deref().and_then(Path::parent).and_then(|pod| named(pod.parent(), "pods"));
    let Some(pods) = pods else { return vec![directory.to_owned()] };
    let inside =
        |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let fellows = inside(pods).flat_map(|pod| inside(pod.join("release"))).filter(|path| path != directory);
    fellows.chain([directory.to_owned()]).collect()
}

/// Something that is missing on disk, and the path of the value that asks for it.
type Absent = (Vec<String>, Diagnostic);

/// Gives problems the place of their value in the source.
fn place(problems: Vec<Absent>, processed: &Processed, file: &str, text: &str) -> Diagnostics {
    let tree = yaml::read_node(&processed.text, yaml::ReadOptions::default()).ok();
    let placed = problems.into_iter().map(|(path, diagnostic)| {
        let steps: Vec<&str> = path.iter().map(String::as_str).collect();
        let (line, column) =
            tree.as_ref().map(|tree| tree.deepest(&steps)).map_or((0, 0), |node| (node.line, node.column));
        diagnostic.at(Place::new(file, line, column))
    });
    processed.relocate(Diagnostics(placed.collect()), text)
}

/// Checks what must exist on disk: config directories and the executable.
fn check_files(
    pod: &Pod,
    output: &Path,
    source_dir: &Path,
    warnings: &mut Diagnostics,
) -> Result<(), Vec<Absent>> {
    let mut problems = Vec::new();
    let path = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect::<Vec<_>>();
    match pod {
        Pod::Containers(pod) => {
            for (index, volume) in pod.volumes.iter().enumerate() {
                let VolumeKind::Config { encrypted } = volume.kind else { continue };
                let directory = parent(output).join("config").join(&volume.name);
                if !directory.is_dir() {
                    let message =
                        format!("config `{}` does not exist as {}", volume.name, directory.display());
                    let problem = Diagnostic::error(message).with_hint("make the directory");
                    problems.push((path(&["volumes", &index.to_string(), "name"]), problem));
                } else if encrypted {
                    warnings.extend(crate::secrets::plain_files(&directory).into_iter().map(|path| {
                        let message = format!("{} is not encrypted, though its config is", path.display());
                        Diagnostic::warning(message)
                            .with_hint("encrypt it with age, or the pod will not start")
                    }));
                }
            }
        }
        Pod::Executable(pod) => {
            let executable = source_dir.join(&pod.file);
            if !executable.is_file() {
                let message = format!("the executable file {} does not exist", executable.display());
                problems.push((path(&["executable", "file"]), Diagnostic::error(message)));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn write(request: &Request, loaded: Loaded) -> Result<Compiled, Diagnostics> {
    let Loaded { pod, processed, warnings, source_dir, output } = loaded;
    let mut written = Vec::new();
    if request.preprocess {
        let name =
            request.input.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let path = request.input.with_file_name(format!(".{name}"));
        put(&path, processed.text.as_bytes(), &mut written)?;
    }
    match &pod {
        Pod::Containers(spec) => image::write(&request.runtime, spec, &output),
        Pod::Executable(executable) => copy_executable(&source_dir.join(&executable.file), &output),
    }
    .map_err(|error| cannot("write", &output, &error))?;
    written.push(output.clone());
    for (suffix, content) in conf::files(&pod) {
        let mut name = output.clone().into_os_string();
        name.push(suffix);
        let path = PathBuf::from(name);
        match content {
            Some(content) => put(&path, content.as_bytes(), &mut written)?,
            None => remove(&path)?,
        }
    }
    if let Pod::Executable(executable) = &pod
        && !executable.expose.is_empty()
    {
        // An executable answers `cluster-config` with this file, which travels with it as the config `cluster`.
        let directory = parent(&output).join("config/cluster");
        std::fs::create_dir_all(&directory).map_err(|error| cannot("make", &directory, &error))?;
        put(&directory.join("cluster.conf"), (conf::port_map(&pod) + "\n").as_bytes(), &mut written)?;
    }
    Ok(Compiled { pod, written, warnings })
}

fn copy_executable(source: &Path, output: &Path) -> io::Result<()> {
    let temporary = image::beside(output);
    std::fs::copy(source, &temporary)?;
    std::fs::set_permissions(&temporary, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    std::fs::rename(&temporary, output)
}

/// Writes a file through a rename, unless it has this content already.
fn put(path: &Path, content: &[u8], written: &mut Vec<PathBuf>) -> Result<(), Diagnostics> {
    written.push(path.to_owned());
    if std::fs::read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let temporary = image::beside(path);
    std::fs::write(&temporary, content)
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(|error| cannot("write", path, &error))?;
    Ok(())
}

fn remove(path: &Path) -> Result<(), Diagnostics> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(cannot("remove", path, &error)),
        _ => Ok(()),
    }
}

fn read_text(path: &Path) -> Result<String, Diagnostics> {
    let bytes = std::fs::read(path).map_err(|error| cannot("read", path, &error))?;
    String::from_utf8(bytes)
        .map_err(|error| cannot("read", path, &io::Error::new(io::ErrorKind::InvalidData, error)))
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Diagnostics {
    Diagnostic::error(format!("cannot {verb} {}", path.display())).because(error.to_string()).into()
}

/// The directory of a file; `.` for a bare name, so that `-o pod` looks for configs in `./config`.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

fn directory_name(directory: &Path) -> String {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let tidy = absolute.canonicalize().unwrap_or(absolute);
    tidy.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
