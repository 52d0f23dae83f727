//! `podsmith ns` as a user types it, on the embedded cluster.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use support::Place;

const ROOT: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {innu.cybozu.com/type: root}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: team, annotations: {innu.cybozu.com/propagate: update}}\ndata: {a: '1'}\n";

#[test]
fn a_tree_grows_moves_and_shows_what_would_flow_down() {
    let place = Place::new().file("root.yaml", ROOT);
    place.out(&["apply", "root.yaml", "--yes"]);
    insta::assert_snapshot!(place.out(&["ns", "create", "dev", "team", "--plan"]), @r"
    create SubNamespace team/dev

    propagation would then
      + Namespace dev under team
      + ConfigMap dev/shared update from team
    ");
    place.out(&["ns", "create", "dev", "team"]);
    place.out(&["ns", "create", "deep", "dev"]);
    insta::assert_snapshot!(place.out(&["ns", "tree"]), @r"
    team
    └── dev
        └── deep
    ");
    insta::assert_snapshot!(place.out(&["ns", "describe", "deep"]), @r"
    Name:        deep
    Type:        sub
    Parent:      dev
    Dependants:  0

    KIND       NAME    FROM  MODE    STATE
    ConfigMap  shared  dev   update  in sync
    ");
    place.out(&["ns", "move", "deep", "team"]);
    insta::assert_snapshot!(place.out(&["ns", "tree", "team"]), @r"
    team
    ├── deep
    └── dev
    ");
    let refused = place.run(&["ns", "create", "x", "nope"]);
    assert_eq!((refused.code, refused.stderr.as_str()), (1, "error: namespace `nope` does not exist\n"));
}

#[test]
fn the_operator_prints_what_a_cluster_needs() {
    let place = Place::new();
    let manifests = place.out(&["operator", "manifests"]);
    assert!(manifests.contains("name: subnamespaces.innu.cybozu.com"), "{manifests}");
    assert_eq!(place.run(&["operator", "run"]).code, 64);
}
