//! The CEL rules of a definition in the same package, checked before the definition exists.

use podsmith_object::{Diagnostic, Object, Origin};
use podsmith_plan::Prepared;

/// The rules that custom resources of the package break.
pub(crate) fn check(prepared: &Prepared) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in &prepared.objects {
        if let Some(schema) = prepared.schemas.get(&object.gvk())
            && let Err(errors) = kube_cel::Validator::new().validate(schema, &object.to_value(), None)
        {
            found.extend(errors.into_vec().into_iter().map(|error| problem(object, &error.to_string())));
        }
    }
    found
}

fn problem(object: &Object, rule: &str) -> Diagnostic {
    Diagnostic::error(format!("a rule of its definition does not hold: {rule}"))
        .on(object.id())
        .or_at(object.origin().map(Origin::place))
}
