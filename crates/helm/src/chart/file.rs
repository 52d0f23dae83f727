//! One file of a chart.

use std::sync::Arc;

/// A file: its path inside the chart, with `/`, and its content without a byte order mark.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChartFile {
    path: Arc<str>,
    content: Arc<[u8]>,
}

impl ChartFile {
    /// A file. A UTF-8 byte order mark at its start is dropped.
    pub fn new(path: impl Into<Arc<str>>, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
        Self { path: path.into(), content: Arc::from(content) }
    }

    /// The path inside the chart.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The content.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// The content, shared.
    pub fn shared_content(&self) -> Arc<[u8]> {
        self.content.clone()
    }

    /// The last step of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The same file under a shorter path.
    pub(crate) fn below(&self, prefix: &str) -> Option<Self> {
        let rest = self.path.strip_prefix(prefix)?;
        Some(Self { path: Arc::from(rest), content: self.content.clone() })
    }
}
