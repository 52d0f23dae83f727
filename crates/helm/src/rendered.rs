//! What a render gives.

use std::sync::Arc;

use podsmith_object::Object;

/// One document of output.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The template (or CRD file) it comes from: `chart/templates/service.yaml`.
    pub template: Arc<str>,
    /// Its kind; empty when it has none.
    pub kind: String,
    /// Its text, exactly as the template wrote it, without white space around it.
    pub text: String,
    /// The object; `None` when the document holds only comments.
    pub object: Option<Object>,
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HookEvent {
    /// Before the first installation.
    PreInstall,
    /// After the first installation.
    PostInstall,
    /// Before removal.
    PreDelete,
    /// After removal.
    PostDelete,
    /// Before an upgrade.
    PreUpgrade,
    /// After an upgrade.
    PostUpgrade,
    /// Before going back.
    PreRollback,
    /// After going back.
    PostRollback,
    /// When tests are asked for.
    Test,
}

impl HookEvent {
    /// Parses one name; case and white space around it do not matter.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text.trim().to_lowercase().as_str() {
            "pre-install" => Self::PreInstall,
            "post-install" => Self::PostInstall,
            "pre-delete" => Self::PreDelete,
            "post-delete" => Self::PostDelete,
            "pre-upgrade" => Self::PreUpgrade,
            "post-upgrade" => Self::PostUpgrade,
            "pre-rollback" => Self::PreRollback,
            "post-rollback" => Self::PostRollback,
            "test" | "test-success" => Self::Test,
            _ => return None,
        })
    }
}

/// An object that runs at certain events instead of being part of the release.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Its name.
    pub name: String,
    /// When it runs.
    pub events: Vec<HookEvent>,
    /// Its place among the hooks of one event: lower runs first, equal ones by name.
    pub weight: i64,
    /// When it is deleted: `before-hook-creation`, `hook-succeeded`, `hook-failed`.
    pub delete_policies: Vec<String>,
    /// When its logs are shown.
    pub output_log_policies: Vec<String>,
    /// The manifest.
    pub manifest: Manifest,
}

/// Everything a chart rendered to.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// Custom resource definitions from `crds/`, not templated.
    pub crds: Vec<Manifest>,
    /// The release's objects in install order.
    pub manifests: Vec<Manifest>,
    /// Hooks in install order of their kinds.
    pub hooks: Vec<Hook>,
    /// The text of `NOTES.txt`.
    pub notes: Option<String>,
    /// What is odd but not wrong.
    pub warnings: Vec<String>,
}

impl Rendered {
    /// All documents in the order in which `helm template` prints them: CRDs, objects, hooks.
    pub fn documents(&self) -> impl Iterator<Item = &Manifest> {
        let hooks = self.hooks.iter().map(|hook| &hook.manifest);
        self.crds.iter().chain(&self.manifests).chain(hooks)
    }

    /// All objects in print order. Documents that are only comments have none.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.documents().filter_map(|manifest| manifest.object.as_ref())
    }

    /// All objects in print order, without copying.
    pub fn into_objects(self) -> Vec<Object> {
        let hooks = self.hooks.into_iter().map(|hook| hook.manifest);
        self.crds.into_iter().chain(self.manifests).chain(hooks).filter_map(|m| m.object).collect()
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.crds.len() + self.manifests.len() + self.hooks.len()
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text that `helm template` prints: every document after a separator and a line that names its template.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for manifest in self.documents() {
            out.push_str("---\n# Source: ");
            out.push_str(&manifest.template);
            out.push('\n');
            out.push_str(&manifest.text);
            out.push('\n');
        }
        out
    }
}
