//! One argument of `Sprintf`.

use std::fmt::Write as _;

use super::float;
use super::quoting::{is_printable, quote, quote_ascii, quote_bytes, quote_rune};
use crate::value::{Elements, IntKind, Value, with_stack};

/// The flags of one directive.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub width: Option<usize>,
    pub precision: Option<usize>,
    pub minus: bool,
    pub plus: bool,
    pub sharp: bool,
    pub space: bool,
    pub zero: bool,
    pub plus_v: bool,
    pub sharp_v: bool,
}

impl Flags {
    fn pad(self, out: &mut String, text: &str) {
        let missing = self.width.unwrap_or(0).saturating_sub(text.chars().count());
        let filler = if self.zero && !self.minus { '0' } else { ' ' };
        if !self.minus {
            out.extend(std::iter::repeat_n(filler, missing));
        }
        out.push_str(text);
        if self.minus {
            out.extend(std::iter::repeat_n(' ', missing));
        }
    }
}

/// Prints `argument` with `verb`.
pub(super) fn print_argument(out: &mut String, argument: &Value, verb: char, flags: Flags) {
    match (argument, verb) {
        (Value::Absent | Value::Nil, 'T' | 'v') => flags.pad(out, "<nil>"),
        (_, 'T') => flags.pad(out, argument.type_name()),
        _ => value(out, argument, verb, flags, 0),
    }
}

fn bad_verb(out: &mut String, argument: &Value, verb: char, flags: Flags) {
    if argument.is_nil() {
        let _ = write!(out, "%!{verb}(<nil>)");
        return;
    }
    let _ = write!(out, "%!{verb}({}=", argument.type_name());
    // The flags stay in force, as in Go.
    value(out, argument, 'v', flags, 0);
    out.push(')');
}

fn value(out: &mut String, argument: &Value, verb: char, flags: Flags, depth: usize) {
    match argument {
        Value::Absent | Value::Nil if depth > 0 => {
            flags.pad(out, if flags.sharp_v { "interface {}(nil)" } else { "<nil>" });
        }
        Value::Absent | Value::Nil => bad_verb(out, argument, verb, flags),
        Value::Bool(flag) => match verb {
            't' | 'v' => flags.pad(out, if *flag { "true" } else { "false" }),
            _ => bad_verb(out, argument, verb, flags),
        },
        Value::Int(number, kind) => integer(out, argument, *number, *kind, verb, flags),
        Value::Float(number) => floating(out, argument, *number, verb, flags),
        Value::String(text) => string(out, argument, text, verb, flags),
        Value::RawString(bytes) => match verb {
            'q' => flags.pad(out, &quote_bytes(bytes)),
            'x' | 'X' => hex(out, bytes, verb, flags),
            _ => string(out, argument, &String::from_utf8_lossy(bytes), verb, flags),
        },
        Value::Bytes(bytes) => match verb {
            's' => string(out, argument, &String::from_utf8_lossy(bytes), 's', flags),
            'q' => flags.pad(out, &quote_bytes(bytes)),
            'x' | 'X' => hex(out, bytes, verb, flags),
            _ => {
                let items = bytes.iter().map(|byte| Value::Int(i64::from(*byte), IntKind::Uint8));
                list(out, "[]byte", &items.collect::<Vec<_>>(), verb, flags, depth);
            }
        },
        Value::List(items) if flags.sharp_v && items.is_nil() => {
            let _ = write!(out, "{}(nil)", items.elements().type_name());
        }
        Value::List(items) => {
            let name = items.elements().type_name();
            let typed = items.elements() != Elements::Any;
            let flags = Flags { plus_v: flags.plus_v, ..flags };
            let depth = if typed { depth } else { depth + 1 };
            with_stack(|| list(out, name, items.items(), verb, flags, depth));
        }
        Value::Map(map) => {
            out.push_str(if flags.sharp_v { map.kind().type_name() } else { "map" });
            let Some(_visit) = map.enter() else { return out.push_str("[…]") };
            out.push(if flags.sharp_v { '{' } else { '[' });
            for (index, (key, item)) in map.entries().iter().enumerate() {
                if index > 0 {
                    out.push_str(if flags.sharp_v { ", " } else { " " });
                }
                value(out, &Value::String(key.clone()), verb, flags, depth + 1);
                out.push(':');
                with_stack(|| value(out, item, verb, flags, depth + 1));
            }
            out.push(if flags.sharp_v { '}' } else { ']' });
        }
        Value::Native(native) => match verb {
            'v' | 's' | 'q' | 'x' | 'X' => string(out, argument, &native.format(), verb, flags),
            'd' => out.push_str(&native.format()),
            _ => bad_verb(out, argument, verb, flags),
        },
    }
}

