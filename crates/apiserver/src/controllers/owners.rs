//! Who owns whom: the graph the garbage collector walks.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use podsmith_object::Value;
use serde::{Deserialize, Serialize};

use crate::fields;
use crate::store::Stored;

/// One object, as far as ownership goes.
#[derive(Clone, Debug)]
pub struct Node {
    /// The table it is in.
    pub table: Arc<str>,
    /// Its namespace; empty outside of namespaces.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its owners.
    pub owners: Vec<Owner>,
    /// Deletion was asked for.
    pub deleting: bool,
    /// Its dependents go first.
    pub foreground: bool,
    /// Its dependents stay.
    pub orphan: bool,
}

/// A reference to an owner.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Owner {
    /// Its uid.
    pub uid: String,
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// The owner waits for this dependent when it is deleted in the foreground.
    pub blocks: bool,
}

/// What ownership needs of an object, read without building the rest.
#[derive(Deserialize, Serialize)]
struct Reduced {
    metadata: ReducedMetadata,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReducedMetadata {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    uid: String,
    owner_references: Option<Value>,
    finalizers: Option<Value>,
    deletion_timestamp: Option<Value>,
}

/// The part of an object that ownership is about.
pub fn reduced(stored: &Stored) -> Value {
    let read: Result<Reduced, _> = serde_json::from_slice(stored.json());
    read.and_then(|reduced| serde_json::to_value(&reduced)).unwrap_or(Value::Null)
}

/// All objects by uid, and the dependents of each.
#[derive(Default)]
pub struct Graph {
    nodes: HashMap<String, Node>,
    dependents: HashMap<String, BTreeSet<String>>,
    keys: HashMap<(Arc<str>, Arc<str>), String>,
}

impl Node {
    fn read(table: &Arc<str>, object: &Value) -> Self {
        let finalizers = fields::finalizers(object);
        let owners = fields::list(object, &["metadata", "ownerReferences"])
            .iter()
            .map(|one| Owner {
                uid: fields::text(one, &["uid"]).to_owned(),
                api_version: fields::text(one, &["apiVersion"]).to_owned(),
                kind: fields::text(one, &["kind"]).to_owned(),
                blocks: one.get("blockOwnerDeletion") == Some(&Value::Bool(true)),
            })
            .collect();
        Self {
            table: table.clone(),
            namespace: fields::namespace(object).to_owned(),
            name: fields::name(object).to_owned(),
            owners,
            deleting: fields::is_deleting(object),
            foreground: finalizers.contains(&"foregroundDeletion"),
            orphan: finalizers.contains(&"orphan"),
        }
    }
}

impl Graph {
    /// An object by its uid.
    pub fn node(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// The uids of the dependents of an object.
    pub fn dependents(&self, uid: &str) -> Vec<String> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Takes in the present state of an object. Returns the uids worth a look.
    pub fn put(&mut self, table: &Arc<str>, key: &Arc<str>, object: &Value) -> Vec<String> {
        let uid = fields::uid(object).to_owned();
        let place = (table.clone(), key.clone());
        let mut touched = Vec::new();
        if let Some(before) = self.keys.get(&place)
            && *before != uid
        {
            // The name was given to a new object.
            touched.extend(self.remove(table, key));
        }
        let node = Node::read(table, object);
        if let Some(old) = self.nodes.get(&uid) {
            for owner in &old.owners {
                if let Some(set) = self.dependents.get_mut(&owner.uid) {
                    set.remove(&uid);
                }
                touched.push(owner.uid.clone());
            }
        }
        for owner in &node.owners {
            self.dependents.entry(owner.uid.clone()).or_default().insert(uid.clone());
        }
        if !node.owners.is_empty() || node.deleting {
            touched.push(uid.clone());
        }
        if node.deleting {
            touched.extend(node.owners.iter().map(|owner| owner.uid.clone()));
        }
        self.keys.insert(place, uid.clone());
        self.nodes.insert(uid, node);
        touched
    }

    /// Takes in that an object is gone. Returns the uids worth a look.
    pub fn remove(&mut self, table: &Arc<str>, key: &Arc<str>) -> Vec<String> {
        let Some(uid) = self.keys.remove(&(table.clone(), key.clone())) else { return Vec::new() };
        let mut touched = self.dependents(&uid);
        if let Some(node) = self.nodes.remove(&uid) {
            for owner in node.owners {
                if let Some(set) = self.dependents.get_mut(&owner.uid) {
                    set.remove(&uid);
                    if set.is_empty() {
                        self.dependents.remove(&owner.uid);
                    }
                }
                touched.push(owner.uid);
            }
        }
        touched
    }
}
