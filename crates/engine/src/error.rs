//! One typed error for the whole pipeline.

use std::error::Error;
use std::fmt;

use podsmith_object::{Diagnostic, Diagnostics, Object, ObjectId, Origin, Place};

use crate::jq::InExpression;
use crate::{BoxError, Cancelled};

/// Where in the pipeline something failed.
///
/// ```
/// use podsmith_engine::{RenderError, Stage};
/// assert_eq!(RenderError::at_stage(Stage::Filter, "undecided").to_string(), "filter failed");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// Deciding which sources to render.
    Select,
    /// Turning a source into objects.
    Render,
    /// Deciding which objects to keep.
    Filter,
    /// Changing an object.
    Transform,
    /// Working on the whole batch.
    PostRender,
}

/// Why a render failed: the stage, the renderer, the source, the object, the position and the cause.
///
/// The cause is reachable through [`std::error::Error::source`], so `downcast_ref` finds the error that a closure
/// returned. Whoever knows more adds it on the way up with the `with_*` methods; what is known already stays, so an
/// error never names two objects or two renderers.
///
/// ```
/// use podsmith_engine::{RenderError, Stage};
/// use podsmith_object::Diagnostic;
/// let error = RenderError::from(Diagnostic::error("`kind` is missing")).with_renderer("yaml");
/// assert_eq!(error.stage(), Stage::Render);
/// assert_eq!(error.to_string(), "renderer `yaml` failed");
/// assert_eq!(error.to_diagnostics().0[0].message, "`kind` is missing");
/// ```
#[derive(Debug)]
pub struct RenderError(Box<Details>);

#[derive(Debug)]
struct Details {
    stage: Stage,
    renderer: Option<String>,
    source_path: Option<String>,
    object: Option<ObjectId>,
    place: Option<Place>,
    cause: BoxError,
}

impl RenderError {
    /// An error of the render stage with this cause. If the cause is a `RenderError` already, it is returned as is.
    pub fn new(cause: impl Into<BoxError>) -> Self {
        Self::at_stage(Stage::Render, cause)
    }

    /// An error of another stage. If the cause is a `RenderError` already, it is returned as is.
    pub fn at_stage(stage: Stage, cause: impl Into<BoxError>) -> Self {
        match cause.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(cause) => Self(Box::new(Details {
                stage,
                renderer: None,
                source_path: None,
                object: None,
                place: None,
                cause,
            })),
        }
    }

    /// Names the renderer, unless it is known.
    #[must_use]
    pub fn with_renderer(mut self, name: &str) -> Self {
        self.0.renderer.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Names the source as the user wrote it, unless it is known.
    #[must_use]
    pub fn with_source(mut self, path: &str) -> Self {
        self.0.source_path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Names the object, unless one is known. Its origin becomes the position.
    #[must_use]
    pub fn with_object(self, object: &Object) -> Self {
        self.with_object_id(object.id(), object.origin().map(Origin::place))
    }

    /// Names an object by its identity, and where it was written, unless one is known.
    #[must_use]
    pub fn with_object_id(mut self, id: ObjectId, place: Option<Place>) -> Self {
        if self.0.object.is_none() {
            self.0.object = Some(id);
            self.0.place = self.0.place.or(place);
        }
        self
    }

    /// Names the position, unless one is known.
    #[must_use]
    pub fn with_place(mut self, place: Place) -> Self {
        self.0.place.get_or_insert(place);
        self
    }

    /// Where in the pipeline it failed.
    pub fn stage(&self) -> Stage {
        self.0.stage
    }

    /// The renderer in which it failed; `None` for filters, transformers and post-renderers of the engine.
    pub fn renderer(&self) -> Option<&str> {
        self.0.renderer.as_deref()
    }

    /// The source, as the user named it.
    pub fn source_path(&self) -> Option<&str> {
        self.0.source_path.as_deref()
    }

    /// The object, named as it entered the stage.
    pub fn object(&self) -> Option<&ObjectId> {
        self.0.object.as_ref()
    }

    /// The position in a file.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// What went wrong.
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.0.cause.as_ref()
    }

    /// True when the render stopped because it was cancelled or ran past its deadline.
    pub fn is_cancelled(&self) -> bool {
        self.find_cause::<Cancelled>().is_some()
    }

    /// The first error of type `E` among the causes.
    pub fn find_cause<E: Error + 'static>(&self) -> Option<&E> {
        let mut next: Option<&(dyn Error + 'static)> = Some(self.0.cause.as_ref());
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<E>() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }

    /// What to show to a user. Diagnostics among the causes are shown as they are, with their positions and excerpts;
    /// any other cause becomes one diagnostic.
    pub fn to_diagnostics(&self) -> Diagnostics {
        let known = match (self.find_cause::<Diagnostics>(), self.find_cause::<Diagnostic>()) {
            (Some(many), _) => many.clone(),
            (None, Some(one)) => Diagnostics::from(one.clone()),
            (None, None) => {
                let hint = self.find_cause::<InExpression>().and_then(InExpression::hint);
                let one = Diagnostic::error(self.summary())
                    .because_of(self.0.cause.as_ref())
                    .with_hint_if(hint.map(str::to_owned));
                Diagnostics::from(one)
            }
        };
        let fill = |mut one: Diagnostic| {
            one.place = one.place.or_else(|| self.0.place.clone());
            one.object = one.object.or_else(|| self.0.object.clone());
            one
        };
        Diagnostics(known.into_iter().map(fill).collect())
    }

    /// The message without the object, which a diagnostic shows by itself.
    fn summary(&self) -> String {
        let mut text = match (self.0.stage, &self.0.renderer) {
            (Stage::Render, None) => "rendering failed".to_owned(),
            (Stage::Render, Some(name)) => format!("renderer `{name}` failed"),
            (stage, None) => format!("{} failed", stage.noun()),
            (stage, Some(name)) => format!("{} of renderer `{name}` failed", stage.noun()),
        };
        if let Some(path) = &self.0.source_path {
            text.push_str(&format!(" on source `{path}`"));
        }
        text
    }
}

impl Stage {
    fn noun(self) -> &'static str {
        match self {
            Self::Select => "source selector",
            Self::Render => "renderer",
            Self::Filter => "filter",
            Self::Transform => "transformer",
            Self::PostRender => "post-renderer",
        }
    }
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        if let Some(object) = &self.0.object {
            write!(f, " on {object}")?;
        }
        Ok(())
    }
}

impl Error for RenderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.0.cause.as_ref())
    }
}

impl From<Diagnostics> for RenderError {
    fn from(cause: Diagnostics) -> Self {
        Self::new(cause)
    }
}

impl From<Diagnostic> for RenderError {
    fn from(cause: Diagnostic) -> Self {
        Self::new(cause)
    }
}

impl From<Cancelled> for RenderError {
    fn from(cause: Cancelled) -> Self {
        Self::new(cause)
    }
}
