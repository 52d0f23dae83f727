//! The declared dependencies of a chart: found, fetched, locked.

use std::sync::Arc;

use podsmith_object::files::{self, FileTree};
use podsmith_object::{Map, Value};

use super::digest::sha256;
use super::error::RepositoryError;
use super::locate::{Locator, Reference};
use crate::chart::{Chart, Dependency, ImportValue};

/// A dependency that was found.
#[derive(Clone, Debug)]
pub struct LockedDependency {
    /// Its name.
    pub name: String,
    /// The exact version.
    pub version: String,
    /// Its repository, as declared.
    pub repository: String,
    /// The chart.
    pub chart: Arc<Chart>,
}

impl Locator<'_> {
    /// Finds every declared dependency that is not vendored yet and returns the chart with all of them.
    ///
    /// With a lock file the locked versions are taken, after checking that it belongs to these dependencies. `tree` and
    /// `path` are where the chart is, for `file://` repositories.
    ///
    /// # Errors
    ///
    /// When a dependency cannot be found or the lock file is out of date.
    pub fn with_dependencies(
        &self,
        chart: &Arc<Chart>,
        tree: &dyn FileTree,
        path: &str,
    ) -> Result<Arc<Chart>, RepositoryError> {
        let found = self.dependencies(chart, tree, path)?;
        if found.is_empty() {
            return Ok(chart.clone());
        }
        Ok(chart.with_subcharts(found.into_iter().map(|dependency| dependency.chart).collect()))
    }

    /// Finds every declared dependency that is not vendored yet.
    ///
    /// # Errors
    ///
    /// As [`Locator::with_dependencies`].
    pub fn dependencies(
        &self,
        chart: &Chart,
        tree: &dyn FileTree,
        path: &str,
    ) -> Result<Vec<LockedDependency>, RepositoryError> {
        let declared = chart.metadata().dependencies.as_deref().unwrap_or_default();
        let missing: Vec<&Dependency> = declared
            .iter()
            .filter(|wanted| !chart.subcharts().iter().any(|child| child.name() == wanted.name))
            .collect();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(lock) = chart.lock()
            && lock.digest != lock_digest(declared, &lock.dependencies)
        {
            return Err(RepositoryError::LockOutOfSync { chart: chart.name().to_owned() });
        }
        let mut found: Vec<LockedDependency> = Vec::new();
        for wanted in missing {
            // One chart under two aliases is one download.
            let same = |dependency: &LockedDependency| {
                dependency.name == wanted.name && dependency.repository == wanted.repository
            };
            if !found.iter().any(same) {
                found.push(self.dependency(chart, wanted, tree, path)?);
            }
        }
        Ok(found)
    }

    fn dependency(
        &self,
        parent: &Chart,
        wanted: &Dependency,
        tree: &dyn FileTree,
        path: &str,
    ) -> Result<LockedDependency, RepositoryError> {
        let locked = parent.lock().and_then(|lock| {
            lock.dependencies
                .iter()
                .find(|locked| locked.name == wanted.name && locked.repository == wanted.repository)
        });
        let range = locked.map_or(wanted.version.as_str(), |locked| locked.version.as_str());
        let chart = if let Some(directory) = wanted.repository.strip_prefix("file://") {
            local(directory, tree, path)?
        } else {
            let url = self.repository_url(&wanted.repository)?;
            self.locate(&Reference::in_repository(&url, &wanted.name)?, range)?.load()?
        };
        let version = chart.metadata().version.clone();
        let fits = crate::version::is_compatible(&wanted.version, &version);
        if chart.name() != wanted.name || !(fits || wanted.version.is_empty()) {
            return Err(RepositoryError::NoVersion {
                repository: wanted.repository.clone(),
                name: wanted.name.clone(),
                range: wanted.version.clone(),
            });
        }
        Ok(LockedDependency {
            name: wanted.name.clone(),
            version,
            repository: wanted.repository.clone(),
            chart,
        })
    }

    /// The address behind `@name` or `alias:name`.
    fn repository_url(&self, repository: &str) -> Result<String, RepositoryError> {
        let name = repository.strip_prefix('@').or_else(|| repository.strip_prefix("alias:"));
        let refuse = |problem| RepositoryError::Reference { text: repository.to_owned(), problem };
        match name {
            Some(name) => self.repositories.get(name).cloned().ok_or(refuse("no repository has this name")),
            None if repository.is_empty() => Err(refuse("the dependency names no repository")),
            None => Ok(repository.to_owned()),
        }
    }
}

fn local(directory: &str, tree: &dyn FileTree, path: &str) -> Result<Arc<Chart>, RepositoryError> {
    let target = files::join(path, directory).ok_or_else(|| RepositoryError::Reference {
        text: format!("file://{directory}"),
        problem: "it leaves the directory tree",
    })?;
    Ok(Chart::load_dir(tree, &target)?)
}

/// The digest that a lock file has for declared and locked dependencies.
pub fn lock_digest(declared: &[Dependency], locked: &[Dependency]) -> String {
    let list = |dependencies: &[Dependency]| Value::Array(dependencies.iter().map(to_json).collect());
    let text = Value::Array(vec![list(declared), list(locked)]).to_string();
    // Go writes these as escapes, and the digest is over the text.
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    format!("sha256:{}", sha256(text.as_bytes()))
}

fn to_json(dependency: &Dependency) -> Value {
    let mut out = Map::new();
    let mut text = |key: &str, value: &str, always: bool| {
        if always || !value.is_empty() {
            out.insert(key.to_owned(), Value::from(value));
        }
    };
    text("name", &dependency.name, true);
    text("version", &dependency.version, false);
    text("repository", &dependency.repository, true);
    text("condition", &dependency.condition, false);
    if let Some(tags) = dependency.tags.as_ref().filter(|tags| !tags.is_empty()) {
        out.insert("tags".to_owned(), Value::from(tags.clone()));
    }
    if dependency.enabled {
        out.insert("enabled".to_owned(), Value::Bool(true));
    }
    if let Some(imports) = dependency.import_values.as_ref().filter(|imports| !imports.is_empty()) {
        out.insert("import-values".to_owned(), imports.iter().map(import_to_json).collect());
    }
    if !dependency.alias.is_empty() {
        out.insert("alias".to_owned(), Value::from(dependency.alias.as_str()));
    }
    Value::Object(out)
}

fn import_to_json(import: &ImportValue) -> Value {
    match import {
        ImportValue::Export(name) => Value::from(name.as_str()),
        ImportValue::Paths { child, parent } => {
            podsmith_object::json!({"child": child, "parent": parent})
        }
        ImportValue::Other => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_digests_are_those_that_helm_writes() {
        let declared = Dependency {
            name: "w".into(),
            version: ">=1.0.0 <2".into(),
            repository: "file://../w".into(),
            condition: "w.on".into(),
            tags: Some(vec!["a".into(), "b".into()]),
            alias: "dub".into(),
            import_values: Some(vec![
                ImportValue::Export("x".into()),
                ImportValue::Paths { child: "a.b".into(), parent: "c".into() },
            ]),
            enabled: false,
        };
        let locked = Dependency {
            name: "w".into(),
            version: "1.2.3".into(),
            repository: "file://../w".into(),
            ..Dependency::default()
        };
        // Written by helm 3.21.4 for these dependencies.
        assert_eq!(
            lock_digest(&[declared], &[locked]),
            "sha256:e41ec2953faaf00809d55ff0609d29f3373bc2d6fc277d8c714bfcb36e074c7d"
        );
    }
}
