//! `Chart.yaml`, `requirements.yaml` and `Chart.lock`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use podsmith_object::{Map, Value};
use regex::Regex;

use super::decode::{Mismatch, boolean, list, string, string_list, string_map, struct_entries};

/// What `Chart.yaml` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The name.
    pub name: String,
    /// A project page.
    pub home: String,
    /// Where the sources are.
    pub sources: Option<Vec<String>>,
    /// The chart's version.
    pub version: String,
    /// One sentence.
    pub description: String,
    /// Words to search by.
    pub keywords: Option<Vec<String>>,
    /// Who cares for the chart.
    pub maintainers: Option<Vec<Maintainer>>,
    /// A picture.
    pub icon: String,
    /// `v1` or `v2`.
    pub api_version: String,
    /// The condition under which the chart is enabled (informative).
    pub condition: String,
    /// Its tags (informative).
    pub tags: String,
    /// The version of the application inside.
    pub app_version: String,
    /// Whether the chart should no longer be used.
    pub deprecated: bool,
    /// Free-form notes.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Which Kubernetes versions the chart accepts.
    pub kube_version: String,
    /// Charts this one needs. `None` and an empty list differ: without the list, nested charts are not looked at.
    pub dependencies: Option<Vec<Dependency>>,
    /// `application`, `library` or empty.
    pub kind: String,
}

/// A maintainer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Maintainer {
    /// Name.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// Address of a page.
    pub url: String,
}

/// A chart that another chart needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependency {
    /// The name in that chart's `Chart.yaml`.
    pub name: String,
    /// A version or a range of versions.
    pub version: String,
    /// Where to get it.
    pub repository: String,
    /// Paths of values; the first that is a boolean decides.
    pub condition: String,
    /// Tags that switch it on or off.
    pub tags: Option<Vec<String>>,
    /// Whether it takes part.
    pub enabled: bool,
    /// Values to lift into the parent.
    pub import_values: Option<Vec<ImportValue>>,
    /// Another name to use it under.
    pub alias: String,
}

/// One entry of `import-values`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ImportValue {
    /// `name`: the table `exports.name` of the child goes to the top of the parent.
    Export(String),
    /// `{child: …, parent: …}`.
    Paths {
        /// A path in the child's values.
        child: String,
        /// A path in the parent's values.
        parent: String,
    },
    /// Anything else; it has no effect.
    Other,
}

/// `Chart.lock` or `requirements.lock`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// When it was written, as written.
    pub generated: String,
    /// A digest over the dependencies and the locked versions.
    pub digest: String,
    /// The locked dependencies.
    pub dependencies: Vec<Dependency>,
}

/// Why the metadata was refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MetadataError {
    /// A field of the wrong type.
    #[error("field `{field}` must be {expected}, this is {found}")]
    Type {
        /// The field.
        field: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A rule is broken.
    #[error("{0}")]
    Rule(String),
}

impl From<Mismatch> for MetadataError {
    fn from(wrong: Mismatch) -> Self {
        Self::Type { field: wrong.field, expected: wrong.expected, found: wrong.found }
    }
}

