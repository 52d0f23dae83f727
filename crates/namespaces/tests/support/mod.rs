//! Short words for namespaces and objects, and a cluster in memory.

#![allow(dead_code, clippy::unwrap_used, reason = "every test file uses a part of it")]

pub mod fake;

use podsmith_namespaces::config::{Config, OnConflict};
use podsmith_namespaces::glob::Glob;
use podsmith_namespaces::model::{Key, KindIndex, Namespace, StringMap};
use podsmith_namespaces::resource::Resource;
use podsmith_object::{GroupVersionKind, Object, json};

pub const KIND: KindIndex = KindIndex(0);

pub fn config(on_conflict: OnConflict) -> Config {
    Config {
        label_keys: vec![Glob::new("team").unwrap()],
        annotation_keys: vec![Glob::new("note").unwrap()],
        sub_label_keys: vec![Glob::new("team").unwrap(), Glob::new("app").unwrap()],
        sub_annotation_keys: vec![Glob::new("note").unwrap()],
        watches: vec![GroupVersionKind::new("", "v1", "ConfigMap")],
        label_excludes: vec![Glob::new("skip*").unwrap()],
        on_conflict,
        max_deletes_per_minute: 0,
        ..Config::default()
    }
}

/// `type=root,team=a` with the prefix put where it belongs.
pub fn labels(text: &str) -> StringMap {
    text.split(',')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            let ours = ["type", "parent", "template"].contains(&key);
            let key = if ours { format!("innu.cybozu.com/{key}") } else { key.to_owned() };
            (key, value.to_owned())
        })
        .collect()
}

pub fn namespace(name: &str, text: &str) -> Namespace {
    Namespace::new(name, labels(text), &Config::default().keys)
}

/// A ConfigMap; `how` is its mode and where it says to be from, as in `update` or `update<root`.
pub fn config_map(namespace: &str, name: &str, how: &str, data: &str) -> Object {
    let mut object = Object::from_value(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": {"k": data},
    }))
    .unwrap();
    let (mode, from) = how.split_once('<').unwrap_or((how, ""));
    if !mode.is_empty() {
        object.set_annotation("innu.cybozu.com/propagate", mode);
    }
    if !from.is_empty() {
        object.set_annotation("innu.cybozu.com/from", from);
        object.set_label("app.kubernetes.io/created-by", "innu");
    }
    object
}

pub fn entry(object: &Object, config: &Config) -> (Key, Resource) {
    let kind = KindIndex::of(object, config).unwrap();
    (Key::new(object.namespace(), kind, object.name()), Resource::read(object, config))
}
