//! Environment values that the cluster fills in.

use podsmith_object::json;

use super::{Function, function, text_of};

/// The key that marks a value as "comes from elsewhere"; see `objects::environment`.
pub(crate) const VALUE_FROM: &str = "\u{0}valueFrom";

pub(super) const FUNCTIONS: &[Function] = &[
    function("secret_key", 2, Some(2), "secret_key(secret, key)", |_, a| {
        Ok(json!({ VALUE_FROM: { "secretKeyRef": { "name": text_of(a, 0)?, "key": text_of(a, 1)? } } }))
    }),
    function("config_key", 2, Some(2), "config_key(config, key)", |_, a| {
        Ok(json!({ VALUE_FROM: { "configMapKeyRef": { "name": text_of(a, 0)?, "key": text_of(a, 1)? } } }))
    }),
    function("field", 1, Some(1), "field(path)", |_, a| {
        Ok(json!({ VALUE_FROM: { "fieldRef": { "fieldPath": text_of(a, 0)? } } }))
    }),
    function("resource_field", 1, Some(2), "resource_field(resource, container)", |_, a| {
        let mut reference = json!({ "resource": text_of(a, 0)? });
        if a.len() > 1 {
            reference["containerName"] = text_of(a, 1)?.into();
        }
        Ok(json!({ VALUE_FROM: { "resourceFieldRef": reference } }))
    }),
];
