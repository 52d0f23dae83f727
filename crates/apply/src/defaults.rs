//! What a Podfile leaves to the cluster: the default certificate issuer, and default classes that must be there.

use podsmith_object::{Diagnostic, Object, Value};
use podsmith_plan::kinds::Kinds;
use podsmith_plan::{Package, Plan, names};

use crate::error::ApplyError;
use crate::rest::Rest;

const ISSUER: &str = "cert-manager.io/cluster-issuer";
const ISSUER_MARKS: [&str; 2] =
    ["podsmith.dev/default-cluster-issuer", "podinate.com/default-cluster-issuer"];

/// Fills in the default issuer where it is asked for, and reports what the cluster lacks.
pub(crate) async fn resolve(
    rest: &Rest,
    kinds: &Kinds,
    mut package: Package,
    plan: &mut Plan,
) -> Result<Package, ApplyError> {
    if package.objects.iter().any(|object| object.annotation(names::DEFAULT_ISSUER).is_some()) {
        let issuer = default_issuer(rest, kinds).await?;
        for object in &mut package.objects {
            if object.annotation(names::DEFAULT_ISSUER).is_none() {
                continue;
            }
            object.remove_annotation(names::DEFAULT_ISSUER);
            match &issuer {
                Ok(name) => object.set_annotation(ISSUER, name),
                Err(why) => plan.errors.push(
                    problem(
                        Diagnostic::error(format!("it has TLS but no certificate issuer: {why}")),
                        object,
                    )
                    .with_hint("set `cluster_issuer`, or `tls_secret` for a certificate of your own"),
                ),
            }
        }
    }
    Ok(package)
}

fn problem(diagnostic: Diagnostic, object: &Object) -> Diagnostic {
    diagnostic.on(object.id()).or_at(object.origin().map(podsmith_object::Origin::place))
}

async fn default_issuer(rest: &Rest, kinds: &Kinds) -> Result<Result<String, String>, ApplyError> {
    let Some(resource) = kinds.preferred("cert-manager.io", "ClusterIssuer") else {
        return Ok(Err("cert-manager is not installed".into()));
    };
    let issuers = rest.list(resource, "", "").await.map_err(ApplyError::call("list cluster issuers"))?;
    let marked: Vec<&Object> = issuers
        .iter()
        .filter(|issuer| ISSUER_MARKS.iter().any(|mark| issuer.annotation(mark) == Some("true")))
        .collect();
    Ok(match (marked.as_slice(), issuers.as_slice()) {
        ([one], _) => Ok(one.name().to_owned()),
        ([], [one]) => Ok(one.name().to_owned()),
        ([], []) => Err("there is no ClusterIssuer".into()),
        ([], many) => Err(format!("none of {} is marked with {}", list(many.iter()), ISSUER_MARKS[0])),
        (several, _) => Err(format!("several are marked as default: {}", list(several.iter().copied()))),
    })
}

fn list<'o>(objects: impl Iterator<Item = &'o Object>) -> String {
    objects.map(Object::name).collect::<Vec<_>>().join(", ")
}

/// Warns about objects that rely on a default class which the cluster does not have. Asked only when the plan creates
/// such objects.
pub(crate) async fn check_classes(rest: &Rest, kinds: &Kinds, plan: &mut Plan) -> Result<(), ApplyError> {
    let mut claims = Vec::new();
    let mut ingresses = Vec::new();
    for change in plan.changes.iter().filter(|change| change.action == podsmith_plan::Action::Create) {
        let Some(object) = &change.desired else { continue };
        match object.kind() {
            "PersistentVolumeClaim" if object.get(&["spec", "storageClassName"]).is_none() => {
                claims.push(object.clone())
            }
            "StatefulSet" => {
                let templates = object.get(&["spec", "volumeClaimTemplates"]).and_then(Value::as_array);
                if templates.into_iter().flatten().any(|t| t.pointer("/spec/storageClassName").is_none()) {
                    claims.push(object.clone());
                }
            }
            "Ingress"
                if object.get(&["spec", "ingressClassName"]).is_none()
                    && object.annotation("kubernetes.io/ingress.class").is_none() =>
            {
                ingresses.push(object.clone());
            }
            _ => {}
        }
    }
    for (objects, group, kind, mark, effect) in [
        (
            claims,
            "storage.k8s.io",
            "StorageClass",
            "storageclass.kubernetes.io/is-default-class",
            "its volume stays pending",
        ),
        (
            ingresses,
            "networking.k8s.io",
            "IngressClass",
            "ingressclass.kubernetes.io/is-default-class",
            "nobody serves it",
        ),
    ] {
        if objects.is_empty() {
            continue;
        }
        let Some(resource) = kinds.preferred(group, kind) else { continue };
        // Without the permission to look there is nothing to warn about.
        let Ok(classes) = rest.list(resource, "", "").await else { continue };
        if classes.iter().any(|class| class.annotation(mark) == Some("true")) {
            continue;
        }
        for object in objects {
            let message = format!("it names no class, and the cluster has no default {kind}: {effect}");
            let attribute = if kind == "StorageClass" { "class" } else { "ingress_class" };
            let warning = problem(Diagnostic::warning(message), &object);
            plan.warnings
                .push(warning.with_hint(format!("set `{attribute}`, or mark a {kind} as the default")));
        }
    }
    Ok(())
}
