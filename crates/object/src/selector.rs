//! Label selectors, with the whole grammar of Kubernetes.

use std::fmt;

use thiserror::Error;

use crate::Value;
use crate::names;

/// A parsed selector: all its requirements must hold. The empty selector matches everything.
///
/// ```
/// use podsmith_object::selector::Selector;
/// let selector = Selector::parse("tier in (front,back), env!=dev, !legacy").unwrap();
/// assert!(selector.matches(|key| (key == "tier").then_some("front")));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

/// One condition on one key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// The condition.
    pub operator: Operator,
}

/// The condition of a [`Requirement`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operator {
    /// The key is there.
    Exists,
    /// The key is not there.
    DoesNotExist,
    /// The value is one of these.
    In(Vec<String>),
    /// The value is none of these, or the key is not there.
    NotIn(Vec<String>),
    /// The value is a whole number greater than this.
    GreaterThan(i64),
    /// The value is a whole number less than this.
    LessThan(i64),
}

/// Why a selector could not be read.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("invalid selector `{selector}`: {reason} at character {position}")]
pub struct InvalidSelector {
    /// The whole text.
    pub selector: String,
    /// What is wrong.
    pub reason: String,
    /// Where, from 1.
    pub position: usize,
}

impl Selector {
    /// Parses `=`, `==`, `!=`, `in`, `notin`, `key`, `!key`, `<`, `>`, separated by commas.
    ///
    /// # Errors
    ///
    /// On a syntax error or an invalid key or value.
    pub fn parse(text: &str) -> Result<Self, InvalidSelector> {
        Parser { text, tokens: lex(text), next: 0 }.selector()
    }

    /// Reads the `matchLabels`/`matchExpressions` form.
    ///
    /// # Errors
    ///
    /// On an unknown operator or a value list that does not fit it.
    pub fn from_label_selector(value: &Value) -> Result<Self, InvalidSelector> {
        let fail = |reason: String| InvalidSelector { selector: value.to_string(), reason, position: 1 };
        let mut requirements = Vec::new();
        if let Some(Value::Object(labels)) = value.get("matchLabels") {
            for (key, wanted) in labels {
                let wanted =
                    wanted.as_str().ok_or_else(|| fail(format!("matchLabels.{key} is not a string")))?;
                requirements
                    .push(Requirement { key: key.clone(), operator: Operator::In(vec![wanted.to_owned()]) });
            }
        }
        if let Some(Value::Array(expressions)) = value.get("matchExpressions") {
            for expression in expressions {
                requirements.push(read_expression(expression).map_err(fail)?);
            }
        }
        Ok(Self { requirements })
    }

    /// True if the labels, looked up through `label`, satisfy every requirement.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }

    /// The requirements, in written order.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// True if everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

fn read_expression(expression: &Value) -> Result<Requirement, String> {
    let text = |key: &str| expression.get(key).and_then(Value::as_str);
    let key = text("key").ok_or("a matchExpression has no key")?.to_owned();
    let values: Vec<String> = expression
        .get("values")
        .and_then(Value::as_array)
        .map(|values| values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let operator = match (text("operator").unwrap_or(""), values.is_empty()) {
        ("In", false) => Operator::In(values),
        ("NotIn", false) => Operator::NotIn(values),
        ("Exists", true) => Operator::Exists,
        ("DoesNotExist", true) => Operator::DoesNotExist,
        ("In" | "NotIn", true) => return Err(format!("`{key}`: In and NotIn need values")),
        ("Exists" | "DoesNotExist", false) => {
            return Err(format!("`{key}`: Exists and DoesNotExist take no values"));
        }
        (other, _) => {
            return Err(format!("`{key}`: `{other}` is no operator (In, NotIn, Exists, DoesNotExist)"));
        }
    };
    Ok(Requirement { key, operator })
}

impl Requirement {
    /// True if a label with this value (or its absence) satisfies the condition.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let number = |value: Option<&str>| value.and_then(|value| value.parse::<i64>().ok());
        match &self.operator {
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::In(wanted) => value.is_some_and(|value| wanted.iter().any(|w| w == value)),
            Operator::NotIn(wanted) => value.is_none_or(|value| wanted.iter().all(|w| w != value)),
            Operator::GreaterThan(limit) => number(value).is_some_and(|number| number > *limit),
            Operator::LessThan(limit) => number(value).is_some_and(|number| number < *limit),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            let key = &requirement.key;
            match &requirement.operator {
                Operator::Exists => f.write_str(key)?,
                Operator::DoesNotExist => write!(f, "!{key}")?,
                Operator::In(values) if values.len() == 1 => write!(f, "{key}={}", values[0])?,
                Operator::NotIn(values) if values.len() == 1 => write!(f, "{key}!={}", values[0])?,
                Operator::In(values) => write!(f, "{key} in ({})", values.join(","))?,
                Operator::NotIn(values) => write!(f, "{key} notin ({})", values.join(","))?,
                Operator::GreaterThan(limit) => write!(f, "{key}>{limit}")?,
                Operator::LessThan(limit) => write!(f, "{key}<{limit}")?,
            }
        }
        Ok(())
    }
}

struct Token<'t> {
    text: &'t str,
    position: usize,
}

