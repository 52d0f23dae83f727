//! The service account of a cloud identity.

use podsmith_object::decode::Decoder;
use podsmith_object::yaml::Node;
use podsmith_object::{Diagnostic, Diagnostics, Value};

use crate::kustomization::Table;
use crate::resources::Resource;

/// Makes the ServiceAccount of an `IAMPolicyGenerator`.
pub(crate) fn iam_policy(decoder: &Decoder<'_>, node: &Node) -> Result<Option<Resource>, Diagnostics> {
    let Some(mut table) = Table::new(decoder, node, "the policy generator", false) else { return Ok(None) };
    let cloud = table.text("cloud");
    if cloud != "gke" {
        return Err(Diagnostic::error(format!("cloud provider `{cloud}` is not supported"))
            .with_hint("only `gke` is")
            .into());
    }
    let inner = |node: Option<&Node>, keys: [&str; 2]| {
        let mut texts = [String::new(), String::new()];
        if let Some(mut table) =
            node.and_then(|node| Table::new(decoder, node, "the policy generator", false))
        {
            for (text, key) in texts.iter_mut().zip(keys) {
                *text = table.text(key);
            }
        }
        texts
    };
    let [name, namespace] = inner(table.take("kubernetesService"), ["name", "namespace"]);
    let [account, own_project] = inner(table.take("serviceAccount"), ["name", "projectId"]);
    let project = if own_project.is_empty() { table.text("projectId") } else { own_project };
    let mut resource = Resource::default();
    resource.body.insert("apiVersion".into(), Value::from("v1"));
    resource.body.insert("kind".into(), Value::from("ServiceAccount"));
    resource.set_name(&name);
    if !namespace.is_empty() {
        resource.set_namespace(&namespace);
    }
    let mut annotations = podsmith_object::Map::new();
    annotations.insert(
        "iam.gke.io/gcp-service-account".into(),
        Value::from(format!("{account}@{project}.iam.gserviceaccount.com")),
    );
    resource.metadata_mut().insert("annotations".into(), Value::Object(annotations));
    Ok(Some(resource))
}
