//! Cutting a long text into groups of whole documents that can be read independently.

/// Cuts `text` into groups of about `size` bytes, each of whole documents. Joined, they are the text.
///
/// YAML is cut at `---` lines, where a document starts in any case; text with directives stays whole, because a
/// directive belongs to the document after it. Concatenated JSON is cut between a `}` and a `{` on the next line, which
/// no JSON value can contain: a line break cannot stand in a string, and inside a value there would be a comma.
pub(crate) fn groups(text: &str, size: usize) -> Vec<&str> {
    if text.len() < 2 * size || text.starts_with('%') || text.contains("\n%") {
        return vec![text];
    }
    let starts = if is_json(text) { starts_json } else { starts_yaml };
    let mut groups = Vec::new();
    let mut rest = text;
    while let Some(cut) = next_cut(rest.as_bytes(), size, starts) {
        // Cuts are made behind a line break, so always between characters.
        let Some((group, after)) = rest.split_at_checked(cut) else { break };
        groups.push(group);
        rest = after;
    }
    groups.push(rest);
    groups
}

/// True if a text starts like JSON.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with("{\"")
}

/// The first line at or after `from` that starts a document.
fn next_cut(text: &[u8], mut from: usize, starts: fn(&[u8], &[u8]) -> bool) -> Option<usize> {
    loop {
        let line_break = text.get(from..)?.iter().position(|byte| *byte == b'\n')? + from;
        from = line_break + 1;
        let (before, after) = text.split_at_checked(from)?;
        if starts(before, after) {
            return Some(from);
        }
    }
}

fn starts_yaml(_: &[u8], after: &[u8]) -> bool {
    after.starts_with(b"---") && matches!(after.get(3), Some(b' ' | b'\t' | b'\r' | b'\n'))
}

fn starts_json(before: &[u8], after: &[u8]) -> bool {
    after.starts_with(b"{") && (before.ends_with(b"}\n") || before.ends_with(b"}\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn yaml_is_cut_where_documents_start() {
        assert_eq!(groups("a: 1\n---\nb: 2\n---\nc: 3\n", 1), ["a: 1\n", "---\nb: 2\n", "---\nc: 3\n"]);
        assert_eq!(groups("a: |\n  ---\n----\n---x\n", 1).len(), 1);
    }

    #[test]
    fn json_is_cut_between_values() {
        let text = "{\"a\": 1}\n{\"b\": [\n{\"c\": 2},\n{\"c\": 3}\n]}\r\n{}\n";
        let cut = ["{\"a\": 1}\n", "{\"b\": [\n{\"c\": 2},\n{\"c\": 3}\n]}\r\n", "{}\n"];
        assert_eq!(groups(text, 1), cut);
    }

    #[test]
    fn text_with_directives_stays_whole() {
        assert_eq!(groups("a: 1\n...\n%YAML 1.1\n---\nb: 2\n", 1).len(), 1);
    }

    proptest! {
        #[test]
        fn no_text_is_lost(parts in prop::collection::vec("(---\n|\\{\n|\\}\n|[a-zä: ]{0,6}\n?)", 0..40), size in 1_usize..20) {
            let text = parts.concat();
            prop_assert_eq!(groups(&text, size).concat(), text);
        }
    }
}
