//! Classes of characters that Go knows and the standard library does not.

/// Punctuation: the categories Pc, Pd, Ps, Pe, Pi, Pf and Po of the common scripts.
pub(crate) fn is_punctuation(c: char) -> bool {
    match c {
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => false,
        c if c.is_ascii() => c.is_ascii_punctuation(),
        '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' => true,
        '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{2043}'
        | '\u{2045}'..='\u{2051}'
        | '\u{2053}'..='\u{205e}' => true,
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' => true,
        '\u{ff01}'..='\u{ff03}'
        | '\u{ff05}'..='\u{ff0a}'
        | '\u{ff0c}'..='\u{ff0f}'
        | '\u{ff1a}'
        | '\u{ff1b}'
        | '\u{ff1f}'
        | '\u{ff20}'
        | '\u{ff3b}'..='\u{ff3d}'
        | '\u{ff3f}'
        | '\u{ff5b}'
        | '\u{ff5d}' => true,
        _ => false,
    }
}

/// Numbers of any kind.
pub(crate) fn is_number(c: char) -> bool {
    c.is_numeric()
}
