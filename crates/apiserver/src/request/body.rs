//! Request bodies: JSON, YAML or protobuf into values.

use std::fmt;

use podsmith_object::{Map, Number, Value, yaml};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::status::{ApiError, ApiResult};

/// Bodies beyond this are refused.
pub const LARGEST_BODY: usize = 3 * 1024 * 1024;

/// How a body is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BodyFormat {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// The protobuf of the Go libraries.
    Protobuf,
}

impl BodyFormat {
    /// Reads a `Content-Type`; none at all means JSON.
    ///
    /// # Errors
    ///
    /// 415 for anything unknown.
    pub fn from_content_type(content_type: Option<&str>) -> ApiResult<Self> {
        let media = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
        match media {
            "" | "application/json" | "*/*" => Ok(Self::Json),
            "application/yaml" => Ok(Self::Yaml),
            "application/vnd.kubernetes.protobuf" => Ok(Self::Protobuf),
            _ => Err(ApiError::new(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
            )),
        }
    }
}

/// A decoded body.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The value; of two fields with one name the last counts.
    pub value: Value,
    /// Paths of fields that were given twice.
    pub duplicates: Vec<String>,
}

/// Decodes JSON and notes fields that are given twice.
///
/// # Errors
///
/// When the text is no JSON.
pub fn decode_json(bytes: &[u8]) -> Result<Decoded, serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let seed = Seed { path: &Path::Root, duplicates: &mut duplicates };
    let value = seed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Decoded { value, duplicates })
}

/// Decodes YAML, of which JSON is a part.
///
/// # Errors
///
/// When the text is no YAML.
pub fn decode_yaml(bytes: &[u8]) -> Result<Decoded, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let value = yaml::read_value(text, yaml::ReadOptions::lenient()).map_err(|error| error.to_string())?;
    Ok(Decoded { value, duplicates: Vec::new() })
}

/// Where in the body we are; only written out when something is reported.
enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

struct Seed<'p, 'd> {
    path: &'p Path<'p>,
    duplicates: &'d mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = Path::Index(self.path, list.len());
            let seed = Seed { path: &path, duplicates: &mut *self.duplicates };
            match items.next_element_seed(seed)? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let path = Path::Key(self.path, &key);
            if map.contains_key(&key) {
                self.duplicates.push(path.to_string());
            }
            let seed = Seed { path: &path, duplicates: &mut *self.duplicates };
            let value = entries.next_value_seed(seed)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use podsmith_object::json;

    use super::*;

    #[test]
    fn duplicate_fields_are_noted_with_their_path() {
        let text = br#"{"a":1,"l":[{"x":1,"x":2}],"a":{"b":1,"b":2}}"#;
        let decoded = decode_json(text).unwrap();
        assert_eq!(decoded.value, json!({"a": {"b": 2}, "l": [{"x": 2}]}));
        assert_eq!(decoded.duplicates, ["l[0].x", "a", "a.b"]);
        assert!(decode_json(b"{\"a\":").is_err());
        assert!(decode_json(b"{} {}").is_err());
    }

    #[test]
    fn deep_bodies_are_refused_not_followed() {
        let deep = "[".repeat(100_000);
        assert!(decode_json(deep.as_bytes()).is_err());
    }
}