fn list(out: &mut String, name: &str, items: &[Value], verb: char, flags: Flags, depth: usize) {
    if flags.sharp_v {
        out.push_str(name);
    }
    out.push(if flags.sharp_v { '{' } else { '[' });
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(if flags.sharp_v { ", " } else { " " });
        }
        value(out, item, verb, flags, depth.max(1));
    }
    out.push(if flags.sharp_v { '}' } else { ']' });
}

fn string(out: &mut String, argument: &Value, text: &str, verb: char, flags: Flags) {
    let cut: String;
    let shown = match flags.precision {
        Some(precision) if matches!(verb, 'v' | 's' | 'q') => {
            cut = text.chars().take(precision).collect();
            &cut
        }
        _ => text,
    };
    match verb {
        'v' if flags.sharp_v => flags.pad(out, &quote(shown)),
        'v' | 's' => flags.pad(out, shown),
        'q' if flags.sharp && can_backquote(shown) => flags.pad(out, &format!("`{shown}`")),
        'q' if flags.plus => flags.pad(out, &quote_ascii(shown)),
        'q' => flags.pad(out, &quote(shown)),
        'x' | 'X' => hex(out, text.as_bytes(), verb, flags),
        _ => bad_verb(out, argument, verb, flags),
    }
}

fn can_backquote(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || (c >= ' ' && c != '`' && c != '\x7f' && c != '\u{feff}'))
}

fn hex(out: &mut String, bytes: &[u8], verb: char, flags: Flags) {
    let bytes = &bytes[..flags.precision.unwrap_or(bytes.len()).min(bytes.len())];
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if index > 0 && flags.space {
            text.push(' ');
        }
        if flags.sharp && (index == 0 || flags.space) {
            text.push_str(if verb == 'x' { "0x" } else { "0X" });
        }
        let _ = if verb == 'x' { write!(text, "{byte:02x}") } else { write!(text, "{byte:02X}") };
    }
    flags.pad(out, &text);
}

