//! Many objects with indexes, so that nothing has to search a list.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::{GroupVersionKind, Object, ObjectId};

/// Objects in their order, found by identity, kind, namespace or label without a search.
///
/// # Cost
///
/// Building is linear; each lookup costs as much as its answer is long.
#[derive(Clone, Debug, Default)]
pub struct ObjectSet {
    objects: IndexMap<ObjectId, Object>,
    by_kind: HashMap<GroupVersionKind, Vec<usize>>,
    by_namespace: HashMap<String, Vec<usize>>,
    by_label: HashMap<(String, String), Vec<usize>>,
}

impl ObjectSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object.
    ///
    /// # Errors
    ///
    /// Gives the object back if its identity is in the set already.
    pub fn insert(&mut self, object: Object) -> Result<(), Box<Object>> {
        let id = object.id();
        if self.objects.contains_key(&id) {
            return Err(Box::new(object));
        }
        let index = self.objects.len();
        self.by_kind.entry(id.gvk.clone()).or_default().push(index);
        self.by_namespace.entry(id.namespace.to_string()).or_default().push(index);
        for (key, value) in object.labels() {
            self.by_label.entry((key.to_owned(), value.to_owned())).or_default().push(index);
        }
        self.objects.insert(id, object);
        Ok(())
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// True without objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The object with this identity.
    pub fn get(&self, id: &ObjectId) -> Option<&Object> {
        self.objects.get(id)
    }

    /// All objects in the order they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ObjectId, &Object)> {
        self.objects.iter()
    }

    /// All objects of one kind, in order.
    pub fn of_kind(&self, gvk: &GroupVersionKind) -> impl Iterator<Item = &Object> {
        self.at(self.by_kind.get(gvk))
    }

    /// All objects of one namespace, in order; the empty string means objects without one.
    pub fn in_namespace(&self, namespace: &str) -> impl Iterator<Item = &Object> {
        self.at(self.by_namespace.get(namespace))
    }

    /// All objects with this label, in order.
    pub fn with_label(&self, key: &str, value: &str) -> impl Iterator<Item = &Object> {
        self.at(self.by_label.get(&(key.to_owned(), value.to_owned())))
    }

    fn at<'a>(&'a self, indices: Option<&'a Vec<usize>>) -> impl Iterator<Item = &'a Object> {
        indices
            .into_iter()
            .flatten()
            .filter_map(|index| self.objects.get_index(*index).map(|(_, object)| object))
    }
}
