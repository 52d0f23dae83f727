//! String functions.

use podsmith_object::Value;
use regex::Regex;

use super::{Function, function, integer_of, list_of, text_of, texts_of};
use crate::convert;
use crate::functions::format::format_values;

pub(super) const FUNCTIONS: &[Function] = &[
    function("upper", 1, Some(1), "upper(text)", |_, a| Ok(text_of(a, 0)?.to_uppercase().into())),
    function("lower", 1, Some(1), "lower(text)", |_, a| Ok(text_of(a, 0)?.to_lowercase().into())),
    function("title", 1, Some(1), "title(text)", |_, a| Ok(title(&text_of(a, 0)?).into())),
    function("trimspace", 1, Some(1), "trimspace(text)", |_, a| Ok(text_of(a, 0)?.trim().into())),
    function("chomp", 1, Some(1), "chomp(text)", |_, a| {
        Ok(text_of(a, 0)?.trim_end_matches(['\n', '\r']).into())
    }),
    function("trim", 2, Some(2), "trim(text, characters)", |_, a| {
        let cut: Vec<char> = text_of(a, 1)?.chars().collect();
        Ok(text_of(a, 0)?.trim_matches(cut.as_slice()).into())
    }),
    function("trimprefix", 2, Some(2), "trimprefix(text, prefix)", |_, a| {
        let (text, prefix) = (text_of(a, 0)?, text_of(a, 1)?);
        Ok(text.strip_prefix(prefix.as_str()).unwrap_or(&text).into())
    }),
    function("trimsuffix", 2, Some(2), "trimsuffix(text, suffix)", |_, a| {
        let (text, suffix) = (text_of(a, 0)?, text_of(a, 1)?);
        Ok(text.strip_suffix(suffix.as_str()).unwrap_or(&text).into())
    }),
    function("startswith", 2, Some(2), "startswith(text, prefix)", |_, a| {
        Ok(text_of(a, 0)?.starts_with(&text_of(a, 1)?).into())
    }),
    function("endswith", 2, Some(2), "endswith(text, suffix)", |_, a| {
        Ok(text_of(a, 0)?.ends_with(&text_of(a, 1)?).into())
    }),
    function("strcontains", 2, Some(2), "strcontains(text, part)", |_, a| {
        Ok(text_of(a, 0)?.contains(&text_of(a, 1)?).into())
    }),
    function("split", 2, Some(2), "split(separator, text)", |_, a| {
        let (separator, text) = (text_of(a, 0)?, text_of(a, 1)?);
        if separator.is_empty() {
            return Ok(text.chars().map(|c| Value::from(c.to_string())).collect());
        }
        Ok(text.split(separator.as_str()).map(Value::from).collect())
    }),
    function("join", 2, None, "join(separator, list…)", |_, a| {
        let mut parts = Vec::new();
        for index in 1..a.len() {
            parts.extend(texts_of(a, index)?);
        }
        Ok(parts.join(&text_of(a, 0)?).into())
    }),
    function("replace", 3, Some(3), "replace(text, find, put)", |_, a| {
        let (text, find, put) = (text_of(a, 0)?, text_of(a, 1)?, text_of(a, 2)?);
        match find.strip_prefix('/').and_then(|find| find.strip_suffix('/')).filter(|f| !f.is_empty()) {
            Some(pattern) => Ok(compile(pattern)?.replace_all(&text, put.as_str()).into_owned().into()),
            None => Ok(text.replace(&find, &put).into()),
        }
    }),
    function("substr", 3, Some(3), "substr(text, offset, length)", |_, a| {
        let characters: Vec<char> = text_of(a, 0)?.chars().collect();
        let (offset, length) = (integer_of(a, 1)?, integer_of(a, 2)?);
        let count = i64::try_from(characters.len()).unwrap_or(i64::MAX);
        let start = if offset < 0 { count + offset } else { offset }.clamp(0, count);
        let end = if length < 0 { count } else { start.saturating_add(length) }.clamp(start, count);
        let cut = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
        Ok(characters.get(cut).unwrap_or(&[]).iter().collect::<String>().into())
    }),
    function("strrev", 1, Some(1), "strrev(text)", |_, a| {
        Ok(text_of(a, 0)?.chars().rev().collect::<String>().into())
    }),
    function("indent", 2, Some(2), "indent(spaces, text)", |_, a| {
        let blanks = usize::try_from(integer_of(a, 0)?.clamp(0, 1000)).unwrap_or(0);
        Ok(text_of(a, 1)?.replace('\n', &format!("\n{}", " ".repeat(blanks))).into())
    }),
    function("format", 1, None, "format(pattern, value…)", |_, a| {
        format_values(&text_of(a, 0)?, a.get(1..).unwrap_or(&[])).map(Value::from)
    }),
    function("formatlist", 1, None, "formatlist(pattern, list…)", |_, a| format_list(a)),
    function("regex", 2, Some(2), "regex(pattern, text)", |_, a| {
        let (pattern, text) = (compile(&text_of(a, 0)?)?, text_of(a, 1)?);
        let found = pattern.captures(&text).ok_or("the pattern does not match the text")?;
        Ok(captures(&pattern, &found))
    }),
    function("regexall", 2, Some(2), "regexall(pattern, text)", |_, a| {
        let (pattern, text) = (compile(&text_of(a, 0)?)?, text_of(a, 1)?);
        Ok(pattern.captures_iter(&text).map(|found| captures(&pattern, &found)).collect())
    }),
    function("slug", 1, Some(1), "slug(text)", |_, a| Ok(slug(&text_of(a, 0)?).into())),
];

