//! Mutating and validating webhooks.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::{Value, json};

use super::request::Request;
use super::{Operation, caller};
use crate::fields::{self, list, text};
use crate::rules;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};

const GROUP: &str = "admissionregistration.k8s.io";

/// All webhooks of a sort, in the order of their configurations' names.
fn webhooks(server: &Server, plural: &str) -> Vec<Value> {
    match server.store.list(&format!("{GROUP}/{plural}"), "", None, None, None) {
        Ok(listing) => listing
            .items
            .iter()
            .flat_map(|(_, stored)| list(&stored.value(), &["webhooks"]).to_vec())
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// Webhooks do not judge what configures them.
fn is_exempt(call: &Call) -> bool {
    let plural = call.resource.plural.as_str();
    call.resource.group == GROUP && (plural.contains("webhook") || plural.contains("admissionpolic"))
}

/// Lets mutating webhooks change an object. Returns warnings.
pub async fn mutate(
    server: &Arc<Server>,
    call: &Call,
    operation: Operation,
    object: &mut Value,
    old: Option<&Value>,
    dry_run: bool,
) -> ApiResult<Vec<String>> {
    let mut warnings = Vec::new();
    if is_exempt(call) {
        return Ok(warnings);
    }
    let all = webhooks(server, "mutatingwebhookconfigurations");
    let mut changed_after = vec![false; all.len()];
    for round in 0..2 {
        for (at, webhook) in all.iter().enumerate() {
            let again = text(webhook, &["reinvocationPolicy"]) == "IfNeeded";
            if round == 1 && !(again && changed_after.get(at) == Some(&true)) {
                continue;
            }
            let request = Request { server, call, operation, object: Some(object), old, dry_run };
            let Some(answer) = ask(&request, webhook, &mut warnings).await? else { continue };
            let Some(patch) = patch_of(&answer, webhook)? else { continue };
            let new = rules::json(object, &patch).map_err(|error| {
                ApiError::internal_error(format!("webhook {}: {}", text(webhook, &["name"]), error.message))
            })?;
            if new != *object {
                *object = new;
                // Those that ran before this change may want to see it.
                changed_after.iter_mut().take(at).for_each(|flag| *flag = true);
            }
        }
        if !changed_after.contains(&true) {
            break;
        }
    }
    Ok(warnings)
}

/// Lets validating webhooks judge a write. Returns warnings.
pub async fn validate(request: &Request<'_>) -> ApiResult<Vec<String>> {
    let mut warnings = Vec::new();
    if is_exempt(request.call) {
        return Ok(warnings);
    }
    for webhook in webhooks(request.server, "validatingwebhookconfigurations") {
        ask(request, &webhook, &mut warnings).await?;
    }
    Ok(warnings)
}

/// Asks one webhook, if it is about this write. The answer if it allows, nothing if it was not asked.
async fn ask(request: &Request<'_>, webhook: &Value, warnings: &mut Vec<String>) -> ApiResult<Option<Value>> {
    if !request.matches_rules(list(webhook, &["rules"])) || !request.matches_selectors(webhook) {
        return Ok(None);
    }
    let name = text(webhook, &["name"]);
    let ignores = text(webhook, &["failurePolicy"]) == "Ignore";
    match request.matches_conditions(webhook) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(_) if ignores => return Ok(None),
        Err(error) => {
            let resource = &request.call.resource;
            return Err(ApiError::forbidden(
                &resource.group,
                &resource.plural,
                &request.call.target.name,
                error,
            ));
        }
    }
    let harmless = matches!(text(webhook, &["sideEffects"]), "None" | "NoneOnDryRun");
    if request.dry_run && !harmless {
        return Err(ApiError::bad_request(format!("admission webhook \"{name}\" does not support dry run")));
    }
    let uid = uuid::Uuid::new_v4().to_string();
    let versions = fields::texts(webhook, &["admissionReviewVersions"]);
    let version = versions.iter().find(|one| matches!(**one, "v1" | "v1beta1")).copied().unwrap_or("v1");
    let review = json!({
        "kind": "AdmissionReview", "apiVersion": format!("admission.k8s.io/{version}"),
        "request": request.to_value(&uid),
    });
    let seconds = fields::at(webhook, &["timeoutSeconds"]).and_then(Value::as_u64).unwrap_or(10).clamp(1, 30);
    let config = fields::at(webhook, &["clientConfig"]).cloned().unwrap_or(Value::Null);
    let answer = caller::post(request.server, &config, &review, Duration::from_secs(seconds)).await;
    let answer = answer.and_then(|answer| match fields::at(&answer, &["response"]) {
        Some(response) if text(response, &["uid"]) == uid => Ok(response.clone()),
        Some(response) => {
            Err(format!("expected response.uid=\"{uid}\", got \"{}\"", text(response, &["uid"])))
        }
        None => Err("webhook response was absent".to_owned()),
    });
    let response = match answer {
        Ok(response) => response,
        Err(error) if ignores => {
            tracing::warn!(name, error, "a webhook that may be ignored could not be called");
            return Ok(None);
        }
        Err(error) => {
            return Err(ApiError::internal_error(format!(
                "failed calling webhook \"{name}\": failed to call webhook: {error}"
            )));
        }
    };
    warnings.extend(fields::texts(&response, &["warnings"]).into_iter().map(str::to_owned));
    if response.get("allowed") == Some(&Value::Bool(true)) {
        return Ok(Some(response));
    }
    Err(denial(name, &response))
}

/// The refusal of a webhook, in its own words.
fn denial(name: &str, response: &Value) -> ApiError {
    let code = fields::at(response, &["status", "code"]).and_then(Value::as_u64).unwrap_or(0);
    let code = u16::try_from(code).ok().filter(|code| (400..600).contains(code)).unwrap_or(if code == 0 {
        403
    } else {
        400
    });
    let (message, reason) = (text(response, &["status", "message"]), text(response, &["status", "reason"]));
    let head = format!("admission webhook \"{name}\" denied the request");
    let text = if !message.is_empty() {
        format!("{head}: {message}")
    } else if !reason.is_empty() {
        format!("{head}: {reason}")
    } else {
        format!("{head} without explanation")
    };
    let reason = match code {
        403 => "Forbidden",
        400 => "BadRequest",
        409 => "Conflict",
        422 => "Invalid",
        _ => "",
    };
    ApiError::new(code, reason, text)
}

fn patch_of(answer: &Value, webhook: &Value) -> ApiResult<Option<Value>> {
    let patch = text(answer, &["patch"]);
    if patch.is_empty() {
        return Ok(None);
    }
    let name = text(webhook, &["name"]);
    let broken = |why: String| {
        ApiError::internal_error(format!("webhook \"{name}\" sent a patch that cannot be read: {why}"))
    };
    let bytes = STANDARD.decode(patch).map_err(|error| broken(error.to_string()))?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| broken(error.to_string()))
}
