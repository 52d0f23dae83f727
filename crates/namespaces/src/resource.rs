//! What is remembered of a watched object, and what a copy of it looks like.

use std::sync::Arc;

use podsmith_object::{GroupVersionKind, Map, Object, Value, json};
use sha2::{Digest as _, Sha256};

use crate::config::Config;
use crate::glob::{self, Glob};
use crate::keys::{CREATED_BY, Keys};
use crate::model::{Key, Mode, Name, metadata};

/// What is copied: a fingerprint, and the fields where a copy may have to be made of them.
#[derive(Clone, Debug)]
pub struct Content {
    /// Hash of everything that is copied.
    pub print: u128,
    /// The fields, with the labels and annotations of a copy; `None` where nothing is ever copied from.
    pub body: Option<Arc<Object>>,
}

/// Equal when the fingerprints are.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.print == other.print
    }
}

/// A watched object.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// `metadata.uid`.
    pub uid: Name,
    /// `metadata.resourceVersion`.
    pub version: Name,
    /// How it is propagated.
    pub mode: Option<Mode>,
    /// The namespace it says to be a copy from. Anybody can write that, so it never decides where content comes from.
    pub from: Option<Name>,
    /// True once it is being deleted.
    pub deleting: bool,
    /// Fields.
    pub content: Content,
    /// The uid of its controller.
    pub owner: Option<Name>,
    /// The mode it asks for on what it owns.
    pub generates: Option<Mode>,
    /// True when it has fields that a replacement would lose: finalizers, owners, a status, allocated fields.
    pub delicate: bool,
}

impl Resource {
    /// Reads an object. Bodies are kept only of possible sources.
    pub fn read(object: &Object, config: &Config) -> Self {
        let keys = &config.keys;
        let gvk = object.gvk();
        let word = |key: &str| object.annotation(key).filter(|text| !text.is_empty());
        let token = is_token(object);
        let mode = word(&keys.propagate).and_then(Mode::parse).filter(|_| !token);
        let from = word(&keys.from).map(Name::from);
        let owner = controller(object);
        let generates = word(&keys.propagate_generated).and_then(Mode::parse);
        let content = if mode == Some(Mode::Update) && from.is_some() {
            // A copy is compared as it is: whatever somebody added shows.
            Content { print: print(&copyable(object, keys, |_, _| true)), body: None }
        } else if mode.is_some() || (config.propagate_generated && owner.is_some() && !token) {
            source(object, config)
        } else {
            Content { print: 0, body: None }
        };
        let has = |path: &[&str]| match object.get(path) {
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::Object(fields)) => !fields.is_empty(),
            _ => false,
        };
        Self {
            uid: metadata(object, "uid"),
            version: metadata(object, "resourceVersion"),
            mode,
            from,
            deleting: object.get(&["metadata", "deletionTimestamp"]).is_some(),
            content,
            owner,
            generates,
            delicate: has(&["metadata", "finalizers"])
                || has(&["metadata", "ownerReferences"])
                || has(&["status"])
                || allocated(&gvk),
        }
    }

    /// True for a copy that is kept equal to its source and goes away with it.
    pub fn is_update_copy(&self) -> bool {
        self.mode == Some(Mode::Update) && self.from.is_some()
    }

    /// True for an object that is nobody's copy.
    pub fn is_origin(&self) -> bool {
        self.from.is_none()
    }
}

/// The content of an object as a source.
pub fn source(object: &Object, config: &Config) -> Content {
    let keys = &config.keys;
    let kept = |field: &str, key: &str| {
        let excludes: &[Glob] =
            if field == "labels" { &config.label_excludes } else { &config.annotation_excludes };
        !glob::any(excludes, key)
    };
    let mut body = copyable(object, keys, kept);
    body.set_label(CREATED_BY, &keys.creator);
    Content { print: print(&body), body: Some(Arc::new(body)) }
}

