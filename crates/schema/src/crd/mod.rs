//! Custom resources: the schema of a CustomResourceDefinition version.
//!
//! A [`CustomType`] holds the [`Type`] that apply and patches use, and the schema itself for pruning, defaults and
//! validation. The order in which a server uses them on a write: [`CustomType::prune`], [`CustomType::drop_nulls`]
//! (not after an apply), [`CustomType::default_fields`], [`CustomType::validate`].

mod defaulting;
mod formats;
mod pruning;
mod types;
mod validation;

use podsmith_object::Value;

use crate::fault::Fault;
use crate::types::Type;

/// The schema of one version of a custom resource.
#[derive(Clone, Debug)]
pub struct CustomType {
    ty: Type,
    schema: Value,
}

impl CustomType {
    /// Takes the `openAPIV3Schema` of a version. Without one, anything is allowed.
    pub fn new(schema: Option<&Value>) -> Self {
        let free = podsmith_object::json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let schema = schema.filter(|schema| schema.is_object()).cloned().unwrap_or(free);
        Self { ty: types::root(&schema), schema }
    }

    /// The type, for apply and patches.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The schema as given.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Removes what the schema does not declare and returns it: `spec.unk`. Metadata takes its stored form.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let mut gone = pruning::prune_metadata(object, "metadata");
        gone.extend(pruning::prune(&self.schema, object));
        pruning::prune_embedded(&self.schema, object, "", &mut gone);
        gone
    }

    /// Removes nulls where the schema neither allows them nor has a default.
    pub fn drop_nulls(&self, object: &mut Value) {
        pruning::drop_nulls(&self.schema, object);
    }

    /// Fills in the defaults of the schema.
    pub fn default_fields(&self, object: &mut Value) {
        defaulting::fill(&self.schema, object);
    }

    /// What breaks the schema. Rules in CEL are not looked at.
    pub fn validate(&self, object: &Value) -> Vec<Fault> {
        validation::validate(&self.schema, object)
    }

    /// What breaks the schema after an update. A fault in a value that did not change is not held against the writer.
    pub fn validate_update(&self, object: &Value, old: &Value) -> Vec<Fault> {
        validation::validate_update(&self.schema, object, old)
    }
}

/// Reads a key of a schema as text.
fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Reads a key of a schema as a flag.
fn flag(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

/// The schema of keys that `properties` does not name, if there is one.
fn additional(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|inner| inner.is_object())
}
