//! By kind, with or without group and version: `Deployment`, `apps/Deployment`, `apps/v1/Deployment`.

use std::sync::Arc;

use podsmith_object::Object;
use thiserror::Error;

use crate::Filter;

/// A text that names no kind.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("`{text}` names no kind; write KIND, VERSION/KIND, GROUP/KIND or GROUP/VERSION/KIND")]
pub struct InvalidKind {
    /// The text.
    pub text: String,
}

/// A kind as a user writes it. What is left out matches everything.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KindPattern {
    group: Option<String>,
    version: Option<String>,
    kind: String,
}

impl KindPattern {
    /// Reads `Deployment`, `v1/Pod`, `apps/Deployment` or `apps/v1/Deployment`.
    ///
    /// ```
    /// use podsmith_engine::filter::kind::KindPattern;
    /// use podsmith_object::{Object, json};
    /// let object = Object::from_value(json!({"apiVersion": "apps/v1", "kind": "Deployment"}))?;
    /// for text in ["Deployment", "apps/Deployment", "apps/v1/Deployment"] {
    ///     assert!(KindPattern::parse(text)?.matches(&object), "{text}");
    /// }
    /// assert!(!KindPattern::parse("v1/Deployment")?.matches(&object));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a part is empty or there are more than three.
    pub fn parse(text: &str) -> Result<Self, InvalidKind> {
        let invalid = || InvalidKind { text: text.to_owned() };
        let parts: Vec<&str> = text.trim().split('/').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(invalid());
        }
        let owned = |part: &str| Some(part.to_owned());
        let (group, version, kind) = match parts.as_slice() {
            [kind] => (None, None, *kind),
            // `v1/Pod` names the core group; no real API group looks like a version.
            [version, kind] if is_version(version) => (owned(""), owned(version), *kind),
            [group, kind] => (owned(group), None, *kind),
            [group, version, kind] => (owned(group), owned(version), *kind),
            _ => return Err(invalid()),
        };
        Ok(Self { group, version, kind: kind.to_owned() })
    }

    /// True if the object is of this kind.
    pub fn matches(&self, object: &Object) -> bool {
        if object.kind() != self.kind {
            return false;
        }
        let (group, version) = object.api_version().split_once('/').unwrap_or(("", object.api_version()));
        self.group.as_ref().is_none_or(|wanted| wanted == group)
            && self.version.as_ref().is_none_or(|wanted| wanted == version)
    }
}

/// `v1`, `v2beta1`.
fn is_version(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('v') else { return false };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let stage = rest.get(digits..).unwrap_or("");
    let number = stage.strip_prefix("alpha").or_else(|| stage.strip_prefix("beta"));
    let stage_is_fine = match number {
        Some(number) => !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()),
        None => stage.is_empty(),
    };
    digits > 0 && stage_is_fine
}

/// Keeps objects of these kinds. An empty list keeps nothing.
///
/// ```
/// use podsmith_engine::filter::kind;
/// let filter = kind::one_of(["Deployment", "apps/v1/StatefulSet"])?;
/// # let _ = filter;
/// # Ok::<(), kind::InvalidKind>(())
/// ```
///
/// # Errors
///
/// When a text names no kind.
pub fn one_of<S: AsRef<str>>(kinds: impl IntoIterator<Item = S>) -> Result<Arc<dyn Filter>, InvalidKind> {
    let patterns: Vec<KindPattern> =
        kinds.into_iter().map(|text| KindPattern::parse(text.as_ref())).collect::<Result<_, _>>()?;
    Ok(Arc::new(move |object: &Object| patterns.iter().any(|pattern| pattern.matches(object))))
}
