//! The kubeconfig of a served cluster.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::{json, yaml};

use super::pki::{Issued, Pki};

/// The administrator's kubeconfig: token and client certificate, everything in one file.
pub fn write(server: &str, pki: &Pki, client: &Issued) -> String {
    let encode = |text: &str| STANDARD.encode(text);
    yaml::to_string(&json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "podsmith", "cluster": {
            "server": server, "certificate-authority-data": encode(&pki.ca_pem),
        }}],
        "users": [{"name": "podsmith-admin", "user": {
            "token": pki.admin_token,
            "client-certificate-data": encode(&client.certificate),
            "client-key-data": encode(&client.key),
        }}],
        "contexts": [{"name": "podsmith", "context": {
            "cluster": "podsmith", "user": "podsmith-admin", "namespace": "default",
        }}],
        "current-context": "podsmith",
    }))
}
