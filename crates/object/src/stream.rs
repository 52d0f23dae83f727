//! Text into objects: YAML and JSON streams, lists expanded, every object with its origin.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;

use crate::diagnostic::Excerpt;
use crate::yaml::{self, Chunk, DocumentSplitter, ReadOptions, YamlError};
use crate::{Diagnostic, Diagnostics, Object, Origin, Place, Value, json};

/// Reads all objects of `bytes`; `file` is the name used in messages.
///
/// Empty and comment-only documents are skipped; `kind: List` is replaced by its items. Every error of the file is
/// reported, not only the first: a broken document does not hide the next one.
///
/// # Errors
///
/// All problems, each with its position and source line.
pub fn read_objects(file: &str, bytes: &[u8]) -> Result<Vec<Object>, Diagnostics> {
    read_objects_with(file, bytes, ReadOptions::default())
}

/// [`read_objects`] with other reading options.
///
/// # Errors
///
/// As [`read_objects`].
pub fn read_objects_with(file: &str, bytes: &[u8], options: ReadOptions) -> Result<Vec<Object>, Diagnostics> {
    let text = yaml::decode_text(bytes)
        .map_err(|error| Diagnostics::from(Diagnostic::error(error.to_string()).at(Place::file(file))))?;
    let mut objects = Vec::new();
    let mut problems = Diagnostics::new();
    for read in ObjectStream::new(file, text.as_bytes(), options) {
        match read {
            Ok(object) => objects.push(object),
            Err(problem) => problems.push(problem),
        }
    }
    problems.into_result(objects)
}

/// Objects one after the other from a UTF-8 stream; holds the text of one document, and of its values only the next.
pub struct ObjectStream<R> {
    file: Arc<str>,
    chunks: DocumentSplitter<R>,
    options: ReadOptions,
    document: usize,
    /// JSON values of the current chunk that were not read yet.
    json: Option<(json::Values<String>, usize)>,
    ready: Found,
}

impl<R: BufRead> ObjectStream<R> {
    /// Reads from `input`; `file` is the name used in messages.
    pub fn new(file: &str, input: R, options: ReadOptions) -> Self {
        Self {
            file: Arc::from(file),
            chunks: DocumentSplitter::new(input, options.limits.document_bytes),
            options,
            document: 0,
            json: None,
            ready: Found::new(),
        }
    }

    /// How many documents have been read so far, empty ones included.
    pub fn documents(&self) -> usize {
        self.document
    }

    /// Reads a chunk as YAML, or starts to read it as JSON. Text that starts like JSON is read as JSON, because
    /// concatenated JSON is not YAML; a flow mapping whose first value is not JSON falls back to YAML.
    fn read_chunk(&mut self, chunk: Chunk) {
        if let Some(start) = json_start(&chunk.text) {
            let line = 1 + chunk.text[..start].matches('\n').count();
            let mut values = json::Values::new(chunk.text, start, line);
            match values.next() {
                Some(Ok((value, line))) => {
                    self.take(value, line, chunk.lines_before, values.text());
                    self.json = Some((values, chunk.lines_before));
                }
                Some(Err(error)) => {
                    let chunk = Chunk { text: values.text().to_owned(), lines_before: chunk.lines_before };
                    self.read_yaml(&chunk, looks_like_json(&chunk.text[start..]).then_some(error));
                }
                None => {}
            }
            return;
        }
        self.read_yaml(&chunk, None);
    }

    /// `not_json` is the error to report if the text is no YAML either.
    fn read_yaml(&mut self, chunk: &Chunk, not_json: Option<json::ValueError>) {
        match yaml::read_document(&chunk.text, self.options) {
            Ok(values) => {
                for (value, line) in values {
                    self.take(value, line, chunk.lines_before, &chunk.text);
                }
            }
            Err(error) => {
                let error = not_json.map_or(error, YamlError::from);
                self.ready.push_back(Err(error.to_diagnostic(&self.file, &chunk.text, chunk.lines_before)));
            }
        }
    }

