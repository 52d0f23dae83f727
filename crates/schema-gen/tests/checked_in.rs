//! The checked-in table is what the modules say.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::Command;

/// The module cache, if the biggest of the modules is in it; nothing is downloaded for a test.
fn modules_are_there() -> bool {
    let cache = std::env::var_os("GOMODCACHE").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("GOPATH").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join("go")));
        Some(home?.join("pkg/mod"))
    });
    let names = [
        "kubernetes@v1.36.3",
        "api@v0.36.3",
        "apimachinery@v0.36.3",
        "apiextensions-apiserver@v0.36.3",
        "kube-aggregator@v0.36.3",
    ];
    let go = Command::new("go").arg("version").output().is_ok();
    go && cache.is_some_and(|cache| names.iter().all(|name| cache.join("k8s.io").join(name).is_dir()))
}

#[test]
fn the_table_is_up_to_date() {
    if !modules_are_there() {
        eprintln!("skipped: the_table_is_up_to_date: the Go modules are not in the module cache");
        return;
    }
    let table = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../schema/table");
    let output =
        Command::new(env!("CARGO_BIN_EXE_podsmith-schema-gen")).arg("--check").arg(table).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_wrong_call_is_told_how_to_call() {
    let output = Command::new(env!("CARGO_BIN_EXE_podsmith-schema-gen")).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage:"));
}
