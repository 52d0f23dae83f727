//! Where an object came from and what changed it, for `buildMetadata`.

use podsmith_object::files::normalize;
use podsmith_object::{Map, Value, yaml};

use crate::load::RepositoryAddress;

/// One origin or one transformation, as the annotations tell it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Provenance {
    pub path: String,
    pub repository: String,
    pub reference: String,
    pub configured_in: String,
    /// apiVersion, kind, name and namespace of the configuration.
    pub configured_by: Option<[String; 4]>,
}

impl Provenance {
    /// The same origin one path further down.
    pub(crate) fn append(&self, path: &str) -> Self {
        if let Some(address) = RepositoryAddress::parse(path) {
            return Self {
                path: address.path,
                repository: address.clone,
                reference: address.reference,
                ..Self::default()
            };
        }
        Self { path: join(&self.path, path), ..self.clone() }
    }

    /// What a built-in generator or transformer of the kustomization here leaves behind.
    pub(crate) fn of_builtin(&self, file: &str, kind: &str) -> Self {
        Self {
            path: String::new(),
            repository: self.repository.clone(),
            reference: self.reference.clone(),
            configured_in: join(&self.path, file),
            configured_by: Some(["builtin".into(), kind.into(), String::new(), String::new()]),
        }
    }

    fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, text: &str| {
            if !text.is_empty() {
                out.insert(key.to_owned(), Value::from(text));
            }
        };
        put("path", &self.path);
        put("repo", &self.repository);
        put("ref", &self.reference);
        put("configuredIn", &self.configured_in);
        if let Some(by) = &self.configured_by {
            let mut inner = Map::new();
            for (key, text) in ["apiVersion", "kind", "name", "namespace"].into_iter().zip(by) {
                if !text.is_empty() {
                    inner.insert(key.to_owned(), Value::from(text.as_str()));
                }
            }
            out.insert("configuredBy".into(), Value::Object(inner));
        }
        Value::Object(out)
    }

    /// The text of the origin annotation.
    pub(crate) fn to_annotation(&self) -> String {
        yaml::to_string(&self.to_value())
    }
}

/// The text of the transformations annotation.
pub(crate) fn transformations(list: &[Provenance]) -> String {
    yaml::to_string(&Value::Array(list.iter().map(Provenance::to_value).collect()))
}

/// Joins and cleans; steps that leave the start stay in front.
fn join(directory: &str, path: &str) -> String {
    let joined = format!("{directory}/{path}");
    if let Some(clean) = normalize(&joined) {
        return clean;
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in joined.split('/') {
        match (step, steps.last()) {
            ("" | ".", _) => {}
            ("..", Some(&last)) if last != ".." => {
                steps.pop();
            }
            (step, _) => steps.push(step),
        }
    }
    steps.join("/")
}
