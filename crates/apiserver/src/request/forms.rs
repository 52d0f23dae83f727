//! Which form of the answer a client takes.

use crate::status::{ApiError, ApiResult};

/// The encoding of an answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Encoding {
    /// JSON.
    #[default]
    Json,
    /// JSON for people, with line breaks.
    PrettyJson,
    /// YAML.
    Yaml,
}

/// The shape of an answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Form {
    /// The object as it is.
    #[default]
    Object,
    /// Rows of cells, for `kubectl get`.
    Table,
    /// Only the metadata.
    Metadata,
    /// Everything there is, in one document; the version of that document.
    Discovery(&'static str),
}

impl Encoding {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json | Self::PrettyJson => "application/json",
            Self::Yaml => "application/yaml",
        }
    }
}

/// Picks the first form of an `Accept` header that we can serve.
///
/// # Errors
///
/// 406 when there is none.
pub fn negotiate(accept: Option<&str>) -> ApiResult<(Encoding, Form)> {
    let Some(accept) = accept.filter(|text| !text.trim().is_empty()) else { return Ok(Default::default()) };
    accept.split(',').find_map(one_form).ok_or_else(|| {
        ApiError::new(
            406,
            "NotAcceptable",
            "only the following media types are accepted: application/json, application/yaml, application/json;stream=watch",
        )
    })
}

fn one_form(media: &str) -> Option<(Encoding, Form)> {
    let mut parts = media.split(';').map(str::trim);
    let encoding = match parts.next()? {
        "application/json" | "*/*" | "application/*" | "text/plain" => Encoding::Json,
        "application/yaml" => Encoding::Yaml,
        _ => return None,
    };
    let (mut shape, mut group, mut version) = ("", "", "");
    for part in parts {
        match part.split_once('=') {
            Some(("as", value)) => shape = value,
            Some(("g", value)) => group = value,
            Some(("v", value)) => version = value,
            _ => {}
        }
    }
    let form = match (shape, group, version) {
        ("", ..) => Form::Object,
        ("Table", "meta.k8s.io", "v1" | "v1beta1") => Form::Table,
        ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1" | "v1beta1") => {
            Form::Metadata
        }
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => Form::Discovery("v2"),
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1") => Form::Discovery("v2beta1"),
        _ => return None,
    };
    Some((encoding, form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_we_know_wins() {
        for (accept, expected) in [
            (None, (Encoding::Json, Form::Object)),
            (Some("*/*"), (Encoding::Json, Form::Object)),
            (Some("application/vnd.kubernetes.protobuf,application/json"), (Encoding::Json, Form::Object)),
            (Some("application/yaml"), (Encoding::Yaml, Form::Object)),
            (
                Some("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
                (Encoding::Json, Form::Table),
            ),
            (
                Some("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
                (Encoding::Json, Form::Metadata),
            ),
            (
                Some(
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList, application/json",
                ),
                (Encoding::Json, Form::Discovery("v2")),
            ),
            (Some("application/json;as=Nope;g=x;v=v1,application/json"), (Encoding::Json, Form::Object)),
        ] {
            assert_eq!(negotiate(accept).unwrap(), expected, "{accept:?}");
        }
        assert_eq!(negotiate(Some("text/html")).unwrap_err().code, 406);
    }
}
