//! The order of keys.

use super::GoStyle;
use crate::Value;

/// Sorts by [`key_is_less`]. That is not a total order (`1a`, `12` and `{` can form a circle), which the standard
/// sort answers with a panic, so this is a merge sort of our own.
pub(super) fn sort_keys(entries: &mut Vec<(&String, &Value)>, style: GoStyle) {
    if entries.len() < 2 {
        return;
    }
    let mut right = entries.split_off(entries.len() / 2);
    sort_keys(entries, style);
    sort_keys(&mut right, style);
    let left = std::mem::take(entries);
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if key_is_less(b.0, a.0, style) { right.next() } else { left.next() };
        entries.extend(next);
    }
    entries.extend(left.chain(right));
}

/// Go's order of keys: digits by their value, letters after everything else.
fn key_is_less(a: &str, b: &str, style: GoStyle) -> bool {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let Some(at) = a.iter().zip(&b).position(|(x, y)| x != y) else { return a.len() < b.len() };
    let (x, y) = (a[at], b[at]);
    let after_digit = at > 0 && a[at - 1].is_ascii_digit();
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x < y,
        (x_is_letter, y_is_letter) if x_is_letter || y_is_letter => {
            return if style == GoStyle::Pretty && after_digit { x_is_letter } else { y_is_letter };
        }
        _ => {}
    }
    let mut start = 0i64;
    if x == '0' || y == '0' {
        // A zero inside a longer number counts; a leading one does not.
        let inside = a[..at].iter().rev().take_while(|c| c.is_ascii_digit()).any(|c| *c != '0');
        start = i64::from(inside);
    }
    let number = |chars: &[char]| {
        let run = chars[at..].iter().take_while(|c| c.is_ascii_digit());
        run.fold((start, 0usize), |(value, length), c| {
            let digit = i64::from(c.to_digit(10).unwrap_or(0));
            (value.wrapping_mul(10).wrapping_add(digit), length + 1)
        })
    };
    let ((an, ai), (bn, bi)) = (number(&a), number(&b));
    if an != bn {
        an < bn
    } else if ai != bi {
        ai < bi
    } else {
        x < y
    }
}
