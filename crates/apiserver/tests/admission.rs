//! Webhooks, policies, quotas and limits, through `kube::Client` in this process.
#![allow(clippy::unwrap_used)]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt as _, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use podsmith_apiserver::{Cluster, ClusterOptions, Pki};
use podsmith_object::{Value, json};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

async fn open() -> (Cluster, kube::Client) {
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let client = cluster.client();
    (cluster, client)
}

fn api(client: &kube::Client, group: &str, kind: &str, namespace: Option<&str>) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    }
}

fn object(value: Value) -> DynamicObject {
    serde_json::from_value(value).unwrap()
}

async fn create(api: &Api<DynamicObject>, value: Value) -> Result<DynamicObject, kube::core::Status> {
    match api.create(&PostParams::default(), &object(value)).await {
        Ok(object) => Ok(object),
        Err(kube::Error::Api(status)) => Err(*status),
        Err(other) => panic!("{other}"),
    }
}

/// A webhook that answers every review with `answer`; its address and the bundle to trust.
async fn webhook(answer: fn(&Value) -> Value) -> (SocketAddr, String) {
    let pki = Pki::generate().unwrap();
    let issued = pki.server(&[Ipv4Addr::LOCALHOST.into()], &["localhost"]).unwrap();
    let chain = vec![CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = service_fn(move |request: http::Request<hyper::body::Incoming>| async move {
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let review: Value = serde_json::from_slice(&body).unwrap();
                    let mut response = answer(&review["request"]);
                    response["uid"] = review["request"]["uid"].clone();
                    let review = json!({
                        "apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response,
                    });
                    Ok::<_, std::convert::Infallible>(Response::new(Full::new(Bytes::from(
                        review.to_string(),
                    ))))
                });
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    (address, STANDARD.encode(pki.ca_pem))
}

fn webhook_configuration(kind: &str, address: SocketAddr, bundle: &str) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "hook"},
        "webhooks": [{
            "name": "hook.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": format!("https://127.0.0.1:{}/", address.port()), "caBundle": bundle},
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                "operations": ["CREATE", "UPDATE"],
            }],
            "matchConditions": [{"name": "named", "expression": "object.metadata.name.startsWith('hooked')"}],
        }],
    })
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

#[tokio::test]
async fn mutating_webhooks_change_what_they_are_asked_about() {
    let (_cluster, client) = open().await;
    let (address, bundle) = webhook(|request| {
        let patch = json!([{"op": "add", "path": "/data/from", "value": request["userInfo"]["username"]}]);
        json!({"allowed": true, "patchType": "JSONPatch", "patch": STANDARD.encode(patch.to_string())})
    })
    .await;
    let kind = "MutatingWebhookConfiguration";
    let configurations = api(&client, "admissionregistration.k8s.io", kind, None);
    create(&configurations, webhook_configuration(kind, address, &bundle)).await.unwrap();
    let maps = api(&client, "", "ConfigMap", Some("default"));
    let hooked = create(&maps, config_map("hooked")).await.unwrap();
    assert_eq!(hooked.data["data"]["from"], "kubernetes-admin");
    let other = create(&maps, config_map("other")).await.unwrap();
    assert_eq!(other.data["data"], json!({"a": "1"}));
}

#[tokio::test]
async fn validating_webhooks_refuse_in_their_own_words() {
    let (_cluster, client) = open().await;
    let (address, bundle) =
        webhook(|_| json!({"allowed": false, "status": {"message": "not today", "code": 418}})).await;
    let kind = "ValidatingWebhookConfiguration";
    let configurations = api(&client, "admissionregistration.k8s.io", kind, None);
    create(&configurations, webhook_configuration(kind, address, &bundle)).await.unwrap();
    let maps = api(&client, "", "ConfigMap", Some("default"));
    let refused = create(&maps, config_map("hooked")).await.unwrap_err();
    assert_eq!(refused.code, 418);
    assert_eq!(refused.message, "admission webhook \"hook.example.com\" denied the request: not today");
    assert!(create(&maps, config_map("other")).await.is_ok());
}

