//! The real program, its output kept between runs.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cases::Case;

pub struct Helm {
    program: PathBuf,
    kept: PathBuf,
}

impl Helm {
    /// The program, or `None` after saying which test is skipped.
    pub fn find(test: &str) -> Option<Self> {
        let directory = std::env::var_os("PODSMITH_ORACLES")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/podsmith-oracles")));
        let program = directory.map(|directory| directory.join("helm")).filter(|program| program.is_file());
        let Some(program) = program else {
            eprintln!("skipped: {test}: there is no helm in PODSMITH_ORACLES or ~/.cache/podsmith-oracles");
            return None;
        };
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("helm-output");
        std::fs::create_dir_all(&kept).unwrap();
        Some(Self { program, kept })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let home = self.kept.join("home");
        command.env("HELM_CACHE_HOME", &home).env("HELM_CONFIG_HOME", &home).env("HELM_DATA_HOME", &home);
        command
    }

    pub fn create(&self, directory: &Path, name: &str) {
        let status = self.command().args(["create", name]).current_dir(directory).output().unwrap().status;
        assert!(status.success());
    }

    /// What it prints for a case, or its message.
    pub fn template(&self, case: &Case) -> Result<String, String> {
        let kept = self.kept.join(format!("{:016x}", self.key(case)));
        if let Ok(text) = std::fs::read_to_string(&kept) {
            return match text.strip_prefix("error\n") {
                Some(message) => Err(message.to_owned()),
                None => Ok(text.strip_prefix("ok\n").unwrap_or(&text).to_owned()),
            };
        }
        let result = self.template_again(case);
        let text = match &result {
            Ok(text) => format!("ok\n{text}"),
            Err(message) => format!("error\n{message}"),
        };
        std::fs::write(&kept, text).unwrap();
        result
    }

    /// The same, without looking at what was kept.
    pub fn template_again(&self, case: &Case) -> Result<String, String> {
        let mut command = self.command();
        command.args(["template", "rel"]).arg(&case.chart);
        command.args(["-n", "some-namespace", "--include-crds", "--kube-version", "1.36.3"]);
        for values in &case.values {
            command.arg("-f").arg(values);
        }
        command.args(&case.flags);
        let output = command.output().unwrap();
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    fn key(&self, case: &Case) -> u64 {
        let mut hasher = DefaultHasher::new();
        // The key changes with everything that the output depends on.
        1u8.hash(&mut hasher);
        std::fs::metadata(&self.program).map(|found| found.len()).unwrap_or_default().hash(&mut hasher);
        case.flags.hash(&mut hasher);
        hash_tree(&case.chart, &mut hasher);
        for values in &case.values {
            hash_tree(values, &mut hasher);
        }
        hasher.finish()
    }
}

fn hash_tree(path: &Path, hasher: &mut DefaultHasher) {
    if path.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).unwrap().filter_map(|entry| Some(entry.ok()?.path())).collect();
        entries.sort();
        for entry in entries {
            entry.file_name().hash(hasher);
            hash_tree(&entry, hasher);
        }
    } else if let Ok(content) = std::fs::read(path) {
        content.hash(hasher);
    }
}
