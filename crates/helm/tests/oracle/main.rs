//! Our output against the real `helm template`, document by document, on every chart within reach.
//!
//! Each case that differs is named. Output of the real program is kept below the target directory, keyed by the content
//! of chart and values, so that only the first run is slow.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test says why it skips and stops at what it does not expect"
)]

mod cases;
mod compare;
mod grown;
mod helm;

use compare::{Tally, run};

#[test]
fn public_charts_render_as_helm_renders_them() {
    let Some(helm) = helm::Helm::find("public_charts_render_as_helm_renders_them") else { return };
    let Some(cases) = cases::public_charts() else {
        eprintln!("skipped: public_charts_render_as_helm_renders_them: ../shared/data/charts is absent");
        return;
    };
    run(&helm, &cases, "public charts").assert_at_least(100);
}

#[test]
fn charts_of_the_helm_project_render_as_helm_renders_them() {
    let name = "charts_of_the_helm_project_render_as_helm_renders_them";
    let Some(helm) = helm::Helm::find(name) else { return };
    let Some(cases) = cases::helm_testdata() else {
        eprintln!("skipped: {name}: the Go module cache has no helm.sh/helm/v3@v3.21.4");
        return;
    };
    run(&helm, &cases, "charts of the helm project").assert_at_least(100);
}

#[test]
fn starter_charts_render_as_helm_renders_them() {
    let Some(helm) = helm::Helm::find("starter_charts_render_as_helm_renders_them") else { return };
    let directory = tempfile::tempdir().unwrap();
    let cases = cases::starter_charts(&helm, directory.path());
    run(&helm, &cases, "starter charts").assert_at_least(100);
}

#[test]
fn charts_written_for_every_rule_render_as_helm_renders_them() {
    let name = "charts_written_for_every_rule_render_as_helm_renders_them";
    let Some(helm) = helm::Helm::find(name) else { return };
    run(&helm, &cases::own_charts(), "charts written for the rules").assert_at_least(100);
}

#[test]
fn charts_grown_at_random_render_as_helm_renders_them() {
    let Some(helm) = helm::Helm::find("charts_grown_at_random_render_as_helm_renders_them") else { return };
    let directory = tempfile::tempdir().unwrap();
    grown::charts(directory.path());
    let cases: Vec<_> = cases::charts_below(directory.path())
        .into_iter()
        .filter(|case| case.chart.parent() == Some(directory.path()))
        .collect();
    run(&helm, &cases, "charts grown at random").assert_at_least(100);
}

/// `PODSMITH_CHARTS=dir` compares every chart below a directory and only reports.
#[test]
fn charts_in_a_directory_of_your_own() {
    let Some(directory) = std::env::var_os("PODSMITH_CHARTS") else { return };
    let Some(helm) = helm::Helm::find("charts_in_a_directory_of_your_own") else { return };
    let _: Tally = run(&helm, &cases::charts_below(directory.as_ref()), "your charts");
}
