//! Text into resources.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::yaml::{ReadOptions, Written, WrittenData, decode_text, read_written};
use podsmith_object::{Diagnostic, Diagnostics, Map, Origin, Place, Value};

use super::resource::{Resource, Step};
use super::scalar::{is_text, resolve, text_of};

/// What to do with a key that occurs twice in one mapping.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Duplicates {
    /// An error, as in every resource.
    Refuse,
    /// The first one counts, as in patches.
    FirstWins,
}

/// Reads all resources of a file. Lists are replaced by their items.
pub(crate) fn read_resources(
    file: &str,
    bytes: &[u8],
    duplicates: Duplicates,
) -> Result<Vec<Resource>, Diagnostics> {
    let text = decode_text(bytes).map_err(|error| problem(error.to_string(), Place::file(file)))?;
    let text = if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text };
    let mut reader = Reader { file: Arc::from(file), duplicates, found: Vec::new() };
    let chunks = split(&text).map_err(|(line, separator)| {
        problem(format!("`{separator}` is not a document separator"), Place::new(file, line, 1))
    })?;
    let single = chunks.len() == 1;
    for (number, (chunk, lines_before)) in chunks.into_iter().enumerate() {
        let document = read_written(chunk, ReadOptions::default())
            .map_err(|error| Diagnostics::from(error.to_diagnostic(file, chunk, lines_before)))?;
        let Some(document) = document else { continue };
        let origin = Arc::new(Origin {
            file: reader.file.clone(),
            document: number,
            line: document.line + lines_before,
        });
        reader.document(document, origin, single)?;
    }
    expand_lists(reader.found)
}

/// [`read_resources`] of a text inside another file, which starts after `lines_before` lines of it.
pub(crate) fn read_inline(
    file: &str,
    text: &str,
    lines_before: usize,
    duplicates: Duplicates,
) -> Result<Vec<Resource>, Diagnostics> {
    let mut resources = read_resources(file, text.as_bytes(), duplicates).map_err(|mut problems| {
        for problem in &mut problems.0 {
            if let Some(place) = &mut problem.place {
                place.line += lines_before;
            }
            if let Some(excerpt) = &mut problem.excerpt {
                excerpt.line += lines_before;
            }
        }
        problems
    })?;
    for resource in &mut resources {
        if let Some(origin) = &mut resource.origin {
            Arc::make_mut(origin).line += lines_before;
        }
    }
    Ok(resources)
}

fn problem(message: String, place: Place) -> Diagnostics {
    Diagnostic::error(message).at(place).into()
}

/// Cuts at lines that start with `---`, each chunk with the number of lines before it.
fn split(text: &str) -> Result<Vec<(&str, usize)>, (usize, String)> {
    let mut chunks = Vec::new();
    let (mut start, mut line, mut start_line) = (0, 0, 0);
    let mut position = 0;
    // The newline before a separator belongs to it, so a separator directly after another one is content.
    let mut fresh = true;
    for content in text.split_inclusive('\n') {
        if !fresh
            && let Some(rest) = content.strip_prefix("---")
            && content.ends_with('\n')
        {
            let rest = rest.trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err((line + 1, content.trim().to_owned()));
            }
            chunks.push((&text[start..position], start_line));
            start = position + content.len();
            start_line = line + 1;
            fresh = true;
        } else {
            fresh = false;
        }
        position += content.len();
        line += 1;
    }
    if !text.is_empty() {
        chunks.push((&text[start..], start_line));
    }
    Ok(chunks)
}

struct Reader {
    file: Arc<str>,
    duplicates: Duplicates,
    found: Vec<Resource>,
}

impl Reader {
    fn document(&mut self, document: Written, origin: Arc<Origin>, single: bool) -> Result<(), Diagnostics> {
        let mut converter = Converter {
            file: &self.file,
            lines_before: origin.line - document.line,
            duplicates: self.duplicates,
            path: Vec::new(),
            blanks: Vec::new(),
            written: Vec::new(),
        };
        let value = converter.value(document)?;
        let (blanks, written) = (converter.blanks, converter.written);
        match value {
            Value::Null => Ok(()),
            Value::Object(mut body) => {
                let kind = body.get("kind").map(text_of).unwrap_or_default();
                if single && matches!(&*kind, "List" | "ResourceList") && body.contains_key("items") {
                    if let Some(Value::Array(items)) = body.shift_remove("items") {
                        for (index, item) in items.into_iter().enumerate() {
                            let mut resource = Resource {
                                body: into_map(item, &origin)?,
                                blanks: blanks.iter().filter_map(|path| in_item(path, index)).collect(),
                                written: written
                                    .iter()
                                    .filter_map(|(path, text)| Some((in_item(path, index)?, text.clone())))
                                    .collect(),
                                origin: Some(origin.clone()),
                                ..Resource::default()
                            };
                            take_annotation_texts(&mut resource, self.duplicates);
                            self.found.push(resource);
                        }
                    }
                    return Ok(());
                }
                let mut resource =
                    Resource { body, blanks, written, origin: Some(origin), ..Resource::default() };
                take_annotation_texts(&mut resource, self.duplicates);
                self.found.push(resource);
                Ok(())
            }
            Value::Array(items) if items.is_empty() => Ok(()),
            _ => Err(not_an_object(&origin)),
        }
    }
}

