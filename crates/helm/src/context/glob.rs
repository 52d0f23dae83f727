//! The patterns of `.Files.Glob`: `*` stays within one directory, `**` does not, `{a,b}` are alternatives.

use regex::Regex;

/// Compiles a pattern. `None` when it is malformed, which a template cannot tell from "everything".
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let mut source = String::from(r"\A(?s:");
    let mut open = 0usize;
    let mut rest = pattern.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '{' => {
                open += 1;
                source.push_str("(?:");
            }
            ',' if open > 0 => source.push('|'),
            '}' if open > 0 => {
                open -= 1;
                source.push(')');
            }
            '[' => source.push_str(&class(&mut rest)?),
            '?' => source.push_str("[^/]"),
            '*' if rest.next_if_eq(&'*').is_some() => source.push_str(".*"),
            '*' => source.push_str("[^/]*"),
            '\\' => match rest.next() {
                Some(escaped) => source.push_str(&regex::escape(escaped.encode_utf8(&mut [0; 4]))),
                None => break,
            },
            other => source.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    // An alternative that is never closed ends with the pattern.
    source.extend(std::iter::repeat_n(')', open));
    source.push_str(r")\z");
    Regex::new(&source).ok()
}

/// `[abc]`, `[!abc]` or `[a-z]`: one range, or a list of characters.
fn class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let mut source = String::from("[");
    if rest.next_if_eq(&'!').is_some() {
        source.push('^');
    }
    let first = rest.next()?;
    if rest.next_if_eq(&'-').is_some() {
        let last = rest.next()?;
        if last < first || rest.next() != Some(']') {
            return None;
        }
        source.push_str(&format!("{}-{}]", literal(first), literal(last)));
        return Some(source);
    }
    let mut next = Some(first);
    let mut characters = 0;
    loop {
        match next? {
            ']' => break,
            '\\' => source.push_str(&literal(rest.next()?)),
            other => source.push_str(&literal(other)),
        }
        characters += 1;
        next = rest.next();
    }
    source.push(']');
    (characters > 0).then_some(source)
}

fn literal(character: char) -> String {
    format!("\\u{{{:x}}}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_helm() {
        for (pattern, name, expected) in [
            ("ship/**", "ship/stowaway.txt", true),
            ("ship/**", "ship/a/b.txt", true),
            ("ship/*", "ship/a/b.txt", false),
            ("**.txt", "ship/a/b.txt", true),
            ("*.txt", "a.txt", true),
            ("*.{yaml,yml}", "a.yml", true),
            ("*.{yaml,yml}", "a.txt", false),
            ("{a,b/{c,d}}/*.x", "b/d/1.x", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("[a-c].txt", "b.txt", true),
            ("[!a-c].txt", "b.txt", false),
            ("[xyz]", "y", true),
            ("a\\*b", "a*b", true),
            ("{a,b", "b", true),
            ("a+b", "a+b", true),
        ] {
            assert_eq!(compile(pattern).unwrap().is_match(name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn malformed_globs_are_noticed() {
        for pattern in ["[", "[]", "[a", "[z-a]", "[a-bc]"] {
            assert!(compile(pattern).is_none(), "{pattern}");
        }
    }
}
