//! Reviews: questions about identities and rights, answered and not stored.

use std::sync::Arc;

use podsmith_object::{Value, json};

use crate::auth::{Access, Identity, tokens};
use crate::fields::{self, text, texts};
use crate::reply::Reply;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};

/// Answers a review.
pub async fn create(server: &Arc<Server>, call: &Call, mut review: Value) -> ApiResult<Reply> {
    match call.resource.kind.as_str() {
        "SelfSubjectReview" => {
            fields::set(&mut review, &["status"], json!({"userInfo": call.identity.to_value()}));
        }
        "SelfSubjectAccessReview" => {
            let status = decide(server, &call.identity, &review, &call.resource.kind, None)?;
            fields::set(&mut review, &["status"], status);
        }
        kind @ ("SubjectAccessReview" | "LocalSubjectAccessReview") => {
            let identity = subject(&review);
            if identity.name.is_empty() && identity.groups.is_empty() {
                let cause = Cause::invalid(
                    "spec.user",
                    &"".into(),
                    "at least one of user or group must be specified",
                );
                return Err(ApiError::invalid(&call.resource.group, kind, "", vec![cause]));
            }
            let namespace = (kind == "LocalSubjectAccessReview").then_some(call.target.namespace.as_str());
            let status = decide(server, &identity, &review, kind, namespace)?;
            fields::set(&mut review, &["status"], status);
        }
        "SelfSubjectRulesReview" => {
            let namespace = text(&review, &["spec", "namespace"]).to_owned();
            if namespace.is_empty() {
                return Err(ApiError::bad_request("no namespace on request"));
            }
            let (resources, pages) = server.rules_of(&call.identity, &namespace);
            let status = json!({"resourceRules": resources, "nonResourceRules": pages, "incomplete": false});
            fields::set(&mut review, &["status"], status);
        }
        "TokenReview" => token_review(server, &mut review),
        "Binding" => return super::pods::bind_by_name(server, call, &review).await,
        _ => return Err(ApiError::method_not_allowed()),
    }
    Ok(Reply::value(201, review))
}

fn subject(review: &Value) -> Identity {
    let mut identity = Identity {
        name: text(review, &["spec", "user"]).to_owned(),
        uid: text(review, &["spec", "uid"]).to_owned(),
        groups: texts(review, &["spec", "groups"]).into_iter().map(str::to_owned).collect(),
        ..Identity::default()
    };
    identity.groups.dedup();
    identity
}

fn decide(
    server: &Arc<Server>,
    identity: &Identity,
    review: &Value,
    kind: &str,
    within: Option<&str>,
) -> ApiResult<Value> {
    let resource = fields::at(review, &["spec", "resourceAttributes"]);
    let page = fields::at(review, &["spec", "nonResourceAttributes"]);
    let access = match (resource, page) {
        (Some(wanted), None) => {
            let get = |key: &str| text(wanted, &[key]).to_owned();
            Access {
                verb: get("verb"),
                group: get("group"),
                resource: get("resource"),
                subresource: get("subresource"),
                namespace: within.map_or_else(|| get("namespace"), str::to_owned),
                name: get("name"),
                path: String::new(),
            }
        }
        (None, Some(wanted)) => Access {
            verb: text(wanted, &["verb"]).to_owned(),
            path: text(wanted, &["path"]).to_owned(),
            ..Access::default()
        },
        _ => {
            let cause = Cause::invalid(
                "spec.resourceAttributes",
                &Value::Null,
                "exactly one of nonResourceAttributes or resourceAttributes must be specified",
            );
            return Err(ApiError::invalid("authorization.k8s.io", kind, "", vec![cause]));
        }
    };
    Ok(match server.allows(identity, &access) {
        Ok(reason) if reason.is_empty() => json!({"allowed": true}),
        Ok(reason) => json!({"allowed": true, "reason": reason}),
        Err(_) => json!({"allowed": false}),
    })
}

fn token_review(server: &Arc<Server>, review: &mut Value) {
    let token = text(review, &["spec", "token"]).to_owned();
    let audiences: Vec<String> =
        texts(review, &["spec", "audiences"]).into_iter().map(str::to_owned).collect();
    let found = if audiences.is_empty() {
        server.identity_of_token(&token).map(|identity| (identity, vec![tokens::ISSUER.to_owned()]))
    } else {
        audiences.iter().find_map(|audience| {
            tokens::check(server, &token, Some(audience)).map(|one| (one, vec![audience.clone()]))
        })
    };
    let status = match found {
        Some((identity, audiences)) => {
            json!({"authenticated": true, "user": identity.to_value(), "audiences": audiences})
        }
        None => json!({"user": {}, "error": "invalid bearer token"}),
    };
    fields::set(review, &["status"], status);
}
