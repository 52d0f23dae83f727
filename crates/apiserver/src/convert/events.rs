//! Events: the core form and the newer one.

use podsmith_object::{Value, json};

use crate::fields;

/// Names that differ: core, newer.
const RENAMED: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// From the core form.
pub fn to_events(object: &mut Value) {
    rename(object, |(core, newer)| (core, newer));
    for key in ["reportingController", "reportingInstance"] {
        if fields::text(object, &[key]).is_empty() {
            fields::remove(object, &[key]);
        }
    }
    if let Some(source) = object.get("deprecatedSource")
        && source.as_object().is_some_and(serde_json::Map::is_empty)
    {
        fields::remove(object, &["deprecatedSource"]);
    }
}

/// To the core form.
pub fn to_core(object: &mut Value) {
    rename(object, |(core, newer)| (newer, core));
    if fields::at(object, &["source"]).is_none() {
        fields::set(object, &["source"], json!({}));
    }
}

fn rename(object: &mut Value, names: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str)) {
    let Some(body) = object.as_object_mut() else { return };
    for pair in RENAMED {
        let (from, to) = names(pair);
        if let Some(value) = body.shift_remove(from) {
            body.insert(to.to_owned(), value);
        }
    }
}
