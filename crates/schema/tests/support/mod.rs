//! A write path of the API server in memory: enough to replay captured requests against the library.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use podsmith_object::{GroupVersionKind, Value, json};
use podsmith_schema::apply::{self, ApplyError, Force, OneVersion, Write};
use podsmith_schema::crd::CustomType;
use podsmith_schema::strategy::{self, Birth};
use podsmith_schema::{Type, decode, defaults, json_patch, merge_patch, strategic, table, validate};

/// Captured data, or nothing where it is not installed.
pub fn vectors(name: &str) -> Option<Value> {
    let usual = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/apiserver");
    let path = std::env::var_os("PODSMITH_APISERVER_VECTORS").map_or(usual, PathBuf::from).join(name);
    let read = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if read.is_none() {
        eprintln!("skipped: {name}: no captured data");
    }
    read
}

pub struct Kind {
    pub gvk: GroupVersionKind,
    pub ty: Type,
    pub custom: Option<CustomType>,
}

#[derive(Default)]
pub struct Server {
    pub customs: BTreeMap<(String, String), (GroupVersionKind, CustomType)>,
    pub objects: BTreeMap<String, Value>,
    pub clock: u32,
    pub uids: u32,
}

pub struct Answer {
    pub code: u64,
    pub object: Option<Value>,
    pub message: String,
    pub causes: Vec<(String, String)>,
}

