//! `.Capabilities`.

use std::collections::{BTreeMap, BTreeSet};

use podsmith_gotemplate::{Native, Value};
use podsmith_object::Value as Json;

use super::record::{Field, Record, text};
use crate::capabilities::Capabilities;

/// The Helm release whose behaviour we follow.
const HELM_VERSION: &str = "v3.21.4";
const GO_VERSION: &str = "go1.26.8";

/// The value of `.Capabilities`.
pub(super) fn capabilities_value(capabilities: &Capabilities) -> Value {
    let version = &capabilities.kube_version;
    let plain = |name, value: &str| Field { json: name, omit_empty: false, ..text(name, name, value) };
    let mut kube = Record::new(
        "chartutil.KubeVersion",
        vec![
            plain("Version", &version.version),
            plain("Major", &version.major),
            plain("Minor", &version.minor),
        ],
    );
    kube.text = Some(version.version.clone());
    kube.methods = BTreeMap::from([
        ("String", Value::from(version.version.as_str())),
        ("GitVersion", Value::from(version.version.as_str())),
    ]);
    let helm = Record::new(
        "version.BuildInfo",
        vec![
            text("Version", "version", HELM_VERSION),
            text("GitCommit", "git_commit", ""),
            text("GitTreeState", "git_tree_state", ""),
            text("GoVersion", "go_version", GO_VERSION),
        ],
    );
    let versions = VersionSet::new(&capabilities.api_versions);
    let field =
        |name, printed: String, value: Value| Field { name, json: name, omit_empty: false, value, printed };
    let mut record = Record::new(
        "*chartutil.Capabilities",
        vec![
            field("KubeVersion", kube.braces(), Value::native(kube)),
            field("APIVersions", versions.print(), Value::native(versions)),
            field("HelmVersion", helm.braces(), Value::native(helm)),
        ],
    );
    record.kind = "ptr";
    Value::native(record)
}

/// `.Capabilities.APIVersions`: a list of strings with a `Has` method.
struct VersionSet {
    versions: Vec<String>,
    index: BTreeSet<String>,
}

impl VersionSet {
    fn new(versions: &[String]) -> Self {
        Self { versions: versions.to_vec(), index: versions.iter().cloned().collect() }
    }
}

impl Native for VersionSet {
    fn type_name(&self) -> &str {
        "chartutil.VersionSet"
    }

    fn kind(&self) -> &'static str {
        "slice"
    }

    fn field(&self, _name: &str) -> Option<Value> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        if name != "Has" {
            return None;
        }
        Some(match arguments {
            [Value::String(version)] => Ok(self.index.contains(version.as_ref()).into()),
            [other] => Err(format!("wrong type for value; expected string; got {}", other.type_name())),
            _ => Err(format!("wrong number of args for Has: want 1 got {}", arguments.len())),
        })
    }

    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        let entries = self.versions.iter().enumerate();
        Some(
            entries
                .map(|(index, version)| {
                    (Value::int(i64::try_from(index).unwrap_or_default()), version.as_str().into())
                })
                .collect(),
        )
    }

    fn print(&self) -> String {
        format!("[{}]", self.versions.join(" "))
    }

    fn to_json(&self) -> Json {
        Json::from(self.versions.clone())
    }

    fn is_true(&self) -> bool {
        !self.versions.is_empty()
    }

    fn len(&self) -> Option<usize> {
        Some(self.versions.len())
    }
}
