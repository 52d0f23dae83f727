//! What a step of the pipeline may know besides its object.

use std::sync::{Mutex, PoisonError};

use podsmith_object::Diagnostic;

use crate::{Cancel, Cancelled, Scopes};

/// Warnings collected during one render.
///
/// ```
/// use podsmith_engine::Warnings;
/// use podsmith_object::Diagnostic;
/// let warnings = Warnings::new();
/// warnings.push(Diagnostic::warning("this field is deprecated"));
/// assert_eq!(warnings.take().len(), 1);
/// assert!(warnings.take().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Warnings(Mutex<Vec<Diagnostic>>);

impl Warnings {
    /// No warnings yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&self, warning: Diagnostic) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    /// Takes everything collected so far, in the order it was added.
    pub fn take(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What filters, transformers and post-renderers get besides their objects: the cancel switch, a place for warnings,
/// and the scopes of the kinds in the batch. Closures do not see it; implement the trait to use it.
///
/// ```
/// use podsmith_engine::{Cancel, Context, Scopes, Warnings};
/// let (cancel, warnings, scopes) = (Cancel::new(), Warnings::new(), Scopes::new());
/// let context = Context::new(&cancel, &warnings, &scopes);
/// assert!(context.check().is_ok());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    cancel: &'a Cancel,
    warnings: &'a Warnings,
    scopes: &'a Scopes,
}

impl<'a> Context<'a> {
    /// A context from its parts.
    pub fn new(cancel: &'a Cancel, warnings: &'a Warnings, scopes: &'a Scopes) -> Self {
        Self { cancel, warnings, scopes }
    }

    /// The cancel switch of this render.
    pub fn cancel(&self) -> &'a Cancel {
        self.cancel
    }

    /// `Ok` while the work may go on.
    ///
    /// # Errors
    ///
    /// When the render was cancelled or its deadline passed.
    pub fn check(&self) -> Result<(), Cancelled> {
        self.cancel.check()
    }

    /// Reports something that does not stop the render.
    pub fn warn(&self, warning: Diagnostic) {
        self.warnings.push(warning);
    }

    /// Which kinds live in a namespace, the custom kinds of this batch included.
    pub fn scopes(&self) -> &'a Scopes {
        self.scopes
    }

    pub(crate) fn with_warnings<'b>(self, warnings: &'b Warnings) -> Context<'b>
    where
        'a: 'b,
    {
        Context { cancel: self.cancel, warnings, scopes: self.scopes }
    }

    /// The same context with other scopes.
    #[must_use]
    pub fn with_scopes(self, scopes: &'a Scopes) -> Self {
        Self { scopes, ..self }
    }
}
