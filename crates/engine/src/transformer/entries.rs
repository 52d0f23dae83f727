//! The one implementation behind labels and annotations.
//!
//! Entries whose value is not a string stay as they are and are reported as a warning: Kubernetes will refuse the
//! object, but that is no reason to lose the other keys.

use podsmith_object::{Diagnostic, Map, Object, Origin, Value};

use crate::{BoxError, Context, Transformer};

pub(super) type Pairs = Vec<(String, String)>;
type Predicate = Box<dyn Fn(&str, &str) -> bool + Send + Sync>;

pub(super) enum Edit {
    Set(Pairs),
    Remove(Vec<String>),
    RemoveIf(Predicate),
}

pub(super) struct EditEntries {
    pub field: &'static str,
    pub edit: Edit,
}

impl Transformer for EditEntries {
    fn transform(&self, mut object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        self.report(&object, context);
        match &self.edit {
            Edit::Set(pairs) => {
                for (key, value) in pairs {
                    match self.field {
                        "labels" => object.set_label(key, value),
                        _ => object.set_annotation(key, value),
                    }
                }
            }
            Edit::Remove(keys) => {
                for key in keys {
                    match self.field {
                        "labels" => object.remove_label(key),
                        _ => object.remove_annotation(key),
                    }
                }
            }
            Edit::RemoveIf(unwanted) => self.remove_if(&mut object, unwanted),
        }
        Ok(object)
    }
}

impl EditEntries {
    fn remove_if(&self, object: &mut Object, unwanted: &Predicate) {
        let refuses = |key: &str, value: &Value| match value {
            Value::String(text) => unwanted(key, text),
            Value::Null => unwanted(key, ""),
            _ => false,
        };
        let some = |map: &Map<String, Value>| map.iter().any(|(key, value)| refuses(key, value));
        let found = object.get(&["metadata", self.field]).and_then(Value::as_object).is_some_and(some);
        if found && let Some(Value::Object(map)) = object.metadata_mut().get_mut(self.field) {
            map.retain(|key, value| !refuses(key, value));
        }
    }

    fn report(&self, object: &Object, context: &Context<'_>) {
        // The usual object has no such problem, and finding that out must not cost an allocation.
        let fine = match object.get(&["metadata", self.field]) {
            None | Some(Value::Null) => true,
            Some(Value::Object(map)) => map.values().all(|value| value.is_string() || value.is_null()),
            Some(_) => false,
        };
        if fine {
            return;
        }
        for problem in object.string_map_problems().into_iter().filter(|p| p.field == self.field) {
            let warning = Diagnostic::warning(problem.to_string())
                .or_at(object.origin().map(Origin::place))
                .on(object.id())
                .with_hint("put quotes around the value; Kubernetes refuses it as it is");
            context.warn(warning);
        }
    }
}
