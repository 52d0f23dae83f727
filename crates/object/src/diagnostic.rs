//! One shape for everything that can be told to a user: what failed, where, why, and what to do next.

use std::error::Error;
use std::fmt;

use crate::{ObjectId, Place, Value};

/// How bad it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Severity {
    /// The command cannot go on.
    Error,
    /// Worth knowing; the command goes on.
    Warning,
}

/// The source line that a diagnostic talks about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Excerpt {
    /// The text of the line, without its line break.
    pub text: String,
    /// The line's number, from 1.
    pub line: usize,
    /// The column to point at, from 1.
    pub column: usize,
}

impl Excerpt {
    /// Cuts line `line` (from 1) out of `text` and points at `column`.
    pub fn cut(text: &str, line: usize, column: usize) -> Option<Self> {
        const LONGEST: usize = 200;
        let found = text.lines().nth(line.checked_sub(1)?)?;
        let mut shown = found.trim_end().replace('\t', " ");
        if shown.chars().count() > LONGEST {
            shown = shown.chars().take(LONGEST).collect::<String>() + "…";
        }
        Some(Self { text: shown, line, column })
    }
}

/// One thing to tell the user.
///
/// The message says what we were doing and what is wrong, in lower case and without a full stop. Build it with the
/// `with_*` methods:
///
/// ```
/// use podsmith_object::{Diagnostic, Place};
/// let d = Diagnostic::error("unknown key `filtres`").at(Place::new("podsmith.yaml", 3, 1)).with_hint("did you mean `filters`?");
/// assert_eq!(d.to_string(), "error: podsmith.yaml:3:1: unknown key `filtres`\nhint: did you mean `filters`?");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where in which file.
    pub place: Option<Place>,
    /// Which object.
    pub object: Option<ObjectId>,
    /// The source line.
    pub excerpt: Option<Excerpt>,
    /// Why, outermost first.
    pub causes: Vec<String>,
    /// What to do next.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            place: None,
            object: None,
            excerpt: None,
            causes: Vec::new(),
            hint: None,
        }
    }

    /// A warning.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets the position unless one is known already.
    #[must_use]
    pub fn or_at(mut self, place: Option<Place>) -> Self {
        self.place = self.place.or(place);
        self
    }

    /// Names the object.
    #[must_use]
    pub fn on(mut self, object: ObjectId) -> Self {
        self.object = Some(object);
        self
    }

    /// Shows the line of `text` that the position names.
    #[must_use]
    pub fn with_excerpt_of(mut self, text: &str) -> Self {
        if let Some(place) = &self.place {
            self.excerpt = Excerpt::cut(text, place.line, place.column);
        }
        self
    }

    /// Adds a reason below the message.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Adds `error` and its sources as reasons, each once.
    #[must_use]
    pub fn because_of(mut self, error: &(dyn Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            if self.causes.last() != Some(&text) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what to do next, if there is something to say.
    #[must_use]
    pub fn with_hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// The machine-readable form, as under `errors` of `podsmith plan -o json`.
    pub fn to_json(&self) -> Value {
        let mut out = crate::Map::new();
        out.insert("object".into(), self.object.as_ref().map_or_else(|| crate::json!({}), ObjectId::to_json));
        if let Some(place) = &self.place {
            let mut source = crate::Map::new();
            source.insert("file".into(), Value::from(place.file.as_ref()));
            if place.line > 0 {
                source.insert("line".into(), Value::from(place.line));
            }
            if place.column > 0 {
                source.insert("column".into(), Value::from(place.column));
            }
            out.insert("source".into(), Value::Object(source));
        }
        let mut message = self.message.clone();
        for cause in &self.causes {
            message.push_str(": ");
            message.push_str(cause);
        }
        out.insert("message".into(), Value::from(message));
        if let Some(hint) = &self.hint {
            out.insert("hint".into(), Value::from(hint.as_str()));
        }
        Value::Object(out)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
        })?;
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if let Some(object) = &self.object {
            write!(f, "{object}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(excerpt) = &self.excerpt {
            let number = excerpt.line.to_string();
            let gutter = " ".repeat(number.len());
            write!(f, "\n {gutter} |\n {number} | {}", excerpt.text)?;
            if excerpt.column > 0 {
                let width = excerpt.column.saturating_sub(1).min(excerpt.text.chars().count());
                write!(f, "\n {gutter} | {}^", " ".repeat(width))?;
            }
        }
        for cause in &self.causes {
            write!(f, "\n  because: {cause}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl Error for Diagnostic {}

/// All that is wrong with one input, found in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Nothing wrong yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// True when nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True when at least one error (not only warnings) was added.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// `Ok(value)` when there is no error, else everything that was found.
    ///
    /// # Errors
    ///
    /// The collected diagnostics, if one of them is an error.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.has_errors() { Err(self) } else { Ok(value) }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        self.0.extend(more);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for Diagnostics {}
