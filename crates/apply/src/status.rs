//! Which packages are applied, whether their objects are healthy, and whether somebody changed them.

use std::fmt::Write as _;

use futures::stream::{self, StreamExt as _};
use kube::Client;
use podsmith_object::{Object, ObjectId, Value, json};
use podsmith_plan::health::{self, State};
use podsmith_plan::managed;
use podsmith_plan::package::versionless;

use crate::error::ApplyError;
use crate::live;
use crate::planner::kinds;
use crate::rest::Rest;
use crate::waiting::{has_nodes, look};

/// The state of one object.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectStatus {
    /// Which object.
    pub id: ObjectId,
    /// Its health.
    pub health: State,
    /// True when somebody changed a field that we applied.
    pub drift: bool,
    /// What is wrong or who changed it.
    pub message: Option<String>,
}

/// The state of one package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PackageStatus {
    /// The package.
    pub name: String,
    /// Its default namespace.
    pub namespace: String,
    /// Its objects.
    pub objects: Vec<ObjectStatus>,
}

/// The state of all packages.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Status {
    /// The packages, by name and namespace.
    pub packages: Vec<PackageStatus>,
    /// True when the cluster has no nodes, so that no pod runs.
    pub no_nodes: bool,
}

/// Reads the state of all packages, or of those named `package`.
///
/// # Errors
///
/// When the cluster cannot be asked, or no package has the name.
pub async fn status(
    client: &Client,
    package: Option<&str>,
    namespace: Option<&str>,
) -> Result<Status, ApplyError> {
    let rest = Rest::new(client.clone());
    let (kinds, mut inventories) =
        futures::try_join!(kinds(&rest), live::inventories(&rest, namespace.unwrap_or_default()))?;
    inventories.retain(|inventory| {
        package.is_none_or(|name| inventory.package == name)
            && namespace.is_none_or(|name| inventory.namespace == name)
    });
    if let Some(package) = package
        && inventories.is_empty()
    {
        return Err(ApplyError::UnknownPackage(package.to_owned()));
    }
    inventories.sort_by(|a, b| (&a.package, &a.namespace).cmp(&(&b.package, &b.namespace)));
    let ids = inventories.iter().flat_map(|inventory| inventory.entries.iter().map(|entry| entry.id.clone()));
    let found = live::fetch(&rest, &kinds, ids).await?;
    let no_nodes = found.values().any(health::needs_pods) && !has_nodes(&rest).await;
    let mut status = Status { no_nodes, ..Status::default() };
    for inventory in inventories {
        let objects = stream::iter(inventory.entries.iter())
            .map(|entry| one(&rest, &entry.id, entry.fields.as_deref(), found.get(&versionless(&entry.id))))
            .buffered(live::READS)
            .collect()
            .await;
        status.packages.push(PackageStatus {
            name: inventory.package,
            namespace: inventory.namespace,
            objects,
        });
    }
    Ok(status)
}

async fn one(rest: &Rest, id: &ObjectId, fields: Option<&str>, object: Option<&Object>) -> ObjectStatus {
    let health = match object {
        Some(object) => look(rest, object).await,
        None => health::Health::missing(),
    };
    let drift = match (object, fields) {
        (Some(object), Some(fields)) => managed::our_digest(object).as_deref() != Some(fields),
        _ => false,
    };
    let changed = object.filter(|_| drift).map(|object| match managed::other_writers(object).pop() {
        Some(writer) => format!("changed by {writer}"),
        None => "changed by somebody else".to_owned(),
    });
    let message = match (health.message, changed) {
        (Some(message), Some(changed)) => Some(format!("{message}; {changed}")),
        (message, changed) => message.or(changed),
    };
    ObjectStatus { id: id.clone(), health: health.state, drift, message }
}

impl Status {
    /// The state for machines; `target` is the cluster as the user named it.
    pub fn to_json(&self, target: &str) -> Value {
        let packages: Vec<Value> = self
            .packages
            .iter()
            .map(|package| {
                let objects: Vec<Value> = package
                    .objects
                    .iter()
                    .map(|object| {
                        json!({
                            "object": object.id.to_json(),
                            "health": object.health.word(),
                            "drift": object.drift,
                            "message": object.message,
                        })
                    })
                    .collect();
                json!({ "name": package.name, "namespace": package.namespace, "objects": objects })
            })
            .collect();
        json!({ "target": target, "packages": packages })
    }

    /// The state for people.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        if self.packages.is_empty() {
            return "no package is applied here\n".into();
        }
        for package in &self.packages {
            let ready = package.objects.iter().filter(|object| object.health == State::Ready).count();
            let drift = package.objects.iter().filter(|object| object.drift).count();
            let _ = write!(
                out,
                "{} in {}: {ready} of {} ready",
                package.name,
                package.namespace,
                package.objects.len()
            );
            if drift > 0 {
                let _ = write!(out, ", {drift} changed by others");
            }
            out.push('\n');
            for object in &package.objects {
                let _ = write!(out, "  {} {}", object.health.word(), object.id);
                if let Some(message) = &object.message {
                    let _ = write!(out, " ({message})");
                }
                out.push('\n');
            }
        }
        if self.no_nodes {
            out.push_str("the cluster has no nodes, so no pod runs\n");
        }
        out
    }
}
