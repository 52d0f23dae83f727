//! Every template of the public charts must parse.

use std::path::{Path, PathBuf};

use podsmith_gotemplate::{Functions, TemplateSet};

fn templates(folder: &Path, inside: bool, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            let named = path.file_name().is_some_and(|name| name == "templates");
            templates(&path, inside || named, out);
        } else if inside {
            out.push(path);
        }
    }
}

#[test]
fn every_public_chart_template_parses() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/charts");
    let mut files = Vec::new();
    templates(&root, false, &mut files);
    if files.is_empty() {
        println!("skipped: every_public_chart_template_parses: no charts in {}", root.display());
        return;
    }
    let mut parsed = 0;
    let mut failed = Vec::new();
    for file in &files {
        // Binary files in a templates folder are not ours to read.
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let mut set = TemplateSet::new(Functions::helm());
        match set.parse(&file.display().to_string(), &text) {
            Ok(()) => parsed += 1,
            Err(error) => failed.push(error.to_string()),
        }
    }
    println!("{parsed} templates parsed");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
