//! Namespaces, definitions, aggregated APIs.

use podsmith_object::{Object, Value};

use super::{Health, condition};

pub(super) fn namespace(object: &Object) -> Health {
    match object.get(&["status", "phase"]).and_then(Value::as_str) {
        Some("Terminating") => Health::waiting("the namespace is being deleted"),
        _ => Health::ready(),
    }
}

pub(super) fn definition(object: &Object) -> Health {
    if let Some(names) = condition(object, "NamesAccepted")
        && names.status == "False"
    {
        return Health::failed(format!("its names are taken: {}", names.message));
    }
    match condition(object, "Established") {
        Some(established) if established.status == "True" => Health::ready(),
        _ => Health::waiting("the server does not serve it yet"),
    }
}

pub(super) fn api_service(object: &Object) -> Health {
    match condition(object, "Available") {
        Some(available) if available.status == "True" => Health::ready(),
        Some(available) => Health::waiting(format!("its server does not answer: {}", available.message)),
        None => Health::waiting("the server has not looked at it yet"),
    }
}
