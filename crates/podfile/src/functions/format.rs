//! `format`: the verbs of C and Go that Terraform supports.

use podsmith_object::Value;

use crate::{convert, number};

/// Fills the verbs of `pattern` with `values`.
pub(super) fn format_values(pattern: &str, values: &[Value]) -> Result<String, String> {
    let mut out = String::new();
    let mut next = values.iter();
    let mut rest = pattern.chars().peekable();
    let mut used = 0;
    while let Some(character) = rest.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let mut verb = Verb::default();
        let kind = loop {
            match rest.next().ok_or("the pattern ends inside a verb")? {
                '-' => verb.left = true,
                '+' => verb.plus = true,
                '0' if verb.width == 0 && verb.precision.is_none() => verb.zero = true,
                '.' => verb.precision = Some(0),
                digit if digit.is_ascii_digit() => {
                    let slot = verb.precision.as_mut().unwrap_or(&mut verb.width);
                    *slot = slot
                        .saturating_mul(10)
                        .saturating_add(digit.to_digit(10).unwrap_or(0) as usize)
                        .min(10_000);
                }
                kind => break kind,
            }
        };
        if kind == '%' {
            out.push('%');
            continue;
        }
        used += 1;
        let value = next.next().ok_or_else(|| format!("the pattern needs a value {used}"))?;
        out.push_str(&verb.pad(&verb.text(kind, value)?));
    }
    match next.count() {
        0 => Ok(out),
        left => Err(format!("{left} more values than verbs in the pattern")),
    }
}

#[derive(Default)]
struct Verb {
    left: bool,
    plus: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

impl Verb {
    fn text(&self, kind: char, value: &Value) -> Result<String, String> {
        let signed =
            |text: String| if self.plus && !text.starts_with('-') { format!("+{text}") } else { text };
        match kind {
            's' => {
                let text = convert::to_text(value)?;
                Ok(match self.precision {
                    Some(most) => text.chars().take(most).collect(),
                    None => text,
                })
            }
            'v' => Ok(match value {
                Value::String(_) | Value::Number(_) | Value::Bool(_) => convert::to_text(value)?,
                other => other.to_string(),
            }),
            'q' => Ok(Value::from(convert::to_text(value)?).to_string()),
            't' => convert::to_bool(value).map(|flag| flag.to_string()),
            'd' => {
                let number = convert::to_number(value)?;
                let whole = number::exact(&number).or_else(|| {
                    #[allow(clippy::cast_possible_truncation)]
                    number.as_f64().map(|float| float.trunc() as i128)
                });
                Ok(signed(whole.unwrap_or(0).to_string()))
            }
            'x' | 'X' | 'o' | 'b' => {
                let whole = convert::to_integer(value)?;
                Ok(match kind {
                    'x' => format!("{whole:x}"),
                    'X' => format!("{whole:X}"),
                    'o' => format!("{whole:o}"),
                    _ => format!("{whole:b}"),
                })
            }
            'f' | 'g' | 'e' => {
                let float = convert::to_number(value)?.as_f64().unwrap_or(0.0);
                Ok(signed(match (kind, self.precision) {
                    ('f', precision) => format!("{float:.*}", precision.unwrap_or(6)),
                    ('e', Some(precision)) => format!("{float:.precision$e}"),
                    ('e', None) => format!("{float:e}"),
                    (_, _) => float.to_string(),
                }))
            }
            other => Err(format!("`%{other}` is no verb: use %s, %d, %f, %t, %q, %v, %x or %%")),
        }
    }

    fn pad(&self, text: &str) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        if self.left {
            return format!("{text}{}", " ".repeat(missing));
        }
        if self.zero {
            let (sign, digits) = match text.strip_prefix('-') {
                Some(digits) => ("-", digits),
                None => ("", text),
            };
            return format!("{sign}{}{digits}", "0".repeat(missing));
        }
        format!("{}{text}", " ".repeat(missing))
    }
}
