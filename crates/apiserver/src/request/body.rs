//! Request bodies: JSON, YAML or protobuf into values.

use podsmith_object::{Value, yaml};

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
    /// `duplicate field "data"`, for strict validation.
    pub duplicates: Vec<String>,
}

/// Decodes JSON and notes fields that are given twice.
///
/// # Errors
///
/// When the text is no JSON.
pub fn decode_json(bytes: &[u8]) -> Result<Decoded, serde_json::Error> {
    let body = podsmith_schema::decode::read(bytes)?;
    Ok(Decoded { value: body.value, duplicates: body.duplicates })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_bodies_are_refused_not_followed() {
        let deep = "[".repeat(100_000);
        assert!(decode_json(deep.as_bytes()).is_err());
    }
}
