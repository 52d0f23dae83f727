//! The `--set` grammar: `a.b[0]=x,c={1,2},d=null`.
//!
//! Keys are separated by dots, lists are indexed with `[n]`, a backslash takes the next character as it is, `{a,b}` is
//! a list, and plain words become booleans, integers or null.

use podsmith_object::{Map, Value};
use thiserror::Error;

/// The largest list index.
pub const LARGEST_INDEX: usize = 65_536;
/// How deep a name may nest.
pub const DEEPEST_NAME: usize = 30;

/// How the right-hand side of `=` is understood.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SetMode {
    /// `--set`: words become booleans, integers or null.
    Typed,
    /// `--set-string`: everything is text.
    Text,
    /// `--set-json`: JSON values.
    Json,
    /// `--set-literal`: one assignment whose value is the rest of the line, unchanged.
    Literal,
}

/// Why a line was refused.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum SetError {
    /// A key without `=`.
    #[error("key `{0}` has no value")]
    NoValue(String),
    /// A key followed by a comma.
    #[error("key `{0}` has no value (cannot end with ,)")]
    NoValueBeforeComma(String),
    /// `a.` and nothing after it.
    #[error("key map `{0}` has no value")]
    NoInnerValue(String),
    /// A list index that is no number, too large or negative.
    #[error("`{0}` is not a list index between 0 and {LARGEST_INDEX}")]
    Index(String),
    /// Text between `]` and the next separator.
    #[error("unexpected `{0}` after a list index")]
    AfterIndex(String),
    /// The line ends within a list index.
    #[error("the line ends within a list index")]
    IndexCutOff,
    /// `{` without `}`.
    #[error("a list must end with `}}`")]
    ListNotClosed,
    /// Too many dots.
    #[error("names may nest {DEEPEST_NAME} levels at most")]
    TooDeep,
    /// `a.b=` where `a` is not a mapping, or `a[0]=` where it is not a list.
    #[error("`{key}` is {found}, not {wanted}")]
    WrongType {
        /// The key.
        key: String,
        /// What it is.
        found: &'static str,
        /// What the line needs.
        wanted: &'static str,
    },
    /// Not JSON.
    #[error("the value of `{key}` is not JSON: {reason}")]
    Json {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
}

/// Applies one line to `values`. Later lines win over earlier ones.
///
/// ```
/// use podsmith_helm::values::{SetMode, set};
/// use podsmith_object::{Map, json, Value};
///
/// let mut values = Map::new();
/// set(&mut values, r"image.tag=1\.2,ports[0]=80,names={a,b},off=null", SetMode::Typed).unwrap();
/// assert_eq!(
///     Value::Object(values),
///     json!({"image": {"tag": "1.2"}, "ports": [80], "names": ["a", "b"], "off": null})
/// );
/// ```
///
/// # Errors
///
/// See [`SetError`]. The values may be changed in part.
pub fn set(values: &mut Map<String, Value>, line: &str, mode: SetMode) -> Result<(), SetError> {
    let mut parser = Parser { rest: line.chars().collect(), at: 0, mode };
    while parser.at < parser.rest.len() {
        match parser.key(values, 0) {
            Ok(()) => {}
            Err(Stop::End) => break,
            Err(Stop::Error(error)) => return Err(error),
        }
    }
    Ok(())
}

enum Stop {
    /// The line is at its end.
    End,
    Error(SetError),
}

impl From<SetError> for Stop {
    fn from(error: SetError) -> Self {
        Self::Error(error)
    }
}

struct Parser {
    rest: Vec<char>,
    at: usize,
    mode: SetMode,
}