/// Words and the signs `! = == != ( ) , < >`, with their position from 1.
fn lex(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let end = match bytes[start] {
            byte if byte.is_ascii_whitespace() => {
                start += 1;
                continue;
            }
            b'=' | b'!' if bytes.get(start + 1) == Some(&b'=') => start + 2,
            b'=' | b'!' | b'(' | b')' | b',' | b'<' | b'>' => start + 1,
            _ => bytes[start..]
                .iter()
                .position(|b| b.is_ascii_whitespace() || b"=!(),<>".contains(b))
                .map_or(bytes.len(), |length| start + length),
        };
        tokens.push(Token { text: &text[start..end], position: start + 1 });
        start = end;
    }
    tokens
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    next: usize,
}

impl<'t> Parser<'t> {
    fn fail(&self, reason: impl Into<String>) -> InvalidSelector {
        let position = self.tokens.get(self.next).map_or(self.text.len() + 1, |token| token.position);
        InvalidSelector { selector: self.text.to_owned(), reason: reason.into(), position }
    }

    fn peek(&self) -> &'t str {
        self.tokens.get(self.next).map_or("", |token| token.text)
    }

    fn selector(mut self) -> Result<Selector, InvalidSelector> {
        let mut requirements = Vec::new();
        while self.next < self.tokens.len() {
            requirements.push(self.requirement()?);
            match self.peek() {
                "" => {}
                "," => {
                    self.next += 1;
                    if self.peek().is_empty() {
                        return Err(self.fail("a requirement is missing after the comma"));
                    }
                }
                other => {
                    return Err(
                        self.fail(format!("`{other}` is not expected; separate requirements with a comma"))
                    );
                }
            }
        }
        Ok(Selector { requirements })
    }

    fn requirement(&mut self) -> Result<Requirement, InvalidSelector> {
        let absent = self.peek() == "!";
        if absent {
            self.next += 1;
        }
        let key = self.key()?;
        if absent {
            return Ok(Requirement { key, operator: Operator::DoesNotExist });
        }
        let operator = match self.peek() {
            "" | "," => Operator::Exists,
            "=" | "==" => Operator::In(vec![self.after_sign()?]),
            "!=" => Operator::NotIn(vec![self.after_sign()?]),
            "in" => Operator::In(self.list()?),
            "notin" => Operator::NotIn(self.list()?),
            sign @ ("<" | ">") => {
                let value = self.after_sign()?;
                let limit = value.parse().map_err(|_| self.fail(format!("`{value}` is no whole number")))?;
                if sign == "<" { Operator::LessThan(limit) } else { Operator::GreaterThan(limit) }
            }
            other => return Err(self.fail(format!("`{other}` is no operator (=, ==, !=, in, notin, <, >)"))),
        };
        Ok(Requirement { key, operator })
    }

    fn key(&mut self) -> Result<String, InvalidSelector> {
        let key = self.peek();
        if key.is_empty() || is_sign(key) {
            return Err(self.fail("a label key is missing"));
        }
        names::qualified_name(key).map_err(|error| self.fail(error.to_string()))?;
        self.next += 1;
        Ok(key.to_owned())
    }

    /// The value after `=`, which may be empty.
    fn after_sign(&mut self) -> Result<String, InvalidSelector> {
        self.next += 1;
        match self.peek() {
            "" | "," => Ok(String::new()),
            _ => self.value(),
        }
    }

    fn value(&mut self) -> Result<String, InvalidSelector> {
        let value = self.peek();
        if is_sign(value) {
            return Err(self.fail("a value is missing"));
        }
        names::label_value(value).map_err(|error| self.fail(error.to_string()))?;
        self.next += 1;
        Ok(value.to_owned())
    }

    fn list(&mut self) -> Result<Vec<String>, InvalidSelector> {
        self.next += 1;
        if self.peek() != "(" {
            return Err(self.fail("`(` is missing"));
        }
        self.next += 1;
        let mut values = Vec::new();
        loop {
            match self.peek() {
                "," => values.push(String::new()),
                ")" => {
                    values.push(String::new());
                    self.next += 1;
                    return Ok(values);
                }
                "" => return Err(self.fail("`)` is missing")),
                _ => values.push(self.value()?),
            }
            match self.peek() {
                "," => self.next += 1,
                ")" => {
                    self.next += 1;
                    return Ok(values);
                }
                _ => return Err(self.fail("`,` or `)` is missing")),
            }
        }
    }
}

