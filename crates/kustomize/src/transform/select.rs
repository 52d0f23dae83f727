//! Which resources a selector means.

use podsmith_object::selector::Selector as Labels;
use podsmith_object::{Diagnostic, Diagnostics};
use regex::Regex;

use crate::kustomization::Selector;
use crate::resources::{Resource, ResourceMap, text_of};

/// A selector with its expressions compiled once.
#[derive(Debug)]
pub(crate) struct Matcher {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
    namespace: Option<Regex>,
    labels: Option<Labels>,
    annotations: Option<Labels>,
    /// The name when it holds no expression, to look it up instead of searching for it.
    literal_name: Option<String>,
}

impl Matcher {
    pub(crate) fn new(selector: &Selector) -> Result<Self, Diagnostics> {
        Ok(Self {
            group: anchored(&selector.gvk.group)?,
            version: anchored(&selector.gvk.version)?,
            kind: anchored(&selector.gvk.kind)?,
            name: anchored(&selector.name)?,
            namespace: anchored(&selector.namespace)?,
            labels: labels(&selector.label_selector)?,
            annotations: labels(&selector.annotation_selector)?,
            literal_name: (!selector.name.is_empty() && is_literal(&selector.name))
                .then(|| selector.name.clone()),
        })
    }

    pub(crate) fn matches_gvk(&self, group: &str, version: &str, kind: &str) -> bool {
        [(&self.group, group), (&self.version, version), (&self.kind, kind)]
            .iter()
            .all(|(expression, text)| expression.as_ref().is_none_or(|e| e.is_match(text)))
    }

    pub(crate) fn matches_name(&self, name: &str) -> bool {
        self.name.as_ref().is_none_or(|expression| expression.is_match(name))
    }

    pub(crate) fn matches_namespace(&self, namespace: &str) -> bool {
        self.namespace.as_ref().is_none_or(|expression| expression.is_match(namespace))
    }

    pub(crate) fn matches_labels(&self, resource: &Resource) -> bool {
        matches_texts(self.labels.as_ref(), resource, "labels")
            && matches_texts(self.annotations.as_ref(), resource, "annotations")
    }

    /// True if labels or annotations are asked for.
    pub(crate) fn asks_for_labels(&self) -> bool {
        self.labels.is_some() || self.annotations.is_some()
    }

    fn matches(&self, resource: &Resource) -> bool {
        let (api_version, kind) = (resource.api_version(), resource.kind());
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        self.matches_gvk(group, version, &kind)
            && (self.matches_namespace(&resource.original_namespace())
                || self.matches_namespace(&resource.effective_namespace()))
            && (self.matches_name(&resource.original_name()) || self.matches_name(&resource.name()))
            && self.matches_labels(resource)
    }

    /// Where resources stand that may be selected: all of them unless a name tells.
    pub(crate) fn candidates(&self, resources: &mut ResourceMap) -> Vec<usize> {
        match &self.literal_name {
            Some(name) => resources.find_by_name(name),
            None => (0..resources.len()).collect(),
        }
    }

    /// Where the selected resources stand, in order.
    pub(crate) fn select(&self, resources: &mut ResourceMap) -> Vec<usize> {
        let candidates = self.candidates(resources);
        candidates
            .into_iter()
            .filter(|index| resources.get(*index).is_some_and(|r| self.matches(r)))
            .collect()
    }
}

fn is_literal(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn anchored(pattern: &str) -> Result<Option<Regex>, Diagnostics> {
    if pattern.is_empty() {
        return Ok(None);
    }
    Regex::new(&format!("^(?:{pattern})$")).map(Some).map_err(|error| {
        Diagnostic::error(format!("`{pattern}` is not a regular expression"))
            .because(error.to_string().lines().last().unwrap_or_default().trim().to_owned())
            .into()
    })
}

fn labels(text: &str) -> Result<Option<Labels>, Diagnostics> {
    if text.is_empty() {
        return Ok(None);
    }
    Labels::parse(text).map(Some).map_err(|error| Diagnostic::error(error.to_string()).into())
}

fn matches_texts(selector: Option<&Labels>, resource: &Resource, field: &str) -> bool {
    let Some(selector) = selector else { return true };
    let map = resource.body.get("metadata").and_then(|metadata| metadata.get(field));
    // Numbers and booleans in labels count as their text.
    let texts: Vec<(&str, String)> = map
        .and_then(|map| map.as_object())
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), text_of(value).into_owned()))
        .collect();
    selector.matches(|wanted| texts.iter().find(|(key, _)| *key == wanted).map(|(_, text)| text.as_str()))
}
