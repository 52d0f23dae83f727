//! One controller at a time, by a Lease.
//!
//! Two that believe to lead for a moment do no harm: every write has a precondition. The lease only saves work.

use std::time::{Duration, Instant};

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use podsmith_object::{Object, Value, json};
use tokio::sync::watch;

use crate::cluster::{ClusterError, Doing as _, code, to_object, to_request};

/// Which lease, and how long it lasts.
#[derive(Clone, Debug)]
pub struct LeaseOptions {
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// Who we are; unique to this process.
    pub identity: String,
    /// How long a leader that falls silent keeps it.
    pub lasts: Duration,
}

/// What was last seen of somebody else's lease, and when by our clock. Clocks of different machines are never compared.
type Sighting = Option<(String, Instant)>;

/// Tries to get or keep the lease until `stop` becomes true, and says through `leading` who we are.
pub async fn hold(
    client: Client,
    options: LeaseOptions,
    leading: watch::Sender<bool>,
    mut stop: watch::Receiver<bool>,
) {
    let mut sighting: Sighting = None;
    let mut renewed = Instant::now();
    loop {
        match attempt(&client, &options, &mut sighting).await {
            Ok(true) => {
                renewed = Instant::now();
                leading.send_if_modified(|leads| !std::mem::replace(leads, true));
            }
            Ok(false) => {
                leading.send_if_modified(|leads| std::mem::replace(leads, false));
            }
            Err(error) => {
                tracing::warn!("{error}");
                // Silence costs the lead before anybody else can take it.
                if renewed.elapsed() > options.lasts * 2 / 3 {
                    leading.send_if_modified(|leads| std::mem::replace(leads, false));
                }
            }
        }
        let stopped = async {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        tokio::select! {
            () = tokio::time::sleep(options.lasts / 5) => {}
            () = stopped => return,
        }
    }
}

/// One attempt; true when the lease is ours.
async fn attempt(
    client: &Client,
    options: &LeaseOptions,
    sighting: &mut Sighting,
) -> Result<bool, ClusterError> {
    let resource = ApiResource {
        group: "coordination.k8s.io".into(),
        version: "v1".into(),
        api_version: "coordination.k8s.io/v1".into(),
        kind: "Lease".into(),
        plural: "leases".into(),
    };
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), &options.namespace, &resource);
    let action = format!("get the lease {}/{}", options.namespace, options.name);
    let found = api.get_opt(&options.name).await.doing(action.as_str())?;
    let written = match found {
        None => api.create(&PostParams::default(), &to_request(&lease(options, None)?)?).await,
        Some(found) => {
            let version = found.metadata.resource_version.clone().unwrap_or_default();
            let live = to_object(found, &resource)?;
            let holder = live.get(&["spec", "holderIdentity"]).and_then(Value::as_str).unwrap_or("");
            if holder != options.identity && !holder.is_empty() {
                match sighting {
                    Some((seen, since)) if *seen == version => {
                        if since.elapsed() < options.lasts {
                            return Ok(false);
                        }
                    }
                    _ => {
                        *sighting = Some((version, Instant::now()));
                        return Ok(false);
                    }
                }
            }
            api.replace(&options.name, &PostParams::default(), &to_request(&lease(options, Some(&live))?)?)
                .await
        }
    };
    match written {
        Ok(_) => Ok(true),
        // Somebody else was faster.
        Err(error) if code(&error) == 409 => Ok(false),
        Err(error) => Err(error).doing(action),
    }
}

fn lease(options: &LeaseOptions, before: Option<&Object>) -> Result<Object, ClusterError> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    let ours = |live: &&Object| {
        live.get(&["spec", "holderIdentity"]).and_then(Value::as_str) == Some(options.identity.as_str())
    };
    let since = before.filter(ours).and_then(|live| live.get(&["spec", "acquireTime"])?.as_str());
    let mut value = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": options.name, "namespace": options.namespace},
        "spec": {
            "holderIdentity": options.identity, "leaseDurationSeconds": options.lasts.as_secs().max(1),
            "acquireTime": since.unwrap_or(&now), "renewTime": now,
        },
    });
    if let Some(version) = before.and_then(|live| live.get(&["metadata", "resourceVersion"])) {
        value["metadata"]["resourceVersion"] = version.clone();
    }
    Object::from_value(value).map_err(|error| ClusterError::Strange(error.to_string()))
}
