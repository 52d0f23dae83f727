//! The table of types: unpacked and indexed once, each type read when it is first needed.

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::{Arc, OnceLock};

use podsmith_object::GroupVersionKind;

use crate::read;
use crate::resources::{self, Resource};
use crate::types::{ListType, MapType, Named, Scalar, Struct, StructType, Type};

static PACKED: &[u8] = include_bytes!("../table/types.txt.gz");
static TABLE: OnceLock<Table> = OnceLock::new();
static NOTHING: OnceLock<Struct> = OnceLock::new();

/// The types and resources of Kubernetes 1.36.3.
#[derive(Debug)]
pub struct Table {
    packages: Vec<Package>,
    entries: Vec<Entry>,
    names: HashMap<(&'static str, &'static str), u32>,
    kinds: HashMap<(&'static str, &'static str, &'static str), u32>,
}

#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) id: &'static str,
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) openapi: &'static str,
}

#[derive(Debug)]
struct Entry {
    package: u32,
    name: &'static str,
    head: &'static str,
    body: &'static str,
    slot: Slot,
}

#[derive(Debug)]
enum Slot {
    Struct(OnceLock<Box<Struct>>),
    Named(OnceLock<Box<(Named, Type)>>),
}

/// The table.
///
/// # Cost
///
/// The first call unpacks some 200 KB and notes where each type stands, well under a millisecond or two; later calls
/// are free.
pub fn table() -> &'static Table {
    TABLE.get_or_init(|| {
        let mut text = String::new();
        // The packed bytes are part of the program; a table that cannot be unpacked is empty and its tests fail.
        if flate2::read::GzDecoder::new(PACKED).read_to_string(&mut text).is_err() {
            text.clear();
        }
        Table::index(String::leak(text))
    })
}

/// Whether objects of a built-in kind live outside namespaces; `None` for kinds that are not built in.
pub fn is_cluster_scoped(gvk: &GroupVersionKind) -> Option<bool> {
    if let Some(resource) = resources::index().by_kind(gvk) {
        return Some(!resource.namespaced);
    }
    table().old_kind_scope(gvk)
}

