//! Refuses a saved plan when the cluster moved since.

use podsmith_object::{Diagnostic, ObjectId};
use podsmith_plan::change::Seen;
use podsmith_plan::package::versionless;
use podsmith_plan::{Plan, managed};

use crate::error::ApplyError;
use crate::live;
use crate::planner::kinds;
use crate::rest::Rest;

/// Compares everything the plan saw with what is there now.
pub(crate) async fn verify(rest: &Rest, plan: &Plan) -> Result<(), ApplyError> {
    let (kinds, inventories) = futures::try_join!(kinds(rest), live::inventories(rest, &plan.namespace))?;
    let ids: Vec<ObjectId> = plan.changes.iter().map(|change| change.id.clone()).collect();
    let found = live::fetch(rest, &kinds, ids).await?;
    let mut moved = Vec::new();
    for change in &plan.changes {
        let live = found.get(&versionless(&change.id));
        let message = match (&change.seen, live) {
            (None, None) => continue,
            (Some(seen), Some(live)) => {
                let now = Seen::of(live);
                if now == *seen {
                    continue;
                }
                let by = managed::last_writer(live).map(|writer| format!(" by {writer}")).unwrap_or_default();
                if now.uid == seen.uid {
                    format!("it was changed{by} since the plan was made")
                } else {
                    format!("it was deleted and made again{by} since the plan was made")
                }
            }
            (None, Some(live)) => {
                let by = managed::last_writer(live).map(|writer| format!(" by {writer}")).unwrap_or_default();
                format!("it was created{by} since the plan was made")
            }
            (Some(_), None) => "it was deleted since the plan was made".into(),
        };
        moved.push(Diagnostic::error(message).on(change.id.clone()).or_at(change.place.clone()));
    }
    let now = inventories.into_iter().find(|i| i.package == plan.package && i.namespace == plan.namespace);
    if now != plan.inventory && moved.is_empty() {
        let message =
            format!("package `{}` was applied by someone else since the plan was made", plan.package);
        moved.push(Diagnostic::error(message));
    }
    if moved.is_empty() { Ok(()) } else { Err(ApplyError::Stale(moved)) }
}