impl Parser {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.get(self.at).copied();
        self.at += usize::from(next.is_some());
        next
    }

    /// The text up to one of `stops`, and which one; `None` at the end of the line.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        while let Some(next) = self.next() {
            if stops.contains(&next) {
                return (text, Some(next));
            }
            if next == '\\' && self.mode != SetMode::Literal {
                match self.next() {
                    Some(escaped) => text.push(escaped),
                    None => return (text, None),
                }
            } else {
                text.push(next);
            }
        }
        (text, None)
    }

    fn key(&mut self, values: &mut Map<String, Value>, level: usize) -> Result<(), Stop> {
        let stops: &[char] =
            if self.mode == SetMode::Literal { &['=', '[', '.'] } else { &['=', '[', ',', '.'] };
        let (key, stop) = self.until(stops);
        match stop {
            None if key.is_empty() => Err(Stop::End),
            None => Err(SetError::NoValue(key).into()),
            Some('[') => self.indexed(values, key, level),
            Some('=') => {
                let value = self.value(&key)?;
                put(values, key, value);
                Ok(())
            }
            Some(',') => Err(SetError::NoValueBeforeComma(key).into()),
            Some(_) => self.inner(values, key, level + 1),
        }
    }

    fn indexed(&mut self, values: &mut Map<String, Value>, key: String, level: usize) -> Result<(), Stop> {
        let index = self.index()?;
        let mut list = match values.get_mut(&key) {
            None => Vec::new(),
            Some(Value::Array(items)) => std::mem::take(items),
            Some(other) => return Err(wrong_type(key, other, "a list").into()),
        };
        let result = self.item(&mut list, index, level);
        put(values, key, Value::Array(list));
        result
    }

    fn inner(&mut self, values: &mut Map<String, Value>, key: String, level: usize) -> Result<(), Stop> {
        if level > DEEPEST_NAME {
            return Err(SetError::TooDeep.into());
        }
        let mut inner = match values.get_mut(&key) {
            None => Map::new(),
            Some(Value::Object(map)) => std::mem::take(map),
            Some(other) => return Err(wrong_type(key, other, "a mapping").into()),
        };
        let result = self.key(&mut inner, level);
        if inner.is_empty() {
            if result.is_ok() {
                return Err(SetError::NoInnerValue(key).into());
            }
        } else {
            put(values, key, Value::Object(inner));
        }
        result
    }

    fn index(&mut self) -> Result<usize, SetError> {
        let (text, stop) = self.until(&[']']);
        if stop.is_none() {
            return Err(SetError::IndexCutOff);
        }
        match text.parse::<usize>() {
            Ok(index) if index <= LARGEST_INDEX => Ok(index),
            _ => Err(SetError::Index(text)),
        }
    }

    fn item(&mut self, list: &mut Vec<Value>, index: usize, level: usize) -> Result<(), Stop> {
        let (text, stop) = self.until(&['[', '.', '=']);
        if !text.is_empty() {
            return Err(SetError::AfterIndex(text).into());
        }
        let slot = |list: &mut Vec<Value>, value: Value| {
            if list.len() <= index {
                list.resize(index + 1, Value::Null);
            }
            if let Some(slot) = list.get_mut(index) {
                *slot = value;
            }
        };
        match stop {
            None => Err(Stop::End),
            Some('=') => {
                let value = self.value(&format!("[{index}]"))?;
                slot(list, value);
                Ok(())
            }
            Some('[') => {
                let next = self.index()?;
                let mut nested = match list.get_mut(index) {
                    None | Some(Value::Null) => Vec::new(),
                    Some(Value::Array(items)) => std::mem::take(items),
                    Some(other) => return Err(wrong_type(format!("[{index}]"), other, "a list").into()),
                };
                let result = self.item(&mut nested, next, level);
                slot(list, Value::Array(nested));
                result
            }
            Some(_) => {
                let mut inner = match list.get_mut(index) {
                    Some(Value::Object(map)) => std::mem::take(map),
                    // Indices out of order leave holes behind; they become mappings.
                    _ => Map::new(),
                };
                let result = self.key(&mut inner, level);
                if result.is_ok() || list.len() > index {
                    slot(list, Value::Object(inner));
                }
                result
            }
        }
    }

    fn value(&mut self, key: &str) -> Result<Value, SetError> {
        match self.mode {
            SetMode::Json => return self.json(key),
            SetMode::Literal => {
                let text = self.rest.get(self.at..).unwrap_or_default().iter().collect();
                self.at = self.rest.len();
                return Ok(Value::String(text));
            }
            SetMode::Typed | SetMode::Text => {}
        }
        if self.rest.get(self.at) != Some(&'{') {
            let at_end = self.at >= self.rest.len();
            let (text, _) = self.until(&[',']);
            return Ok(if at_end { Value::String(text) } else { self.typed(text) });
        }
        self.at += 1;
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            match stop {
                None => return Err(SetError::ListNotClosed),
                Some(stop) => {
                    items.push(self.typed(text));
                    if stop == '}' {
                        if self.rest.get(self.at) == Some(&',') {
                            self.at += 1;
                        }
                        return Ok(Value::Array(items));
                    }
                }
            }
        }
    }

    fn typed(&self, text: String) -> Value {
        if self.mode == SetMode::Text {
            return Value::String(text);
        }
        if text.eq_ignore_ascii_case("true") {
            return Value::Bool(true);
        }
        if text.eq_ignore_ascii_case("false") {
            return Value::Bool(false);
        }
        if text.eq_ignore_ascii_case("null") {
            return Value::Null;
        }
        if text == "0" {
            return Value::from(0);
        }
        match text.parse::<i64>() {
            Ok(number) if !text.starts_with('0') => Value::from(number),
            _ => Value::String(text),
        }
    }

    fn json(&mut self, key: &str) -> Result<Value, SetError> {
        if self.skip_blank() {
            return Ok(Value::Null);
        }
        let text: String = self.rest.get(self.at..).unwrap_or_default().iter().collect();
        let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        let value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                return Err(SetError::Json { key: key.to_owned(), reason: error.to_string() });
            }
            None => Value::Null,
        };
        let read = stream.byte_offset();
        self.at += text.get(..read).map_or(0, |done| done.chars().count());
        self.skip_blank();
        Ok(crate::reading::with_float_numbers(value))
    }

    /// Skips white space and one comma; true if nothing else came before the comma or the end.
    fn skip_blank(&mut self) -> bool {
        loop {
            match self.rest.get(self.at) {
                None => return true,
                Some(',') => {
                    self.at += 1;
                    return true;
                }
                Some(c) if c.is_whitespace() => self.at += 1,
                Some(_) => return false,
            }
        }
    }
}