/// A copy of `content` for the namespace and name of `key`.
pub fn copy(content: &Object, key: &Key, from: &str, mode: Mode, keys: &Keys) -> Object {
    let mut out = content.clone();
    out.set_name(&key.slot.name);
    out.set_namespace(&key.namespace);
    out.set_annotation(&keys.propagate, mode.as_str());
    out.set_annotation(&keys.from, from);
    out
}

/// The fields of an object that a copy has too, without name, namespace, mode and origin.
fn copyable(object: &Object, keys: &Keys, keep: impl Fn(&str, &str) -> bool) -> Object {
    let mut body = Map::new();
    for (field, value) in object.body() {
        if field != "metadata" && field != "status" {
            body.insert(field.clone(), value.clone());
        }
    }
    strip(&object.gvk(), &mut body);
    let mut out = Object::new(body);
    out.metadata_mut();
    for (key, value) in object.labels().filter(|(key, _)| keep("labels", key)) {
        out.set_label(key, value);
    }
    for (key, value) in object.annotations().filter(|(key, _)| keep("annotations", key)) {
        if *key != *keys.propagate && *key != *keys.from {
            out.set_annotation(key, value);
        }
    }
    out
}

fn print(body: &Object) -> u128 {
    let digest = Sha256::digest(podsmith_object::json::canonical(&body.to_value()).as_bytes());
    digest.iter().take(16).fold(0, |hash, byte| hash << 8 | u128::from(*byte))
}

/// The uid of the owner that controls the object.
fn controller(object: &Object) -> Option<Name> {
    let owners = object.get(&["metadata", "ownerReferences"])?.as_array()?;
    let owner = owners.iter().find(|owner| owner.get("controller") == Some(&Value::Bool(true)))?;
    owner.get("uid")?.as_str().map(Name::from)
}

/// The tokens of a service account are worth nothing in another namespace, and the server would refuse them.
fn is_token(object: &Object) -> bool {
    object.kind() == "Secret"
        && object.get(&["type"]).and_then(Value::as_str) == Some("kubernetes.io/service-account-token")
}

/// True for kinds in which the server writes fields that belong to one object.
fn allocated(gvk: &GroupVersionKind) -> bool {
    matches!(
        (&*gvk.group, &*gvk.kind),
        ("", "Service" | "ServiceAccount" | "PersistentVolumeClaim" | "Pod") | ("batch", "Job")
    )
}

/// Takes out what the server allocated for this one object.
fn strip(gvk: &GroupVersionKind, body: &mut Map<String, Value>) {
    match (&*gvk.group, &*gvk.kind) {
        ("", "ServiceAccount") => {
            body.shift_remove("secrets");
        }
        ("", "Service") => {
            let Some(spec) = spec(body) else { return };
            if spec.get("clusterIP") != Some(&json!("None")) {
                spec.shift_remove("clusterIP");
                spec.shift_remove("clusterIPs");
            }
            spec.shift_remove("healthCheckNodePort");
            for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(port) = port.as_object_mut() {
                    port.shift_remove("nodePort");
                }
            }
        }
        ("", "PersistentVolumeClaim") => {
            if let Some(spec) = spec(body) {
                spec.shift_remove("volumeName");
            }
        }
        ("", "Pod") => {
            if let Some(spec) = spec(body) {
                spec.shift_remove("nodeName");
            }
        }
        ("batch", "Job") => {
            let Some(spec) = spec(body) else { return };
            if spec.get("manualSelector") == Some(&Value::Bool(true)) {
                return;
            }
            spec.shift_remove("selector");
            let labels = spec.get_mut("template").and_then(|t| t.pointer_mut("/metadata/labels"));
            if let Some(labels) = labels.and_then(Value::as_object_mut) {
                for key in [
                    "controller-uid",
                    "batch.kubernetes.io/controller-uid",
                    "job-name",
                    "batch.kubernetes.io/job-name",
                ] {
                    labels.shift_remove(key);
                }
            }
        }
        _ => {}
    }
}

fn spec(body: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    body.get_mut("spec").and_then(Value::as_object_mut)
}

