//! Renders cases with both programs and compares.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use podsmith_helm::values::{SetMode, UserValues};
use podsmith_helm::{Capabilities, Chart, Hooks, KubeVersion, Release, RenderRequest, Rendered, render};
use podsmith_object::files::DiskFiles;
use podsmith_object::yaml::{self, DocumentSplitter, ReadOptions};
use podsmith_object::{Value, json};

use crate::cases::Case;
use crate::helm::Helm;

/// How many cases came out how.
pub struct Tally {
    what: String,
    identical: usize,
    compared: usize,
}

impl Tally {
    pub fn assert_at_least(&self, percent: usize) {
        assert!(
            self.identical * 100 >= self.compared * percent,
            "{}: only {} of {} identical",
            self.what,
            self.identical,
            self.compared
        );
    }
}

enum Verdict {
    Identical {
        bytes: bool,
    },
    /// Both refuse the chart.
    BothFail,
    Different(String),
    /// The real program gives something else each time.
    Unstable,
}

pub fn run(helm: &Helm, cases: &[Case], what: &str) -> Tally {
    let next = AtomicUsize::new(0);
    let verdicts: Mutex<Vec<(usize, Verdict)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    let verdict = judge(helm, case);
                    verdicts.lock().unwrap().push((index, verdict));
                }
            });
        }
    });
    let mut verdicts = verdicts.into_inner().unwrap();
    verdicts.sort_by_key(|(index, _)| *index);
    let (mut identical, mut bytes, mut refused, mut unstable) = (0, 0, 0, 0);
    for (index, verdict) in &verdicts {
        match verdict {
            Verdict::Identical { bytes: same } => {
                identical += 1;
                bytes += usize::from(*same);
            }
            Verdict::BothFail => {
                identical += 1;
                refused += 1;
            }
            Verdict::Different(how) => eprintln!("different: {}: {how}", cases[*index].name),
            Verdict::Unstable => {
                unstable += 1;
                eprintln!("left out: {}: helm gives something else each time", cases[*index].name);
            }
        }
    }
    let compared = verdicts.len() - unstable;
    eprintln!(
        "{what}: {identical} of {compared} identical ({bytes} to the byte, {refused} refused by both, {unstable} left out)"
    );
    Tally { what: what.to_owned(), identical, compared }
}

fn judge(helm: &Helm, case: &Case) -> Verdict {
    let expected = helm.template(case);
    let ours = ours(case);
    match (expected, ours) {
        (Ok(expected), Ok(ours)) => {
            let Some(how) = difference(&expected, &ours) else {
                let bytes = ours.to_text().trim_end() == expected.trim_end();
                return Verdict::Identical { bytes };
            };
            match helm.template_again(case) {
                Ok(again) if documents(&again) != documents(&expected) => Verdict::Unstable,
                _ => Verdict::Different(how),
            }
        }
        (Err(_), Err(_)) => Verdict::BothFail,
        (Ok(_), Err(error)) => Verdict::Different(format!("we fail: {error}")),
        (Err(error), Ok(_)) => Verdict::Different(format!("helm fails: {}", error.trim())),
    }
}

fn ours(case: &Case) -> Result<Rendered, String> {
    let chart = if case.chart.is_dir() {
        Chart::load_dir(&DiskFiles::new(&case.chart), "")
    } else {
        Chart::load_archive(&case.name, &std::fs::read(&case.chart).unwrap())
    };
    let chart = chart.map_err(|error| error.to_diagnostic().to_string())?;
    let mut request = RenderRequest {
        release: Some(Release::new("rel", "some-namespace")),
        include_crds: true,
        capabilities: Capabilities::default().with_kube_version(KubeVersion::parse("1.36.3").unwrap()),
        ..RenderRequest::default()
    };
    let mut values = UserValues::new();
    for file in &case.values {
        add_file(&mut values, file)?;
    }
    let mut flags = case.flags.iter();
    while let Some(flag) = flags.next() {
        let mut argument = || flags.next().cloned().unwrap_or_default();
        match flag.as_str() {
            "--no-hooks" => request.hooks = Hooks::Leave,
            "--skip-tests" => request.hooks = Hooks::WithoutTests,
            "--skip-schema-validation" => request.skip_schema = true,
            "--is-upgrade" => request.release.as_mut().unwrap().is_upgrade = true,
            "--show-only" => request.show_only.push(argument()),
            "--api-versions" => {
                request.capabilities = request.capabilities.with_api_versions([argument()]);
            }
            "--kube-version" => {
                let version = KubeVersion::parse(&argument()).map_err(|error| error.to_string())?;
                request.capabilities = request.capabilities.with_kube_version(version);
            }
            "--set" => add_set(&mut values, &argument(), SetMode::Typed)?,
            "--set-string" => add_set(&mut values, &argument(), SetMode::Text)?,
            "--set-json" => add_set(&mut values, &argument(), SetMode::Json)?,
            "--set-literal" => add_set(&mut values, &argument(), SetMode::Literal)?,
            other => panic!("{}: unknown flag {other}", case.name),
        }
    }
    request.values = values.into_values();
    render(&chart, &request).map_err(|error| error.to_diagnostic().to_string())
}

fn add_file(values: &mut UserValues, file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).unwrap();
    values.add_file(&file.display().to_string(), &text).map_err(|error| error.to_string())
}

fn add_set(values: &mut UserValues, line: &str, mode: SetMode) -> Result<(), String> {
    values.add_set(line, mode).map_err(|error| error.to_string())
}

/// The documents of a stream as values; those that hold nothing are left out.
fn documents(text: &str) -> Vec<Value> {
    let options = ReadOptions::lenient();
    let mut found = Vec::new();
    for chunk in DocumentSplitter::new(text.as_bytes(), options.limits.document_bytes) {
        match yaml::read_document(&chunk.unwrap().text, options) {
            Ok(values) => found.extend(values.into_iter().map(|(value, _)| value)),
            Err(error) => found.push(json!({"unreadable": error.to_string()})),
        }
    }
    found.retain(|value| !value.is_null());
    found
}

fn difference(expected: &str, ours: &Rendered) -> Option<String> {
    let expected = documents(expected);
    let found: Vec<Value> = ours.objects().map(|object| object.to_value()).collect();
    for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
        if let Some(path) = first_difference(expected, found) {
            let name = format!("{}/{}", found["kind"], found["metadata"]["name"]);
            return Some(format!("document {index} ({name}) {path}"));
        }
    }
    (expected.len() != found.len())
        .then(|| format!("{} documents, helm gives {}", found.len(), expected.len()))
}

fn first_difference(expected: &Value, found: &Value) -> Option<String> {
    if expected == found {
        return None;
    }
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys()) {
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => {
                        if let Some(inner) = first_difference(a, b) {
                            return Some(format!(".{key}{inner}"));
                        }
                    }
                    (Some(a), None) => return Some(format!(".{key} is missing, helm has {a}")),
                    (_, Some(b)) => return Some(format!(".{key} is {b}, helm has none")),
                    (None, None) => {}
                }
            }
            None
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(index, (a, b))| first_difference(a, b).map(|inner| format!("[{index}]{inner}"))),
        (a, b) => {
            let short = |value: &Value| value.to_string().chars().take(1500).collect::<String>();
            Some(format!(" is {}\n    helm has {}", short(b), short(a)))
        }
    }
}
