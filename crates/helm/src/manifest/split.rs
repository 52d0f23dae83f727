//! Cutting a rendered file into documents the way Helm does.
//!
//! Helm cuts by text, before any YAML is read: at every `---` that starts a line, with all white space around it. A
//! line such as `----` is cut too; charts that print one at column zero get what Helm gives.

/// The documents of a rendered file, without white space around them. Empty ones are left out.
///
/// Each comes with the number of lines before it in the file.
pub(crate) fn split_documents(text: &str) -> Vec<(&str, usize)> {
    let start = text.len() - text.trim_start().len();
    let body = text.trim();
    let mut documents = Vec::new();
    let mut from = 0;
    let (mut counted, mut lines) = (0, 0);
    let mut push = |from: usize, to: usize| {
        let Some(piece) = body.get(from..to) else { return };
        // The cut leaves nothing only when two separators touch; a piece of other white space is a document, and an
        // empty one.
        if piece.is_empty() {
            return;
        }
        let trimmed = piece.trim();
        let at = start + from + (piece.len() - piece.trim_start().len());
        lines += text.get(counted..at).map_or(0, |since| since.bytes().filter(|b| *b == b'\n').count());
        counted = at;
        documents.push((trimmed, lines));
    };
    if let Some(rest) = body.strip_prefix("---") {
        from = body.len() - skip_blank(rest).len();
    }
    while let Some((end, next)) = find_separator(body, from) {
        push(from, end);
        from = next;
    }
    push(from, body.len());
    documents
}

/// The next separator at or after `from`: where the document before it ends, and where the next one starts.
fn find_separator(body: &str, from: usize) -> Option<(usize, usize)> {
    let found = from + body.get(from..)?.find("\n---")?;
    let before = body.get(from..found)?;
    let end = from + before.trim_end_matches(is_blank).len();
    let next = body.len() - skip_blank(body.get(found + 4..)?).len();
    Some((end, next))
}

fn skip_blank(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

/// White space as Go's regular expressions know it.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        split_documents(text).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn documents_are_cut_at_lines_that_start_with_three_dashes() {
        assert_eq!(texts("a: 1\n---\nb: 2\n"), ["a: 1", "b: 2"]);
        assert_eq!(texts("---\na: 1\n\n---   \n\nb: 2\n---\n"), ["a: 1", "b: 2"]);
        // White space after a separator belongs to it, so a second separator right behind is not seen.
        assert_eq!(texts("---\n---\na: 1"), ["---\na: 1"]);
        assert_eq!(texts("\n\n--- # comment\na: 1"), ["# comment\na: 1"]);
        assert_eq!(texts("a: |\n  ---\n  x\n"), ["a: |\n  ---\n  x"]);
        assert_eq!(texts("a: 1\n----\n"), ["a: 1", "-"]);
        assert!(texts("  \n").is_empty());
    }

    #[test]
    fn each_document_knows_its_first_line() {
        let found = split_documents("\n---\na: 1\n---\n\nb: 2\n");
        assert_eq!(found, [("a: 1", 2), ("b: 2", 5)]);
    }
}
