//! Failures as clients see them: the `Status` object with its code, reason and causes.

use podsmith_object::{Map, Value, json};

/// A failed request.
#[derive(Clone, Debug, Default)]
pub struct ApiError {
    /// HTTP code.
    pub code: u16,
    /// The word for the kind of failure; empty where the real server sends none.
    pub reason: &'static str,
    /// The sentence for a person.
    pub message: String,
    /// Which object, and what is wrong with its fields.
    pub details: Option<Box<Details>>,
    /// A fresh continue token, for an expired list.
    pub continue_token: Option<String>,
    /// The answer is this plain text, not a Status.
    pub plain: bool,
}

/// The details of a failure.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// Name of the object.
    pub name: String,
    /// Group of the object.
    pub group: String,
    /// Plural resource, or kind for invalid objects.
    pub kind: String,
    /// Its uid.
    pub uid: String,
    /// What exactly is wrong.
    pub causes: Vec<Cause>,
    /// When to try again.
    pub retry_after_seconds: u32,
}

/// One thing that is wrong.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Cause {
    /// `FieldValueInvalid` and so on.
    pub reason: String,
    /// The sentence.
    pub message: String,
    /// The field.
    pub field: String,
}

/// The result of handling a request.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// A failure without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), ..Self::default() }
    }

    /// 400: the request makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 500: something that should not happen. The real server gives no reason here.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 500 with the reason `InternalError`, as failed webhooks give it.
    pub fn internal_error(message: impl std::fmt::Display) -> Self {
        let message = format!("Internal error occurred: {message}");
        let cause = Cause { message: message.clone(), ..Cause::default() };
        Self::new(500, "InternalError", message)
            .with_details(Details { causes: vec![cause], ..Details::default() })
    }

    /// 404 for an object.
    pub fn not_found(group: &str, plural: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", qualified(plural, group)))
            .about(group, plural, name)
    }

    /// 404 for a path below a known group.
    pub fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
            .with_details(Details::default())
    }

    /// 404 for a path nobody knows.
    pub fn no_such_page() -> Self {
        Self { code: 404, message: "404 page not found\n".to_owned(), plain: true, ..Self::default() }
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
            .with_details(Details::default())
    }

    /// 409: an object of this name is there.
    pub fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} \"{name}\" already exists", qualified(plural, group)))
            .about(group, plural, name)
    }

    /// 409: the object is not as the client thinks.
    pub fn conflict(group: &str, plural: &str, name: &str, why: impl std::fmt::Display) -> Self {
        Self::new(
            409,
            "Conflict",
            format!("Operation cannot be fulfilled on {} \"{name}\": {why}", qualified(plural, group)),
        )
        .about(group, plural, name)
    }

    /// 409: the object was modified meanwhile.
    pub fn modified(group: &str, plural: &str, name: &str) -> Self {
        Self::conflict(
            group,
            plural,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 403 for an object or a whole resource.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: impl std::fmt::Display) -> Self {
        let message = if plural.is_empty() {
            format!("forbidden: {why}")
        } else if name.is_empty() {
            format!("{} is forbidden: {why}", qualified(plural, group))
        } else {
            format!("{} \"{name}\" is forbidden: {why}", qualified(plural, group))
        };
        Self::new(403, "Forbidden", message).about(group, plural, name)
    }

    /// 422: the fields of an object are wrong.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> Self {
        let mut text: Vec<String> = Vec::new();
        for cause in &causes {
            let one = if cause.field.is_empty() {
                cause.message.clone()
            } else {
                format!("{}: {}", cause.field, cause.message)
            };
            // Equal faults show once.
            if !text.contains(&one) {
                text.push(one);
            }
        }
        let text = match text.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} \"{name}\" is invalid: {text}", qualified(kind, group));
        let details = Details {
            name: name.into(),
            group: group.into(),
            kind: kind.into(),
            causes,
            ..Details::default()
        };
        Self::new(422, "Invalid", message).with_details(details)
    }

    /// 422 for the query of a request: `ListOptions`, `CreateOptions`.
    pub fn invalid_options(kind: &str, cause: Cause) -> Self {
        Self::invalid("meta.k8s.io", kind, "", vec![cause])
    }

    /// 410: the asked revision is forgotten.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 504: the asked revision is in the future.
    pub fn revision_too_large(asked: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {asked}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".into(),
            field: String::new(),
        };
        Self::new(504, "Timeout", format!("Timeout: {message}")).with_details(Details {
            causes: vec![cause],
            retry_after_seconds: 1,
            ..Details::default()
        })
    }

    fn about(self, group: &str, kind: &str, name: &str) -> Self {
        self.with_details(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            ..Details::default()
        })
    }

    /// Adds details.
    #[must_use]
    pub fn with_details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Adds a cause.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Self {
        self.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// The Status object.
    pub fn to_value(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(token) = &self.continue_token {
            metadata.insert("continue".into(), token.as_str().into());
        }
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure",
            "message": self.message,
        });
        if let Some(body) = status.as_object_mut() {
            if !self.reason.is_empty() {
                body.insert("reason".into(), self.reason.into());
            }
            if let Some(details) = &self.details {
                body.insert("details".into(), details.to_value());
            }
            body.insert("code".into(), self.code.into());
        }
        status
    }
}

impl Details {
    fn to_value(&self) -> Value {
        let mut out = Map::new();
        for (key, text) in
            [("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)]
        {
            if !text.is_empty() {
                out.insert(key.into(), text.as_str().into());
            }
        }
        if !self.causes.is_empty() {
            out.insert("causes".into(), self.causes.iter().map(Cause::to_value).collect());
        }
        if self.retry_after_seconds > 0 {
            out.insert("retryAfterSeconds".into(), self.retry_after_seconds.into());
        }
        Value::Object(out)
    }
}

impl Cause {
    /// A cause from its three parts.
    pub fn new(reason: &str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), field: field.into(), message: message.into() }
    }

    /// The field is missing.
    pub fn required(field: impl Into<String>, why: &str) -> Self {
        let message = if why.is_empty() { "Required value".into() } else { format!("Required value: {why}") };
        Self::new("FieldValueRequired", field, message)
    }

    /// The field's value is wrong.
    pub fn invalid(field: impl Into<String>, value: &Value, why: impl std::fmt::Display) -> Self {
        Self::new("FieldValueInvalid", field, format!("Invalid value: {value}: {why}"))
    }

    /// The field may not be set or changed.
    pub fn forbidden(field: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {why}"))
    }

    /// The field's value is none of the allowed ones.
    pub fn unsupported(field: impl Into<String>, value: &Value, allowed: &[&str]) -> Self {
        let allowed: Vec<String> = allowed.iter().map(|one| format!("{one:?}")).collect();
        let message = format!("Unsupported value: {value}: supported values: {}", allowed.join(", "));
        Self::new("FieldValueNotSupported", field, message)
    }

    fn to_value(&self) -> Value {
        let mut out = Map::new();
        for (key, text) in [("reason", &self.reason), ("message", &self.message), ("field", &self.field)] {
            if !text.is_empty() {
                out.insert(key.into(), text.as_str().into());
            }
        }
        Value::Object(out)
    }
}

/// `deployments.apps`, or `configmaps` in the core group.
pub fn qualified(resource: &str, group: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") }
}
