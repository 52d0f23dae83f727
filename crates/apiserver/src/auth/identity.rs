//! Who asks.

use std::collections::BTreeMap;

use podsmith_object::{Map, Value};

/// A user as the server knows it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The uid, where there is one.
    pub uid: String,
    /// The groups, `system:authenticated` or `system:unauthenticated` included.
    pub groups: Vec<String>,
    /// Anything else that was learnt about the user.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Identity {
    /// A user with groups; every known user is also `system:authenticated`.
    pub fn new(name: impl Into<String>, groups: &[&str]) -> Self {
        let mut identity = Self {
            name: name.into(),
            groups: groups.iter().map(|g| (*g).to_owned()).collect(),
            ..Self::default()
        };
        identity.authenticate();
        identity
    }

    /// The administrator of this cluster.
    pub fn admin() -> Self {
        Self::new("kubernetes-admin", &["system:masters"])
    }

    /// Nobody in particular.
    pub fn anonymous() -> Self {
        Self {
            name: "system:anonymous".to_owned(),
            groups: vec!["system:unauthenticated".to_owned()],
            ..Self::default()
        }
    }

    /// Adds the group of everybody who is known.
    pub fn authenticate(&mut self) {
        let group = "system:authenticated";
        if !self.groups.iter().any(|known| known == group) {
            self.groups.push(group.to_owned());
        }
    }

    /// True for members of the group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|known| known == group)
    }

    /// True when nobody is known.
    pub fn is_anonymous(&self) -> bool {
        self.name == "system:anonymous"
    }

    /// The `UserInfo` of reviews.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        out.insert("username".into(), self.name.as_str().into());
        if !self.uid.is_empty() {
            out.insert("uid".into(), self.uid.as_str().into());
        }
        out.insert("groups".into(), self.groups.clone().into());
        if !self.extra.is_empty() {
            out.insert(
                "extra".into(),
                self.extra.iter().map(|(k, v)| (k.clone(), Value::from(v.clone()))).collect(),
            );
        }
        Value::Object(out)
    }
}
