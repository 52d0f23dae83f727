//! JSON, YAML, base64, URL and CSV.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::{Map, Value, yaml};

use super::{Function, function, text_of};

pub(super) const FUNCTIONS: &[Function] = &[
    function("jsonencode", 1, Some(1), "jsonencode(value)", |_, a| {
        Ok(podsmith_object::json::canonical(a.first().unwrap_or(&Value::Null)).into())
    }),
    function("jsondecode", 1, Some(1), "jsondecode(text)", |_, a| {
        serde_json::from_str(&text_of(a, 0)?).map_err(|error| format!("this is no valid JSON: {error}"))
    }),
    function("yamlencode", 1, Some(1), "yamlencode(value)", |_, a| {
        let style = yaml::Style { sort_keys: true };
        Ok(yaml::to_string_with(a.first().unwrap_or(&Value::Null), style).into())
    }),
    function("yamldecode", 1, Some(1), "yamldecode(text)", |_, a| {
        yaml::read_value(&text_of(a, 0)?, yaml::ReadOptions::default())
            .map_err(|error| format!("this is no valid YAML: {error}"))
    }),
    function("base64encode", 1, Some(1), "base64encode(text)", |_, a| {
        Ok(STANDARD.encode(text_of(a, 0)?).into())
    }),
    function("base64decode", 1, Some(1), "base64decode(text)", |_, a| {
        let bytes =
            STANDARD.decode(text_of(a, 0)?.trim()).map_err(|error| format!("this is no base64: {error}"))?;
        String::from_utf8(bytes).map(Value::from).map_err(|_| "the content is no text".into())
    }),
    function("urlencode", 1, Some(1), "urlencode(text)", |_, a| {
        let mut out = String::new();
        for byte in text_of(a, 0)?.bytes() {
            match byte {
                b' ' => out.push('+'),
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    out.push(char::from(byte))
                }
                other => {
                    let _ = write!(out, "%{other:02X}");
                }
            }
        }
        Ok(out.into())
    }),
    function("csvdecode", 1, Some(1), "csvdecode(text)", |_, a| csv(&text_of(a, 0)?)),
];

/// A table with a header line as a list of objects.
fn csv(text: &str) -> Result<Value, String> {
    let mut rows = csv_rows(text)?.into_iter();
    let Some(header) = rows.next() else { return Ok(Value::Array(Vec::new())) };
    rows.enumerate()
        .map(|(index, row)| {
            if row.len() != header.len() {
                return Err(format!(
                    "row {} has {} fields, the header has {}",
                    index + 2,
                    row.len(),
                    header.len()
                ));
            }
            let map: Map<String, Value> =
                header.iter().cloned().zip(row.into_iter().map(Value::from)).collect();
            Ok(Value::Object(map))
        })
        .collect()
}

fn csv_rows(text: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                let full = std::mem::take(&mut row);
                if full.len() > 1 || full.first().is_some_and(|only| !only.is_empty()) {
                    rows.push(full);
                }
            }
            other => field.push(other),
        }
    }
    if quoted {
        return Err("a quoted field does not end".into());
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    Ok(rows)
}
