//! Protobuf against the round-trip files of the Kubernetes API module.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::PathBuf;

use podsmith_object::Value;
use podsmith_object::json::canonical;
use podsmith_schema::{protobuf, table};

/// The folder with the files, in the Go module cache of this machine.
fn folder() -> Option<PathBuf> {
    let cache = std::env::var_os("GOMODCACHE").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("GOPATH").map(PathBuf::from);
        let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join("go")));
        Some(home?.join("pkg/mod"))
    })?;
    let folder = cache.join("k8s.io/api@v0.36.3/testdata/HEAD");
    folder.is_dir().then_some(folder)
}

#[test]
fn every_file_of_the_module_says_what_its_json_says() {
    let Some(folder) = folder() else {
        eprintln!("skipped: every_file_of_the_module_says_what_its_json_says: no module cache");
        return;
    };
    let (mut count, mut wrong) = (0, Vec::new());
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "pb")) {
        let json: Value =
            serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap();
        count += 1;
        let bytes = std::fs::read(path).unwrap();
        let envelope = protobuf::open(&bytes).unwrap();
        // A watch event does not say what it is.
        let read = if envelope.kind.is_empty() {
            protobuf::decode_as(&table().named("meta/v1", "WatchEvent").unwrap(), &envelope)
        } else {
            protobuf::decode(&bytes)
        };
        match read {
            Ok(found) if canonical(&found) == canonical(&json) => {}
            Ok(found) => {
                let (found, wanted) = (canonical(&found), canonical(&json));
                let at =
                    found.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(60);
                let part = |text: &str| text.get(at..).unwrap_or("").chars().take(200).collect::<String>();
                wrong.push(format!(
                    "{}\n  found  {}\n  wanted {}",
                    path.file_name().unwrap().display(),
                    part(&found),
                    part(&wanted)
                ));
            }
            Err(error) => wrong.push(format!("{}: {error}", path.file_name().unwrap().display())),
        }
    }
    assert!(count > 150, "{count}");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_captured_namespace_is_read() {
    let bytes = "6b3873000a0f0a0276311209\
                 4e616d657370616365121b0a130a03747230120\
                 01a0022002a003200380042001\
                 2001a020a001a002200";
    let bytes: Vec<u8> =
        (0..bytes.len()).step_by(2).map(|at| u8::from_str_radix(&bytes[at..at + 2], 16).unwrap()).collect();
    let object = protobuf::decode(&bytes).unwrap();
    insta::assert_snapshot!(object.to_string(), @r#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"tr0"},"spec":{},"status":{}}"#);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let mut framed = protobuf::MAGIC.to_vec();
        framed.extend([0x0a, 0x09, 0x0a, 0x02, b'v', b'1', 0x12, 0x03, b'P', b'o', b'd', 0x12]);
        framed.push(u8::try_from(bytes.len()).unwrap_or(0) & 0x7f);
        framed.extend(bytes);
        let _ = protobuf::decode(&framed);
    }
}
