//! Bodies of the wrong shape against answers recorded from a real server.

#![allow(clippy::unwrap_used)]

mod support;

use podsmith_object::Value;
use podsmith_schema::decode;
use support::Server;

const RECORDED: &str = include_str!("data/decode.json");

#[test]
fn wrong_types_are_told_as_the_server_tells_them() {
    let records: Value = serde_json::from_str(RECORDED).unwrap();
    let server = Server::default();
    let mut wrong = Vec::new();
    for record in records["wrong"].as_array().unwrap() {
        let text = |key: &str| record[key].as_str().unwrap();
        let (kind, ..) = server.kind(text("path")).unwrap();
        let body = decode::read(text("body").as_bytes()).unwrap().value;
        let marker = format!("cannot be handled as a {}: ", kind.gvk.kind);
        let wanted = match (record["code"].as_u64(), text("message").split_once(&marker)) {
            (Some(400), Some((_, rest))) => rest,
            (Some(400), None) => continue,
            _ => "",
        };
        let found = decode::check(&kind.ty, &body).err().map(|error| error.to_string()).unwrap_or_default();
        if found != wanted {
            wrong.push(format!("{}\n  found  {found}\n  wanted {wanted}", text("body")));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn strict_errors_come_in_the_order_of_the_server() {
    let records: Value = serde_json::from_str(RECORDED).unwrap();
    let server = Server::default();
    let mut wrong = Vec::new();
    for record in records["strict"].as_array().unwrap() {
        let text = |key: &str| record[key].as_str().unwrap();
        let (kind, ..) = server.kind(text("path")).unwrap();
        let found = decode::read_typed(text("body").as_bytes(), &kind.ty).unwrap().strict_errors.join(", ");
        let wanted = text("message").split_once("strict decoding error: ").unwrap().1;
        if found != wanted {
            wrong.push(format!("{}\n  found  {found}\n  wanted {wanted}", text("body")));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