/// What to send to turn `live` into `wanted`: the wanted fields, and of the live ones what belongs to the object itself.
pub fn merge_into(live: &Object, wanted: &Object) -> Object {
    let mut out = wanted.clone();
    for field in ["resourceVersion", "uid", "finalizers", "ownerReferences"] {
        if let Some(value) = live.get(&["metadata", field]) {
            out.metadata_mut().insert(field.to_owned(), value.clone());
        }
    }
    let gvk = live.gvk();
    if let Some(status) = live.get(&["status"]) {
        out.body_mut().insert("status".to_owned(), status.clone());
    }
    if !allocated(&gvk) {
        return out;
    }
    if let Some(secrets) = live.get(&["secrets"]) {
        out.body_mut().insert("secrets".to_owned(), secrets.clone());
    }
    let kept = ["clusterIP", "clusterIPs", "healthCheckNodePort", "volumeName", "nodeName", "selector"];
    let Some(own) = live.get(&["spec"]).and_then(Value::as_object) else { return out };
    if let Some(spec) = spec(out.body_mut()) {
        for field in kept {
            if let (None, Some(value)) = (spec.get(field), own.get(field)) {
                // A Service's selector is content; only a Job's is allocated.
                if field != "selector" || &*gvk.kind == "Job" {
                    spec.insert(field.to_owned(), value.clone());
                }
            }
        }
    }
    out
}