#[tokio::test]
async fn a_webhook_that_cannot_be_called_counts_by_its_policy() {
    let (_cluster, client) = open().await;
    let nobody: SocketAddr = "127.0.0.1:1".parse().unwrap();
    let kind = "ValidatingWebhookConfiguration";
    let configurations = api(&client, "admissionregistration.k8s.io", kind, None);
    create(&configurations, webhook_configuration(kind, nobody, "")).await.unwrap();
    let maps = api(&client, "", "ConfigMap", Some("default"));
    let failed = create(&maps, config_map("hooked")).await.unwrap_err();
    assert_eq!((failed.code, failed.reason.as_str()), (500, "InternalError"));
    assert!(failed.message.contains("failed calling webhook \"hook.example.com\""), "{}", failed.message);
    let ignore = json!([{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]);
    let patch: Patch<Value> = Patch::Json(serde_json::from_value(ignore).unwrap());
    configurations.patch("hook", &PatchParams::default(), &patch).await.unwrap();
    assert!(create(&maps, config_map("hooked")).await.is_ok());
}

fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
        },
    })
}

async fn bind(client: &kube::Client, kind: &str, spec: Value, binding: Value) {
    const GROUP: &str = "admissionregistration.k8s.io";
    let version = format!("{GROUP}/v1");
    let policy = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "policy"}, "spec": spec});
    create(&api(client, GROUP, kind, None), policy).await.unwrap();
    let bound = format!("{kind}Binding");
    let mut binding =
        json!({"apiVersion": version, "kind": bound, "metadata": {"name": "b"}, "spec": binding});
    binding["spec"]["policyName"] = "policy".into();
    create(&api(client, GROUP, &bound, None), binding).await.unwrap();
}

fn on_deployments() -> Value {
    json!({"resourceRules": [{
        "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments"],
    }]})
}

#[tokio::test]
async fn validating_policies_judge_by_expressions_and_parameters() {
    let (_cluster, client) = open().await;
    let maps = api(&client, "", "ConfigMap", Some("default"));
    let mut limit = config_map("limit");
    limit["data"] = json!({"most": "5"});
    create(&maps, limit).await.unwrap();
    let spec = json!({
        "failurePolicy": "Fail", "matchConstraints": on_deployments(),
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "variables": [{"name": "most", "expression": "int(params.data.most)"}],
        "validations": [{
            "expression": "object.spec.replicas <= variables.most",
            "messageExpression": "'at most ' + string(variables.most) + ' replicas'",
        }],
    });
    let binding = json!({
        "validationActions": ["Deny"],
        "paramRef": {"name": "limit", "namespace": "default", "parameterNotFoundAction": "Deny"},
    });
    bind(&client, "ValidatingAdmissionPolicy", spec, binding).await;
    let deployments = api(&client, "apps", "Deployment", Some("default"));
    assert!(create(&deployments, deployment("few", 5)).await.is_ok());
    let refused = create(&deployments, deployment("many", 6)).await.unwrap_err();
    assert_eq!((refused.code, refused.reason.as_str()), (422, "Invalid"));
    assert_eq!(
        refused.message,
        "deployments.apps \"many\" is forbidden: ValidatingAdmissionPolicy 'policy' with binding 'b' denied request: at most 5 replicas"
    );
}

#[tokio::test]
async fn mutating_policies_apply_configurations_and_patches() {
    let (_cluster, client) = open().await;
    let spec = json!({
        "failurePolicy": "Fail", "reinvocationPolicy": "Never", "matchConstraints": on_deployments(),
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression":
                "Object{spec: Object.spec{replicas: object.spec.replicas + 1}}"}},
            {"patchType": "JSONPatch", "jsonPatch": {"expression":
                "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'by': 'policy'}}]"}},
        ],
    });
    bind(&client, "MutatingAdmissionPolicy", spec, json!({})).await;
    let deployments = api(&client, "apps", "Deployment", Some("default"));
    let made = create(&deployments, deployment("d", 2)).await.unwrap();
    assert_eq!(made.data["spec"]["replicas"], 3);
    assert_eq!(made.metadata.labels.unwrap()["by"], "policy");
}

