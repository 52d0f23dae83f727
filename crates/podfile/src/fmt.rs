//! Formats Podfiles: two blanks for each level, aligned `=`, one blank line at most.
//!
//! Only white space changes: the formatter works on lines and never touches strings, heredocs or comments, so a
//! formatted file always means the same.

use podsmith_object::Diagnostics;

use crate::source::SourceFile;

/// Formats `text`; `name` is used in messages.
///
/// # Errors
///
/// When the text is no valid HCL.
pub fn format(name: &str, text: &str) -> Result<String, Diagnostics> {
    let source = SourceFile::new(name, "", text.to_owned());
    source.parse().map_err(|problem| Diagnostics::from(*problem))?;
    let formatted = layout(text);
    // A line formatter cannot see everything; if in doubt the file stays as it is.
    let same = hcl_edit::parser::parse_body(&formatted).is_ok() && essence(text) == essence(&formatted);
    Ok(if same { formatted } else { text.to_owned() })
}

/// The text without white space that has no meaning.
fn essence(text: &str) -> String {
    let mut scan = Scan::default();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let raw = scan.heredoc.is_some() || scan.comment;
        scan.line(line);
        if raw {
            out.push_str(line.trim_end_matches('\r'));
            out.push('\n');
            continue;
        }
        let bytes = line.as_bytes();
        let mut at = 0;
        let before = out.len();
        while let Some(byte) = bytes.get(at) {
            let end = if *byte == b'"' { end_of_string(bytes, at) + 1 } else { at + 1 };
            match byte {
                b' ' | b'\t' | b'\r' => {}
                _ => out.push_str(&String::from_utf8_lossy(bytes.get(at..end).unwrap_or_default())),
            }
            at = end;
        }
        if out.len() > before {
            out.push('\n');
        }
    }
    out
}

/// One line of the result.
struct Line {
    depth: usize,
    text: String,
    /// Where the `=` of an attribute stands, for alignment.
    key: Option<usize>,
    /// Part of a heredoc: printed as it is.
    raw: bool,
    /// The value goes on in the next line.
    open: bool,
}

fn layout(text: &str) -> String {
    let mut lines: Vec<Line> = Vec::new();
    let mut scan = Scan::default();
    for line in text.lines() {
        if scan.heredoc.is_some() || scan.comment {
            lines.push(Line {
                depth: 0,
                text: line.trim_end_matches('\r').to_owned(),
                key: None,
                raw: true,
                open: true,
            });
            scan.line(line);
            continue;
        }
        let trimmed = line.trim();
        if trimmed.is_empty() {
            if lines.last().is_some_and(|last| !last.text.is_empty()) {
                lines.push(Line { depth: 0, text: String::new(), key: None, raw: false, open: false });
            }
            continue;
        }
        let closing = trimmed.bytes().take_while(|b| matches!(b, b'}' | b']' | b')')).count();
        let depth = scan.depth_without(closing);
        let inside_value = scan.brackets > 0;
        let start = scan.stack.len();
        scan.line(trimmed);
        let key = if inside_value && !scan.in_object() { None } else { assignment(trimmed) };
        let text = match key {
            Some(at) => {
                let (name, value) = trimmed.split_at(at);
                format!("{} = {}", name.trim_end(), value.get(1..).unwrap_or("").trim_start())
            }
            None => trimmed.to_owned(),
        };
        let key = key.and_then(|_| text.find(" = "));
        let open = scan.stack.len() > start || scan.heredoc.is_some() || scan.comment;
        lines.push(Line { depth, text, key, raw: false, open });
    }
    while lines.last().is_some_and(|last| last.text.is_empty() && !last.raw) {
        lines.pop();
    }
    strip_edges(&mut lines);
    align(&mut lines);
    let mut out = String::with_capacity(text.len());
    for line in &lines {
        if !line.raw && !line.text.is_empty() {
            out.extend(std::iter::repeat_n("  ", line.depth));
        }
        out.push_str(&line.text);
        out.push('\n');
    }
    out
}

/// Removes blank lines right after an opening and right before a closing bracket, and at the start.
fn strip_edges(lines: &mut Vec<Line>) {
    let blank = |line: &Line| line.text.is_empty() && !line.raw;
    let mut keep = vec![true; lines.len()];
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| blank(line)) {
        let opened = match index.checked_sub(1).and_then(|before| lines.get(before)) {
            None => true,
            Some(before) => !before.raw && before.text.ends_with(['{', '[', '(']),
        };
        let closes =
            lines.get(index + 1).is_some_and(|next| !next.raw && next.text.starts_with(['}', ']', ')']));
        if (opened || closes) && line.text.is_empty() {
            keep[index] = false;
        }
    }
    let mut keep = keep.into_iter();
    lines.retain(|_| keep.next().unwrap_or(true));
}