/// A path below `items` of a list, seen from its item.
fn in_item(path: &[Step], index: usize) -> Option<Vec<Step>> {
    match path {
        [Step::Key(key), Step::Index(found), rest @ ..] if key == "items" && *found == index => {
            Some(rest.to_vec())
        }
        _ => None,
    }
}

fn into_map(value: Value, origin: &Origin) -> Result<Map<String, Value>, Diagnostics> {
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(not_an_object(origin)),
    }
}

fn not_an_object(origin: &Origin) -> Diagnostics {
    let hint = "every document must be a Kubernetes object: a mapping with kind and metadata.name";
    Diagnostic::error("this document is not a Kubernetes object").at(origin.place()).with_hint(hint).into()
}

/// Annotations are always text in the end: take the text as it was written. In a patch null still deletes.
fn take_annotation_texts(resource: &mut Resource, duplicates: Duplicates) {
    let written = &resource.written;
    let Some(Value::Object(annotations)) =
        resource.body.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"))
    else {
        return;
    };
    for (key, value) in annotations.iter_mut() {
        if value.is_null() && duplicates == Duplicates::FirstWins {
            continue;
        }
        let raw = written.iter().find_map(|(path, raw)| match path.as_slice() {
            [Step::Key(a), Step::Key(b), Step::Key(c)]
                if a == "metadata" && b == "annotations" && c == key =>
            {
                Some(raw.clone())
            }
            _ => None,
        });
        match raw {
            Some(raw) => *value = Value::String(raw),
            None if !value.is_string() => *value = Value::String(text_of(value).into_owned()),
            None => {}
        }
    }
}

/// Replaces each list by its items, which move behind everything else of the file.
fn expand_lists(found: Vec<Resource>) -> Result<Vec<Resource>, Diagnostics> {
    let mut queue = std::collections::VecDeque::from(found);
    let mut result = Vec::with_capacity(queue.len());
    while let Some(mut resource) = queue.pop_front() {
        if resource.body.is_empty() {
            continue;
        }
        check(&resource)?;
        if !resource.kind().ends_with("List") || !resource.body.contains_key("items") {
            result.push(resource);
            continue;
        }
        match resource.body.shift_remove("items") {
            Some(Value::Array(items)) => {
                for item in items {
                    let body = match resource.origin.as_deref() {
                        Some(origin) => into_map(item, origin)?,
                        None => Map::new(),
                    };
                    let mut item = Resource { body, origin: resource.origin.clone(), ..Resource::default() };
                    take_annotation_texts(&mut item, Duplicates::Refuse);
                    queue.push_back(item);
                }
            }
            Some(Value::Null) | None => {}
            Some(_) => {
                let message = format!("`items` of {} must be a list", resource.kind());
                return Err(at_origin(message, &resource, None));
            }
        }
    }
    Ok(result)
}

fn check(resource: &Resource) -> Result<(), Diagnostics> {
    let kind = resource.kind();
    if kind.is_empty() {
        let hint = "every Kubernetes object has an apiVersion and a kind; is this another kind of file?";
        return Err(at_origin("`kind` is missing".into(), resource, Some(hint)));
    }
    if !kind.ends_with("List") && resource.name().is_empty() {
        let hint = "objects that only have generateName cannot be kustomized";
        let hint = resource.body.get("metadata").and_then(|m| m.get("generateName")).map(|_| hint);
        return Err(at_origin(format!("`metadata.name` of this {kind} is missing"), resource, hint));
    }
    Ok(())
}

fn at_origin(message: String, resource: &Resource, hint: Option<&str>) -> Diagnostics {
    Diagnostic::error(message)
        .or_at(resource.origin.as_ref().map(|origin| origin.place()))
        .with_hint_if(hint.map(str::to_owned))
        .into()
}

struct Converter<'f> {
    file: &'f str,
    lines_before: usize,
    duplicates: Duplicates,
    path: Vec<Step>,
    blanks: Vec<Vec<Step>>,
    written: Vec<(Vec<Step>, String)>,
}

