//! Cuts a stream into documents before parsing, so that a long stream needs memory for one document only.
//!
//! No scalar may contain a line that starts with `---`, so cutting there is exact. Directives and comments before the
//! first `---` stay with the document they precede.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// The text of one document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Chunk {
    /// The text, including its `---` line.
    pub text: String,
    /// How many lines precede it in the stream.
    pub lines_before: usize,
}

/// Iterates over the documents of a UTF-8 stream. For UTF-16 decode with [`decode_text`] first.
pub struct DocumentSplitter<R> {
    input: R,
    /// The first line of the next document, read ahead.
    ahead: Vec<u8>,
    lines_read: usize,
    limit: usize,
    done: bool,
}

impl<R: BufRead> DocumentSplitter<R> {
    /// Splits `input`. A document longer than `limit` bytes is an error.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input, ahead: Vec::new(), lines_read: 0, limit, done: false }
    }

    fn read_chunk(&mut self) -> io::Result<Option<Chunk>> {
        if self.done {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.ahead);
        let lines_before = self.lines_read - usize::from(!text.is_empty());
        let mut has_content = !text.is_empty();
        loop {
            let start = text.len();
            let room = u64::try_from(self.limit.saturating_sub(start) + 1).unwrap_or(u64::MAX);
            let read = io::Read::take(&mut self.input, room).read_until(b'\n', &mut text)?;
            if text.len() > self.limit {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "the document that starts on line {} is larger than {} bytes",
                        lines_before + 1,
                        self.limit
                    ),
                ));
            }
            if read == 0 {
                self.done = true;
                break;
            }
            self.lines_read += 1;
            if has_content && is_marker(&text[start..], b"---") {
                self.ahead = text.split_off(start);
                break;
            }
            if has_content && is_marker(&text[start..], b"...") {
                break;
            }
            has_content |= starts_content(&text[start..]);
        }
        let text = String::from_utf8(text).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = lines_before + 1 + error.as_bytes()[..valid].iter().filter(|b| **b == b'\n').count();
            io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not valid UTF-8"))
        })?;
        Ok(Some(Chunk { text, lines_before }))
    }
}

impl<R: BufRead> Iterator for DocumentSplitter<R> {
    type Item = io::Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        let result = self.read_chunk();
        if result.is_err() {
            self.done = true;
        }
        result.transpose()
    }
}

fn is_marker(line: &[u8], marker: &[u8]) -> bool {
    line.strip_prefix(marker)
        .is_some_and(|rest| matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n')))
}

/// True if the line is more than a comment, a directive or blank: a `---` after it starts another document.
fn starts_content(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    !matches!(line.trim_ascii_start().first(), None | Some(b'#')) && !line.starts_with(b"%")
}

/// Decodes UTF-8 or UTF-16, with or without a byte order mark, and drops the mark.
///
/// # Errors
///
/// When the bytes are neither.
pub fn decode_text(bytes: &[u8]) -> io::Result<Cow<'_, str>> {
    let utf16 = |little: bool, bytes: &[u8]| {
        let units = bytes.chunks(2).map(|pair| match (pair, little) {
            ([a, b], true) => u16::from_le_bytes([*a, *b]),
            ([a, b], false) => u16::from_be_bytes([*a, *b]),
            _ => 0xD800,
        });
        let text: Result<String, _> = char::decode_utf16(units).collect();
        text.map(Cow::Owned).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not valid UTF-16"))
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(true, rest),
        [0xFE, 0xFF, rest @ ..] => utf16(false, rest),
        [first, 0, ..] if *first != 0 => utf16(true, bytes),
        [0, second, ..] if *second != 0 => utf16(false, bytes),
        _ => {
            let rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            std::str::from_utf8(rest).map(Cow::Borrowed).map_err(|error| {
                let line = 1 + rest[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count();
                io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not valid UTF-8"))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, usize)> {
        DocumentSplitter::new(text.as_bytes(), 1 << 20)
            .map(|c| c.unwrap())
            .map(|c| (c.text, c.lines_before))
            .collect()
    }

    #[test]
    fn documents_are_cut_at_their_marker() {
        assert_eq!(split("a: 1\n---\nb: 2\n"), [("a: 1\n".into(), 0), ("---\nb: 2\n".into(), 1)]);
    }

    #[test]
    fn comments_and_directives_stay_with_the_document_they_precede() {
        assert_eq!(split("%YAML 1.1\n# x\n---\na: 1\n"), [("%YAML 1.1\n# x\n---\na: 1\n".into(), 0)]);
    }

    #[test]
    fn an_end_marker_closes_a_document_so_that_directives_may_follow() {
        let parts = split("a: 1\n...\n%YAML 1.1\n---\nb: 2\n");
        assert_eq!(parts, [("a: 1\n...\n".into(), 0), ("%YAML 1.1\n---\nb: 2\n".into(), 2)]);
    }

    #[test]
    fn an_indented_or_longer_dash_line_is_no_marker() {
        assert_eq!(split("a: |\n  ---\nb: x\n----\n").len(), 1);
    }

    #[test]
    fn a_document_past_the_limit_is_refused() {
        let mut chunks = DocumentSplitter::new("a: 12345678901234567890".as_bytes(), 10);
        assert!(chunks.next().unwrap().unwrap_err().to_string().contains("larger than 10 bytes"));
        assert!(chunks.next().is_none());
    }

    #[test]
    fn utf16_and_byte_order_marks_are_understood() {
        let little: Vec<u8> = "\u{feff}a: 1".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_text(&little).unwrap(), "a: 1");
        let big_without_mark: Vec<u8> = "a: 1".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode_text(&big_without_mark).unwrap(), "a: 1");
        assert_eq!(decode_text(b"\xEF\xBB\xBFa").unwrap(), "a");
        assert!(decode_text(b"a\nb\xff").unwrap_err().to_string().contains("line 2"));
    }
}
