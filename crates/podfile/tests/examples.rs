//! The examples that users copy: each one renders without a warning and is formatted.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::path::PathBuf;

use podsmith_object::files::{DiskFiles, MemoryFiles};
use podsmith_podfile::{Options, Podfile, fmt, render};

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/podfiles")
}

fn files() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pf"))
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_example_renders() {
    let files = files();
    assert!(files.len() >= 10);
    for (name, text) in files {
        let file = Podfile { name: name.clone(), directory: String::new(), text };
        let output = render(&[file], &DiskFiles::new(directory()), &Options::default())
            .unwrap_or_else(|e| panic!("{e}"));
        assert!(output.warnings.is_empty(), "{}", output.warnings);
        assert!(output.objects().count() > 0, "{name}");
    }
}

#[test]
fn every_example_is_formatted() {
    for (name, text) in files() {
        assert_eq!(fmt::format(&name, &text).unwrap(), text, "{name}");
    }
    let module = std::fs::read_to_string(directory().join("modules/team/main.pf")).unwrap();
    assert_eq!(fmt::format("main.pf", &module).unwrap(), module);
}

#[test]
fn two_thousand_pods_render() {
    let text: String = (0..2000)
        .map(|n| format!("pod \"p{n}\" {{\n  image = \"nginx:1.{n}\"\n  environment {{\n    A = \"${{{n} + 1}}\"\n    B = upper(\"x{n}\")\n  }}\n  service \"s{n}\" {{\n    port = 80\n  }}\n}}\n"))
        .collect();
    let file = Podfile { name: "many.pf".into(), directory: String::new(), text };
    let start = std::time::Instant::now();
    assert!(hcl_edit::parser::parse_body(&file.text).is_ok());
    println!("parsing alone, {} bytes: {:?}", file.text.len(), start.elapsed());
    let start = std::time::Instant::now();
    let output = render(&[file], &MemoryFiles::new(), &Options::default()).unwrap();
    println!("2000 pods, {} objects: {:?}", output.objects().count(), start.elapsed());
    assert_eq!(output.objects().count(), 6000);
}
