//! What is wrong with a field, in the words of the API server.

use std::fmt;

use podsmith_object::{Map, Value};

use crate::gotext;

/// The sort of a fault; it decides the text before the detail and the reason of the cause.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    /// A reference leads nowhere.
    NotFound,
    /// A value is missing.
    Required,
    /// A value occurs twice.
    Duplicate,
    /// A value breaks a rule.
    Invalid,
    /// A value is not one of the allowed ones.
    NotSupported,
    /// A value is not allowed here at all.
    Forbidden,
    /// A value is too long.
    TooLong,
    /// A list has too many items.
    TooMany,
    /// A value has the wrong type.
    TypeInvalid,
}

impl Reason {
    /// The `reason` of the cause: `FieldValueInvalid`.
    pub fn cause(self) -> &'static str {
        match self {
            Self::NotFound => "FieldValueNotFound",
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::NotFound => "Not found",
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
        }
    }
}

/// One fault of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Its sort.
    pub reason: Reason,
    /// The field: `spec.ports[0].name`. Empty when the whole object is meant.
    pub field: String,
    /// The value in question.
    pub value: Value,
    /// What the rule is; may be empty.
    pub detail: String,
}

impl Fault {
    fn new(reason: Reason, field: impl Into<String>, value: Value, detail: impl Into<String>) -> Self {
        Self { reason, field: field.into(), value, detail: detail.into() }
    }

    /// A missing value.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Reason::Required, field, Value::Null, detail)
    }

    /// A value that breaks a rule.
    pub fn invalid(field: impl Into<String>, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        Self::new(Reason::Invalid, field, value.into(), detail)
    }

    /// A value of the wrong type.
    pub fn type_invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(Reason::TypeInvalid, field, value.into(), detail)
    }

    /// A value that occurs twice.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(Reason::Duplicate, field, value.into(), "")
    }

    /// A reference that leads nowhere.
    pub fn not_found(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(Reason::NotFound, field, value.into(), "")
    }

    /// Something that is not allowed here.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Reason::Forbidden, field, Value::Null, detail)
    }

    /// A value outside the allowed ones, which are listed as given.
    pub fn not_supported(field: impl Into<String>, value: impl Into<Value>, allowed: &[&str]) -> Self {
        let quoted: Vec<String> = allowed.iter().map(|one| gotext::quoted(one)).collect();
        let detail = if allowed.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::new(Reason::NotSupported, field, value.into(), detail)
    }

    /// A value that is longer than allowed.
    pub fn too_long(field: impl Into<String>, limit: i64) -> Self {
        let detail = if limit >= 0 {
            format!("may not be more than {limit} bytes")
        } else {
            "value is too long".to_owned()
        };
        Self::new(Reason::TooLong, field, Value::Null, detail)
    }

    /// A list with more items than allowed.
    pub fn too_many(field: impl Into<String>, found: i64, limit: i64) -> Self {
        let noun = if limit == 1 { "item" } else { "items" };
        Self::new(Reason::TooMany, field, Value::from(found), format!("must have at most {limit} {noun}"))
    }

    /// The text of the cause, without the field.
    pub fn body(&self) -> String {
        let title = self.reason.title();
        let mut text = match self.reason {
            Reason::Required | Reason::Forbidden | Reason::TooLong => title.to_owned(),
            _ => match &self.value {
                Value::String(value) => format!("{title}: {}", gotext::quoted(value)),
                value => format!("{title}: {value}"),
            },
        };
        if !self.detail.is_empty() {
            text += ": ";
            text += &self.detail;
        }
        text
    }

    /// The cause of a Status.
    pub fn to_cause(&self) -> Value {
        let mut cause = Map::new();
        cause.insert("reason".to_owned(), Value::from(self.reason.cause()));
        cause.insert("message".to_owned(), Value::from(self.body()));
        cause.insert("field".to_owned(), Value::from(self.shown_field()));
        Value::Object(cause)
    }

    /// The field as messages show it; Go prints an absent path as `<nil>`.
    fn shown_field(&self) -> &str {
        if self.field.is_empty() { "<nil>" } else { &self.field }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.shown_field(), self.body())
    }
}

/// The message of an Invalid status: `Deployment.apps "d" is invalid: spec.replicas: …`. Equal faults show once.
pub fn invalid_message(group: &str, kind: &str, name: &str, faults: &[Fault]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for fault in faults {
        let text = fault.to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let joined = match texts.as_slice() {
        [only] => only.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group} {} is invalid: {joined}", gotext::quoted(name))
}
