//! Conversion by a webhook.

use std::sync::Arc;
use std::time::Duration;

use podsmith_object::{Value, json};

use crate::admission::caller;
use crate::fields;
use crate::registry::Resource;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// How long a conversion may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Asks the webhook for an object in another version.
pub async fn convert(
    server: &Arc<Server>,
    resource: &Resource,
    hook: &Value,
    object: &Value,
    api_version: &str,
) -> ApiResult<Value> {
    let uid = uuid::Uuid::new_v4().to_string();
    let version = fields::texts(hook, &["conversionReviewVersions"])
        .into_iter()
        .find(|one| matches!(*one, "v1" | "v1beta1"))
        .unwrap_or("v1")
        .to_owned();
    let review = json!({
        "kind": "ConversionReview", "apiVersion": format!("apiextensions.k8s.io/{version}"),
        "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": [object]},
    });
    let from = fields::text(object, &["apiVersion"]);
    let failed = |why: String| {
        ApiError::internal(format!("conversion webhook for {from}, Kind={} failed: {why}", resource.kind))
    };
    let config = fields::at(hook, &["clientConfig"]).cloned().unwrap_or(Value::Null);
    let answer = caller::post(server, &config, &review, TIMEOUT).await.map_err(failed)?;
    let response = fields::at(&answer, &["response"]).cloned().unwrap_or(Value::Null);
    if fields::text(&response, &["uid"]) != uid {
        return Err(failed(format!("expected response.uid={uid:?}")));
    }
    if fields::text(&response, &["result", "status"]) != "Success" {
        return Err(failed(fields::text(&response, &["result", "message"]).to_owned()));
    }
    let converted = fields::list(&response, &["convertedObjects"]).first().cloned();
    match converted {
        Some(converted) if fields::text(&converted, &["apiVersion"]) == api_version => Ok(converted),
        Some(converted) => {
            let found = fields::text(&converted, &["apiVersion"]).to_owned();
            Err(failed(format!("invalid converted object: expected apiVersion {api_version}, found {found}")))
        }
        None => Err(failed("it returned 0 objects, expected 1".to_owned())),
    }
}