fn pod(name: &str, resources: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": resources}]},
    })
}

#[tokio::test]
async fn quotas_bound_what_a_namespace_uses() {
    let (_cluster, client) = open().await;
    let quotas = api(&client, "", "ResourceQuota", Some("default"));
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "1", "requests.cpu": "1"}},
    });
    create(&quotas, quota).await.unwrap();
    let pods = api(&client, "", "Pod", Some("default"));
    let silent = create(&pods, pod("a", json!({}))).await.unwrap_err();
    assert!(silent.message.contains("failed quota: q: must specify requests.cpu"), "{}", silent.message);
    create(&pods, pod("a", json!({"requests": {"cpu": "400m"}}))).await.unwrap();
    let second = create(&pods, pod("b", json!({"requests": {"cpu": "400m"}}))).await.unwrap_err();
    assert_eq!(second.code, 403);
    assert_eq!(
        second.message,
        "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"
    );
    let status = quotas.get("q").await.unwrap().data["status"].clone();
    assert_eq!(status["used"], json!({"pods": "1", "requests.cpu": "400m"}));
}

#[tokio::test]
async fn limit_ranges_give_defaults_and_bounds() {
    let (_cluster, client) = open().await;
    let ranges = api(&client, "", "LimitRange", Some("default"));
    let range = json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "200m"}, "max": {"cpu": "500m"}}]},
    });
    create(&ranges, range).await.unwrap();
    let pods = api(&client, "", "Pod", Some("default"));
    let made = create(&pods, pod("a", json!({}))).await.unwrap();
    assert_eq!(made.data["spec"]["containers"][0]["resources"]["limits"]["cpu"], "200m");
    let large = create(&pods, pod("b", json!({"limits": {"cpu": "1"}}))).await.unwrap_err();
    assert_eq!(
        large.message,
        "pods \"b\" is forbidden: maximum cpu usage per Container is 500m, but limit is 1"
    );
}

fn versions_definition(address: SocketAddr, bundle: &str) -> Value {
    let version = |name: &str, field: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": {field: {"type": "string"}}}},
        }}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [version("v1", "host", true), version("v2", "address", false)],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": format!("https://127.0.0.1:{}/", address.port()), "caBundle": bundle},
            }},
        },
    })
}

#[tokio::test]
async fn versions_are_converted_by_a_webhook() {
    let (_cluster, client) = open().await;
    let (address, bundle) = webhook(|request| {
        let mut object = request["objects"][0].clone();
        let wanted = request["desiredAPIVersion"].clone();
        let (from, to) = if wanted == "example.com/v2" { ("host", "address") } else { ("address", "host") };
        let text = object["spec"][from].clone();
        object["spec"] = json!({to: text});
        object["apiVersion"] = wanted;
        json!({"result": {"status": "Success"}, "convertedObjects": [object]})
    })
    .await;
    let definitions = api(&client, "apiextensions.k8s.io", "CustomResourceDefinition", None);
    create(&definitions, versions_definition(address, &bundle)).await.unwrap();
    let things = api(&client, "example.com", "Thing", Some("default"));
    let thing = json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"host": "a"},
    });
    create(&things, thing).await.unwrap();
    let newer = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v2", "Thing"));
    let newer: Api<DynamicObject> = Api::namespaced_with(client, "default", &newer);
    assert_eq!(newer.get("t").await.unwrap().data["spec"], json!({"address": "a"}));
    let patch = json!({"spec": {"address": "b"}});
    newer.patch("t", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    assert_eq!(things.get("t").await.unwrap().data["spec"], json!({"host": "b"}));
}
