//! ValidatingAdmissionPolicies and MutatingAdmissionPolicies.

use std::sync::Arc;

use podsmith_object::{Map, Value};

use super::expression::{Scope, plain_maps};
use super::request::Request;
use crate::fields::{self, list, text};
use crate::registry::Resource;
use crate::rules;
use crate::server::Server;
use crate::status::{ApiError, ApiResult, Cause};

const GROUP: &str = "admissionregistration.k8s.io";

/// A policy with one of its bindings and one of its parameters.
struct Bound {
    policy: Value,
    binding: Value,
    params: Value,
}

fn objects(server: &Server, plural: &str) -> Vec<Value> {
    match server.store.list(&format!("{GROUP}/{plural}"), "", None, None, None) {
        Ok(listing) => listing.items.iter().map(|(_, stored)| stored.value()).collect(),
        Err(_) => Vec::new(),
    }
}

/// The policies that are about a write.
fn bound(request: &Request<'_>, policies: &str, bindings: &str) -> ApiResult<Vec<Bound>> {
    let mut all = Vec::new();
    if request.call.resource.group == GROUP {
        return Ok(all);
    }
    let policies = objects(request.server, policies);
    if policies.is_empty() {
        return Ok(all);
    }
    for binding in objects(request.server, bindings) {
        let name = text(&binding, &["spec", "policyName"]);
        let Some(policy) = policies.iter().find(|policy| fields::name(policy) == name) else { continue };
        let spec = fields::at(policy, &["spec"]).cloned().unwrap_or(Value::Null);
        if !matches_resources(request, fields::at(&spec, &["matchConstraints"]), true)
            || !matches_resources(request, fields::at(&binding, &["spec", "matchResources"]), false)
        {
            continue;
        }
        match request.matches_conditions(&spec) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(_) if text(&spec, &["failurePolicy"]) == "Ignore" => continue,
            Err(error) => return Err(refusal(request, policy, &binding, &error, "Invalid")),
        }
        for params in parameters(request, policy, &binding)? {
            all.push(Bound { policy: policy.clone(), binding: binding.clone(), params });
        }
    }
    Ok(all)
}

fn matches_resources(request: &Request<'_>, constraints: Option<&Value>, required: bool) -> bool {
    let Some(constraints) = constraints else { return !required };
    let rules = list(constraints, &["resourceRules"]);
    let by_rule = (!required && rules.is_empty()) || request.matches_rules(rules);
    by_rule
        && !request.matches_rules(list(constraints, &["excludeResourceRules"]))
        && request.matches_selectors(constraints)
}

/// The parameter objects of a binding; one null for a policy without parameters.
fn parameters(request: &Request<'_>, policy: &Value, binding: &Value) -> ApiResult<Vec<Value>> {
    let Some(kind) = fields::at(policy, &["spec", "paramKind"]) else { return Ok(vec![Value::Null]) };
    let Some(reference) = fields::at(binding, &["spec", "paramRef"]) else { return Ok(vec![Value::Null]) };
    let api_version = text(kind, &["apiVersion"]);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let index = request.server.registry.index();
    let Some(resource) = index.by_kind(group, version, text(kind, &["kind"])) else {
        let why = format!(
            "failed to find resource referenced by paramKind: '{api_version}, Kind={}'",
            text(kind, &["kind"])
        );
        return Err(refusal(request, policy, binding, &why, "Invalid"));
    };
    let found = find_parameters(request, resource, reference);
    if found.is_empty() {
        if text(reference, &["parameterNotFoundAction"]) == "Allow" {
            return Ok(Vec::new());
        }
        let why = "no params found for policy binding with `Deny` parameterNotFoundAction";
        return Err(refusal(request, policy, binding, why, "Invalid"));
    }
    Ok(found)
}

fn find_parameters(request: &Request<'_>, resource: &Arc<Resource>, reference: &Value) -> Vec<Value> {
    let own = text(reference, &["namespace"]);
    let namespace = if own.is_empty() { request.call.target.namespace.as_str() } else { own };
    let name = text(reference, &["name"]);
    let store = &request.server.store;
    if !name.is_empty() {
        let key = resource.key(namespace, name);
        return store.get(&resource.table, &key).map(|stored| stored.value()).into_iter().collect();
    }
    let selector = fields::at(reference, &["selector"])
        .and_then(|one| podsmith_object::selector::Selector::from_label_selector(one).ok())
        .unwrap_or_default();
    match store.list(&resource.table, &resource.prefix(namespace), None, None, None) {
        Ok(listing) => listing
            .items
            .iter()
            .filter(|(_, stored)| selector.matches(|key| stored.label(key)))
            .map(|(_, stored)| stored.value())
            .collect(),
        Err(_) => Vec::new(),
    }
}

