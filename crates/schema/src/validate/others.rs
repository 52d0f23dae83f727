//! Kinds that are mostly written by machines: storage, runtime, admission policies, flow control, certificates.

use podsmith_object::{Value, json};

use super::node::{At, Faults};
use super::{containers, metadata, names, networking, pods};
use crate::fault::Fault;

fn need(at: &At<'_>, faults: &mut Faults) {
    if at.is_empty() {
        faults.required(at, "");
    }
}

/// Checks a RuntimeClass; its handler never changes.
pub(super) fn runtime_class(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let handler = object.child("handler");
    if let Some(old) = old {
        faults.immutable(&handler, &old.child("handler"));
        return;
    }
    for text in names::dns_label(handler.text()) {
        faults.push(Fault::invalid(handler.path.as_str(), handler.text(), text));
    }
    let fixed = json!({"limits": object.at(&["overhead", "podFixed"]).value});
    containers::resources(&At { path: "overhead".to_owned(), value: &fixed }, faults);
    let scheduling = object.child("scheduling");
    metadata::labels(&scheduling.child("nodeSelector"), faults);
    pods::tolerations(&scheduling.child("tolerations"), faults);
}

/// Checks a CertificateSigningRequest.
pub(super) fn signing_request(object: &At<'_>, faults: &mut Faults) {
    use base64::Engine as _;
    let spec = object.child("spec");
    let request = spec.child("request");
    let decoded = base64::engine::general_purpose::STANDARD.decode(request.text()).unwrap_or_default();
    if !String::from_utf8_lossy(&decoded).contains("-----BEGIN CERTIFICATE REQUEST-----") {
        faults.invalid(&request, "PEM block type must be CERTIFICATE REQUEST");
    }
    need(&spec.child("usages"), faults);
    let signer = spec.child("signerName");
    match signer.text().split_once('/') {
        Some((domain, path)) if !path.is_empty() => {
            if domain.split('.').count() < 2 {
                let text = "should be a domain with at least two segments separated by dots";
                faults.push(Fault::invalid(signer.path.as_str(), domain, text));
            }
        }
        _ if signer.is_empty() => faults.required(&signer, ""),
        _ => faults.invalid(
            &signer,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        ),
    }
    let seconds = spec.child("expirationSeconds");
    if seconds.is_set() && seconds.int() < 600 {
        faults.invalid(&seconds, "may not specify a duration less than 600 seconds (10 minutes)");
    }
}

/// Checks an APIService.
pub(super) fn api_service(object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    let wanted = format!("{}.{}", spec.child("version").text(), spec.child("group").text());
    let name = object.at(&["metadata", "name"]);
    if name.text() != wanted {
        faults.invalid(&name, format!("must be `spec.version+\".\"+spec.group`: \"{wanted}\""));
    }
    for (key, limit) in [("groupPriorityMinimum", 20000), ("versionPriority", 1000)] {
        let at = spec.child(key);
        if at.int() <= 0 || at.int() > limit {
            faults.push(Fault::invalid(
                at.path.as_str(),
                at.int(),
                format!("must be positive and less than {limit}"),
            ));
        }
    }
    let service = spec.child("service");
    if service.is_set() {
        need(&service.child("namespace"), faults);
        need(&service.child("name"), faults);
    }
}

/// Checks kinds of the storage group that drivers write.
pub(super) fn storage(kind: &str, object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    if let Some(old) = old {
        storage_kept(kind, object, old, faults);
    }
    match kind {
        "VolumeAttachment" => {
            need(&spec.child("attacher"), faults);
            let node = spec.child("nodeName");
            for text in names::dns_subdomain(node.text()) {
                faults.push(Fault::invalid(node.path.as_str(), node.text(), text));
            }
            if spec.child("source").count() != 1 {
                let text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
                faults.required(&spec.child("source"), text);
            }
        }
        "CSIDriver" => {
            let policy = spec.child("fsGroupPolicy");
            let allowed = ["File", "None", "ReadWriteOnceWithFSType"];
            if policy.is_set() && !allowed.contains(&policy.text()) {
                faults.not_supported(&policy, &allowed);
            }
            let modes = spec.child("volumeLifecycleModes");
            for mode in modes.items() {
                if !matches!(mode.text(), "Persistent" | "Ephemeral") {
                    faults.push(Fault::not_supported(
                        modes.path.as_str(),
                        mode.text(),
                        &["Persistent", "Ephemeral"],
                    ));
                }
            }
        }
        "CSINode" => {
            let mut seen: Vec<&str> = Vec::new();
            for driver in spec.child("drivers").items() {
                let name = driver.child("name");
                need(&name, faults);
                need(&driver.child("nodeID"), faults);
                if seen.contains(&name.text()) {
                    faults.duplicate(&name);
                }
                seen.push(name.text());
            }
        }
        "VolumeAttributesClass" => {
            need(&object.child("driverName"), faults);
            if object.child("parameters").is_empty() {
                faults.required(&object.child("parameters"), "must contain at least one key/value pair");
            }
        }
        "CSIStorageCapacity" => {
            let class = object.child("storageClassName");
            for text in names::dns_subdomain(class.text()) {
                faults.push(Fault::invalid(class.path.as_str(), class.text(), text));
            }
        }
        _ => {}
    }
}

