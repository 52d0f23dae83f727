//! The inputs: objects of the size that the published comparisons use, about 290 bytes each.

use std::fmt::Write as _;

/// `count` objects in one stream: Deployments, Services and ConfigMaps in turn.
pub fn manifests(count: usize) -> String {
    let mut text = String::with_capacity(count * 300);
    for index in 0..count {
        if index > 0 {
            text.push_str("---\n");
        }
        let tier = ["front", "back", "data"][index % 3];
        let _ = match index % 3 {
            0 => write!(
                text,
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{index}\n  labels:\n    app: app-{index}\n    tier: {tier}\nspec:\n  replicas: {}\n  selector:\n    matchLabels:\n      app: app-{index}\n  template:\n    metadata:\n      labels:\n        app: app-{index}\n    spec:\n      containers:\n      - name: main\n        image: nginx:1.25\n",
                index % 5 + 1
            ),
            1 => write!(
                text,
                "apiVersion: v1\nkind: Service\nmetadata:\n  name: svc-{index}\n  labels:\n    app: app-{index}\n    tier: {tier}\nspec:\n  type: ClusterIP\n  selector:\n    app: app-{index}\n  ports:\n  - name: http\n    port: 80\n    targetPort: 8080\n    protocol: TCP\n"
            ),
            _ => write!(
                text,
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cfg-{index}\n  labels:\n    app: app-{index}\n    tier: {tier}\ndata:\n  mode: \"0755\"\n  greeting: hello from number {index}\n  url: http://app-{index}.example.org:8080/path?a=b\n"
            ),
        };
    }
    text
}

/// The overlay of the comparison: namespace, prefix, labels, image.
pub const OVERLAY: &str = "resources:\n- ../base\nnamespace: prod\nnamePrefix: p-\nlabels:\n- pairs:\n    team: web\nimages:\n- name: nginx\n  newTag: \"1.29\"\n";

/// Ten conditions and one expression, as our flags and as one jq filter.
pub fn filter_flags() -> Vec<String> {
    let mut flags = Vec::new();
    for selector in [
        "app",
        "tier",
        "tier!=none",
        "tier in (front,back,data)",
        "tier notin (x,y)",
        "!absent",
        "app!=app-1",
        "app!=app-2",
        "app notin (app-4,app-7)",
        "tier=front",
    ] {
        flags.extend(["--filter".to_owned(), format!("label={selector}")]);
    }
    flags.extend(["--filter".to_owned(), "jq=(.spec.replicas // 0) >= 3".to_owned()]);
    flags
}

/// The same filter for gojq.
pub const FILTER_JQ: &str = r#"select(.metadata.labels as $l | ($l | has("app")) and ($l | has("tier")) and $l.tier != "none" and ($l.tier | IN("front","back","data")) and ($l.tier | IN("x","y") | not) and ($l | has("absent") | not) and $l.app != "app-1" and $l.app != "app-2" and ($l.app | IN("app-4","app-7") | not) and $l.tier == "front") | select((.spec.replicas // 0) >= 3)"#;
