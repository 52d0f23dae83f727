//! The age tool reads what we write, and the other way round.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::Write;
use std::process::{Command, Stdio};

use podsmith_pods::secrets::age::{Identity, decrypt, encrypt};

fn age(args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child =
        Command::new("age").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "age {args:?}");
    output.stdout
}

#[test]
fn files_pass_between_the_tool_and_us() {
    if Command::new("age").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: files_pass_between_the_tool_and_us: age is missing");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let key = Identity::generate().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, key.to_secret_text()).unwrap();
    let recipient = key.recipient().to_string();
    let other = Identity::generate().unwrap().recipient().to_string();
    for length in [0, 1, 65_536, 100_000] {
        let plain: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let ours = encrypt(&plain, &[key.recipient()]).unwrap();
        assert_eq!(age(&["-d", "-i", file.to_str().unwrap()], &ours), plain, "ours, {length}");
        let theirs = age(&["-r", &other, "-r", &recipient], &plain);
        assert_eq!(decrypt(&theirs, std::slice::from_ref(&key)).unwrap(), plain, "theirs, {length}");
        let armoured = age(&["-a", "-r", &recipient], &plain);
        assert_eq!(decrypt(&armoured, std::slice::from_ref(&key)).unwrap(), plain, "armoured, {length}");
    }
}
