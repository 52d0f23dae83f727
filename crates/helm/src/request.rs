//! What to render.

use podsmith_gotemplate::Lookup;
use podsmith_object::{Map, Value};

use crate::capabilities::Capabilities;
use crate::error::HelmError;

/// The release that templates see as `.Release`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Release {
    /// Its name.
    pub name: String,
    /// The namespace it goes to.
    pub namespace: String,
    /// Its revision.
    pub revision: i64,
    /// Whether it is an upgrade.
    pub is_upgrade: bool,
}

impl Release {
    /// A first installation.
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: namespace.into(), revision: 1, is_upgrade: false }
    }

    /// Checks the name: 53 characters at most, DNS labels joined by dots.
    ///
    /// # Errors
    ///
    /// Names the rule that is broken.
    pub fn validate(&self) -> Result<(), HelmError> {
        let refuse = |problem| Err(HelmError::ReleaseName { name: self.name.clone(), problem });
        if self.name.is_empty() {
            return refuse("is empty");
        }
        if self.name.len() > 53 {
            return refuse("is longer than 53 characters");
        }
        let is_label = |label: &str| {
            let bytes = label.as_bytes();
            let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
            bytes.first().is_some_and(alphanumeric)
                && bytes.last().is_some_and(alphanumeric)
                && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
        };
        if !self.name.split('.').all(is_label) {
            return refuse(
                "may only have lower-case letters, digits, `-` and `.`, and must start and end with a letter or digit",
            );
        }
        Ok(())
    }
}

/// What happens with hooks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Hooks {
    /// All of them, after everything else.
    #[default]
    Include,
    /// All but tests.
    WithoutTests,
    /// None.
    Leave,
}

/// Whether a value that is not there is an error.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Strictness {
    /// It is empty.
    #[default]
    Lenient,
    /// It is an error.
    Strict,
}

/// Everything that a render depends on besides the chart.
#[derive(Clone, Default)]
pub struct RenderRequest<'a> {
    /// The release; without one the chart's name and the namespace `default`.
    pub release: Option<Release>,
    /// The user's values, over the chart's.
    pub values: Map<String, Value>,
    /// What the cluster can do.
    pub capabilities: Capabilities,
    /// Answers `lookup`; without it every lookup is empty.
    pub lookup: Option<&'a dyn Lookup>,
    /// Whether custom resource definitions from `crds/` come first.
    pub include_crds: bool,
    /// Hooks.
    pub hooks: Hooks,
    /// Only the output of these templates: paths inside the chart, with `*`, `?` and `[…]`. Hooks and custom resource
    /// definitions among it are listed as manifests, in the order of these patterns.
    pub show_only: Vec<String>,
    /// Whether NOTES.txt of subcharts are part of the notes.
    pub subchart_notes: bool,
    /// Missing values.
    pub strictness: Strictness,
    /// Whether schemas are not checked.
    pub skip_schema: bool,
    /// Whether a dependency that is not in `charts/` is not an error.
    pub allow_missing_dependencies: bool,
    /// Makes random values, keys and certificates reproducible.
    pub seed: Option<u64>,
    /// Asked before each template; false stops the render.
    pub go_on: Option<&'a dyn Fn() -> bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_names_follow_the_rules_of_helm() {
        for (name, valid) in [
            ("web", true),
            ("web-1.x", true),
            ("", false),
            ("Web", false),
            ("-web", false),
            ("web-", false),
            ("a..b", false),
            (&"a".repeat(53), true),
            (&"a".repeat(54), false),
        ] {
            assert_eq!(Release::new(name, "x").validate().is_ok(), valid, "{name}");
        }
    }
}
