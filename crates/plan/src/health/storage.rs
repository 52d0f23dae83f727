//! Claims and volumes.

use podsmith_object::{Object, Value};

use super::{Health, condition};

pub(super) fn claim(object: &Object) -> Health {
    match object.get(&["status", "phase"]).and_then(Value::as_str) {
        Some("Bound") => match condition(object, "Resizing") {
            Some(resizing) if resizing.status == "True" => Health::waiting("the volume is being resized"),
            _ => Health::ready(),
        },
        Some("Lost") => Health::failed("the volume behind the claim is gone"),
        _ => {
            let class = object.get(&["spec", "storageClassName"]).and_then(Value::as_str);
            Health::waiting(match class {
                Some(class) => {
                    format!("no volume of class {class} is bound yet; some classes wait for the first pod")
                }
                None => "no volume is bound yet, and the claim names no storage class".into(),
            })
        }
    }
}

pub(super) fn volume(object: &Object) -> Health {
    match object.get(&["status", "phase"]).and_then(Value::as_str) {
        Some("Failed") => Health::failed("the volume could not be reclaimed"),
        Some("Available" | "Bound" | "Released") => Health::ready(),
        _ => Health::waiting("the volume is not available yet"),
    }
}