fn refusal(request: &Request<'_>, policy: &Value, binding: &Value, why: &str, reason: &str) -> ApiError {
    let resource = &request.call.resource;
    let subject = request.object.or(request.old).unwrap_or(&Value::Null);
    let message = format!(
        "ValidatingAdmissionPolicy '{}' with binding '{}' denied request: {why}",
        fields::name(policy),
        fields::name(binding)
    );
    let (code, reason) = match reason {
        "Unauthorized" => (401, "Unauthorized"),
        "Forbidden" => (403, "Forbidden"),
        "RequestEntityTooLarge" => (413, "RequestEntityTooLarge"),
        _ => (422, "Invalid"),
    };
    let mut error = ApiError::forbidden(&resource.group, &resource.plural, fields::name(subject), &message);
    error.code = code;
    error.reason = reason;
    error.with_cause(Cause::new("", "", message))
}

/// The scope of a policy: parameters, and its own variables one after the other.
fn scope_of(request: &Request<'_>, bound: &Bound) -> Scope {
    let mut base = request.scope();
    if fields::at(&bound.policy, &["spec", "paramKind"]).is_some() {
        base = base.with("params", bound.params.clone());
    }
    let mut variables = Map::new();
    for variable in list(&bound.policy, &["spec", "variables"]) {
        let so_far = base.clone().with("variables", Value::Object(variables.clone()));
        // One that fails is missing where it is used, and fails there.
        if let Ok(value) = so_far.evaluate(&plain_maps(text(variable, &["expression"]))) {
            variables.insert(text(variable, &["name"]).to_owned(), value);
        }
    }
    base.with("variables", Value::Object(variables))
}

/// Lets validating policies judge a write. Returns warnings.
pub fn validate(request: &Request<'_>) -> ApiResult<Vec<String>> {
    let mut warnings = Vec::new();
    for bound in bound(request, "validatingadmissionpolicies", "validatingadmissionpolicybindings")? {
        let scope = scope_of(request, &bound);
        let ignores = text(&bound.policy, &["spec", "failurePolicy"]) == "Ignore";
        let actions = fields::texts(&bound.binding, &["spec", "validationActions"]);
        for validation in list(&bound.policy, &["spec", "validations"]) {
            let expression = text(validation, &["expression"]);
            let why = match scope.holds(expression) {
                Ok(true) => continue,
                Ok(false) => message(&scope, validation),
                Err(_) if ignores => continue,
                Err(error) => format!("expression '{expression}' resulted in error: {error}"),
            };
            if actions.contains(&"Warn") {
                warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {why}",
                    fields::name(&bound.policy),
                    fields::name(&bound.binding)
                ));
            }
            if actions.contains(&"Deny") {
                let reason = text(validation, &["reason"]);
                return Err(refusal(request, &bound.policy, &bound.binding, &why, reason));
            }
        }
    }
    Ok(warnings)
}

fn message(scope: &Scope, validation: &Value) -> String {
    let expression = text(validation, &["messageExpression"]);
    if !expression.is_empty()
        && let Ok(Value::String(message)) = scope.evaluate(expression)
        && !message.trim().is_empty()
    {
        return message;
    }
    let fixed = text(validation, &["message"]);
    if fixed.is_empty() {
        format!("failed expression: {}", text(validation, &["expression"]))
    } else {
        fixed.to_owned()
    }
}

/// What mutating policies make of an object; nothing when they leave it alone.
pub fn mutate(request: &Request<'_>) -> ApiResult<Option<Value>> {
    let Some(before) = request.object else { return Ok(None) };
    let mut object = before.clone();
    for bound in bound(request, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")? {
        let ignores = text(&bound.policy, &["spec", "failurePolicy"]) == "Ignore";
        for mutation in list(&bound.policy, &["spec", "mutations"]) {
            let now = Request { object: Some(&object), ..*request };
            match one_mutation(&now, &bound, mutation, &object) {
                Ok(new) => object = new,
                Err(_) if ignores => {}
                Err(why) => {
                    let mut error = refusal(request, &bound.policy, &bound.binding, &why, "Invalid");
                    error.message =
                        error.message.replace("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy");
                    return Err(error);
                }
            }
        }
    }
    Ok((object != *before).then_some(object))
}

fn one_mutation(
    request: &Request<'_>,
    bound: &Bound,
    mutation: &Value,
    object: &Value,
) -> Result<Value, String> {
    let scope = scope_of(request, bound);
    if let Some(patch) = fields::at(mutation, &["jsonPatch"]) {
        let operations = scope.evaluate(&plain_maps(text(patch, &["expression"])))?;
        return rules::json(object, &operations).map_err(|error| error.message);
    }
    let expression = text(mutation, &["applyConfiguration", "expression"]);
    let mut config = scope.evaluate(&plain_maps(expression))?;
    let resource = &request.call.resource;
    fields::set(&mut config, &["apiVersion"], resource.api_version().into());
    fields::set(&mut config, &["kind"], resource.kind.as_str().into());
    // Merged by the keys of lists like any apply; who owns what stays as it was.
    let mut live = object.clone();
    let managers = fields::remove(&mut live, &["metadata", "managedFields"]);
    let mut merged =
        rules::apply(resource, Some(&live), &config, "admission", true, "").map_err(|error| error.message)?;
    match managers {
        Some(managers) => fields::set(&mut merged, &["metadata", "managedFields"], managers),
        None => {
            fields::remove(&mut merged, &["metadata", "managedFields"]);
        }
    }
    Ok(merged)
}