impl Metadata {
    /// Takes over every known field of a document; `requirements.yaml` is read over `Chart.yaml` this way.
    ///
    /// # Errors
    ///
    /// When a field has the wrong type.
    pub fn absorb(&mut self, document: &Value) -> Result<(), MetadataError> {
        for (key, value) in struct_entries(document, "Chart.yaml")? {
            match key.as_str() {
                "name" => string(&mut self.name, key, value)?,
                "home" => string(&mut self.home, key, value)?,
                "sources" => self.sources = string_list(key, value)?,
                "version" => string(&mut self.version, key, value)?,
                "description" => string(&mut self.description, key, value)?,
                "keywords" => self.keywords = string_list(key, value)?,
                "maintainers" => self.maintainers = list(key, value, Maintainer::read)?,
                "icon" => string(&mut self.icon, key, value)?,
                "apiversion" => string(&mut self.api_version, key, value)?,
                "condition" => string(&mut self.condition, key, value)?,
                "tags" => string(&mut self.tags, key, value)?,
                "appversion" => string(&mut self.app_version, key, value)?,
                "deprecated" => boolean(&mut self.deprecated, key, value)?,
                "annotations" => self.annotations = string_map(key, value)?,
                "kubeversion" => string(&mut self.kube_version, key, value)?,
                "dependencies" => self.dependencies = list(key, value, Dependency::read)?,
                "type" => string(&mut self.kind, key, value)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Cleans the texts and checks the rules of a chart.
    ///
    /// # Errors
    ///
    /// Names the first rule that is broken.
    pub fn validate(&mut self) -> Result<(), MetadataError> {
        for text in [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ] {
            clean(text);
        }
        self.sources.iter_mut().flatten().for_each(clean);
        self.keywords.iter_mut().flatten().for_each(clean);
        for maintainer in self.maintainers.iter_mut().flatten() {
            clean(&mut maintainer.name);
            clean(&mut maintainer.email);
            clean(&mut maintainer.url);
        }
        let rule = |text: String| Err(MetadataError::Rule(text));
        if self.api_version.is_empty() {
            return rule("`apiVersion` is required".into());
        }
        if self.name.is_empty() {
            return rule("`name` is required".into());
        }
        if self.name == "." || self.name == ".." || self.name.contains('/') {
            return rule(format!("name `{}` is not allowed", self.name));
        }
        if self.version.is_empty() {
            return rule("`version` is required".into());
        }
        if !crate::version::is_valid(&self.version) {
            return rule(format!("version `{}` is not a semantic version", self.version));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return rule(format!("type `{}` must be application or library", self.kind));
        }
        self.validate_dependencies()
    }

    fn validate_dependencies(&mut self) -> Result<(), MetadataError> {
        let mut seen = std::collections::BTreeSet::new();
        for dependency in self.dependencies.iter_mut().flatten() {
            dependency.validate()?;
            let name = dependency.used_name();
            if !seen.insert(name.to_owned()) {
                let text = format!("more than one dependency with name or alias `{name}`");
                return Err(MetadataError::Rule(text));
            }
        }
        Ok(())
    }

    /// True for library charts, of which only helper templates take part.
    pub fn is_library(&self) -> bool {
        self.kind.eq_ignore_ascii_case("library")
    }
}

impl Maintainer {
    fn read(value: &Value) -> Result<Self, Mismatch> {
        let mut maintainer = Self::default();
        if value.is_null() {
            return Err(Mismatch::new("maintainers", "a mapping", value));
        }
        for (key, value) in struct_entries(value, "maintainers")? {
            match key.as_str() {
                "name" => string(&mut maintainer.name, key, value)?,
                "email" => string(&mut maintainer.email, key, value)?,
                "url" => string(&mut maintainer.url, key, value)?,
                _ => {}
            }
        }
        Ok(maintainer)
    }
}

impl Dependency {
    /// Reads one entry of a `dependencies` list.
    pub(crate) fn read(value: &Value) -> Result<Self, Mismatch> {
        let mut dependency = Self::default();
        if value.is_null() {
            return Err(Mismatch::new("dependencies", "a mapping", value));
        }
        for (key, value) in struct_entries(value, "dependencies")? {
            match key.as_str() {
                "name" => string(&mut dependency.name, key, value)?,
                "version" => string(&mut dependency.version, key, value)?,
                "repository" => string(&mut dependency.repository, key, value)?,
                "condition" => string(&mut dependency.condition, key, value)?,
                "tags" => dependency.tags = string_list(key, value)?,
                "enabled" => boolean(&mut dependency.enabled, key, value)?,
                "import-values" => {
                    dependency.import_values = list(key, value, |item| Ok(ImportValue::read(item)))?;
                }
                "alias" => string(&mut dependency.alias, key, value)?,
                _ => {}
            }
        }
        Ok(dependency)
    }

    fn validate(&mut self) -> Result<(), MetadataError> {
        for text in [&mut self.name, &mut self.version, &mut self.repository, &mut self.condition] {
            clean(text);
        }
        self.tags.iter_mut().flatten().for_each(clean);
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !self.alias.chars().all(allowed) {
            let text = format!(
                "alias `{}` of dependency `{}` may only have letters, digits, `_` and `-`",
                self.alias, self.name
            );
            return Err(MetadataError::Rule(text));
        }
        Ok(())
    }

    /// The alias, or else the name.
    pub fn used_name(&self) -> &str {
        if self.alias.is_empty() { &self.name } else { &self.alias }
    }
}

impl ImportValue {
    fn read(value: &Value) -> Self {
        match value {
            Value::String(name) => Self::Export(name.clone()),
            Value::Object(map) => Self::Paths { child: path(map, "child"), parent: path(map, "parent") },
            _ => Self::Other,
        }
    }
}

fn path(map: &Map<String, Value>, key: &str) -> String {
    match map.get(key) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => "<nil>".to_owned(),
        Some(other) => other.to_string(),
    }
}

impl Lock {
    /// Reads a lock file's document.
    ///
    /// # Errors
    ///
    /// When a field has the wrong type.
    pub fn read(document: &Value) -> Result<Self, MetadataError> {
        let mut lock = Self::default();
        for (key, value) in struct_entries(document, "Chart.lock")? {
            match key.as_str() {
                "generated" => string(&mut lock.generated, key, value)?,
                "digest" => string(&mut lock.digest, key, value)?,
                "dependencies" => {
                    lock.dependencies = list(key, value, Dependency::read)?.unwrap_or_default();
                }
                _ => {}
            }
        }
        Ok(lock)
    }
}

/// White space becomes a space; what cannot be printed goes away.
fn clean(text: &mut String) {
    static UNPRINTABLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[^\p{L}\p{M}\p{N}\p{P}\p{S} ]").ok());
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return;
    }
    let spaced: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    *text = match &*UNPRINTABLE {
        Some(unprintable) => unprintable.replace_all(&spaced, "").into_owned(),
        None => spaced,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    fn read(value: Value) -> Result<Metadata, MetadataError> {
        let mut metadata = Metadata::default();
        metadata.absorb(&value)?;
        metadata.validate()?;
        Ok(metadata)
    }

    #[test]
    fn numbers_and_booleans_become_text_where_text_is_wanted() {
        let found = read(json!({
            "apiVersion": "v2", "name": "a", "version": 1, "appVersion": 1.1,
            "annotations": {"a": true, "b": 2, "c": null},
        }))
        .unwrap();
        assert_eq!((found.version.as_str(), found.app_version.as_str()), ("1", "1.1"));
        let annotations = found.annotations.unwrap();
        assert_eq!(annotations["a"], "true");
        assert_eq!(annotations["b"], "2");
        assert_eq!(annotations["c"], "");
    }

    #[test]
    fn field_names_ignore_case() {
        let found = read(json!({"apiversion": "v2", "Name": "a", "VERSION": "1.0.0"})).unwrap();
        assert_eq!(found.name, "a");
    }

    #[test]
    fn broken_rules_are_named() {
        let check = |value: Value, expected: &str| {
            assert!(read(value).unwrap_err().to_string().contains(expected), "{expected}");
        };
        check(json!({"name": "a", "version": "1.0.0"}), "`apiVersion` is required");
        check(json!({"apiVersion": "v2", "version": "1.0.0"}), "`name` is required");
        check(json!({"apiVersion": "v2", "name": "a/b", "version": "1.0.0"}), "not allowed");
        check(json!({"apiVersion": "v2", "name": "a", "version": "x"}), "not a semantic version");
        check(
            json!({"apiVersion": "v2", "name": "a", "version": "1.0.0", "type": "x"}),
            "application or library",
        );
        check(json!({"apiVersion": "v2", "name": ["a"]}), "field `name` must be a string, this is a list");
        check(
            json!({"apiVersion": "v2", "name": "a", "version": "1.0.0",
                "dependencies": [{"name": "b"}, {"name": "c", "alias": "b"}]}),
            "more than one dependency",
        );
    }

    #[test]
    fn unprintable_characters_are_dropped() {
        let found =
            read(json!({"apiVersion": "v2", "name": "a\u{200b}", "version": "1.0.0", "home": "x\ty"}));
        let found = found.unwrap();
        assert_eq!((found.name.as_str(), found.home.as_str()), ("a", "x y"));
    }
}
