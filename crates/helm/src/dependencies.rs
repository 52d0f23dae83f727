//! Which subcharts take part in a render, under which names, and what they lift into their parents' values.
//!
//! A loaded chart never changes. Each render grows a tree of [`Node`]s over it and prunes that.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use podsmith_gotemplate::{Map, Value};

use crate::chart::{Chart, Dependency, ImportValue, Metadata};
use crate::error::HelmError;
use crate::values::coalesce::coalesce;
use crate::values::tables::{Nulls, Warnings, deep_copy, merge_tables, nest, table_at, value_at};
use crate::version::is_compatible;

/// A dependency as one render sees it. Two aliases of one chart share the entries of that chart's own list, and what
/// one of them changes (names, imports already done) the other one finds changed: Helm does so, charts rely on it.
#[derive(Debug)]
struct Entry {
    dependency: Dependency,
    imported: bool,
}

/// Where a chart hangs in the tree. The path of a chart's templates follows its parents, and as in Helm a subchart that
/// its parent does not declare keeps its parent when that is copied under an alias.
#[derive(Debug)]
struct Place {
    name: String,
    parent: RefCell<Option<Rc<Place>>>,
}

impl Place {
    fn path(&self) -> String {
        match &*self.parent.borrow() {
            Some(parent) => format!("{}/charts/{}", parent.path(), self.name),
            None => self.name.clone(),
        }
    }
}

/// A chart within one render.
#[derive(Clone)]
pub(crate) struct Node {
    /// The chart on disk.
    pub chart: Arc<Chart>,
    /// Its metadata; the name is the alias, if there is one.
    pub metadata: Metadata,
    /// Its default values, with what was lifted out of subcharts.
    pub values: Map,
    /// The subcharts that take part.
    pub subcharts: Vec<Node>,
    entries: Option<Vec<Rc<RefCell<Entry>>>>,
    place: Rc<Place>,
}

impl Node {
    /// The tree of a chart before anything is decided.
    pub(crate) fn new(chart: &Arc<Chart>) -> Self {
        let mut metadata = chart.metadata().clone();
        let entries = metadata.dependencies.take().map(|list| {
            let entry = |dependency| Rc::new(RefCell::new(Entry { dependency, imported: false }));
            list.into_iter().map(entry).collect()
        });
        let values = match Value::from_json(&podsmith_object::Value::Object(chart.values().clone())) {
            Value::Map(map) => map,
            _ => Map::new(),
        };
        let subcharts = chart.subcharts().iter().map(Self::new).collect();
        let place = Rc::new(Place { name: metadata.name.clone(), parent: RefCell::new(None) });
        let node = Self { chart: chart.clone(), metadata, values, subcharts, entries, place };
        node.adopt();
        node
    }

    /// The path of this chart: `parent/charts/child`.
    pub(crate) fn path(&self) -> String {
        self.place.path()
    }

    /// Makes this chart the parent of its subcharts.
    fn adopt(&self) {
        for child in &self.subcharts {
            *child.place.parent.borrow_mut() = Some(self.place.clone());
        }
    }

    /// The declared dependencies that are left.
    pub(crate) fn dependencies(&self) -> Option<Vec<Dependency>> {
        let entries = self.entries.as_ref()?.iter();
        Some(entries.map(|entry| entry.borrow().dependency.clone()).collect())
    }

    /// Decides which subcharts take part, then lifts values.
    pub(crate) fn resolve(&mut self, values: &Map, warnings: &mut Warnings) -> Result<(), HelmError> {
        self.enable(values, "", warnings)?;
        self.import(warnings)
    }

    fn enable(&mut self, values: &Map, path: &str, warnings: &mut Warnings) -> Result<(), HelmError> {
        // Without a list of dependencies every vendored chart takes part, and theirs are not looked at.
        let Some(entries) = self.entries.clone() else { return Ok(()) };
        self.apply_aliases(&entries);
        for entry in &entries {
            entry.borrow_mut().dependency.enabled = true;
        }
        let values = coalesce(self, values, Nulls::Delete, warnings)?;
        apply_tags(&entries, &values, warnings);
        apply_conditions(&entries, &values, path, warnings);

        let off: Vec<String> = entries
            .iter()
            .filter(|entry| !entry.borrow().dependency.enabled)
            .map(|entry| entry.borrow().dependency.name.clone())
            .collect();
        self.subcharts.retain(|child| !off.contains(&child.metadata.name));
        for child in &mut self.subcharts {
            let inner = format!("{path}{}.", child.metadata.name);
            child.enable(&values, &inner, warnings)?;
        }
        self.adopt();
        let left: Vec<_> =
            entries.into_iter().filter(|entry| !off.contains(&entry.borrow().dependency.name)).collect();
        self.entries = (!left.is_empty()).then_some(left);
        Ok(())
    }

