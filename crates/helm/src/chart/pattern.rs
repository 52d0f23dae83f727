//! Shell patterns as Go's `filepath.Match` understands them.

/// A pattern that cannot be matched: an unclosed class or a lone backslash at the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("syntax error in pattern")]
pub struct BadPattern;

#[derive(Clone, Debug, Eq, PartialEq)]
enum Piece {
    /// `*`: any run of characters except `/`.
    Star,
    /// `?`: one character except `/`.
    Any,
    /// `[a-z]`, negated by `^`.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    Literal(char),
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    pieces: Vec<Piece>,
}

impl Pattern {
    /// Compiles `text`.
    ///
    /// # Errors
    ///
    /// When a class is malformed or an escape is cut off.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        let mut pieces = Vec::new();
        let mut rest = text.chars().peekable();
        while let Some(next) = rest.next() {
            match next {
                '*' => {
                    if pieces.last() != Some(&Piece::Star) {
                        pieces.push(Piece::Star);
                    }
                }
                '?' => pieces.push(Piece::Any),
                '[' => pieces.push(class(&mut rest)?),
                '\\' => pieces.push(Piece::Literal(rest.next().ok_or(BadPattern)?)),
                other => pieces.push(Piece::Literal(other)),
            }
        }
        Ok(Self { pieces })
    }

    /// True if the pattern matches the whole of `name`.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut piece, mut at) = (0, 0);
        // Where to continue after the last star: one character more goes to the star each time.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let matched = match (self.pieces.get(piece), name.get(at)) {
                (Some(Piece::Star), _) => {
                    retry = Some((piece, at));
                    piece += 1;
                    continue;
                }
                (None, None) => return true,
                (Some(Piece::Any), Some(found)) => *found != '/',
                (Some(Piece::Literal(wanted)), Some(found)) => wanted == found,
                (Some(Piece::Class { negated, ranges }), Some(found)) => {
                    *found != '/'
                        && ranges.iter().any(|(low, high)| (low..=high).contains(&found)) != *negated
                }
                _ => false,
            };
            if matched {
                piece += 1;
                at += 1;
                continue;
            }
            match retry {
                Some((star, from)) if name.get(from).is_some_and(|c| *c != '/') => {
                    retry = Some((star, from + 1));
                    (piece, at) = (star + 1, from + 1);
                }
                _ => return false,
            }
        }
    }
}

fn class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Piece, BadPattern> {
    let negated = rest.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        if !ranges.is_empty() && rest.next_if_eq(&']').is_some() {
            return Ok(Piece::Class { negated, ranges });
        }
        let low = class_char(rest)?;
        let high = if rest.next_if_eq(&'-').is_some() { class_char(rest)? } else { low };
        ranges.push((low, high));
    }
}

fn class_char(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<char, BadPattern> {
    match rest.next() {
        None | Some('-' | ']') => Err(BadPattern),
        Some('\\') => rest.next().ok_or(BadPattern),
        Some(other) => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, name, expected) in [
            ("abc", "abc", true),
            ("*", "abc", true),
            ("*c", "abc", true),
            ("a*", "ab/c", false),
            ("a*/b", "abc/b", true),
            ("a*b*c*d*e*/f", "axbxcxdxe/f", true),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/fff", false),
            ("ab[c]", "abc", true),
            ("ab[^e-g]", "abc", true),
            ("ab[^b-d]", "abc", false),
            ("a\\*b", "a*b", true),
            ("a???b", "aabcb", true),
            ("a?b", "a/b", false),
            ("[\\-x]", "-", true),
            ("*x", "xxx", true),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn malformed_patterns_are_refused() {
        for pattern in ["[]a]", "[-]", "[x-]", "[", "[^", "a[", "\\"] {
            assert_eq!(Pattern::parse(pattern).err(), Some(BadPattern), "{pattern}");
        }
    }
}
