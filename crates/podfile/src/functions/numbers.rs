//! Functions on numbers.

use podsmith_object::Value;

use super::{Function, function, integer_of, list_of, text_of};
use crate::{convert, number};

pub(super) const FUNCTIONS: &[Function] = &[
    function("abs", 1, Some(1), "abs(number)", |_, a| float(a, f64::abs)),
    function("ceil", 1, Some(1), "ceil(number)", |_, a| float(a, f64::ceil)),
    function("floor", 1, Some(1), "floor(number)", |_, a| float(a, f64::floor)),
    function("signum", 1, Some(1), "signum(number)", |_, a| {
        float(a, |x| if x == 0.0 { 0.0 } else { x.signum() })
    }),
    function("pow", 2, Some(2), "pow(base, exponent)", |_, a| {
        finite(number_of(a, 0)?.powf(number_of(a, 1)?))
    }),
    function("log", 2, Some(2), "log(number, base)", |_, a| finite(number_of(a, 0)?.log(number_of(a, 1)?))),
    function("max", 1, None, "max(number…)", |_, a| pick(a, |best, x| x > best)),
    function("min", 1, None, "min(number…)", |_, a| pick(a, |best, x| x < best)),
    function("sum", 1, Some(1), "sum(list)", |_, a| {
        let mut sum = 0.0;
        for item in list_of(a, 0)? {
            sum += convert::to_number(item)?.as_f64().unwrap_or(0.0);
        }
        finite(sum)
    }),
    function("parseint", 2, Some(2), "parseint(text, base)", |_, a| {
        let base = u32::try_from(integer_of(a, 1)?).ok().filter(|base| (2..=36).contains(base));
        let base = base.ok_or("the base is between 2 and 36")?;
        let text = text_of(a, 0)?;
        i64::from_str_radix(&text, base)
            .map(Value::from)
            .map_err(|_| format!("`{text}` is no number in base {base}"))
    }),
    function("tonumber", 1, Some(1), "tonumber(value)", |_, a| match a.first() {
        Some(Value::Null) | None => Ok(Value::Null),
        Some(value) => convert::to_number(value).map(Value::Number),
    }),
];

fn number_of(arguments: &[Value], index: usize) -> Result<f64, String> {
    let number = convert::to_number(arguments.get(index).unwrap_or(&Value::Null))
        .map_err(|error| format!("argument {}: {error}", index + 1))?;
    Ok(number.as_f64().unwrap_or(0.0))
}

fn finite(float: f64) -> Result<Value, String> {
    number::from_float(float).ok_or_else(|| "the result is no number".into())
}

fn float(arguments: &[Value], run: fn(f64) -> f64) -> Result<Value, String> {
    finite(run(number_of(arguments, 0)?))
}

fn pick(arguments: &[Value], better: fn(f64, f64) -> bool) -> Result<Value, String> {
    let mut best = number_of(arguments, 0)?;
    for index in 1..arguments.len() {
        let next = number_of(arguments, index)?;
        if better(best, next) {
            best = next;
        }
    }
    finite(best)
}