fn integer(out: &mut String, argument: &Value, number: i64, kind: IntKind, verb: char, flags: Flags) {
    let as_char = || u32::try_from(number).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
    let sharp_hex = flags.sharp_v && !kind.is_signed();
    match verb {
        'v' if sharp_hex => digits(out, number, 16, 'x', Flags { sharp: true, ..flags }),
        'v' | 'd' => digits(out, number, 10, verb, Flags { sharp: false, ..flags }),
        'b' => digits(out, number, 2, verb, flags),
        'o' | 'O' => digits(out, number, 8, verb, flags),
        'x' | 'X' => digits(out, number, 16, verb, flags),
        'c' => flags.pad(out, as_char().encode_utf8(&mut [0; 4])),
        'q' => flags.pad(out, &quote_rune(as_char(), flags.plus)),
        'U' => {
            let mut text = format!("U+{number:04X}");
            if flags.sharp && is_printable(as_char()) {
                let _ = write!(text, " '{}'", as_char());
            }
            Flags { zero: false, ..flags }.pad(out, &text);
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 's' | 't' => bad_verb(out, argument, verb, flags),
        _ => bad_verb(out, argument, verb, flags),
    }
}

fn digits(out: &mut String, number: i64, base: u32, verb: char, flags: Flags) {
    let magnitude = number.unsigned_abs();
    let negative = number < 0;
    let signed = negative || flags.plus || flags.space;
    let unpadded = Flags { zero: false, ..flags };
    let mut least = 0;
    if let Some(precision) = flags.precision {
        if precision == 0 && number == 0 {
            unpadded.pad(out, "");
            return;
        }
        least = precision;
    } else if let (true, false, Some(width)) = (flags.zero, flags.minus, flags.width) {
        least = width.saturating_sub(usize::from(signed));
    }
    let body = match (base, verb) {
        (2, _) => format!("{magnitude:b}"),
        (8, _) => format!("{magnitude:o}"),
        (16, 'X') => format!("{magnitude:X}"),
        (16, _) => format!("{magnitude:x}"),
        _ => magnitude.to_string(),
    };
    let mut text = String::new();
    if negative {
        text.push('-');
    } else if flags.plus {
        text.push('+');
    } else if flags.space {
        text.push(' ');
    }
    match (verb, base) {
        ('O', _) => text.push_str("0o"),
        (_, 2) if flags.sharp => text.push_str("0b"),
        (_, 8) if flags.sharp && !body.starts_with('0') && body.len() >= least => text.push('0'),
        ('X', _) if flags.sharp => text.push_str("0X"),
        (_, 16) if flags.sharp => text.push_str("0x"),
        _ => {}
    }
    text.extend(std::iter::repeat_n('0', least.saturating_sub(body.len())));
    text.push_str(&body);
    unpadded.pad(out, &text);
}

fn floating(out: &mut String, argument: &Value, number: f64, verb: char, flags: Flags) {
    let mut text = match verb {
        'v' => float::general(number, flags.precision, 'e'),
        'g' => float::general(number, flags.precision, 'e'),
        'G' => float::general(number, flags.precision, 'E'),
        'e' => float::exponential(number, Some(flags.precision.unwrap_or(6)), 'e'),
        'E' => float::exponential(number, Some(flags.precision.unwrap_or(6)), 'E'),
        'f' | 'F' => float::fixed(number, flags.precision.unwrap_or(6)),
        _ => return bad_verb(out, argument, verb, flags),
    };
    if flags.sharp && matches!(verb, 'g' | 'G' | 'f' | 'F' | 'e' | 'E') && number.is_finite() {
        text = keep_zeros(&text, verb, flags.precision);
    }
    let (negative, body) = match text.strip_prefix(['-', '+']) {
        Some(body) => (text.starts_with('-'), body),
        None => (false, text.as_str()),
    };
    let sign = if negative {
        "-"
    } else if flags.plus || (number.is_infinite() && flags.plus_v) {
        "+"
    } else if flags.space {
        " "
    } else if number.is_infinite() {
        "+"
    } else {
        ""
    };
    let zero = flags.zero && !flags.minus && number.is_finite();
    if let (true, Some(width)) = (zero, flags.width) {
        out.push_str(sign);
        let missing = width.saturating_sub(sign.len() + body.len());
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(body);
        return;
    }
    Flags { zero: false, ..flags }.pad(out, &format!("{sign}{body}"));
}

/// `%#g` keeps a decimal point and trailing zeros.
fn keep_zeros(text: &str, verb: char, precision: Option<usize>) -> String {
    let (mantissa, tail) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mut out = mantissa.to_owned();
    if !out.contains('.') {
        out.push('.');
    }
    if matches!(verb, 'g' | 'G') {
        let digits = out.chars().filter(char::is_ascii_digit).skip_while(|c| *c == '0').count();
        out.extend(std::iter::repeat_n('0', precision.unwrap_or(6).saturating_sub(digits)));
    }
    out + tail
}
