//! Objects from standard input, one by one.

use std::io::{self, BufRead, Read};

use podsmith_engine::{Emit, RenderCall, RenderError, Renderer};
use podsmith_object::stream::ObjectStream;
use podsmith_object::{Diagnostics, Object, yaml};

/// What messages call it.
const NAME: &str = "<stdin>";

/// Reads standard input once, holding one document in memory at a time.
pub struct StdinRenderer;

impl Renderer for StdinRenderer {
    fn name(&self) -> &str {
        "stdin"
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
        let mut input = io::stdin().lock();
        let start = input.fill_buf().map_err(RenderError::new)?;
        if is_utf8(start) {
            return read(input, call, emit);
        }
        // UTF-16 is decoded as a whole: it cannot be cut into lines as bytes.
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes).map_err(RenderError::new)?;
        let text = yaml::decode_text(&bytes).map_err(RenderError::new)?;
        read(text.as_bytes(), call, emit)
    }
}

/// False if the first bytes are those of UTF-16.
fn is_utf8(start: &[u8]) -> bool {
    !matches!(start, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..])
}

fn read(input: impl BufRead, call: &RenderCall<'_>, emit: &mut Emit<'_>) -> Result<(), RenderError> {
    let mut problems = Diagnostics::new();
    for object in ObjectStream::new(NAME, input, yaml::ReadOptions::default()) {
        call.check()?;
        match object {
            // After the first problem the rest is still read, so that all problems are told at once.
            Ok(object) if problems.is_empty() => emit(object)?,
            Ok(_) => {}
            Err(problem) => problems.push(problem),
        }
    }
    problems.into_result(()).map_err(RenderError::from)
}
