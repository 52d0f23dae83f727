//! A stream that can be read once, such as standard input.

use std::io::BufRead;
use std::sync::{Mutex, PoisonError};

use podsmith_object::stream::ObjectStream;
use podsmith_object::yaml::{ReadOptions, decode_text};
use podsmith_object::{Diagnostic, Diagnostics, Object, Place};

use crate::{Emit, RenderCall, RenderError, Source};

/// Objects from a stream of YAML or JSON, read while it arrives: one document is in memory at a time. It can be rendered
/// once. A stream in UTF-16 is read whole.
///
/// ```
/// use podsmith_engine::{Engine, ReaderSource, Sources};
/// let input = "{apiVersion: v1, kind: Namespace, metadata: {name: a}}".as_bytes();
/// let engine = Engine::builder().renderer(Sources::new("stdin", [ReaderSource::new("<stdin>", input)])).build()?;
/// assert_eq!(engine.render(Default::default())?.objects.len(), 1);
/// assert!(engine.render(Default::default()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReaderSource {
    name: String,
    input: Mutex<Option<Box<dyn BufRead + Send>>>,
    options: ReadOptions,
}

impl ReaderSource {
    /// Reads from `input`; `name` is used in messages.
    pub fn new(name: impl Into<String>, input: impl BufRead + Send + 'static) -> Self {
        Self { name: name.into(), input: Mutex::new(Some(Box::new(input))), options: ReadOptions::default() }
    }

    /// Reads with other options.
    #[must_use]
    pub fn with_read_options(mut self, options: ReadOptions) -> Self {
        self.options = options;
        self
    }
}

impl Source for ReaderSource {
    fn kind(&self) -> &str {
        "stream"
    }

    fn path(&self) -> String {
        self.name.clone()
    }

    fn render(&self, call: &RenderCall<'_>) -> Result<Vec<Object>, RenderError> {
        let mut objects = Vec::new();
        self.render_each(call, &mut |object| {
            objects.push(object);
            Ok(())
        })?;
        Ok(objects)
    }

    fn render_each(&self, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
        let input = self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(input) = input else {
            let problem = Diagnostic::error("the stream was read before and cannot be read again");
            return Err(problem.at(Place::file(self.name.as_str())).into());
        };
        self.read(input, call, emit).map_err(|error| error.with_place(Place::file(self.name.as_str())))
    }
}

impl ReaderSource {
    fn read(
        &self,
        mut input: Box<dyn BufRead + Send>,
        call: &RenderCall<'_>,
        emit: &mut Emit<'_>,
    ) -> Result<(), RenderError> {
        if is_utf8(input.fill_buf().map_err(RenderError::new)?) {
            return self.read_utf8(input, call, emit);
        }
        // UTF-16 is decoded as a whole: as bytes it cannot be cut into lines.
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(RenderError::new)?;
        let text = decode_text(&bytes).map_err(RenderError::new)?;
        self.read_utf8(text.as_bytes(), call, emit)
    }

    fn read_utf8(
        &self,
        input: impl BufRead,
        call: &RenderCall<'_>,
        emit: &mut Emit<'_>,
    ) -> Result<(), RenderError> {
        let mut problems = Diagnostics::new();
        for read in ObjectStream::new(&self.name, input, self.options) {
            call.check()?;
            match read {
                // After a problem nothing more is given out, but the rest is read to report all problems at once.
                Ok(object) if problems.is_empty() => emit(object)?,
                Ok(_) => {}
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
    }
}

/// False if a text starts like UTF-16, with or without a byte order mark.
fn is_utf8(start: &[u8]) -> bool {
    !matches!(start, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..])
}