impl Server {
    pub fn kind(&self, path: &str) -> Option<(Kind, String, String)> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let rest = match rest {
            ["namespaces", _, rest @ ..] if !rest.is_empty() => rest,
            other => other,
        };
        let plural = rest.first()?;
        let name = rest.get(1).copied().unwrap_or("").to_owned();
        let subresource = rest.get(2).copied().unwrap_or("").to_owned();
        let kind = match table().resource_at(group, version, plural) {
            Some(resource) => {
                let gvk = resource.gvk();
                Kind { ty: table().type_of(&gvk)?, gvk, custom: None }
            }
            None => {
                let (gvk, custom) = self.customs.get(&(group.to_owned(), (*plural).to_owned()))?.clone();
                Kind { ty: custom.ty().clone(), gvk, custom: Some(custom) }
            }
        };
        Some((kind, name, subresource))
    }

    pub fn define(&mut self, crd: &Value) {
        let text = |pointer: &str| crd.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        let group = text("/spec/group");
        let gvk =
            GroupVersionKind::new(group.as_str(), text("/spec/versions/0/name"), text("/spec/names/kind"));
        let custom = CustomType::new(crd.pointer("/spec/versions/0/schema/openAPIV3Schema"));
        self.customs.insert((group, text("/spec/names/plural")), (gvk, custom));
    }

    fn now(&mut self) -> String {
        self.clock += 1;
        format!("2026-01-01T00:{:02}:{:02}Z", self.clock / 60, self.clock % 60)
    }

    pub fn send(&mut self, method: &str, path: &str, query: &str, content: &str, body: &Value) -> Answer {
        let option = |key: &str| {
            query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .find(|(name, _)| *name == key)
                .map(|(_, value)| value.to_owned())
        };
        let (kind, name, subresource) = self.kind(path).expect("the path is known");
        let name =
            if name.is_empty() { body["metadata"]["name"].as_str().unwrap_or("").to_owned() } else { name };
        let collection =
            if method == "POST" { path } else { path.split(&format!("/{name}")).next().unwrap() };
        let key = format!("{collection}/{name}");
        let live = self.objects.get(&key).cloned();
        if method == "GET" {
            return match live {
                Some(object) => {
                    Answer { code: 200, object: Some(object), message: String::new(), causes: vec![] }
                }
                None => refuse(404, "not found"),
            };
        }
        let now = self.now();
        let manager = option("fieldManager").unwrap_or_else(|| "tester".to_owned());
        if subresource == "scale" {
            return self.scale(&kind, &key, &manager, &now, body);
        }
        let reset = if kind.custom.is_some() {
            match subresource.as_str() {
                "status" => apply::FieldSet::of_fields(&[&["metadata"], &["spec"]]),
                _ => apply::FieldSet::of_fields(&[&["status"]]),
            }
        } else {
            strategy::reset_fields(&kind.gvk, &subresource)
        };
        let versions = OneVersion { api_version: kind.gvk.api_version(), ty: kind.ty.clone(), reset };
        let write = Write {
            gvk: &kind.gvk,
            subresource: &subresource,
            manager: &manager,
            now: &now,
            versions: &versions,
        };
        let is_apply = content == "application/apply-patch+yaml";
        if is_apply && option("fieldManager").is_none() {
            return refuse(
                422,
                "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
            );
        }
        if !is_apply && option("force").is_some() {
            return refuse(
                422,
                "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch",
            );
        }
        let mut new = if is_apply {
            let force = if option("force").as_deref() == Some("true") { Force::Yes } else { Force::No };
            match apply::apply(live.as_ref(), body, &write, force) {
                Ok(applied) => applied.object,
                Err(error) => return refused(&error),
            }
        } else if content == "application/strategic-merge-patch+json" {
            let Some(object) = live.clone() else { return refuse(404, "not found") };
            match strategic::apply(object, body.clone(), &kind.ty) {
                Ok(object) => object,
                Err(error) => return refuse(500, &error.to_string()),
            }
        } else if content == "application/json-patch+json" {
            let Some(mut object) = live.clone() else { return refuse(404, "not found") };
            if json_patch::apply(&mut object, body).is_err() {
                return refuse(422, "the server rejected our request due to an error in our request");
            }
            object
        } else if content == "application/merge-patch+json" {
            let Some(mut object) = live.clone() else { return refuse(404, "not found") };
            merge_patch::apply(&mut object, body.clone());
            object
        } else {
            body.clone()
        };
        if let Some(config_name) = body.pointer("/metadata/name").and_then(Value::as_str)
            && config_name != name
        {
            return refuse(
                400,
                &format!(
                    "the name of the object ({config_name}) does not match the name on the URL ({name})"
                ),
            );
        }
        if let Some(live) = &live {
            let given = |key: &str| new["metadata"][key].as_str().map(str::to_owned);
            if given("resourceVersion")
                .is_some_and(|given| Some(given.as_str()) != live["metadata"]["resourceVersion"].as_str())
            {
                return refuse(409, "Operation cannot be fulfilled");
            }
            if given("uid").is_some_and(|given| Some(given.as_str()) != live["metadata"]["uid"].as_str()) {
                return refuse(422, "field is immutable");
            }
        }
        if let Err(error) = decode::check(&kind.ty, &new) {
            return refuse(400, &error.to_string());
        }
        match &kind.custom {
            None => defaults::fill(&kind.ty, &mut new),
            Some(custom) => {
                custom.prune(&mut new);
                if !is_apply {
                    custom.drop_nulls(&mut new);
                }
                custom.default_fields(&mut new);
            }
        }
        // The server notes who changed what before it adds what only it knows.
        if !is_apply {
            let map = new.as_object_mut().unwrap();
            map.insert("apiVersion".to_owned(), json!(kind.gvk.api_version()));
            map.insert("kind".to_owned(), json!(&*kind.gvk.kind));
            new = apply::update(live.as_ref(), new, &write);
        }
        let metadata = new["metadata"].as_object_mut().unwrap();
        if path.contains("/namespaces/") {
            metadata.insert("namespace".to_owned(), json!("ssa"));
        }
        match &live {
            None => {
                self.uids += 1;
                let uid = format!("uid-{}", self.uids);
                metadata.insert("uid".to_owned(), json!(uid));
                metadata.insert("creationTimestamp".to_owned(), json!(now));
                match &kind.custom {
                    Some(_) => strategy::custom_create(&mut new, true),
                    None => strategy::prepare_create(&kind.gvk, &mut new, Birth { uid: &uid, now: &now }),
                }
            }
            Some(live) => {
                for field in ["uid", "creationTimestamp"] {
                    metadata.insert(field.to_owned(), live["metadata"][field].clone());
                }
                match (&kind.custom, subresource.as_str()) {
                    (Some(_), "status") => strategy::custom_status_update(&mut new, live),
                    (Some(_), _) => strategy::custom_update(&mut new, live, true),
                    (None, "status") => strategy::prepare_status_update(&kind.gvk, &mut new, live, &now),
                    (None, _) => strategy::prepare_update(&kind.gvk, &mut new, live),
                }
            }
        }
        {
            let faults = match (&kind.custom, &live, subresource.as_str()) {
                (Some(custom), None, _) => custom.validate(&new),
                (Some(custom), Some(live), _) => custom.validate_update(&new, live),
                (None, None, _) => validate::create(&kind.gvk, &new),
                (None, Some(live), "status") => {
                    validate::status_update(&kind.gvk, &with_version(&new, live), live)
                }
                (None, Some(live), _) => validate::update(&kind.gvk, &with_version(&new, live), live),
            };
            if !faults.is_empty() {
                return Answer {
                    code: 422,
                    object: None,
                    message: podsmith_schema::fault::invalid_message(
                        &kind.gvk.group,
                        &kind.gvk.kind,
                        &name,
                        &faults,
                    ),
                    causes: faults
                        .iter()
                        .map(|fault| (fault.reason.cause().to_owned(), fault.field.clone()))
                        .collect(),
                };
            }
        }
        if kind.custom.is_none() {
            podsmith_schema::canonical::canonicalize(&kind.ty, &mut new);
        }
        if let Some(live) = &live {
            new["metadata"]
                .as_object_mut()
                .unwrap()
                .insert("resourceVersion".to_owned(), live["metadata"]["resourceVersion"].clone());
            if apply::equal_but_times(live, &new) {
                new = live.clone();
            }
        }
        if live.as_ref() != Some(&new) {
            new["metadata"]
                .as_object_mut()
                .unwrap()
                .insert("resourceVersion".to_owned(), json!(self.clock.to_string()));
        }
        if option("dryRun").is_none() {
            self.objects.insert(key, new.clone());
        }
        Answer {
            code: if live.is_none() { 201 } else { 200 },
            object: Some(new),
            message: String::new(),
            causes: vec![],
        }
    }

    fn scale(&mut self, kind: &Kind, key: &str, manager: &str, now: &str, body: &Value) -> Answer {
        let mut parent = self.objects.get(key).cloned().unwrap();
        let gvk = GroupVersionKind::new("autoscaling", "v1", "Scale");
        let ty = table().type_of(&gvk).unwrap();
        let mut live = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": parent["spec"]["replicas"]}});
        live["metadata"] =
            json!({"uid": "x", "managedFields": apply::scale_managers(&parent, &["spec", "replicas"])});
        let versions =
            OneVersion { api_version: "autoscaling/v1".to_owned(), ty, reset: apply::FieldSet::default() };
        let write = Write { gvk: &gvk, subresource: "scale", manager, now, versions: &versions };
        let mut new = live.clone();
        new["spec"]["replicas"] = body["spec"]["replicas"].clone();
        let new = apply::update(Some(&live), new, &write);
        let entries = apply::parent_managers(&parent, &new, &["spec", "replicas"], &kind.gvk.api_version());
        parent["spec"]["replicas"] = body["spec"]["replicas"].clone();
        parent["metadata"]["managedFields"] = entries.unwrap();
        strategy::prepare_update(&kind.gvk, &mut parent, &self.objects[key].clone());
        self.objects.insert(key.to_owned(), parent.clone());
        Answer { code: 200, object: Some(parent), message: String::new(), causes: vec![] }
    }
}

/// A client that names no version means whatever is there.
fn with_version(new: &Value, live: &Value) -> Value {
    let mut new = new.clone();
    new["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    new
}

fn refuse(code: u64, message: &str) -> Answer {
    Answer { code, object: None, message: message.to_owned(), causes: vec![] }
}

fn refused(error: &ApplyError) -> Answer {
    let (code, causes) = match error {
        ApplyError::Conflicts(conflicts) => {
            let causes =
                conflicts.list.iter().map(|one| ("FieldManagerConflict".to_owned(), one.field())).collect();
            (409, causes)
        }
        ApplyError::BadRequest(_) => (400, vec![]),
        ApplyError::Untyped(_) => (500, vec![]),
    };
    Answer { code, object: None, message: error.to_string(), causes }
}