/// The field that keeps `live` from being changed into `wanted`, if one is known to.
pub fn immutable_difference(live: &Object, wanted: &Object) -> Option<&'static str> {
    let differs = |field: &str| live.get(&[field]) != wanted.get(&[field]);
    match (&*live.gvk().group, live.kind()) {
        ("rbac.authorization.k8s.io", "RoleBinding") if differs("roleRef") => Some("roleRef"),
        ("", "Secret") if differs("type") => Some("type"),
        ("", "Secret" | "ConfigMap") if live.get(&["immutable"]) == Some(&Value::Bool(true)) => {
            ["immutable", "data", "binaryData"].into_iter().find(|field| differs(field))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KindIndex;

    fn object(value: Value) -> Object {
        Object::from_value(value).unwrap()
    }

    fn golden(value: Value) -> String {
        let config = Config {
            label_excludes: vec![Glob::new("*kubernetes.io/*").unwrap()],
            annotation_excludes: vec![Glob::new("*kubernetes.io/*").unwrap()],
            ..Config::default()
        };
        let content = source(&object(value), &config);
        let key = Key::new("child", KindIndex(0), "x");
        let copy = copy(content.body.as_ref().unwrap(), &key, "root", Mode::Update, &config.keys);
        podsmith_object::yaml::to_string(&copy.to_value())
    }

    #[test]
    fn a_copy_has_nothing_of_the_source_itself() {
        insta::assert_snapshot!(golden(json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {
                "name": "x", "namespace": "root", "uid": "u", "resourceVersion": "5", "generation": 2,
                "creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [{"uid": "o"}], "finalizers": ["f"],
                "managedFields": [{}], "generateName": "x-", "selfLink": "/x",
                "labels": {"team": "a", "app.kubernetes.io/name": "n", "app.kubernetes.io/created-by": "helm"},
                "annotations": {"note": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}", "innu.cybozu.com/propagate": "update"},
            },
            "type": "Opaque", "data": {"k": "dg=="}, "immutable": true, "status": {"a": 1},
        })), @r#"
apiVersion: v1
kind: Secret
type: Opaque
data:
  k: dg==
immutable: true
metadata:
  labels:
    team: a
    app.kubernetes.io/created-by: innu
  annotations:
    note: b
    innu.cybozu.com/propagate: update
    innu.cybozu.com/from: root
  name: x
  namespace: child
"#);
    }

    #[test]
    fn allocated_fields_stay_behind() {
        insta::assert_snapshot!(golden(json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"},
            "spec": {"type": "NodePort", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "selector": {"a": "b"},
                "healthCheckNodePort": 3, "ports": [{"port": 80, "nodePort": 30000}]},
        })), @r#"
apiVersion: v1
kind: Service
spec:
  type: NodePort
  selector:
    a: b
  ports:
  - port: 80
metadata:
  labels:
    app.kubernetes.io/created-by: innu
  name: x
  namespace: child
  annotations:
    innu.cybozu.com/propagate: update
    innu.cybozu.com/from: root
"#);
        let account = golden(json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "x"},
            "secrets": [{"name": "t"}], "imagePullSecrets": [{"name": "p"}],
        }));
        assert!(!account.contains("\nsecrets:") && account.contains("imagePullSecrets"), "{account}");
        let headless = golden(json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"clusterIP": "None"},
        }));
        assert!(headless.contains("clusterIP: None"), "{headless}");
        let claim = golden(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "x"}, "spec": {"volumeName": "pv"},
        }));
        assert!(!claim.contains("volumeName"), "{claim}");
    }

    #[test]
    fn a_token_is_never_a_source() {
        let token = object(json!({
            "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token",
            "metadata": {"name": "t", "annotations": {"innu.cybozu.com/propagate": "update"}},
        }));
        assert_eq!(Resource::read(&token, &Config::default()).mode, None);
    }

    #[test]
    fn a_faithful_copy_has_the_fingerprint_of_its_source() {
        let config = Config { label_excludes: vec![Glob::new("x*").unwrap()], ..Config::default() };
        let origin = object(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"},
            "metadata": {"name": "x", "namespace": "root", "labels": {"xx": "1", "y": "2"},
                "annotations": {"innu.cybozu.com/propagate": "update", "n": ""}},
        }));
        let read = Resource::read(&origin, &config);
        let key = Key::new("child", KindIndex(0), "x");
        let made = copy(read.content.body.as_ref().unwrap(), &key, "root", Mode::Update, &config.keys);
        let copied = Resource::read(&made, &config);
        assert!(copied.is_update_copy());
        assert_eq!(copied.content.print, read.content.print);
        for (field, key) in [("labels", "xx"), ("labels", "new"), ("annotations", "new")] {
            let mut touched = made.clone();
            match field {
                "labels" => touched.set_label(key, "1"),
                _ => touched.set_annotation(key, "1"),
            }
            assert_ne!(Resource::read(&touched, &config).content.print, read.content.print, "{field} {key}");
        }
    }

    #[test]
    fn fields_of_the_object_itself_survive_an_update() {
        let live = object(json!({
            "apiVersion": "v1", "kind": "Service", "status": {"s": 1},
            "metadata": {"name": "x", "resourceVersion": "9", "uid": "u", "finalizers": ["f"], "labels": {"gone": "1"}},
            "spec": {"clusterIP": "10.0.0.9", "selector": {"gone": "1"}},
        }));
        let wanted = object(
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"type": "ClusterIP"}}),
        );
        let sent = merge_into(&live, &wanted).to_value();
        assert_eq!(sent["spec"], json!({"type": "ClusterIP", "clusterIP": "10.0.0.9"}));
        assert_eq!(sent["metadata"]["finalizers"], json!(["f"]));
        assert_eq!(sent["metadata"]["resourceVersion"], "9");
        assert!(sent["metadata"].get("labels").is_none());
    }

    #[test]
    fn known_immutable_fields_are_named() {
        let binding = |role: &str| {
            object(
                json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": {"name": role}}),
            )
        };
        assert_eq!(immutable_difference(&binding("a"), &binding("b")), Some("roleRef"));
        assert_eq!(immutable_difference(&binding("a"), &binding("a")), None);
        let map = |immutable: bool, value: &str| {
            object(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": immutable, "data": {"a": value}}),
            )
        };
        assert_eq!(immutable_difference(&map(true, "1"), &map(true, "2")), Some("data"));
        assert_eq!(immutable_difference(&map(true, "1"), &map(false, "1")), Some("immutable"));
        assert_eq!(immutable_difference(&map(false, "1"), &map(true, "2")), None);
    }
}
