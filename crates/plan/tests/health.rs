//! Readiness rules, one table for each kind: what the cluster says, what we say.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use podsmith_object::{Object, Value, json};
use podsmith_plan::health::{self, State};

fn health(kind: &str, api: &str, spec: Value, status: Value, pods: &[Value]) -> (State, String) {
    let object = Object::from_value(json!({"apiVersion": api, "kind": kind, "metadata": {"name": "x", "generation": 2}, "spec": spec, "status": status})).unwrap();
    let pods: Vec<Object> = pods.iter().map(|pod| Object::from_value(pod.clone()).unwrap()).collect();
    let health = health::of(&object, &pods);
    (health.state, health.message.unwrap_or_default())
}

fn pod(waiting: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": "x-0"}, "status": {"phase": "Pending", "containerStatuses": [{"name": "c", "image": "nope:1", "restartCount": 4, "state": {"waiting": {"reason": waiting, "message": "no such image"}}, "lastState": {"terminated": {"exitCode": 2}}}]}})
}

#[test]
fn deployments_are_ready_when_every_pod_is_new_and_available() {
    let check =
        |status: Value, pods: &[Value]| health("Deployment", "apps/v1", json!({"replicas": 2}), status, pods);
    assert_eq!(check(json!({}), &[]).1, "the deployment controller has not seen the change yet");
    assert_eq!(
        check(json!({"observedGeneration": 1}), &[]).1,
        "the deployment controller has not seen the change yet"
    );
    let behind =
        json!({"observedGeneration": 2, "updatedReplicas": 2, "replicas": 2, "availableReplicas": 1});
    assert_eq!(check(behind.clone(), &[]), (State::Progressing, "1 of 2 pods are available".into()));
    assert_eq!(
        check(behind.clone(), &[pod("ImagePullBackOff")]),
        (State::Failed, "1 of 2 pods are available: x-0 cannot pull the image nope:1 of container c (ImagePullBackOff): no such image".into())
    );
    assert_eq!(
        check(behind, &[pod("CrashLoopBackOff")]),
        (
            State::Failed,
            "1 of 2 pods are available: container c of x-0 crashes again and again (4 restarts, exit code 2)"
                .into()
        )
    );
    let old = json!({"observedGeneration": 2, "updatedReplicas": 2, "replicas": 3, "availableReplicas": 3});
    assert_eq!(check(old, &[]), (State::Progressing, "1 old pods are still stopping".into()));
    let stuck = json!({"observedGeneration": 2, "conditions": [{"type": "Progressing", "status": "False", "message": "deadline exceeded"}]});
    assert_eq!(check(stuck, &[]), (State::Failed, "the rollout does not get on: deadline exceeded".into()));
    let done = json!({"observedGeneration": 2, "updatedReplicas": 2, "replicas": 2, "availableReplicas": 2});
    assert_eq!(check(done, &[]).0, State::Ready);
}

#[test]
fn other_kinds_have_rules_of_their_own() {
    for (api, kind, spec, status, state, message) in [
        (
            "apps/v1",
            "StatefulSet",
            json!({}),
            json!({"observedGeneration": 2, "readyReplicas": 1, "currentRevision": "a", "updateRevision": "a"}),
            State::Ready,
            "",
        ),
        (
            "apps/v1",
            "StatefulSet",
            json!({"replicas": 2}),
            json!({"observedGeneration": 2, "readyReplicas": 2, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "b"}),
            State::Progressing,
            "1 of 2 pods are up to date",
        ),
        (
            "apps/v1",
            "DaemonSet",
            json!({}),
            json!({"observedGeneration": 2, "desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 2}),
            State::Progressing,
            "2 of 3 pods are available",
        ),
        (
            "batch/v1",
            "Job",
            json!({}),
            json!({"conditions": [{"type": "Complete", "status": "True"}]}),
            State::Ready,
            "",
        ),
        (
            "batch/v1",
            "Job",
            json!({}),
            json!({"conditions": [{"type": "Failed", "status": "True", "message": "too often"}]}),
            State::Failed,
            "the job failed: too often",
        ),
        (
            "batch/v1",
            "Job",
            json!({"completions": 3}),
            json!({"succeeded": 1}),
            State::Progressing,
            "1 of 3 runs have ended",
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            json!({"storageClassName": "fast"}),
            json!({"phase": "Pending"}),
            State::Progressing,
            "no volume of class fast is bound yet; some classes wait for the first pod",
        ),
        ("v1", "PersistentVolumeClaim", json!({}), json!({"phase": "Bound"}), State::Ready, ""),
        (
            "v1",
            "Service",
            json!({"type": "LoadBalancer"}),
            json!({}),
            State::Progressing,
            "no load balancer has given it an address yet",
        ),
        ("v1", "Service", json!({"type": "ClusterIP"}), json!({}), State::Ready, ""),
        ("v1", "ConfigMap", json!(null), json!(null), State::Ready, ""),
        (
            "v1",
            "Namespace",
            json!({}),
            json!({"phase": "Terminating"}),
            State::Progressing,
            "the namespace is being deleted",
        ),
        (
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            json!({}),
            json!({}),
            State::Progressing,
            "the server does not serve it yet",
        ),
        (
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            json!({}),
            json!({"conditions": [{"type": "Established", "status": "True"}]}),
            State::Ready,
            "",
        ),
        (
            "example.org/v1",
            "Thing",
            json!({}),
            json!({"conditions": [{"type": "Ready", "status": "False", "reason": "Building", "message": "step 2"}]}),
            State::Progressing,
            "Building: step 2",
        ),
        (
            "example.org/v1",
            "Thing",
            json!({}),
            json!({"observedGeneration": 1}),
            State::Progressing,
            "its controller has not seen the change yet",
        ),
        ("example.org/v1", "Thing", json!({}), json!({}), State::Ready, ""),
    ] {
        let found = health(kind, api, spec, status.clone(), &[]);
        assert_eq!(found, (state, message.to_owned()), "{kind} {status}");
    }
}