fn wrong_type(key: String, found: &Value, wanted: &'static str) -> SetError {
    SetError::WrongType { key, found: crate::chart::describe(found), wanted }
}

fn put(values: &mut Map<String, Value>, key: String, value: Value) {
    if !key.is_empty() {
        values.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podsmith_object::json;
    use proptest::prelude::*;

    fn parse(line: &str, mode: SetMode) -> Result<Value, SetError> {
        let mut values = Map::new();
        set(&mut values, line, mode).map(|()| Value::Object(values))
    }

    #[test]
    fn lines_give_the_values_that_helm_gives() {
        for (line, expected) in [
            ("", json!({})),
            ("name1=null", json!({"name1": null})),
            ("name1=value1", json!({"name1": "value1"})),
            ("name1=value1,", json!({"name1": "value1"})),
            ("name1=value1,,,,name2=value2,", json!(null)),
            ("name1=,name2=value2", json!({"name1": "", "name2": "value2"})),
            ("leading_zeros=00009", json!({"leading_zeros": "00009"})),
            ("zero_int=0", json!({"zero_int": 0})),
            ("long_int=1234567890", json!({"long_int": 1_234_567_890})),
            ("minus=-5,plus=+5", json!({"minus": -5, "plus": 5})),
            ("boolean=true,other=False", json!({"boolean": true, "other": false})),
            ("float=1.5", json!({"float": "1.5"})),
            (r"name1=one\,two,name2=three\,four", json!({"name1": "one,two", "name2": "three,four"})),
            (r"name1=one\=two,name2=three\=four", json!({"name1": "one=two", "name2": "three=four"})),
            (
                "name1=one two three,name2=three two one",
                json!({"name1": "one two three", "name2": "three two one"}),
            ),
            ("outer.inner1=value1,outer.inner2=2", json!({"outer": {"inner1": "value1", "inner2": 2}})),
            ("a.b.c.d=x", json!({"a": {"b": {"c": {"d": "x"}}}})),
            ("name1={value1,2,true}", json!({"name1": ["value1", 2, true]})),
            ("name1={}", json!({"name1": [""]})),
            ("name1={a,b},name2=c", json!({"name1": ["a", "b"], "name2": "c"})),
            ("list[0]=foo", json!({"list": ["foo"]})),
            ("list[0].foo=bar,list[0].hello=world", json!({"list": [{"foo": "bar", "hello": "world"}]})),
            ("list[3]=bar", json!({"list": [null, null, null, "bar"]})),
            ("list[1].foo=bar,list[0].a=b", json!({"list": [{"a": "b"}, {"foo": "bar"}]})),
            ("nested[0][0]=1,nested[0][1]=2", json!({"nested": [[1, 2]]})),
            ("a={x},b[0]={y,z}", json!({"a": ["x"], "b": [["y", "z"]]})),
            ("\"fake.io/x\"=1", json!({"\"fake": {"io/x\"": 1}})),
            (r"fake\.io/x=1", json!({"fake.io/x": 1})),
            ("noval[0]=", json!({"noval": [""]})),
        ] {
            match parse(line, SetMode::Typed) {
                Ok(found) => assert_eq!(found, expected, "{line}"),
                Err(error) => assert!(expected.is_null(), "{line}: {error}"),
            }
        }
    }

    #[test]
    fn broken_lines_are_refused() {
        for line in [
            "name1,name2=",
            "name1,name2=value2",
            "name1,name2",
            "name1=one,two",
            "name1.=name2",
            "name1.=,name2=x",
            "a[=x",
            "a[x]=y",
            "a[-1]=y",
            "a[70000]=y",
            "a[0]b=y",
            "a={1,2",
            "a=1,a.b=2",
            "a=1,a[0]=2",
        ] {
            assert!(parse(line, SetMode::Typed).is_err(), "{line}");
        }
        assert_eq!(parse(&format!("{}z=1", "a.".repeat(31)), SetMode::Typed), Err(SetError::TooDeep));
    }

    #[test]
    fn the_other_modes_read_text_json_and_the_rest_of_the_line() {
        assert_eq!(parse("a=1,b=true", SetMode::Text).unwrap(), json!({"a": "1", "b": "true"}));
        assert_eq!(
            parse(r#"a={"b":[1,"x"]},c=,d[0]=null"#, SetMode::Json).unwrap(),
            json!({"a": {"b": [1.0, "x"]}, "c": null, "d": [null]})
        );
        assert_eq!(
            parse(r"a.b[1]=x,y={1}\n", SetMode::Literal).unwrap(),
            json!({"a": {"b": [null, r"x,y={1}\n"]}})
        );
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "[a-c.=,\\[\\]{}\\\\0-9 ]{0,24}") {
            for mode in [SetMode::Typed, SetMode::Text, SetMode::Json, SetMode::Literal] {
                let _ = parse(&line, mode);
            }
        }

        #[test]
        fn a_plain_assignment_round_trips(key in "[a-z]{1,8}", value in "[a-z ]{1,12}") {
            prop_assume!(!["true", "false", "null"].contains(&value.as_str()));
            let found = parse(&format!("{key}={value}"), SetMode::Typed).unwrap();
            prop_assert_eq!(found, json!({key: value}));
        }
    }
}
