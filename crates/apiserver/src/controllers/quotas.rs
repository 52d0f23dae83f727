//! Quotas: what is used is counted again when something goes or a quota changes.

use std::collections::BTreeSet;

use super::Context;
use super::feed::Feed;
use crate::admission::quota;

/// Keeps the status of quotas true.
pub async fn count(context: Context) {
    let server = context.server;
    let mut feed = Feed::new(server.clone(), None);
    loop {
        let mut namespaces = BTreeSet::new();
        for change in feed.take() {
            let Some((namespace, _)) = change.key.split_once('/') else { continue };
            // New objects are counted when they are admitted.
            if change.now.is_none() || &*change.table == "resourcequotas" || &*change.table == "pods" {
                namespaces.insert(namespace.to_owned());
            }
        }
        for namespace in namespaces {
            if server.store.count("resourcequotas", &format!("{namespace}/")) > 0 {
                quota::refresh(&server, &namespace);
            }
        }
        feed.wait().await;
    }
}
