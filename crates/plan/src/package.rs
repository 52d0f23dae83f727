//! A package made ready to be planned: namespaces given, identity labels set, duplicates refused.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::{Diagnostic, Diagnostics, GroupVersionKind, Map, Object, ObjectId, Value};

use crate::kinds::Kinds;
use crate::{checksum, definition, digest, mask, names};

/// A named set of objects with a default namespace: what one plan is about.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name.
    pub name: String,
    /// The namespace of objects that name none.
    pub namespace: String,
    /// The objects, as rendered.
    pub objects: Vec<Object>,
}

/// What to do while preparing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PrepareOptions {
    /// Restart workloads when configuration they use changes.
    pub restart_on_config_change: bool,
}

impl Default for PrepareOptions {
    fn default() -> Self {
        Self { restart_on_config_change: true }
    }
}

/// A package ready to be compared with a cluster.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The name.
    pub name: String,
    /// The default namespace.
    pub namespace: String,
    /// The objects with namespace, labels, checksum and digest, in their order.
    pub objects: Vec<Object>,
    /// Namespaces that objects use, in name order.
    pub namespaces: BTreeSet<String>,
    /// Kinds that exist only after this package's CustomResourceDefinitions do.
    pub deferred_kinds: Vec<GroupVersionKind>,
    /// The schemas of the kinds that the package defines.
    pub schemas: definition::Schemas,
}

/// Prepares a package; `kinds` gains the kinds that the package itself defines.
///
/// Objects that cannot be planned are left out and told: unknown kinds, missing names, duplicates, custom resources
/// that do not fit their definition. The others can still be checked, so that one run finds every mistake.
pub fn prepare(package: Package, kinds: &mut Kinds, options: PrepareOptions) -> (Prepared, Diagnostics) {
    let mut problems = Diagnostics::new();
    let mut deferred_kinds = Vec::new();
    let mut schemas = definition::Schemas::default();
    for object in &package.objects {
        if object.kind() == "CustomResourceDefinition" && &*object.gvk().group == "apiextensions.k8s.io" {
            deferred_kinds.extend(kinds.insert_definition(object));
            schemas.insert(object);
        }
    }
    let mut objects = Vec::with_capacity(package.objects.len());
    let mut namespaces = BTreeSet::new();
    for object in package.objects {
        match settle(object, &package.name, &package.namespace, kinds) {
            Ok(object) => {
                if !object.namespace().is_empty() {
                    namespaces.insert(object.namespace().to_owned());
                }
                objects.push(object);
            }
            Err(problem) => problems.push(*problem),
        }
    }
    refuse_duplicates(&mut objects, &mut problems);
    objects.retain(|object| {
        let found = schemas.check(object);
        let fits = found.is_empty();
        problems.extend(found);
        fits
    });
    if options.restart_on_config_change {
        checksum::stamp(&mut objects);
    }
    for object in &mut objects {
        digest::stamp(object);
    }
    let prepared = Prepared {
        name: package.name,
        namespace: package.namespace,
        objects,
        namespaces,
        deferred_kinds,
        schemas,
    };
    (prepared, problems)
}

/// One object with its namespace and labels.
fn settle(
    mut object: Object,
    package: &str,
    namespace: &str,
    kinds: &Kinds,
) -> Result<Object, Box<Diagnostic>> {
    let place = object.origin().map(podsmith_object::Origin::place);
    let id = object.id();
    let fail = |message: String| Box::new(Diagnostic::error(message).on(id.clone()).or_at(place.clone()));
    let Some(resource) = kinds.get(&id.gvk) else {
        let message = format!("the cluster does not know {} {}", id.gvk.api_version(), id.gvk.kind);
        return Err(Box::new((*fail(message)).with_hint(kinds.hint(&id.gvk))));
    };
    if id.name.is_empty() {
        let generated = object.get(&["metadata", "generateName"]).is_some();
        let message = if generated {
            "an object with generateName is new on every run and cannot be kept up to date"
        } else {
            "the object has no metadata.name"
        };
        return Err(Box::new((*fail(message.into())).with_hint("give it a name")));
    }
    if let Some(problem) = object.string_map_problems().first() {
        return Err(fail(problem.to_string()));
    }
    match (resource.namespaced, object.namespace().is_empty()) {
        (true, true) => object.set_namespace(namespace),
        (false, false) => object.set_namespace(""),
        _ => {}
    }
    object.set_label(names::MANAGED_BY, names::MANAGER);
    if object.label(names::PART_OF).is_none() {
        object.set_label(names::PART_OF, &names::label_value(package));
    }
    strip_server_fields(&mut object);
    encode_string_data(&mut object);
    Ok(object)
}

/// The server turns `stringData` into `data` and forgets it; a key that is removed later would stay for ever. Declared as
/// `data` it goes away.
fn encode_string_data(object: &mut Object) {
    if !mask::is_secret(object) || !object.body().get("stringData").is_some_and(Value::is_object) {
        return;
    }
    let Some(Value::Object(plain)) = object.body_mut().shift_remove("stringData") else { return };
    let data = object.body_mut().entry("data").or_insert(Value::Null);
    if !data.is_object() {
        *data = Value::Object(Map::new());
    }
    if let Value::Object(data) = data {
        for (key, value) in plain {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            data.insert(key, Value::from(STANDARD.encode(text)));
        }
    }
}

/// Fields that only the server writes: exported objects carry them, and applying them would be refused or ignored.
fn strip_server_fields(object: &mut Object) {
    const FIELDS: [&str; 6] =
        ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"];
    if FIELDS.iter().any(|field| object.get(&["metadata", field]).is_some()) {
        for field in FIELDS {
            object.metadata_mut().shift_remove(field);
        }
    }
    // Custom resources without a status subresource may declare their status; nobody else can.
    let built_in = !object.gvk().group.contains('.') || object.gvk().group.ends_with(".k8s.io");
    if object.body().get("status").is_some_and(|status| built_in || status.is_null()) {
        object.body_mut().shift_remove("status");
    }
    if object.annotation(names::LAST_APPLIED).is_some() {
        object.remove_annotation(names::LAST_APPLIED);
    }
}

/// The same object in two versions of its kind is still the same object.
fn refuse_duplicates(objects: &mut Vec<Object>, problems: &mut Diagnostics) {
    let mut seen: HashMap<Key, Object> = HashMap::with_capacity(objects.len());
    objects.retain(|object| {
        let id = object.id();
        let first = seen.insert(versionless(&id), object.clone());
        if let Some(first) = &first {
            let mut problem = Diagnostic::error("the package declares this object twice")
                .on(id)
                .or_at(object.origin().map(podsmith_object::Origin::place));
            if let Some(origin) = first.origin() {
                problem = problem.because(format!("the other one is at {}", origin.place()));
            }
            problems.push(problem.with_hint("remove one of them, or give it another name"));
        }
        first.is_none()
    });
}

/// The key of an object independent of its version: group, kind, namespace, name.
pub type Key = (Arc<str>, Arc<str>, Arc<str>, Arc<str>);

/// The [`Key`] of an identity.
pub fn versionless(id: &ObjectId) -> Key {
    (id.gvk.group.clone(), id.gvk.kind.clone(), id.namespace.clone(), id.name.clone())
}
