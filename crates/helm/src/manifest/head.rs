//! The head of a manifest: as much as Helm reads of it.

use std::collections::BTreeMap;

use podsmith_object::Value;
use podsmith_object::yaml::{self, ReadOptions};

use crate::chart::{Mismatch, string, string_map, struct_entries};
use crate::error::OutputError;

/// Kind, name and annotations of one manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Head {
    pub kind: String,
    pub name: String,
    pub annotations: BTreeMap<String, String>,
}

impl Head {
    /// Reads one document: its head and its whole value.
    pub(crate) fn read(
        template: &str,
        text: &str,
        lines_before: usize,
    ) -> Result<(Self, Value), OutputError> {
        // Helm prints a line break after each document, and a block scalar at the end of the document keeps it.
        let printed = format!("{text}\n");
        let documents =
            yaml::read_document(&printed, ReadOptions::lenient()).map_err(|error| OutputError {
                template: template.to_owned(),
                message: error.message.clone(),
                line: error.line + lines_before,
                column: error.column,
                excerpt: excerpt(text, error.line, lines_before),
            })?;
        let value = documents.into_iter().next().map_or(Value::Null, |(value, _)| value);
        let head = Self::of(&value).map_err(|wrong| OutputError {
            template: template.to_owned(),
            message: format!("`{}` must be {}, this is {}", wrong.field, wrong.expected, wrong.found),
            line: lines_before + 1,
            column: 1,
            excerpt: excerpt(text, 1, lines_before),
        })?;
        Ok((head, value))
    }

    fn of(value: &Value) -> Result<Self, Mismatch> {
        let mut head = Self::default();
        let mut api_version = String::new();
        for (key, value) in struct_entries(value, "the document")? {
            match key.as_str() {
                "apiversion" => string(&mut api_version, "apiVersion", value)?,
                "kind" => string(&mut head.kind, key, value)?,
                "metadata" => {
                    for (key, value) in struct_entries(value, "metadata")? {
                        match key.as_str() {
                            "name" => string(&mut head.name, "metadata.name", value)?,
                            "annotations" => {
                                head.annotations =
                                    string_map("metadata.annotations", value)?.unwrap_or_default();
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(head)
    }
}

/// The lines around one line, numbered as in the whole file, the line itself marked.
pub(crate) fn excerpt(text: &str, line: usize, lines_before: usize) -> String {
    const AROUND: usize = 4;
    let first = line.saturating_sub(AROUND).max(1);
    let shown = text.lines().enumerate().skip(first - 1).take(line + AROUND + 1 - first);
    let mut out = String::new();
    for (index, content) in shown {
        let mark = if index + 1 == line { '>' } else { ' ' };
        let content: String = content.chars().take(200).collect();
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{mark} {:>4} | {content}", index + 1 + lines_before));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_annotations_become_text() {
        let text = "Kind: Job\nmetadata:\n  name: 1\n  annotations: {helm.sh/hook-weight: -5, on: true}\n";
        let (head, _) = Head::read("t", text, 0).unwrap();
        assert_eq!((head.kind.as_str(), head.name.as_str()), ("Job", "1"));
        assert_eq!(head.annotations["helm.sh/hook-weight"], "-5");
        assert_eq!(head.annotations["true"], "true");
    }

    #[test]
    fn broken_output_shows_the_lines_around_it() {
        let error = Head::read("t.yaml", "a: 1\nb: [\nc: }\n", 10).unwrap_err();
        assert_eq!(error.line, 13);
        insta::assert_snapshot!(error.excerpt, @r"
            11 | a: 1
            12 | b: [
        >   13 | c: }
        ");
        let error = Head::read("t.yaml", "just text", 0).unwrap_err();
        assert_eq!(error.message, "`the document` must be a mapping, this is a string");
    }
}
