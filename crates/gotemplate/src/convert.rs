//! Between template values and JSON values.

use std::sync::Arc;

use base64::Engine as _;
use podsmith_object::{Map as JsonMap, Number, Value as Json};

use crate::value::{List, Map, MapKind, Value, with_stack};

/// JSON values are dropped on the stack, so they must not nest without bound.
const DEEPEST: usize = 2000;

impl Value {
    /// A value as Helm sees it after reading YAML or JSON: every number is a `float64`.
    pub fn from_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::Nil,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Self::String(text.as_str().into()),
            Json::Array(items) => Self::List(List::new(items.iter().map(Self::from_json).collect())),
            Json::Object(entries) => Self::Map(map_of(MapKind::Any, entries)),
        }
    }

    /// [`Value::from_json`] with a root of the type `chartutil.Values`.
    pub fn values_from_json(entries: &JsonMap<String, Json>) -> Self {
        Self::Map(map_of(MapKind::Values, entries))
    }

    /// The value as `encoding/json` would print it: floats without a fraction become integers, natives use their
    /// own form, bytes become base64.
    pub fn to_json(&self) -> Json {
        self.to_json_within(DEEPEST)
    }

    /// A value nested deeper than `depth`, or inside itself, becomes null.
    fn to_json_within(&self, depth: usize) -> Json {
        let Some(depth) = depth.checked_sub(1) else { return Json::Null };
        match self {
            Self::Absent | Self::Nil => Json::Null,
            Self::Bool(flag) => Json::Bool(*flag),
            Self::Int(number, _) => Json::from(*number),
            Self::Float(number) => float_to_json(*number),
            Self::String(text) => Json::String(text.to_string()),
            Self::RawString(bytes) => Json::String(String::from_utf8_lossy(bytes).into_owned()),
            Self::Bytes(bytes) => Json::String(base64::engine::general_purpose::STANDARD.encode(bytes)),
            Self::List(list) if list.is_nil() => Json::Null,
            Self::List(list) => with_stack(|| {
                Json::Array(list.items().iter().map(|item| item.to_json_within(depth)).collect())
            }),
            Self::Map(map) => {
                let Some(_visit) = map.enter() else { return Json::Null };
                let entries = map.entries();
                let entry = |(key, value): (Arc<str>, Self)| (key.to_string(), value.to_json_within(depth));
                with_stack(|| Json::Object(entries.into_iter().map(entry).collect()))
            }
            Self::Native(native) => native.to_json(),
        }
    }
}

fn map_of(kind: MapKind, entries: &JsonMap<String, Json>) -> Map {
    let entries = entries.iter().map(|(key, value)| (Arc::from(key.as_str()), Value::from_json(value)));
    Map::from_entries(kind, entries.collect())
}

fn float_to_json(number: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        return Json::from(number as i64);
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        Self::from_json(json)
    }
}