    fn read_json(&mut self) {
        let Some((mut values, lines_before)) = self.json.take() else { return };
        match values.next() {
            None => {}
            Some(Ok((value, line))) => {
                self.take(value, line, lines_before, values.text());
                self.json = Some((values, lines_before));
            }
            Some(Err(error)) => {
                let problem = YamlError::from(error).to_diagnostic(&self.file, values.text(), lines_before);
                self.ready.push_back(Err(problem));
            }
        }
    }

    fn take(&mut self, value: Value, line: usize, lines_before: usize, text: &str) {
        let origin = Origin { file: self.file.clone(), document: self.document, line: line + lines_before };
        self.document += 1;
        let before = self.ready.len();
        take_objects(value, &origin, &mut self.ready);
        for problem in self.ready.iter_mut().skip(before).filter_map(|result| result.as_mut().err()) {
            problem.excerpt = Excerpt::cut(text, line, 1).map(|mut cut| {
                cut.line += lines_before;
                cut
            });
        }
    }
}

impl<R: BufRead> Iterator for ObjectStream<R> {
    type Item = Result<Object, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if self.json.is_some() {
                self.read_json();
                continue;
            }
            match self.chunks.next()? {
                Ok(chunk) => self.read_chunk(chunk),
                Err(error) => {
                    let message = format!("could not read: {error}");
                    return Some(Err(Diagnostic::error(message).at(Place::file(self.file.clone()))));
                }
            }
        }
    }
}

/// Where JSON starts in a document, if it may be JSON.
fn json_start(text: &str) -> Option<usize> {
    let body = text.strip_prefix("---").unwrap_or(text).trim_start();
    body.starts_with('{').then_some(text.len() - body.len())
}

/// `{` followed by a quoted key or a closing brace.
fn looks_like_json(body: &str) -> bool {
    matches!(body[1..].trim_start().as_bytes().first(), Some(b'"' | b'}'))
}

type Found = VecDeque<Result<Object, Diagnostic>>;

fn take_objects(value: Value, origin: &Origin, found: &mut Found) {
    match value {
        Value::Null => {}
        Value::Object(_) => match Object::from_value(value) {
            Ok(object) => take_object(object.with_origin(origin.clone()), found),
            Err(error) => found.push_back(Err(Diagnostic::error(error.to_string()).at(origin.place()))),
        },
        other => {
            let what = crate::object::describe(&other);
            let message = format!("a document must be a mapping with apiVersion and kind, this is {what}");
            found.push_back(Err(Diagnostic::error(message).at(origin.place())));
        }
    }
}

fn take_object(object: Object, found: &mut Found) {
    let Some(origin) = object.origin().cloned() else { return };
    for field in ["apiVersion", "kind"] {
        let problem = match object.body().get(field) {
            Some(Value::String(text)) if !text.is_empty() => continue,
            None | Some(Value::Null) => format!("`{field}` is missing"),
            Some(Value::String(_)) => format!("`{field}` is empty"),
            Some(other) => format!("`{field}` must be a string, this is {}", crate::object::describe(other)),
        };
        let hint = "every Kubernetes object has an apiVersion and a kind; is this another kind of file?";
        found.push_back(Err(Diagnostic::error(problem)
            .at(Place { column: 1, ..origin.place() })
            .with_hint(hint)));
        return;
    }
    if is_list(&object) {
        let Value::Object(mut body) = object.into_value() else { return };
        let Some(Value::Array(items)) = body.shift_remove("items") else { return };
        for item in items {
            take_objects(item, &origin, found);
        }
        return;
    }
    found.push_back(Ok(object));
}

/// `v1 List` and typed lists such as `ConfigMapList` that kubectl prints: a kind ending in `List` with an `items` list.
fn is_list(object: &Object) -> bool {
    object.kind().ends_with("List") && matches!(object.body().get("items"), Some(Value::Array(_)))
        || (object.kind() == "List" && object.api_version() == "v1")
}
