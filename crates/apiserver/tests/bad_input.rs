//! Whatever is sent, an answer comes back: nothing panics, nothing hangs.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use podsmith_apiserver::auth::Identity;
use podsmith_apiserver::{ApiService, Cluster, ClusterOptions};
use proptest::prelude::*;
use tower::ServiceExt as _;

const SEGMENTS: [&str; 24] = [
    "api",
    "apis",
    "v1",
    "apps",
    "namespaces",
    "default",
    "pods",
    "configmaps",
    "deployments",
    "services",
    "status",
    "scale",
    "watch",
    "x",
    "",
    "%2e%2e",
    "customresourcedefinitions",
    "apiextensions.k8s.io",
    "secrets",
    "openapi",
    "v3",
    "eviction",
    "binding",
    "%00",
];
const TYPES: [&str; 7] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];
const BODIES: [&str; 14] = [
    "",
    "{}",
    "[]",
    "null",
    "{\"metadata\":{\"name\":\"a\"}}",
    "{\"metadata\":[],\"spec\":1}",
    "{\"metadata\":{\"name\":\"a\",\"labels\":1,\"finalizers\":\"x\",\"ownerReferences\":{}},\"data\":[]}",
    "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"template\":null}}",
    "[{\"op\":\"add\",\"path\":\"/a/b/-9999999999999999999\",\"value\":1}]",
    "[{\"op\":\"move\",\"path\":\"/metadata\",\"from\":\"\"}]",
    "{\"$patch\":\"delete\",\"$setElementOrder/x\":[1],\"$retainKeys\":7}",
    "a: &a [*a, *a]\n",
    "k8s\u{0}\n\u{5}garbage",
    "{\"metadata\":{\"name\":\"a\",\"managedFields\":[{\"fieldsV1\":{\"k:{\":{}}}]}}",
];
const QUERIES: [&str; 12] = [
    "",
    "watch=true&timeoutSeconds=1&resourceVersion=99999999999999999999",
    "limit=-1&continue=e30",
    "labelSelector=a%20in%20(",
    "fieldSelector=%5C",
    "dryRun=All&fieldManager=m",
    "fieldValidation=Strict&force=true",
    "resourceVersion=18446744073709551615&resourceVersionMatch=Exact",
    "propagationPolicy=Orphan&gracePeriodSeconds=-9223372036854775808",
    "continue=%ff%fe&limit=1",
    "sendInitialEvents=true&watch=1&resourceVersionMatch=NotOlderThan&timeoutSeconds=1&resourceVersion=zz",
    "fieldManager=m&force=false",
];

async fn ask(service: ApiService, method: &str, url: &str, content_type: &str, body: Vec<u8>) -> u16 {
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header("content-type", content_type)
        .body(Full::new(Bytes::from(body)));
    let Ok(request) = request else { return 0 };
    let response = service.oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    // Watches end with their timeout; one frame is enough to see that they answer.
    let mut body = response.into_body();
    let _ = tokio::time::timeout(std::time::Duration::from_millis(50), body.frame()).await;
    code
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_gets_an_answer(
        requests in prop::collection::vec(
            (
                prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE"]),
                prop::collection::vec(prop::sample::select(&SEGMENTS[..]), 1..8),
                prop::sample::select(&QUERIES[..]),
                prop::sample::select(&TYPES[..]),
                prop_oneof![
                    4 => prop::sample::select(&BODIES[..]).prop_map(|text| text.as_bytes().to_vec()),
                    1 => prop::collection::vec(any::<u8>(), 0..64),
                ],
            ),
            1..4,
        )
    ) {
        thread_local! {
            static SERVER: (tokio::runtime::Runtime, Cluster) = {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let cluster = runtime.block_on(Cluster::open(ClusterOptions::memory())).unwrap();
                (runtime, cluster)
            };
        }
        SERVER.with(|(runtime, cluster)| {
            let service = cluster.service(Identity::admin());
            for (method, segments, query, content_type, body) in requests {
                let url = format!("/{}?{query}", segments.join("/"));
                let code = runtime.block_on(ask(service.clone(), method, &url, content_type, body));
                assert!(code == 0 || (200..600).contains(&code), "{method} {url}: {code}");
            }
        });
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let cluster = Cluster::open(ClusterOptions::memory()).await.unwrap();
    let service = cluster.service(Identity::admin());
    let body = vec![b' '; 4 * 1024 * 1024];
    assert_eq!(ask(service, "POST", "/api/v1/namespaces", "application/json", body).await, 413);
}
