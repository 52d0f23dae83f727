//! The namespace of all objects.

use podsmith_object::{Diagnostics, Value};

use super::on_resource;
use crate::config::{Create, FieldError, FieldSpec};
use crate::resources::{Resource, ResourceMap, text_of};

/// Which subjects of role bindings move along.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum SubjectMode {
    /// Those called `default`.
    #[default]
    DefaultOnly,
    /// All service accounts.
    AllServiceAccounts,
    None,
}

/// What to do to all objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamespaceChange<'a> {
    pub namespace: &'a str,
    pub specs: &'a [FieldSpec],
    /// Leave namespaces that are set.
    pub unset_only: bool,
    pub subjects: SubjectMode,
}

/// Moves everything that can be in a namespace into one.
pub(crate) fn set_namespace(
    resources: &mut ResourceMap,
    change: &NamespaceChange<'_>,
) -> Result<(), Diagnostics> {
    if change.namespace.is_empty() {
        return Ok(());
    }
    for resource in resources.all_mut() {
        if resource.from_chart {
            continue;
        }
        resource.remember_identity();
        move_resource(resource, change).map_err(|error| on_resource(resource, &error))?;
    }
    resources.check_unique("`namespace`")
}

/// Moves one resource, without remembering where it was.
pub(crate) fn move_resource(resource: &mut Resource, change: &NamespaceChange<'_>) -> Result<(), FieldError> {
    let set = |leaf: &mut Value| match leaf {
        Value::Array(_) | Value::Object(_) => Err(FieldError("a namespace must be a text".into())),
        _ if change.unset_only && !text_of(leaf).is_empty() => Ok(()),
        _ => {
            *leaf = Value::from(change.namespace);
            Ok(())
        }
    };
    if !resource.is_cluster_scoped() {
        set(resource.metadata_mut().entry("namespace").or_insert_with(|| Value::from("")))?;
    }
    let is_binding = matches!(&*resource.kind(), "RoleBinding" | "ClusterRoleBinding");
    if is_binding {
        move_subjects(resource, change.subjects, &set)?;
    }
    let is_core = resource.api_version() == "v1";
    for spec in change.specs {
        let skipped = spec.path == "metadata/namespace"
            || (!is_core && spec.path == "metadata/name")
            || (is_binding
                && spec.path == "subjects/namespace"
                && matches!(spec.gvk.kind.as_str(), "RoleBinding" | "ClusterRoleBinding"));
        if !skipped && spec.selects(resource) {
            spec.apply(resource, Create::Scalar, &mut |leaf| set(leaf))?;
        }
    }
    Ok(())
}

fn move_subjects(
    resource: &mut Resource,
    mode: SubjectMode,
    set: &dyn Fn(&mut Value) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    let (key, wanted) = match mode {
        SubjectMode::None => return Ok(()),
        SubjectMode::DefaultOnly => ("name", "default"),
        SubjectMode::AllServiceAccounts => ("kind", "ServiceAccount"),
    };
    let subjects = match resource.body.get_mut("subjects") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(subjects)) => subjects,
        Some(_) => return Err(FieldError("field subjects: a list is expected".into())),
    };
    for subject in subjects {
        let Value::Object(subject) = subject else { continue };
        if subject.get(key).is_some_and(|found| text_of(found) == wanted) {
            set(subject.entry("namespace").or_insert_with(|| Value::from("")))?;
        }
    }
    Ok(())
}
