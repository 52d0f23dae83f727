//! Pods, and what their containers are stuck on.

use podsmith_object::{Object, Value};

use super::{Health, condition};

/// What keeps a pod from being ready.
pub(super) struct Trouble {
    pub message: String,
    /// True when waiting does not help.
    pub fatal: bool,
}

pub(super) fn pod(object: &Object) -> Health {
    let phase = object.get(&["status", "phase"]).and_then(Value::as_str).unwrap_or("");
    match phase {
        "Succeeded" => return Health::ready(),
        "Failed" => {
            let why =
                object.get(&["status", "message"]).and_then(Value::as_str).unwrap_or("its containers failed");
            return Health::failed(format!("the pod failed: {why}"));
        }
        _ => {}
    }
    if condition(object, "Ready").is_some_and(|ready| ready.status == "True") {
        return Health::ready();
    }
    match trouble(object) {
        Some(trouble) if trouble.fatal => Health::failed(trouble.message),
        Some(trouble) => Health::waiting(trouble.message),
        None => Health::waiting("the pod is not ready yet"),
    }
}

/// The worst trouble among several pods: what needs a person comes first.
pub(super) fn worst(pods: &[Object]) -> Option<Trouble> {
    let mut found: Option<Trouble> = None;
    for pod in pods {
        if let Some(trouble) = trouble(pod) {
            if trouble.fatal {
                return Some(trouble);
            }
            found = found.or(Some(trouble));
        }
    }
    found
}

fn trouble(pod: &Object) -> Option<Trouble> {
    let name = pod.name();
    for field in ["initContainerStatuses", "containerStatuses"] {
        for status in pod.get(&["status", field]).and_then(Value::as_array).into_iter().flatten() {
            if let Some(trouble) = container(name, status) {
                return Some(trouble);
            }
        }
    }
    if let Some(scheduled) = condition(pod, "PodScheduled")
        && scheduled.status == "False"
    {
        let message = if scheduled.message.is_empty() { scheduled.reason } else { scheduled.message };
        return Some(Trouble { message: format!("{name} finds no node: {message}"), fatal: false });
    }
    let ready = condition(pod, "Ready");
    match pod.get(&["status", "phase"]).and_then(Value::as_str) {
        Some("Pending") => Some(Trouble { message: format!("{name} is starting"), fatal: false }),
        Some("Running") if ready.is_none_or(|ready| ready.status != "True") => {
            Some(Trouble { message: format!("{name} runs but is not ready"), fatal: false })
        }
        _ => None,
    }
}

fn container(pod: &str, status: &Value) -> Option<Trouble> {
    let word = |pointer: &str| status.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let name = word("/name");
    let detail = |message: &str| if message.is_empty() { String::new() } else { format!(": {message}") };
    match word("/state/waiting/reason") {
        reason @ ("ImagePullBackOff" | "ErrImagePull" | "InvalidImageName" | "ErrImageNeverPull") => {
            Some(Trouble {
                message: format!(
                    "{pod} cannot pull the image {} of container {name} ({reason}){}",
                    word("/image"),
                    detail(word("/state/waiting/message"))
                ),
                fatal: true,
            })
        }
        "CrashLoopBackOff" => {
            let code = status.pointer("/lastState/terminated/exitCode").and_then(Value::as_i64);
            let restarts = status.get("restartCount").and_then(Value::as_i64).unwrap_or(0);
            let code = code.map(|code| format!(", exit code {code}")).unwrap_or_default();
            Some(Trouble {
                message: format!(
                    "container {name} of {pod} crashes again and again ({restarts} restarts{code})"
                ),
                fatal: true,
            })
        }
        reason @ ("CreateContainerConfigError" | "CreateContainerError" | "RunContainerError") => {
            Some(Trouble {
                message: format!(
                    "container {name} of {pod} cannot start ({reason}){}",
                    detail(word("/state/waiting/message"))
                ),
                fatal: true,
            })
        }
        _ => None,
    }
}
