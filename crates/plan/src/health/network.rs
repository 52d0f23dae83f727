//! Services.

use podsmith_object::{Object, Value};

use super::Health;

pub(super) fn service(object: &Object) -> Health {
    if object.get(&["spec", "type"]).and_then(Value::as_str) != Some("LoadBalancer") {
        return Health::ready();
    }
    let given = object.get(&["status", "loadBalancer", "ingress"]).and_then(Value::as_array);
    if given.is_some_and(|list| !list.is_empty()) || object.get(&["spec", "externalIPs"]).is_some() {
        Health::ready()
    } else {
        Health::waiting("no load balancer has given it an address yet")
    }
}