/// The text as a part of a Kubernetes name: lower case, everything else becomes `-`.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            out.push(character);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_matches('-').to_owned()
}

fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| {
        let text = error.to_string();
        format!("`{pattern}` is no valid pattern: {}", text.lines().last().unwrap_or("").trim())
    })
}

/// A match: the whole text without groups, an object with named groups, else the list of groups.
fn captures(pattern: &Regex, found: &regex::Captures<'_>) -> Value {
    let group = |index| found.get(index).map_or(Value::Null, |group| Value::from(group.as_str()));
    if pattern.captures_len() == 1 {
        return group(0);
    }
    if pattern.capture_names().flatten().next().is_some() {
        let named = pattern.capture_names().enumerate();
        return Value::Object(
            named.filter_map(|(index, name)| Some((name?.to_owned(), group(index)))).collect(),
        );
    }
    (1..pattern.captures_len()).map(group).collect()
}

fn title(text: &str) -> String {
    let mut start = true;
    text.chars()
        .flat_map(|character| {
            let first = std::mem::replace(&mut start, !character.is_alphanumeric());
            if first { character.to_uppercase().collect::<Vec<_>>() } else { vec![character] }
        })
        .collect()
}

/// `formatlist`: lists give one value for each round, everything else is repeated.
fn format_list(arguments: &[Value]) -> Result<Value, String> {
    let pattern = text_of(arguments, 0)?;
    let values = arguments.get(1..).unwrap_or(&[]);
    let mut rounds = None;
    for index in 1..arguments.len() {
        if let Ok(list) = list_of(arguments, index)
            && *rounds.get_or_insert(list.len()) != list.len()
        {
            return Err("the lists have different lengths".into());
        }
    }
    let mut out = Vec::new();
    for round in 0..rounds.unwrap_or(1) {
        let row: Vec<Value> = values
            .iter()
            .map(|value| match value {
                Value::Array(list) => list.get(round).cloned().unwrap_or(Value::Null),
                other => other.clone(),
            })
            .collect();
        out.push(Value::from(format_values(&pattern, &row)?));
    }
    Ok(Value::Array(out))
}

/// The type of a value, for messages of other groups.
pub(super) fn wrong_type(value: &Value, wanted: &str) -> String {
    format!("{wanted} is needed, this is {}", convert::describe(value))
}