/// What never changes in the kinds of the storage group.
fn storage_kept(kind: &str, object: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (spec, before) = (object.child("spec"), old.child("spec"));
    match kind {
        "VolumeAttachment" => faults.immutable(&spec, &before),
        "VolumeAttributesClass" => {
            for key in ["driverName", "parameters"] {
                if object.child(key).value != old.child(key).value {
                    faults.forbidden(&object.child(key), format!("updates to {key} are forbidden."));
                }
            }
        }
        "CSIDriver" => {
            let attach =
                At { path: "spec.attachedRequired".to_owned(), value: spec.child("attachRequired").value };
            faults.immutable(&attach, &before.child("attachRequired"));
            faults.immutable(&spec.child("volumeLifecycleModes"), &before.child("volumeLifecycleModes"));
        }
        "CSIStorageCapacity" => {
            for key in ["nodeTopology", "storageClassName"] {
                faults.immutable(&object.child(key), &old.child(key));
            }
        }
        "CSINode" => {
            // Drivers come and go, but one that stays keeps what it said.
            let now = spec.child("drivers").items();
            let changed = before.child("drivers").items().iter().any(|driver| {
                let name = driver.child("name").text();
                now.iter().any(|other| other.child("name").text() == name && other.value != driver.value)
            });
            if changed {
                faults.invalid(&spec.child("drivers"), "field is immutable");
            }
        }
        _ => {}
    }
}

/// Checks claims for devices and their templates: the spec never changes.
pub(super) fn device_claim(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    if let Some(old) = old {
        faults.immutable(&object.child("spec"), &old.child("spec"));
    }
}

/// Checks flow schemas and priority levels.
pub(super) fn flow_control(kind: &str, object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    if kind == "PriorityLevelConfiguration" {
        let sort = spec.child("type");
        if !matches!(sort.text(), "Exempt" | "Limited") {
            faults.not_supported(&sort, &["Exempt", "Limited"]);
        }
        return;
    }
    let precedence = spec.child("matchingPrecedence");
    if precedence.int() <= 0 {
        faults.invalid(&precedence, "must be a positive value");
    }
    if precedence.int() > 10_000 {
        faults.invalid(&precedence, "must not be greater than 10000");
    }
    let method = spec.child("distinguisherMethod");
    if method.is_set() && !matches!(method.child("type").text(), "ByNamespace" | "ByUser") {
        let shown = json!({"Type": method.child("type").value});
        faults.push(Fault::not_supported(
            method.child("type").path.as_str(),
            shown,
            &["ByNamespace", "ByUser"],
        ));
    }
    let level = spec.at(&["priorityLevelConfiguration", "name"]);
    if level.is_empty() {
        faults.required(&level, "must reference a priority level");
    }
    for rule in spec.child("rules").items() {
        if rule.child("subjects").is_empty() {
            faults.required(&rule.child("subjects"), "subjects must contain at least one value");
        }
        if rule.child("resourceRules").is_empty() && rule.child("nonResourceRules").is_empty() {
            faults.required(&rule, "at least one of resourceRules and nonResourceRules has to be non-empty");
        }
    }
}

/// Checks admission policies and their bindings; expressions are not compiled here.
pub(super) fn admission_policy(kind: &str, object: &At<'_>, faults: &mut Faults) {
    let spec = object.child("spec");
    let policy = spec.child("failurePolicy");
    if policy.is_set() && !matches!(policy.text(), "Fail" | "Ignore") {
        faults.not_supported(&policy, &["Fail", "Ignore"]);
    }
    match kind {
        "ValidatingAdmissionPolicy" => {
            need(&spec.child("matchConstraints"), faults);
            if spec.child("validations").is_empty() && spec.child("auditAnnotations").is_empty() {
                let text = "validations or auditAnnotations must contain at least one item";
                faults.required(&spec.child("validations"), text);
                faults.required(&spec.child("auditAnnotations"), text);
            }
        }
        "MutatingAdmissionPolicy" => {
            need(&spec.child("matchConstraints"), faults);
            if spec.child("mutations").is_empty() {
                faults.required(&spec.child("mutations"), "mutations must contain at least one item");
            }
        }
        _ => {
            need(&spec.child("policyName"), faults);
            if kind == "ValidatingAdmissionPolicyBinding" {
                validation_actions(&spec.child("validationActions"), faults);
            }
        }
    }
}

fn validation_actions(actions: &At<'_>, faults: &mut Faults) {
    const KNOWN: [&str; 3] = ["Audit", "Deny", "Warn"];
    if actions.is_empty() {
        return faults.required(actions, "at least one validation action is required");
    }
    let mut seen: Vec<&str> = Vec::new();
    for action in actions.items() {
        if !KNOWN.contains(&action.text()) {
            faults.not_supported(&action, &KNOWN);
        }
        if seen.contains(&action.text()) {
            faults.duplicate(&action);
        }
        seen.push(action.text());
    }
    if seen.contains(&"Deny") && seen.contains(&"Warn") {
        faults.invalid(
            actions,
            "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
        );
    }
}

/// Checks a ControllerRevision; its data never changes.
pub(super) fn revision(object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    faults.not_negative(&object.child("revision"));
    match old {
        Some(old) => faults.immutable(&object.child("data"), &old.child("data")),
        None => match object.child("data").value {
            Value::Null => faults.required(&object.child("data"), "data is mandatory"),
            Value::Object(_) => {}
            _ => faults.required(&object.child("data"), "data must be a valid JSON object"),
        },
    }
}

/// Checks address ranges and addresses of services.
pub(super) fn service_addresses(kind: &str, object: &At<'_>, old: Option<&At<'_>>, faults: &mut Faults) {
    let spec = object.child("spec");
    if kind == "ServiceCIDR" {
        let ranges = spec.child("cidrs");
        need(&ranges, faults);
        ranges.items().iter().for_each(|range| networking::cidr(range, faults));
        if let Some(old) = old {
            faults.immutable(&ranges, &old.at(&["spec", "cidrs"]));
        }
        return;
    }
    let name = object.at(&["metadata", "name"]);
    faults.each(&name, names::ip_address(name.text()));
    let parent = spec.child("parentRef");
    need(&parent.child("resource"), faults);
    need(&parent.child("name"), faults);
}
