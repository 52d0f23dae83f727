//! Which objects a list or a watch shows.

use podsmith_object::Value;
use podsmith_object::selector::Selector;

use crate::fields;
use crate::registry::Resource;
use crate::request::ListOptions;
use crate::status::{ApiError, ApiResult};
use crate::store::Stored;

/// Label and field selectors of one request.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    labels: Selector,
    /// Conditions on the key alone: name or namespace, equal or not.
    keys: Vec<(bool, bool, String)>,
    /// Conditions on the object: how to find the value, equal or not, the value.
    fields: Vec<(Vec<String>, bool, String)>,
}

/// Fields that can be selected besides name and namespace.
fn known_fields(resource: &Resource) -> &'static [&'static str] {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "replicationcontrollers") => &["status.replicas"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("batch", "jobs") => &["status.successful"],
        ("apps", "replicasets") => &["status.replicas"],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        ("resource.k8s.io", "resourceslices") => &["spec.nodeName", "spec.driver"],
        _ => &[],
    }
}

impl Filter {
    /// Reads the selectors of a request; `name` is a condition of its own unless empty.
    ///
    /// # Errors
    ///
    /// 400 for a field this resource does not know.
    pub fn new(resource: &Resource, options: &ListOptions, name: &str) -> ApiResult<Self> {
        let mut filter = Self { labels: options.labels.clone(), ..Self::default() };
        if !name.is_empty() {
            filter.keys.push((true, true, name.to_owned()));
        }
        for (path, equal, value) in &options.fields {
            match path.as_str() {
                "metadata.name" => filter.keys.push((true, *equal, value.clone())),
                "metadata.namespace" => filter.keys.push((false, *equal, value.clone())),
                path if resource.selectable(path) || known_fields(resource).contains(&path) => {
                    let path = stored_path(resource, path).split('.').map(str::to_owned).collect();
                    filter.fields.push((path, *equal, value.clone()));
                }
                path => return Err(unknown_field(resource, path)),
            }
        }
        Ok(filter)
    }

    /// True if nothing is left out.
    pub fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.keys.is_empty() && self.fields.is_empty()
    }

    /// True if the object is shown.
    pub fn matches(&self, key: &str, stored: &Stored) -> bool {
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        self.keys
            .iter()
            .all(|(by_name, equal, value)| (if *by_name { name } else { namespace } == value) == *equal)
            && self.labels.matches(|label| stored.label(label))
            && self.matches_fields(stored)
    }

    fn matches_fields(&self, stored: &Stored) -> bool {
        if self.fields.is_empty() {
            return true;
        }
        let object = stored.value();
        self.fields.iter().all(|(path, equal, wanted)| (field_text(&object, path) == *wanted) == *equal)
    }
}

/// The path in the stored object of a selectable field.
fn stored_path<'p>(resource: &Resource, path: &'p str) -> std::borrow::Cow<'p, str> {
    match (resource.plural.as_str(), path) {
        ("jobs", "status.successful") => "status.succeeded".into(),
        ("events", "reportingController") => "reportingComponent".into(),
        ("events", path) if path.starts_with("regarding.") => {
            path.replacen("regarding.", "involvedObject.", 1).into()
        }
        (_, path) => path.into(),
    }
}

fn field_text(object: &Value, path: &[String]) -> String {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    if keys == ["source"] {
        let component = fields::text(object, &["source", "component"]);
        let component =
            if component.is_empty() { fields::text(object, &["reportingComponent"]) } else { component };
        return component.to_owned();
    }
    match fields::at(object, &keys) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Array(items)) => {
            // status.podIPs is a list of {ip}.
            let first = items.first().map(|item| fields::text(item, &["ip"])).unwrap_or("");
            first.to_owned()
        }
        _ => match keys.as_slice() {
            ["spec", "unschedulable" | "hostNetwork"] => "false".to_owned(),
            ["status", "replicas" | "succeeded"] => "0".to_owned(),
            _ => String::new(),
        },
    }
}

fn unknown_field(resource: &Resource, path: &str) -> ApiError {
    if resource.is("batch", "jobs") {
        return ApiError::bad_request(format!("field label \"{path}\" not supported for Job"));
    }
    if resource.is_custom() || !known_fields(resource).is_empty() {
        return ApiError::bad_request(format!("field label not supported: {path}"));
    }
    ApiError::bad_request(format!(
        "\"{path}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    ))
}
