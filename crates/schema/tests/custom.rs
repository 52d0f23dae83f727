//! Custom resources against answers recorded from a real server: pruning, defaults, validation.

#![allow(clippy::unwrap_used)]

use podsmith_object::Value;
use podsmith_object::json::canonical;
use podsmith_schema::crd::CustomType;
use podsmith_schema::{decode, validate};

fn cut(found: &str, wanted: &str) -> String {
    let same = found.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(40);
    let part = |text: &str| text.get(same..).unwrap_or("").chars().take(300).collect::<String>();
    format!("  found  {}\n  wanted {}", part(found), part(wanted))
}

#[test]
fn recorded_custom_resources_come_out_the_same() {
    let data: Value = serde_json::from_str(include_str!("data/custom.json")).unwrap();
    let custom = CustomType::new(Some(&data["schema"]));
    let mut wrong = Vec::new();
    for record in data["records"].as_array().unwrap() {
        let mut object = record["body"].clone();
        if let Err(error) =
            decode::check(custom.ty().field("metadata").map(|field| &field.ty).unwrap(), &object["metadata"])
        {
            assert_eq!(record["code"], 400, "{error}");
            continue;
        }
        let unknown = custom.prune(&mut object);
        if record["strict"] == true {
            let errors: Vec<String> =
                unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
            let wanted = record["message"]
                .as_str()
                .unwrap()
                .split_once("strict decoding error: ")
                .unwrap()
                .1
                .to_owned();
            if errors.join(", ") != wanted {
                wrong.push(format!("{}\n{}", record["body"], cut(&errors.join(", "), &wanted)));
            }
            continue;
        }
        custom.drop_nulls(&mut object);
        custom.default_fields(&mut object);
        let mut faults = validate::custom_create(&object, false);
        faults.extend(custom.validate(&object));
        let mut found: Vec<String> =
            faults.iter().map(|fault| format!("{} {fault}", fault.reason.cause())).collect();
        let mut wanted: Vec<String> = record["causes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|cause| {
                let text = |key: &str| cause[key].as_str().unwrap();
                format!("{} {}: {}", text("reason"), text("field"), text("message"))
            })
            .collect();
        found.sort();
        wanted.sort();
        if found != wanted {
            wrong.push(format!("{}\n{}", record["body"], cut(&found.join("\n"), &wanted.join("\n"))));
        } else if record["code"] == 201 && canonical(&object) != canonical(&record["object"]) {
            wrong.push(format!(
                "{}\n{}",
                record["body"],
                cut(&canonical(&object), &canonical(&record["object"]))
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
