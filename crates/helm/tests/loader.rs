//! Whatever bytes come in, the loader answers: a chart or an error, never a panic.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use podsmith_helm::{Chart, ChartFile, HelmError, IgnoreRules, RenderRequest, render};
use podsmith_object::files::MemoryFiles;
use proptest::prelude::*;

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.0.0\n";

fn packed(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(encoder);
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append_data(&mut header, path, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_as_an_archive(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Chart::load_archive("x", &bytes);
        let mut gzip = vec![0x1f, 0x8b, 0x08];
        gzip.extend(bytes);
        let _ = Chart::load_archive("x", &gzip);
    }

    #[test]
    fn a_damaged_archive(at in 0usize..2000, byte in any::<u8>()) {
        let mut bytes = packed(&[("c/Chart.yaml".into(), CHART.into()), ("c/values.yaml".into(), "a: 1".into())]);
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Chart::load_archive("x", &bytes);
    }

    #[test]
    fn any_metadata(text in "([a-zA-Z]{1,12}: ?[-a-z0-9.\\[\\]{}\"' ]{0,12}\n){0,6}") {
        let files = vec![ChartFile::new("Chart.yaml", format!("{CHART}{text}"))];
        if let Ok(chart) = Chart::from_files(files, "x") {
            let _ = render(&chart, &RenderRequest::default());
        }
    }

    #[test]
    fn any_files(paths in proptest::collection::vec("(templates|charts|crds|charts/a|charts/a/templates)?/?[a-z_.]{1,10}", 0..6), content in "[a-z:\\n {}|.-]{0,40}") {
        let mut files = vec![ChartFile::new("Chart.yaml", CHART)];
        files.extend(paths.iter().map(|path| ChartFile::new(path.as_str(), &content)));
        if let Ok(chart) = Chart::from_files(files, "x") {
            let request = RenderRequest { include_crds: true, ..RenderRequest::default() };
            let _ = render(&chart, &request);
        }
    }

    #[test]
    fn any_ignore_rules(text in "[!/a-c*?\\[\\]^\\\\.# \\n-]{0,30}", path in "[a-c./]{0,10}") {
        if let Ok(rules) = IgnoreRules::parse(&text) {
            let _ = rules.ignores(&path, false);
        }
    }
}

#[test]
fn a_directory_and_its_archive_are_the_same_chart() {
    let files = [
        ("Chart.yaml", CHART),
        ("values.yaml", "a: 1\n"),
        ("templates/a.yaml", "kind: A\nmetadata: {name: '{{ .Values.a }}'}\n"),
        ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 1.0.0\n"),
        ("charts/sub/templates/b.yaml", "kind: B\n"),
    ];
    let mut tree = MemoryFiles::new();
    for (path, text) in files {
        tree.insert(&format!("web/{path}"), text);
    }
    let directory = Chart::load_dir(&tree, "web").unwrap();
    let entries: Vec<_> =
        files.iter().map(|(path, text)| (format!("any/{path}"), text.as_bytes().to_vec())).collect();
    let archive = Chart::load_archive("web.tgz", &packed(&entries)).unwrap();
    let text = |chart| render(chart, &RenderRequest::default()).unwrap().to_text();
    assert_eq!(text(&directory), text(&archive));
    assert!(text(&directory).contains("# Source: web/charts/sub/templates/b.yaml"));
}

#[test]
fn a_subchart_may_be_an_archive_within_an_archive() {
    let inner = packed(&[("sub/Chart.yaml".into(), "apiVersion: v2\nname: sub\nversion: 1.0.0\n".into())]);
    let outer =
        packed(&[("web/Chart.yaml".into(), CHART.into()), ("web/charts/sub-1.0.0.tgz".into(), inner)]);
    assert_eq!(Chart::load_archive("web.tgz", &outer).unwrap().subcharts()[0].name(), "sub");
}

#[test]
fn charts_that_break_the_rules_are_told_with_their_file() {
    let say = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(path, text)| ChartFile::new(*path, text)).collect();
        Chart::from_files(files, "web").unwrap_err().to_diagnostic().to_string()
    };
    insta::assert_snapshot!(say(&[("values.yaml", "a: 1")]), @r"
    error: web is not a chart: there is no Chart.yaml in it
    hint: give the directory that holds Chart.yaml, or a .tgz made from it
    ");
    insta::assert_snapshot!(say(&[("Chart.yaml", "name: [web]\n")]), @"error: web/Chart.yaml: field `name` must be a string, this is a list");
    insta::assert_snapshot!(say(&[("Chart.yaml", CHART), ("values.yaml", "a: 1\n b: 2\n")]), @r"
    error: web/values.yaml:2:3: a `key: value` cannot stand here
       |
     2 |  b: 2
       |   ^
    hint: check the indentation; a text with `: ` in it must be quoted
    ");
    insta::assert_snapshot!(say(&[("Chart.yaml", CHART), ("charts/sub/x", "")]), @r"
    error: web/charts/sub is not a chart: there is no Chart.yaml in it
    hint: give the directory that holds Chart.yaml, or a .tgz made from it
    ");
}

#[test]
fn files_past_the_limit_are_refused() {
    let large = vec![b'#'; 5 * 1024 * 1024 + 1];
    let tree = MemoryFiles::new().with("Chart.yaml", CHART).with("big.txt", large);
    assert!(matches!(Chart::load_dir(&tree, ""), Err(HelmError::TooLarge { .. })));
}