impl Table {
    fn index(text: &'static str) -> Self {
        let mut packages = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        let (mut names, mut kinds) = (HashMap::new(), HashMap::new());
        let mut rest = text;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            rest = after;
            let mut words = line.splitn(4, ' ');
            match (words.next(), words.next()) {
                (Some("P"), Some(id)) => {
                    let mut words = line.split(' ').skip(2).map(|word| if word == "-" { "" } else { word });
                    let mut next = || words.next().unwrap_or("");
                    packages.push(Package { id, group: next(), version: next(), openapi: next() });
                }
                (Some(sort @ ("S" | "E")), Some(name)) => {
                    let Some(package) = packages.last() else { continue };
                    let end = if sort == "S" { body_end(rest) } else { 0 };
                    let (body, after) = rest.split_at(end);
                    rest = after;
                    let at = u32::try_from(entries.len()).unwrap_or(u32::MAX);
                    let head = line.get(2 + name.len() + 1..).unwrap_or("");
                    names.insert((package.id, name), at);
                    if sort == "S" && head.contains('k') {
                        kinds.insert((package.group, package.version, name), at);
                    }
                    let slot = if sort == "S" {
                        Slot::Struct(OnceLock::new())
                    } else {
                        Slot::Named(OnceLock::new())
                    };
                    let package = u32::try_from(packages.len() - 1).unwrap_or(u32::MAX);
                    entries.push(Entry { package, name, head, body, slot });
                }
                _ => {}
            }
        }
        Self { packages, entries, names, kinds }
    }

    /// All built-in resources: the core group first, then the groups in the order in which a server lists them,
    /// within a group the preferred version first.
    pub fn resources(&self) -> &'static [Resource] {
        &resources::index().list
    }

    /// The resource of a kind.
    pub fn resource(&self, gvk: &GroupVersionKind) -> Option<&'static Resource> {
        resources::index().by_kind(gvk)
    }

    /// The resource at a path.
    pub fn resource_at(&self, group: &str, version: &str, plural: &str) -> Option<&'static Resource> {
        self.resources()
            .iter()
            .find(|one| one.plural == plural && one.version == version && one.group == group)
    }

    /// The type of a built-in kind, old versions that are no longer served included. Options and statuses belong to
    /// every group and version.
    pub fn type_of(&self, gvk: &GroupVersionKind) -> Option<Type> {
        let own = self.kinds.get(&(&*gvk.group, &*gvk.version, &*gvk.kind));
        let at = own.or_else(|| match &*gvk.kind {
            "CreateOptions" | "DeleteOptions" | "GetOptions" | "ListOptions" | "PatchOptions"
            | "UpdateOptions" | "Status" | "APIGroup" | "APIGroupList" | "APIVersions"
            | "APIResourceList" => self.kinds.get(&("meta.k8s.io", "v1", &*gvk.kind)),
            _ => None,
        })?;
        Some(Type::Struct(StructType::builtin(*at, false)))
    }

    /// All kinds the table has a type for: group, version and kind, sorted.
    pub fn kinds(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        let mut kinds: Vec<_> = self.kinds.keys().copied().collect();
        kinds.sort_unstable();
        kinds
    }

    /// A type by package and name: `("core/v1", "PodSpec")`, `("meta/v1", "ObjectMeta")`.
    pub fn named(&'static self, package: &str, name: &str) -> Option<Type> {
        let at = *self.names.get(&(package, name))?;
        self.type_at(at)
    }

    /// The name of a struct in OpenAPI documents: `io.k8s.api.apps.v1.Deployment`.
    pub fn openapi_name(&self, definition: &Struct) -> Option<String> {
        let package = self.packages.iter().find(|package| package.id == definition.package)?;
        Some(format!("{}.{}", package.openapi, definition.name))
    }

    fn old_kind_scope(&'static self, gvk: &GroupVersionKind) -> Option<bool> {
        let at = *self.kinds.get(&(&*gvk.group, &*gvk.version, &*gvk.kind))?;
        let entry = self.entries.get(at as usize)?;
        self.structure(at).fields.contains_key("metadata").then(|| entry.head.contains('c'))
    }

    pub(crate) fn type_at(&'static self, at: u32) -> Option<Type> {
        let entry = self.entries.get(at as usize)?;
        match &entry.slot {
            Slot::Struct(_) => Some(Type::Struct(StructType::builtin(at, entry.head.contains('a')))),
            Slot::Named(slot) => {
                let (named, target) = &**slot.get_or_init(|| Box::new(self.read_named(entry)));
                Some(match target {
                    Type::Scalar(scalar) => Type::Scalar(Scalar { base: scalar.base, named: Some(named) }),
                    Type::List(list) => Type::List(Arc::new(ListType {
                        items: list.items.clone(),
                        relation: list.relation.clone(),
                        wrapped: list.wrapped,
                        named: Some(named),
                    })),
                    Type::Map(map) => Type::Map(Arc::new(MapType {
                        values: map.values.clone(),
                        atomic: map.atomic,
                        named: Some(named),
                    })),
                    other => other.clone(),
                })
            }
        }
    }

    pub(crate) fn structure(&'static self, at: u32) -> &'static Struct {
        match self.entries.get(at as usize) {
            Some(Entry { slot: Slot::Struct(slot), package, name, head, body, .. }) => {
                slot.get_or_init(|| Box::new(read::structure(self, self.package(*package), name, head, body)))
            }
            _ => NOTHING.get_or_init(Struct::default),
        }
    }

    fn read_named(&'static self, entry: &Entry) -> (Named, Type) {
        let package = self.package(entry.package);
        let (target, values) = entry.head.split_once(' ').unwrap_or((entry.head, "-"));
        let short = package.rsplit('/').next().unwrap_or("");
        let values = if values == "-" { Vec::new() } else { values.split(',').collect() };
        (Named { name: format!("{short}.{}", entry.name), values }, read::named_target(self, package, target))
    }

    fn package(&self, at: u32) -> &'static str {
        self.packages.get(at as usize).map_or("", |package| package.id)
    }
}

fn body_end(rest: &str) -> usize {
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if !line.starts_with('\t') {
            break;
        }
        end += line.len();
    }
    end
}
