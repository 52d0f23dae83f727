//! Plans the removal of a whole package.

use kube::Client;
use podsmith_object::ObjectId;
use podsmith_plan::inventory::Inventory;
use podsmith_plan::package::versionless;
use podsmith_plan::{Action, Plan};

use crate::error::ApplyError;
use crate::live;
use crate::planner::{PlanOptions, kinds, removal};
use crate::rest::Rest;

/// Plans to delete everything that `package` owns. Carry it out with [`apply`](crate::apply).
///
/// Volumes with data are kept unless `options.delete_data` says otherwise; objects that are marked to be kept or that
/// somebody else has taken over always are.
///
/// # Errors
///
/// When the package is not applied here, or in several namespaces and none was named.
pub async fn plan_delete(
    client: &Client,
    package: &str,
    namespace: Option<&str>,
    options: &PlanOptions,
) -> Result<Plan, ApplyError> {
    let rest = Rest::new(client.clone());
    let (kinds, inventories) =
        futures::try_join!(kinds(&rest), live::inventories(&rest, namespace.unwrap_or_default()))?;
    let inventory = choose(inventories, package, namespace)?;
    let mut plan = Plan::new(&options.target, package, &inventory.namespace);
    let ids: Vec<ObjectId> = inventory.entries.iter().map(|entry| entry.id.clone()).collect();
    let found = live::fetch(&rest, &kinds, ids.iter().cloned()).await?;
    for id in &ids {
        if let Some(object) = found.get(&versionless(id)) {
            plan.changes.push(removal(&rest, object, options.delete_data).await?);
        }
    }
    keep_homes(&mut plan);
    plan.inventory = Some(inventory);
    plan.kinds = Some(kinds);
    plan.sort();
    Ok(plan)
}

/// A namespace that holds something we keep is kept too.
fn keep_homes(plan: &mut Plan) {
    let kept: Vec<String> = plan
        .changes
        .iter()
        .filter(|change| change.action == Action::Noop)
        .map(|change| change.id.namespace.to_string())
        .collect();
    for change in &mut plan.changes {
        if &*change.id.gvk.kind == "Namespace"
            && change.action == Action::Delete
            && kept.iter().any(|namespace| **namespace == *change.id.name)
        {
            change.action = Action::Noop;
            change.reason = Some("kept: it holds objects that are kept".into());
        }
    }
}

fn choose(
    inventories: Vec<Inventory>,
    package: &str,
    namespace: Option<&str>,
) -> Result<Inventory, ApplyError> {
    let mut found: Vec<Inventory> = inventories
        .into_iter()
        .filter(|inventory| {
            inventory.package == package && namespace.is_none_or(|n| n == inventory.namespace)
        })
        .collect();
    match found.len() {
        0 => Err(ApplyError::UnknownPackage(package.to_owned())),
        1 => Ok(found.remove(0)),
        _ => {
            let namespaces: Vec<String> = found.into_iter().map(|inventory| inventory.namespace).collect();
            Err(ApplyError::AmbiguousPackage(package.to_owned(), namespaces.join(", ")))
        }
    }
}
