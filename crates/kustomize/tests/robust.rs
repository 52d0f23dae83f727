//! No input makes a build panic, and the same input always gives the same result.

use std::sync::Arc;

use podsmith_kustomize::{BuildOptions, build};
use podsmith_object::files::MemoryFiles;
use podsmith_object::{Value, yaml};
use proptest::prelude::*;

const RESOURCES: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {a: b}}
spec:
  template:
    spec:
      containers:
      - {name: a, image: 'nginx:1', ports: [{containerPort: 80}], env: [{name: A, value: '1'}]}
      volumes: [{name: v, configMap: {name: c}}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '{\"x\": 1}'}}
---
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}, {port: 81, protocol: UDP}]}}
";

fn run(kustomization: &str, patch: &str) -> String {
    let files = MemoryFiles::new()
        .with("kustomization.yaml", kustomization)
        .with("r.yaml", RESOURCES)
        .with("p.yaml", patch);
    match build(Arc::new(files), "", &BuildOptions::default()) {
        Ok(built) => built.objects.iter().map(|object| yaml::to_string(&object.to_value())).collect(),
        Err(problems) => problems.to_string(),
    }
}

/// Values with the keys and words that mean something to the patch engine.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..100).prop_map(Value::from),
        "(a|web|c|delete|replace|merge|80|81|UDP|/x/-1|\\$\\(V\\)|x y)".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        let key = "(\\$patch|name|spec|template|containers|env|ports|port|protocol|containerPort|volumes|metadata|\
                   labels|annotations|kind|apiVersion|data|image|value|finalizers)";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn merge_patches_of_any_shape_neither_panic_nor_vary(spec in values(), metadata in values(), list in values()) {
        let patch = podsmith_object::json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": metadata},
            "spec": {"template": {"spec": {"containers": list, "other": spec}}},
        });
        let text = yaml::to_string(&patch);
        let kustomization = "resources: [r.yaml]\nnamePrefix: p-\npatches: [{path: p.yaml}]\n";
        prop_assert_eq!(run(kustomization, &text), run(kustomization, &text));
    }

    #[test]
    fn merging_the_same_patch_again_changes_nothing(replicas in 0..9, image in "[a-z]{1,5}", label in "[a-z]{1,5}") {
        let patch = format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, labels: {{x: '{label}'}}}}, spec: \
             {{replicas: {replicas}, template: {{spec: {{containers: [{{name: new, image: '{image}'}}, {{name: a, \
             env: [{{name: B, value: '2'}}]}}]}}}}}}}}"
        );
        let once = run("resources: [r.yaml]\npatches: [{path: p.yaml}]\n", &patch);
        let twice = run("resources: [r.yaml]\npatches: [{path: p.yaml}, {path: p.yaml}]\n", &patch);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn json_patches_of_any_shape_do_not_panic(
        op in "(add|remove|replace|move|copy|test|x)",
        path in "(/spec|/metadata/name|/spec/template/spec/containers/(0|-|-1|9)|/kind|/|x|)(/[a-z]{0,3})?",
        from in "(/spec|/metadata|/nothing|)",
        value in values(),
    ) {
        let patch = podsmith_object::json!([{"op": op, "path": path, "from": from, "value": value}]);
        run("resources: [r.yaml]\npatches: [{path: p.yaml, target: {kind: Deployment}}]\n", &patch.to_string());
    }

    #[test]
    fn replacements_with_any_path_do_not_panic(
        source in "(metadata.name|data.a|spec|spec.[0-9]|[a-z.*\\[\\]=]{0,12})",
        target in "(metadata.name|spec.template.spec.containers.(0|9|\\*|\\[name=a\\]).image|data.a.x|[a-z.*\\[\\]=0-9]{0,16})",
        create in any::<bool>(),
        index in -3i64..4,
    ) {
        let kustomization = podsmith_object::json!({
            "resources": ["r.yaml"],
            "replacements": [{
                "source": {"kind": "ConfigMap", "name": "c", "fieldPath": source},
                "targets": [{
                    "select": {"name": ".*"}, "fieldPaths": [target],
                    "options": {"create": create, "delimiter": ":", "index": index},
                }],
            }],
        });
        run(&yaml::to_string(&kustomization), "");
    }

    #[test]
    fn kustomizations_of_any_text_do_not_panic(text in "\\PC{0,200}") {
        run(&text, "");
    }

    #[test]
    fn kustomizations_of_any_fields_do_not_panic(
        fields in prop::collection::vec((
            "(resources|bases|components|namespace|namePrefix|nameSuffix|labels|commonLabels|commonAnnotations|patches|\
             patchesStrategicMerge|patchesJson6902|images|replicas|replacements|vars|sortOptions|configurations|crds|\
             openapi|buildMetadata|transformers|generators|validators|configMapGenerator|secretGenerator|\
             generatorOptions|helmCharts|helmGlobals|metadata|kind|apiVersion)",
            prop_oneof![
                values(),
                Just(Value::from("r.yaml")),
                Just(podsmith_object::json!(["r.yaml"])),
                Just(podsmith_object::json!(["p.yaml"])),
                Just(podsmith_object::json!([{"name": "web", "count": 2}])),
                Just(podsmith_object::json!([{"pairs": {"a": "b"}, "includeSelectors": true}])),
            ],
        ), 0..6),
        patch in values(),
    ) {
        let kustomization = Value::Object(fields.into_iter().collect());
        let text = yaml::to_string(&kustomization);
        let patch = yaml::to_string(&patch);
        prop_assert_eq!(run(&text, &patch), run(&text, &patch));
    }
}
