//! Every feature of the language as a pair of files: `golden/NAME.pf` and the objects it renders to, `golden/NAME.yaml`.
//! Run with `UPDATE_GOLDEN=1` to write the second from the first, then read the difference.

use std::path::PathBuf;

use podsmith_object::files::MemoryFiles;
use podsmith_object::yaml;
use podsmith_podfile::{Options, Podfile, render};

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn rendered(name: &str, text: &str) -> String {
    let file = Podfile { name: format!("{name}.pf"), directory: String::new(), text: text.to_owned() };
    let output = match render(&[file], &MemoryFiles::new(), &Options::default()) {
        Ok(output) => output,
        Err(problems) => panic!("{name}.pf does not render:\n{problems}"),
    };
    let mut out = String::new();
    for package in &output.packages {
        out.push_str(&format!(
            "# package {} in {}\n",
            package.name,
            package.namespace.as_deref().unwrap_or("(no namespace)")
        ));
    }
    for object in output.objects() {
        out.push_str(&format!("--- # line {}\n", object.origin().map_or(0, |origin| origin.line)));
        out.push_str(&yaml::to_string(&object.to_value()));
    }
    out
}

#[test]
fn every_golden_podfile_renders_to_its_objects() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut names: Vec<String> = std::fs::read_dir(directory())
        .unwrap()
        .filter_map(|entry| {
            entry.unwrap().file_name().into_string().unwrap().strip_suffix(".pf").map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(names.len() >= 7);
    for name in names {
        let text = std::fs::read_to_string(directory().join(format!("{name}.pf"))).unwrap();
        let objects = rendered(&name, &text);
        let path = directory().join(format!("{name}.yaml"));
        if update {
            std::fs::write(&path, &objects).unwrap();
        }
        let wanted = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(objects == wanted, "{name}.pf renders to other objects than {name}.yaml:\n{objects}");
    }
}

#[test]
fn the_same_file_renders_to_the_same_bytes_every_time() {
    let text = std::fs::read_to_string(directory().join("f-language.pf")).unwrap();
    let first = rendered("f-language", &text);
    for _ in 0..200 {
        assert_eq!(rendered("f-language", &text), first);
    }
}

#[test]
fn formatting_changes_no_meaning_and_is_stable() {
    for entry in std::fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pf") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let once = podsmith_podfile::fmt::format("x.pf", &text).unwrap();
        assert_eq!(once, text, "{} is not formatted", path.display());
        let crooked: String = text.lines().map(|line| format!("   {}  \n", line.trim())).collect();
        if !text.contains("<<") {
            assert_eq!(podsmith_podfile::fmt::format("x.pf", &crooked).unwrap(), text, "{}", path.display());
        }
    }
}
