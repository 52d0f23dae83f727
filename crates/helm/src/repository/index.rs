//! `index.yaml`: which charts a repository has, and which version to take.

use std::collections::BTreeMap;

use podsmith_gotemplate::semver::{Constraint, Version};
use podsmith_object::Value;

use crate::reading::first_document;

/// One version of one chart.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct IndexEntry {
    /// The chart.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Where its archive is; the first one is used.
    pub urls: Vec<String>,
    /// The SHA-256 of the archive.
    pub digest: Option<String>,
    /// Whether it should no longer be used.
    pub deprecated: bool,
}

/// The index of a repository.
#[derive(Clone, Debug, Default)]
pub struct Index {
    entries: BTreeMap<String, Vec<IndexEntry>>,
}

impl Index {
    /// Reads an `index.yaml`. Entries that are malformed are skipped, as Helm does.
    ///
    /// # Errors
    ///
    /// When the text is not YAML or has no `entries`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let document = first_document(text).map_err(|error| format!("line {}: {error}", error.line))?;
        if document.get("apiVersion").and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err("there is no apiVersion".to_owned());
        }
        let mut entries = BTreeMap::new();
        for (name, versions) in document.get("entries").and_then(Value::as_object).into_iter().flatten() {
            let mut found: Vec<(Version, IndexEntry)> = versions
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|value| {
                    let entry = read_entry(name, value)?;
                    Some((Version::parse(&entry.version).ok()?, entry))
                })
                .collect();
            // Newest first; equal versions keep the order of the file.
            found.sort_by(|a, b| b.0.cmp(&a.0));
            entries.insert(name.clone(), found.into_iter().map(|(_, entry)| entry).collect());
        }
        Ok(Self { entries })
    }

    /// The names of the charts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// All versions of a chart, newest first.
    pub fn versions(&self, name: &str) -> Option<&[IndexEntry]> {
        self.entries.get(name).map(Vec::as_slice)
    }

    /// The newest version inside `range`. An exact version is taken as it is written, if it is there. Without a range
    /// the newest that is not a pre-release.
    pub fn choose(&self, name: &str, range: &str) -> Option<&IndexEntry> {
        let versions = self.entries.get(name)?;
        if let Some(exact) = versions.iter().find(|entry| !range.is_empty() && entry.version == range) {
            return Some(exact);
        }
        let constraint = Constraint::parse(if range.is_empty() { "*" } else { range }).ok()?;
        versions
            .iter()
            .find(|entry| Version::parse(&entry.version).is_ok_and(|version| constraint.matches(&version)))
    }
}

fn read_entry(name: &str, value: &Value) -> Option<IndexEntry> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let urls = value.get("urls").and_then(Value::as_array).into_iter().flatten();
    Some(IndexEntry {
        name: name.to_owned(),
        version: match value.get("version")? {
            Value::String(version) => version.clone(),
            other => other.to_string(),
        },
        urls: urls.filter_map(|url| url.as_str().map(str::to_owned)).collect(),
        digest: text("digest").filter(|digest| !digest.is_empty()),
        deprecated: value.get("deprecated").and_then(Value::as_bool).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "apiVersion: v1\nentries:\n  web:\n  - {version: 1.2.0, urls: [web-1.2.0.tgz]}\n  \
        - {version: 1.10.0, urls: [web-1.10.0.tgz], digest: abc}\n  - {version: 2.0.0-rc.1, urls: [x]}\n  \
        - {version: not-a-version}\n  - null\n";

    #[test]
    fn the_newest_version_inside_the_range_is_chosen() {
        let index = Index::parse(TEXT).unwrap();
        let choose = |range: &str| index.choose("web", range).map(|entry| entry.version.as_str());
        assert_eq!(choose(""), Some("1.10.0"));
        assert_eq!(choose("~1.2"), Some("1.2.0"));
        assert_eq!(choose("2.0.0-rc.1"), Some("2.0.0-rc.1"));
        assert_eq!(choose(">=1.0.0-0"), Some("2.0.0-rc.1"));
        assert_eq!(choose(">3"), None);
        assert_eq!(index.choose("other", "").map(|entry| entry.name.as_str()), None);
    }

    #[test]
    fn what_is_not_an_index_is_refused() {
        assert!(Index::parse("entries: {}").is_err());
        assert!(Index::parse("a: [").is_err());
    }
}
