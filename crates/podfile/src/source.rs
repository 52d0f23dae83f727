//! The text of a Podfile and positions in it.

use std::ops::Range;
use std::sync::Arc;

use hcl_edit::structure::Body;
use podsmith_object::{Diagnostic, Origin, Place};

/// One Podfile: its name for messages, its text, where its lines start.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub name: Arc<str>,
    pub text: String,
    /// Directory of the file inside the file tree, for `file()` and module sources.
    pub directory: String,
    line_starts: Vec<usize>,
}

impl SourceFile {
    pub fn new(name: &str, directory: &str, text: String) -> Self {
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(index, _)| index + 1)).collect();
        Self { name: Arc::from(name), text, directory: directory.to_owned(), line_starts }
    }

    /// The line (from 1) that holds the byte at `offset`.
    pub fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).max(1)
    }

    pub fn place(&self, offset: usize) -> Place {
        let line = self.line(offset);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(1, |before| before.chars().count() + 1);
        Place::new(self.name.clone(), line, column)
    }

    /// An error that points at `span`.
    pub fn error(&self, span: Option<Range<usize>>, message: impl Into<String>) -> Diagnostic {
        let diagnostic = Diagnostic::error(message);
        match span {
            Some(span) => diagnostic.at(self.place(span.start)).with_excerpt_of(&self.text),
            None => diagnostic.at(Place::file(self.name.clone())),
        }
    }

    pub fn origin(&self, span: Option<Range<usize>>, document: usize) -> Origin {
        Origin { file: self.name.clone(), document, line: span.map_or(1, |span| self.line(span.start)) }
    }

    /// Reads the text as HCL.
    pub fn parse(&self) -> Result<Body, Box<Diagnostic>> {
        hcl_edit::parser::parse_body(&self.text).map_err(|error| {
            let place = error.location();
            let message = format!("this is no valid HCL: {}", error.message());
            let problem = Diagnostic::error(message)
                .at(Place::new(self.name.clone(), place.line(), place.column()))
                .with_excerpt_of(&self.text)
                .with_hint_if(syntax_hint(&self.text, place.line()));
            Box::new(problem)
        })
    }
}

/// What people most often mean when HCL does not parse.
fn syntax_hint(text: &str, line: usize) -> Option<String> {
    let found = text.lines().nth(line.checked_sub(1)?)?.trim();
    if found.matches('"').count() % 2 == 1 {
        return Some(
            "a quoted string ends on the line it starts on; use a heredoc (<<EOT) for more lines".into(),
        );
    }
    if let Some((key, _)) = found.split_once(':')
        && !key.contains(['"', '=', '?', ' '])
    {
        return Some(format!("write `{key} = …`: Podfiles use `=`, not `:`"));
    }
    if found.starts_with("'") || found.contains("= '") {
        return Some("strings are written in double quotes".into());
    }
    None
}