fn is_sign(token: &str) -> bool {
    matches!(token, "=" | "==" | "!=" | "!" | "(" | ")" | "," | "<" | ">")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selector: &str, labels: &[(&str, &str)], expected: bool) {
        let parsed = Selector::parse(selector).unwrap();
        let found = parsed.matches(|key| labels.iter().find(|(k, _)| *k == key).map(|(_, value)| *value));
        assert_eq!(found, expected, "{selector} on {labels:?}");
    }

    #[test]
    fn selectors_match_as_kubectl_does() {
        check("", &[], true);
        check("a", &[("a", "")], true);
        check("a", &[], false);
        check("!a", &[], true);
        check("a=b", &[("a", "b")], true);
        check("a==b", &[("a", "c")], false);
        check("a!=b", &[], true);
        check("a!=b", &[("a", "b")], false);
        check("a in (b, c)", &[("a", "c")], true);
        check("a in (b,c)", &[], false);
        check("a notin (b,c)", &[], true);
        check("a notin (b,c)", &[("a", "b")], false);
        check("a in (,b)", &[("a", "")], true);
        check("a=", &[("a", "")], true);
        check("a=,b", &[("a", ""), ("b", "1")], true);
        check("a>5", &[("a", "6")], true);
        check("a<5", &[("a", "x")], false);
        check("x.io/a=1,b!=2", &[("x.io/a", "1")], true);
        check("in in (in)", &[("in", "in")], true);
    }

    #[test]
    fn bad_selectors_say_where() {
        for (text, position) in [
            ("a,", 3),
            ("a in b", 6),
            ("a in (b", 8),
            ("=a", 1),
            ("a b", 3),
            ("a>x", 4),
            ("a=b c", 5),
            ("_a", 1),
        ] {
            let error = Selector::parse(text).unwrap_err();
            assert_eq!(error.position, position, "{error}");
        }
    }

    #[test]
    fn printing_and_parsing_agree() {
        for text in
            ["a", "!a", "a=b", "a!=b", "a in (b,c)", "a notin (b,c)", "a>1", "a<1", "a=b,!c,d in (x,y)"]
        {
            assert_eq!(Selector::parse(text).unwrap().to_string(), text);
        }
    }
}
