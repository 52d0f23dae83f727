//! Patterns for keys, with the rules of Go's `path.Match`.

use thiserror::Error;

/// A compiled pattern: `*` and `?` stop at `/`, `[a-z]` and `[^a-z]` are classes, `\` takes the next character as it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Glob {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    Char(char),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// A pattern that means nothing.
#[derive(Clone, Copy, Debug, Error, Eq, PartialEq)]
pub enum BadGlob {
    /// `[` without `]`.
    #[error("a `[` is never closed")]
    Open,
    /// `[]` or a range without an end.
    #[error("a character class is empty or has a range without an end")]
    Class,
    /// A backslash at the end.
    #[error("it ends with a backslash")]
    Escape,
}

impl Glob {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// When Go would call it malformed.
    pub fn new(text: &str) -> Result<Self, BadGlob> {
        let mut parts = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            parts.push(match c {
                '*' => Part::Many,
                '?' => Part::One,
                '\\' => Part::Char(chars.next().ok_or(BadGlob::Escape)?),
                '[' => class(&mut chars)?,
                other => Part::Char(other),
            });
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True when the whole of `key` matches. Costs at most the product of both lengths.
    pub fn matches(&self, key: &str) -> bool {
        let key: Vec<char> = key.chars().collect();
        let (mut part, mut at) = (0, 0);
        // Where to go on when the last star has to take one more character.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match (self.parts.get(part), key.get(at)) {
                (Some(Part::Many), _) => {
                    retry = Some((part, at));
                    part += 1;
                    continue;
                }
                (Some(single), Some(c)) if single.takes(*c) => {
                    part += 1;
                    at += 1;
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            match retry {
                // A slash is a wall for a star; an earlier star cannot help, since it stands before the same slash.
                Some((star, from)) if key.get(from).is_some_and(|c| *c != '/') => {
                    retry = Some((star, from + 1));
                    part = star + 1;
                    at = from + 1;
                }
                _ => return false,
            }
        }
    }
}

impl Part {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::One => c != '/',
            Self::Many => false,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Part, BadGlob> {
    let negated = chars.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        if !ranges.is_empty() && chars.next_if_eq(&']').is_some() {
            return Ok(Part::Class { negated, ranges });
        }
        let low = class_char(chars)?;
        let high = if chars.next_if_eq(&'-').is_some() { class_char(chars)? } else { low };
        ranges.push((low, high));
    }
}

fn class_char(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<char, BadGlob> {
    match chars.next() {
        None => Err(BadGlob::Open),
        Some('-' | ']') => Err(BadGlob::Class),
        Some('\\') => chars.next().ok_or(BadGlob::Escape),
        Some(c) => Ok(c),
    }
}

/// True when one of the patterns matches.
pub fn any(globs: &[Glob], key: &str) -> bool {
    globs.iter().any(|glob| glob.matches(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, key, expected) in [
            ("abc", "abc", true),
            ("*", "abc", true),
            ("*c", "abc", true),
            ("a*", "a", true),
            ("a*", "abc", true),
            ("a*", "ab/c", false),
            ("a*/b", "abc/b", true),
            ("a*/b", "a/c/b", false),
            ("a*b*c*d*e*/f", "axbxcxdxe/f", true),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/f", true),
            ("a*b*c*d*e*/f", "axbxcxdxe/xxx/f", false),
            ("a*b?c*x", "abxbbxdbxebxczzx", true),
            ("a*b?c*x", "abxbbxdbxebxczzy", false),
            ("ab[c]", "abc", true),
            ("ab[b-d]", "abc", true),
            ("ab[e-g]", "abc", false),
            ("ab[^c]", "abc", false),
            ("ab[^e-g]", "abc", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "ab", false),
            ("a?b", "a☺b", true),
            ("a[^a]b", "a☺b", true),
            ("a???b", "a☺b", false),
            ("[a-ζ]*", "α", true),
            ("*[a-ζ]", "A", false),
            ("a?b", "a/b", false),
            ("a*b", "a/b", false),
            ("[\\]a]", "]", true),
            ("[\\-]", "-", true),
            ("[x\\-]", "-", true),
            ("[x\\-]", "z", false),
            ("[\\-x]", "a", false),
            ("*x", "xxx", true),
            ("*kubernetes.io/*", "app.kubernetes.io/name", true),
            ("*kubernetes.io/*", "kubernetes.io", false),
            ("**", "ab", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(Glob::new(pattern).unwrap().matches(key), expected, "{pattern} on {key}");
        }
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for pattern in ["[]a]", "[-]", "[x-]", "[-x]", "[", "[^", "[^bc", "a[", "a\\", "[a-b-c]"] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }
}