impl Converter<'_> {
    fn value(&mut self, node: Written) -> Result<Value, Diagnostics> {
        let line = node.line;
        match node.data {
            WrittenData::Quoted(text) => Ok(Value::String(text)),
            WrittenData::Plain(text) => self.plain(text, line),
            WrittenData::Tagged(tag, text) => self.tagged(&tag, text, line),
            WrittenData::Sequence(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    self.path.push(Step::Index(index));
                    list.push(self.value(item)?);
                    self.path.pop();
                }
                Ok(Value::Array(list))
            }
            WrittenData::Mapping(mapping) => {
                if let (Duplicates::Refuse, Some(key)) = (self.duplicates, &mapping.repeated) {
                    return Err(self.problem(format!("key `{key}` occurs twice in this mapping"), line));
                }
                let mut map = Map::with_capacity(mapping.entries.len());
                for (key, value) in mapping.entries {
                    // Inside an object a key that is not a text cannot become JSON.
                    if key.plain && !self.path.is_empty() && !is_text(&key.text) {
                        return Err(self.problem(
                            format!("key `{}` is not a text; put it in quotes", key.text),
                            value.line,
                        ));
                    }
                    self.path.push(Step::Key(key.text));
                    let value = self.value(value)?;
                    if let Some(Step::Key(key)) = self.path.pop() {
                        map.insert(key, value);
                    }
                }
                Ok(Value::Object(map))
            }
        }
    }

    fn tagged(&mut self, tag: &str, text: String, line: usize) -> Result<Value, Diagnostics> {
        let value = match tag {
            "int" | "float" | "bool" | "null" | "timestamp" => self.plain(text.clone(), line)?,
            "binary" => {
                let compact: String = text.split_whitespace().collect();
                let bytes = STANDARD.decode(compact).ok();
                return match bytes {
                    Some(bytes) => Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned())),
                    None => Err(self.problem("`!!binary` needs base64".to_owned(), line)),
                };
            }
            _ => return Ok(Value::String(text)),
        };
        let fits = match tag {
            "int" => value.is_i64() || value.is_u64(),
            "float" => value.is_number(),
            "bool" => value.is_boolean(),
            "null" => value.is_null(),
            _ => value.is_string(),
        };
        if fits {
            Ok(value)
        } else {
            Err(self.problem(format!("`{text}` does not fit the tag !!{tag}"), line))
        }
    }

    fn plain(&mut self, text: String, line: usize) -> Result<Value, Diagnostics> {
        if is_text(&text) {
            return Ok(Value::String(text));
        }
        let Some(value) = resolve(&text) else {
            return Err(self.problem(format!("`{text}` has no meaning in a Kubernetes object"), line));
        };
        if value.is_null() {
            if text.is_empty() {
                self.blanks.push(self.path.clone());
            } else {
                self.written.push((self.path.clone(), text));
            }
        } else if text_of(&value) != text {
            self.written.push((self.path.clone(), text));
        }
        Ok(value)
    }

    fn problem(&self, message: String, line: usize) -> Diagnostics {
        problem(message, Place::new(self.file, line + self.lines_before, 0))
    }
}

/// The value of a text that holds YAML or JSON itself; `None` if it cannot be read.
pub(crate) fn parse_text(text: &str) -> Option<Value> {
    let document = read_written(text, ReadOptions::default()).ok()??;
    let mut converter = Converter {
        file: "",
        lines_before: 0,
        duplicates: Duplicates::FirstWins,
        path: Vec::new(),
        blanks: Vec::new(),
        written: Vec::new(),
    };
    converter.value(document).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;

    fn read(text: &str) -> Vec<Resource> {
        read_resources("a.yaml", text.as_bytes(), Duplicates::Refuse).unwrap()
    }

    #[test]
    fn items_of_a_list_move_behind_the_other_documents() {
        let names: Vec<_> = read(
            "kind: List\nitems:\n- {kind: A, metadata: {name: one}}\n---\nkind: B\nmetadata: {name: two}\n",
        )
        .iter()
        .map(|resource| resource.name().into_owned())
        .collect();
        assert_eq!(names, ["two", "one"]);
    }

    #[test]
    fn annotations_are_the_text_that_was_written() {
        let resources =
            read("kind: A\nmetadata:\n  name: a\n  annotations: {a: 1.10, b: yes, c: 0755, d: ~, e: }\n");
        assert_eq!(
            resources[0].body["metadata"]["annotations"],
            json!({"a": "1.10", "b": "yes", "c": "0755", "d": "~", "e": ""})
        );
    }

    #[test]
    fn separators_with_content_and_repeated_keys_are_refused() {
        let refused = |text: &str| {
            read_resources("a.yaml", text.as_bytes(), Duplicates::Refuse).unwrap_err().to_string()
        };
        assert_eq!(
            refused("kind: A\n--- x\nkind: B\n"),
            "error: a.yaml:2:1: `--- x` is not a document separator"
        );
        assert_eq!(
            refused("kind: A\nmetadata: {name: a}\nkind: A\n"),
            "error: a.yaml:1: key `kind` occurs twice in this mapping"
        );
        assert_eq!(
            refused("---\nkind: A\nmetadata: {}\n"),
            "error: a.yaml:2: `metadata.name` of this A is missing"
        );
    }
}