    /// Vendored charts that are not declared come first, then the declared ones in their order, under their aliases.
    fn apply_aliases(&mut self, entries: &[Rc<RefCell<Entry>>]) {
        let fits = |child: &Self, dependency: &Dependency| {
            child.metadata.name == dependency.name
                && is_compatible(&dependency.version, &child.metadata.version)
        };
        let vendored = std::mem::take(&mut self.subcharts);
        let mut chosen: Vec<Self> = vendored
            .iter()
            .filter(|child| !entries.iter().any(|entry| fits(child, &entry.borrow().dependency)))
            .cloned()
            .collect();
        for entry in entries {
            let mut entry = entry.borrow_mut();
            if let Some(child) = vendored.iter().find(|child| fits(child, &entry.dependency)) {
                let mut child = child.clone();
                if !entry.dependency.alias.is_empty() {
                    child.metadata.name.clone_from(&entry.dependency.alias);
                }
                let parent = RefCell::new(child.place.parent.borrow().clone());
                child.place = Rc::new(Place { name: child.metadata.name.clone(), parent });
                chosen.push(child);
            }
            if !entry.dependency.alias.is_empty() {
                entry.dependency.name = entry.dependency.alias.clone();
            }
        }
        self.subcharts = chosen;
        self.adopt();
    }

    fn import(&mut self, warnings: &mut Warnings) -> Result<(), HelmError> {
        for child in &mut self.subcharts {
            child.import(warnings)?;
        }
        let Some(entries) = &self.entries else { return Ok(()) };
        let values = coalesce(self, &Map::new(), Nulls::Keep, warnings)?;
        let lifted = Map::new();
        for entry in entries {
            let mut entry = entry.borrow_mut();
            if std::mem::replace(&mut entry.imported, true) {
                entry.dependency.import_values = None;
                continue;
            }
            let name = &entry.dependency.name;
            for import in entry.dependency.import_values.iter().flatten() {
                let (child, parent) = match import {
                    ImportValue::Paths { child, parent } => (child.clone(), parent.as_str()),
                    ImportValue::Export(export) => (format!("exports.{export}"), "."),
                    ImportValue::Other => continue,
                };
                match table_at(&values, &format!("{name}.{child}")) {
                    Some(table) => {
                        // Merging may write nulls into the lower table; Helm hands over a new one when it is empty.
                        let table = if table.is_empty() { Map::new() } else { table };
                        merge_tables(&lifted, &nest(parent, table), "", Nulls::Keep, warnings);
                    }
                    None => warnings.push(format!("import-values: chart {name} has no table `{child}`")),
                }
            }
        }
        // What is lifted has lower priority than the parent's own values.
        let values = deep_copy(&values);
        merge_tables(&values, &lifted, "", Nulls::Keep, warnings);
        self.values = values;
        Ok(())
    }
}

fn apply_tags(entries: &[Rc<RefCell<Entry>>], values: &Map, warnings: &mut Warnings) {
    let Some(tags) = table_at(values, "tags") else { return };
    for entry in entries {
        let mut entry = entry.borrow_mut();
        let (mut on, mut off) = (false, false);
        for tag in entry.dependency.tags.iter().flatten() {
            match tags.get(tag) {
                Some(Value::Bool(true)) => on = true,
                Some(Value::Bool(false)) => off = true,
                Some(_) => {
                    warnings.push(format!("tag `{tag}` of chart {} is not a boolean", entry.dependency.name))
                }
                None => {}
            }
        }
        entry.dependency.enabled = on || !off;
    }
}

fn apply_conditions(entries: &[Rc<RefCell<Entry>>], values: &Map, path: &str, warnings: &mut Warnings) {
    for entry in entries {
        let mut entry = entry.borrow_mut();
        let conditions = entry.dependency.condition.trim().to_owned();
        for condition in conditions.split(',').filter(|condition| !condition.is_empty()) {
            match value_at(values, &format!("{path}{condition}")) {
                Some(Value::Bool(flag)) => {
                    entry.dependency.enabled = flag;
                    break;
                }
                Some(_) => warnings.push(format!(
                    "condition `{condition}` of chart {} is not a boolean",
                    entry.dependency.name
                )),
                None => {}
            }
        }
    }
}
