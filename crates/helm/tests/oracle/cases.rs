//! Where charts come from.

use std::path::{Path, PathBuf};

use crate::helm::Helm;

/// One chart with one set of options.
pub struct Case {
    pub name: String,
    pub chart: PathBuf,
    pub values: Vec<PathBuf>,
    pub flags: Vec<String>,
}

impl Case {
    fn new(name: String, chart: &Path) -> Self {
        Self { name, chart: chart.to_owned(), values: Vec::new(), flags: Vec::new() }
    }

    fn with_values(mut self, file: &Path) -> Self {
        self.values.push(file.to_owned());
        self
    }

    fn with_flags(mut self, flags: &str) -> Self {
        self.flags = flags.split_whitespace().map(str::to_owned).collect();
        self
    }
}

fn sorted_entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A chart alone, and with each of the values in its `ci/` directory.
fn with_ci_values(chart: &Path, label: &str) -> Vec<Case> {
    let mut cases = vec![Case::new(label.to_owned(), chart)];
    for values in sorted_entries(&chart.join("ci")) {
        if values.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            cases.push(Case::new(format!("{label} + {}", name_of(&values)), chart).with_values(&values));
        }
    }
    cases
}

pub fn public_charts() -> Option<Vec<Case>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/charts");
    let directory = directory.canonicalize().ok()?;
    Some(charts_below(&directory))
}

/// Every directory with a `Chart.yaml` and every `.tgz` below a directory; charts inside charts on their own too.
pub fn charts_below(directory: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for path in sorted_entries(&next) {
            let label = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
            if path.is_dir() {
                if path.join("Chart.yaml").exists() {
                    cases.extend(with_ci_values(&path, &label));
                }
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tgz") {
                cases.push(Case::new(label, &path));
            }
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

pub fn helm_testdata() -> Option<Vec<Case>> {
    let cache = std::env::var_os("GOMODCACHE").map(PathBuf::from).or_else(|| {
        let path = std::env::var_os("GOPATH").map(PathBuf::from);
        let path = path.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join("go")))?;
        Some(path.join("pkg/mod"))
    })?;
    let module = cache.join("helm.sh/helm/v3@v3.21.4");
    if !module.is_dir() {
        return None;
    }
    Some(charts_below(&module))
}

pub fn starter_charts(helm: &Helm, directory: &Path) -> Vec<Case> {
    helm.create(directory, "starter");
    let chart = directory.join("starter");
    let everything = directory.join("everything.yaml");
    std::fs::write(
        &everything,
        "replicaCount: 3\nautoscaling: {enabled: true, targetMemoryUtilizationPercentage: 70}\n\
         ingress: {enabled: true, className: nginx, tls: [{secretName: s, hosts: [h]}]}\n\
         podAnnotations: {a: b}\nserviceAccount: {create: false, name: other}\n\
         httpRoute: {enabled: true}\nresources: {limits: {cpu: 100m, memory: 128Mi}}\n\
         nodeSelector: {x: y}\ntolerations: [{key: k, operator: Exists}]\nvolumes: [{name: v, emptyDir: {}}]\n",
    )
    .unwrap();
    vec![
        Case::new("starter".into(), &chart),
        Case::new("starter with everything on".into(), &chart).with_values(&everything),
        Case::new("starter, set".into(), &chart).with_flags(
            "--set replicaCount=1000000,image.tag=1.2,nodeSelector.a=b --set-string podLabels.x=1",
        ),
        Case::new("starter, no hooks".into(), &chart).with_flags("--no-hooks"),
        Case::new("starter, upgrade".into(), &chart).with_flags("--is-upgrade"),
        Case::new("starter, one template".into(), &chart).with_flags("--show-only templates/service.yaml"),
        Case::new("starter, several templates".into(), &chart)
            .with_flags("--show-only templates/tests/* --show-only templates/s*.yaml"),
        Case::new("starter, skip tests".into(), &chart).with_flags("--skip-tests"),
    ]
}

/// The charts in `tests/charts`, each with the values beside it in `ci/` and the flags in `ci/flags`, one line a case.
pub fn own_charts() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/charts");
    let mut cases = Vec::new();
    for chart in sorted_entries(&directory) {
        let label = name_of(&chart);
        cases.extend(with_ci_values(&chart, &label));
        let flags = std::fs::read_to_string(chart.join("ci/flags")).unwrap_or_default();
        for line in flags.lines().filter(|line| !line.is_empty()) {
            cases.push(Case::new(format!("{label} {line}"), &chart).with_flags(line));
        }
    }
    cases
}