/// Aligns the `=` of attributes that follow each other. A value of several lines ends the run.
fn align(lines: &mut [Line]) {
    let mut start = 0;
    while start < lines.len() {
        let depth = lines[start].depth;
        let mut end = start;
        while lines
            .get(end)
            .is_some_and(|line| line.key.is_some() && line.depth == depth && !line.raw && !line.open)
        {
            end += 1;
        }
        if end - start > 1 {
            let run = &mut lines[start..end];
            let widest = run.iter().filter_map(|line| line.key).max().unwrap_or(0);
            for line in run {
                if let Some(at) = line.key {
                    line.text.insert_str(at, &" ".repeat(widest - at));
                }
            }
        }
        start = end.max(start + 1);
    }
}

/// Where the `=` of `name = value` stands, if the line starts an attribute.
fn assignment(line: &str) -> Option<usize> {
    let quoted = line.starts_with('"');
    let end = if quoted {
        line.get(1..)?.find('"')? + 2
    } else {
        line.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))?
    };
    if end == 0 {
        return None;
    }
    let rest = line.get(end..)?;
    let at = end + (rest.len() - rest.trim_start().len());
    let after = line.get(at..)?;
    (after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>")).then_some(at)
}

/// What the formatter knows after each line.
#[derive(Default)]
struct Scan {
    /// The open brackets, each with how much it indents: of several that open on one line only the first does.
    stack: Vec<(u8, usize)>,
    /// How many of the open brackets belong to an expression rather than a block.
    brackets: usize,
    heredoc: Option<String>,
    comment: bool,
}

impl Scan {
    fn in_object(&self) -> bool {
        self.stack.last().is_some_and(|(bracket, _)| *bracket == b'{')
    }

    /// The indentation once the innermost `closed` brackets are closed.
    fn depth_without(&self, closed: usize) -> usize {
        let left = self.stack.len().saturating_sub(closed);
        self.stack.iter().take(left).map(|(_, indent)| indent).sum()
    }

    fn line(&mut self, line: &str) {
        if let Some(end) = &self.heredoc {
            if line.trim() == end {
                self.heredoc = None;
            }
            return;
        }
        let bytes = line.as_bytes();
        let mut at = 0;
        let mut lowest = self.stack.len();
        while let Some(byte) = bytes.get(at) {
            if self.comment {
                if bytes.get(at..at + 2) == Some(b"*/") {
                    self.comment = false;
                    at += 1;
                }
                at += 1;
                continue;
            }
            match byte {
                b'#' => break,
                b'/' if bytes.get(at + 1) == Some(&b'/') => break,
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    self.comment = true;
                    at += 1;
                }
                b'"' => at = end_of_string(bytes, at),
                b'<' if bytes.get(at + 1) == Some(&b'<') => {
                    let word = line.get(at + 2..).unwrap_or("").trim_start_matches('-').trim();
                    if !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
                    {
                        self.heredoc = Some(word.to_owned());
                        break;
                    }
                }
                b'{' | b'[' | b'(' => {
                    self.stack.push((*byte, 0));
                    let block =
                        *byte == b'{' && !line.get(..at).unwrap_or("").contains('=') && self.brackets == 0;
                    if !block {
                        self.brackets += 1;
                    }
                }
                b'}' | b']' | b')' => {
                    self.stack.pop();
                    lowest = lowest.min(self.stack.len());
                    self.brackets = self.brackets.saturating_sub(usize::from(self.brackets > 0));
                }
                _ => {}
            }
            at += 1;
        }
        if let Some((_, indent)) = self.stack.get_mut(lowest) {
            *indent = 1;
        }
    }
}

/// The index of the quote that ends the string starting at `start`; interpolations may hold quotes of their own.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'$' | b'%' if bytes.get(at + 1) == Some(&b'{') => {
                if bytes.get(at.wrapping_sub(1)) != Some(byte) {
                    depth += 1;
                }
                at += 1;
            }
            b'}' if depth > 0 => depth -= 1,
            b'"' if depth > 0 => at = end_of_string(bytes, at),
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    at
}
