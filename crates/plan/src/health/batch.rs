//! Jobs.

use podsmith_object::{Object, Value};

use super::{Health, condition, number, pods};

pub(super) fn job(object: &Object, pods: &[Object]) -> Health {
    if let Some(failed) = condition(object, "Failed")
        && failed.status == "True"
    {
        return Health::failed(format!("the job failed: {}", failed.message));
    }
    if condition(object, "Complete").is_some_and(|complete| complete.status == "True") {
        return Health::ready();
    }
    if object.get(&["spec", "suspend"]).and_then(Value::as_bool) == Some(true) {
        return Health::ready();
    }
    let wanted = object.get(&["spec", "completions"]).and_then(Value::as_i64).unwrap_or(1);
    let done = number(object, &["status", "succeeded"]);
    let sentence = format!("{done} of {wanted} runs have ended");
    match pods::worst(pods) {
        Some(worst) if worst.fatal => Health::failed(format!("{sentence}: {}", worst.message)),
        Some(worst) => Health::waiting(format!("{sentence}: {}", worst.message)),
        None => Health::waiting(sentence),
    }
}
