//! A write as webhooks and policies see it.

use std::sync::Arc;

use podsmith_object::selector::Selector;
use podsmith_object::{Value, json};

use super::Operation;
use super::expression::Scope;
use crate::fields::{self, list, text, texts};
use crate::server::{Call, Server};

/// One write on its way in.
pub struct Request<'r> {
    /// The server.
    pub server: &'r Arc<Server>,
    /// The call.
    pub call: &'r Call,
    /// What is done.
    pub operation: Operation,
    /// The new state; nothing for a deletion.
    pub object: Option<&'r Value>,
    /// The old state; nothing for a creation.
    pub old: Option<&'r Value>,
    /// Nothing will be stored.
    pub dry_run: bool,
}

impl Request<'_> {
    /// The name of the operation.
    pub fn operation_name(&self) -> &'static str {
        match self.operation {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }

    /// The `request` of an AdmissionReview.
    pub fn to_value(&self, uid: &str) -> Value {
        let (resource, target) = (&self.call.resource, &self.call.target);
        let kind = json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
        let place =
            json!({"group": resource.group, "version": resource.version, "resource": resource.plural});
        let subject = self.object.or(self.old).unwrap_or(&Value::Null);
        let options = match self.operation {
            Operation::Create => "CreateOptions",
            Operation::Update if self.call.method == http::Method::PATCH => "PatchOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
        };
        let mut request = json!({
            "uid": uid, "kind": kind, "resource": place, "requestKind": kind, "requestResource": place,
            "name": fields::name(subject), "operation": self.operation_name(),
            "userInfo": self.call.identity.to_value(),
            "object": self.object.cloned().unwrap_or(Value::Null),
            "oldObject": self.old.cloned().unwrap_or(Value::Null),
            "dryRun": self.dry_run,
            "options": {"kind": options, "apiVersion": "meta.k8s.io/v1"},
        });
        if resource.namespaced || resource.is("", "namespaces") {
            request["namespace"] = target.namespace.as_str().into();
        }
        if !target.subresource.is_empty() {
            request["subResource"] = target.subresource.as_str().into();
            request["requestSubResource"] = target.subresource.as_str().into();
        }
        request
    }

    /// What expressions can refer to.
    pub fn scope(&self) -> Scope {
        let mut request = self.to_value("");
        for key in ["object", "oldObject"] {
            fields::remove(&mut request, &[key]);
        }
        let namespace = match self.namespace_object() {
            Some(namespace) => namespace,
            None => Value::Null,
        };
        Scope::default()
            .with("object", self.object.cloned().unwrap_or(Value::Null))
            .with("oldObject", self.old.cloned().unwrap_or(Value::Null))
            .with("request", request)
            .with("namespaceObject", namespace)
    }

    fn namespace_object(&self) -> Option<Value> {
        if !self.call.resource.namespaced {
            return None;
        }
        self.server.store.get("namespaces", &self.call.target.namespace).map(|stored| stored.value())
    }

    /// True if one of the rules is about this write.
    pub fn matches_rules(&self, rules: &[Value]) -> bool {
        rules.iter().any(|rule| self.matches_rule(rule))
    }

    fn matches_rule(&self, rule: &Value) -> bool {
        let (resource, target) = (&self.call.resource, &self.call.target);
        let has =
            |key: &str, wanted: &str| texts(rule, &[key]).iter().any(|one| *one == "*" || *one == wanted);
        let scope = match text(rule, &["scope"]) {
            "Namespaced" => resource.namespaced,
            "Cluster" => !resource.namespaced,
            _ => true,
        };
        let names = texts(rule, &["resourceNames"]);
        let subject = self.object.or(self.old).unwrap_or(&Value::Null);
        let named = names.is_empty() || names.contains(&fields::name(subject));
        let by_resource = texts(rule, &["resources"]).iter().any(|one| {
            let (plural, part) = one.split_once('/').unwrap_or((one, ""));
            let plural_fits = plural == "*" || plural == resource.plural;
            let part_fits = part == target.subresource || part == "*" || *one == "*/*";
            // `*` alone means all resources, but not their parts.
            plural_fits && part_fits
        });
        let operation = has("operations", self.operation_name());
        // A rule about another version of the same resource means this one too.
        scope && named && by_resource && operation && has("apiGroups", &resource.group)
    }

    /// True if the selectors of a webhook or policy choose this write.
    pub fn matches_selectors(&self, owner: &Value) -> bool {
        self.matches_namespace(fields::at(owner, &["namespaceSelector"]))
            && self.matches_object(fields::at(owner, &["objectSelector"]))
    }

    fn matches_namespace(&self, selector: Option<&Value>) -> bool {
        let Some(selector) = selector.and_then(|one| Selector::from_label_selector(one).ok()) else {
            return true;
        };
        if selector.is_empty() {
            return true;
        }
        let resource = &self.call.resource;
        if resource.is("", "namespaces") {
            return matches_labels(&selector, self.object.or(self.old));
        }
        // What is in no namespace is not chosen by namespaces.
        !resource.namespaced || matches_labels(&selector, self.namespace_object().as_ref())
    }

    fn matches_object(&self, selector: Option<&Value>) -> bool {
        let Some(selector) = selector.and_then(|one| Selector::from_label_selector(one).ok()) else {
            return true;
        };
        selector.is_empty()
            || self.object.is_some_and(|object| matches_labels(&selector, Some(object)))
            || self.old.is_some_and(|old| matches_labels(&selector, Some(old)))
    }

    /// True if all conditions hold. A condition that cannot be worked out counts by the failure policy.
    ///
    /// # Errors
    ///
    /// The name of the condition and why, when it cannot be worked out.
    pub fn matches_conditions(&self, owner: &Value) -> Result<bool, String> {
        let conditions = list(owner, &["matchConditions"]);
        if conditions.is_empty() {
            return Ok(true);
        }
        let scope = self.scope();
        let mut wrong = None;
        for condition in conditions {
            match scope.holds(text(condition, &["expression"])) {
                Ok(true) => {}
                // One that does not hold settles it, whatever the others say.
                Ok(false) => return Ok(false),
                Err(error) => wrong = Some(format!("{}: {error}", text(condition, &["name"]))),
            }
        }
        wrong.map_or(Ok(true), Err)
    }
}

fn matches_labels(selector: &Selector, object: Option<&Value>) -> bool {
    let labels = object.and_then(|object| fields::at(object, &["metadata", "labels"]));
    selector.matches(|key| labels?.get(key)?.as_str())
}
