//! The shape of the workspace, checked against `cargo metadata`.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::Command;

use serde_json::Value;

/// Lowest first. A crate may depend only on crates that stand before it.
const ORDER: [&str; 19] = [
    "podsmith-object",
    "podsmith-schema",
    "podsmith-engine",
    "podsmith-gotemplate",
    "podsmith-kustomize",
    "podsmith-helm",
    "podsmith-podfile",
    "podsmith-plan",
    "podsmith-apiserver",
    "podsmith-apply",
    "podsmith-podman",
    "podsmith-pods",
    "podsmith-host",
    "podsmith-namespaces",
    "podsmith-packages",
    "podsmith",
    "podsmith-testing",
    "podsmith-schema-gen",
    "podsmith-bench",
];

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, since it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn rank(name: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == name)
}

#[test]
fn dependencies_point_downwards_only() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let own = rank(name).unwrap_or_else(|| {
            panic!("{name} has no place in the order: add it to ARCHITECTURE.md and here")
        });
        for dependency in package["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            let tests_only = dependency["kind"] == "dev";
            if let Some(other) = rank(on) {
                assert!(other < own || tests_only, "{name} depends upwards on {on}");
            }
        }
    }
}

#[test]
fn every_crate_has_the_shared_lints_and_licence() {
    for package in packages() {
        assert_eq!(package["license"], "MIT OR Apache-2.0", "{}", package["name"]);
        let manifest = std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{} does not use the shared lints",
            package["name"]
        );
    }
}

#[test]
fn the_architecture_page_names_every_crate() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ARCHITECTURE.md")).unwrap();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let short = name.strip_prefix("podsmith-").unwrap_or(name);
        assert!(
            page.contains(&format!("`{short}`")) || page.contains(&format!("`{name}`")),
            "{name} is missing"
        );
    }
}
