//! Query strings, and the options of requests they or the body carry.

use podsmith_object::Value;
use podsmith_object::selector::Selector;

use crate::status::{ApiError, ApiResult, Cause};

/// A query string. Keys may repeat; empty parts are ignored, because clients send `?&watch=true` and a bare `?`.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads the part after the question mark.
    pub fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|part| !part.is_empty())
            .map(|part| {
                let (key, value) = part.split_once('=').unwrap_or((part, ""));
                (form_decode(key), form_decode(value))
            })
            .collect();
        Self { pairs }
    }

    /// The first value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// All values of a key.
    pub fn all<'q>(&'q self, key: &'q str) -> impl Iterator<Item = &'q str> {
        self.pairs.iter().filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// A value as the Go libraries read booleans: present and not `false` or `0`.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| !matches!(value, "false" | "0" | "False" | "FALSE"))
    }

    /// A whole number; text that is none is a bad request.
    fn number(&self, key: &str) -> ApiResult<Option<u64>> {
        match self.get(key) {
            None | Some("") => Ok(None),
            Some(text) => match text.parse::<i64>() {
                Ok(number) => Ok(u64::try_from(number).ok()),
                Err(_) => Err(ApiError::bad_request(format!(
                    "strconv.ParseInt: parsing \"{text}\": invalid syntax"
                ))),
            },
        }
    }
}

/// Options of list, watch and deletecollection.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// Labels an object must have.
    pub labels: Selector,
    /// Fields an object must have: path, equal or not, value.
    pub fields: Vec<(String, bool, String)>,
    /// The revision as written.
    pub resource_version: String,
    /// `Exact` or `NotOlderThan`.
    pub resource_version_match: String,
    /// At most this many objects.
    pub limit: Option<usize>,
    /// Where the last page ended.
    pub continue_token: String,
    /// Watch instead of list.
    pub watch: bool,
    /// Send bookmarks.
    pub bookmarks: bool,
    /// Begin the watch with the present state and say when it ends.
    pub send_initial_events: Option<bool>,
    /// When the watch ends.
    pub timeout_seconds: Option<u64>,
}

impl ListOptions {
    /// Reads and checks the options.
    ///
    /// # Errors
    ///
    /// On a selector or a number that cannot be read, and on combinations that make no sense.
    pub fn read(query: &Query) -> ApiResult<Self> {
        let text = |key: &str| query.get(key).unwrap_or("").to_owned();
        let labels = Selector::parse(query.get("labelSelector").unwrap_or(""))
            .map_err(|error| ApiError::bad_request(format!("unable to parse requirement: {error}")))?;
        let options = Self {
            labels,
            fields: parse_fields(query.get("fieldSelector").unwrap_or(""))?,
            resource_version: text("resourceVersion"),
            resource_version_match: text("resourceVersionMatch"),
            limit: query.number("limit")?.filter(|limit| *limit > 0).and_then(|n| usize::try_from(n).ok()),
            continue_token: text("continue"),
            watch: query.flag("watch"),
            bookmarks: query.flag("allowWatchBookmarks"),
            send_initial_events: query.get("sendInitialEvents").map(|_| query.flag("sendInitialEvents")),
            timeout_seconds: query.number("timeoutSeconds")?,
        };
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> ApiResult<()> {
        let refuse = |cause| Err(ApiError::invalid_options("ListOptions", cause));
        let forbid = |field: &str, why: &str| Cause::forbidden(field, why);
        let matching = self.resource_version_match.as_str();
        if self.watch {
            if self.send_initial_events.is_some() && matching != "NotOlderThan" {
                return refuse(forbid(
                    "resourceVersionMatch",
                    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                ));
            }
            if self.send_initial_events.is_none() && !matching.is_empty() {
                return refuse(forbid(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
                ));
            }
            return Ok(());
        }
        if self.send_initial_events.is_some() {
            return refuse(forbid("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        if matching.is_empty() {
            return Ok(());
        }
        if self.resource_version.is_empty() {
            return refuse(forbid(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            ));
        }
        if !self.continue_token.is_empty() {
            return refuse(forbid(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
        if !matches!(matching, "Exact" | "NotOlderThan") {
            let allowed = ["Exact", "NotOlderThan", ""];
            return refuse(Cause::unsupported("resourceVersionMatch", &Value::from(matching), &allowed));
        }
        if matching == "Exact" && self.resource_version == "0" {
            return refuse(forbid(
                "resourceVersionMatch",
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ));
        }
        Ok(())
    }
}

/// Field selectors: `a=b,c!=d`. A backslash keeps the next character.
fn parse_fields(text: &str) -> ApiResult<Vec<(String, bool, String)>> {
    let mut terms = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let Some(term) = terms.last_mut() else { break };
        match character {
            '\\' => {
                term.push('\\');
                term.extend(characters.next());
            }
            ',' => terms.push(String::new()),
            other => term.push(other),
        }
    }
    let mut fields = Vec::new();
    for term in terms.iter().filter(|term| !term.is_empty()) {
        let (path, equal, value) = if let Some((path, value)) = term.split_once("!=") {
            (path, false, value)
        } else if let Some((path, value)) = term.split_once("==") {
            (path, true, value)
        } else if let Some((path, value)) = term.split_once('=') {
            (path, true, value)
        } else {
            return Err(ApiError::bad_request(format!(
                "invalid field selector: invalid selector: '{text}'; can't understand '{term}'"
            )));
        };
        fields.push((path.to_owned(), equal, value.replace('\\', "")));
    }
    Ok(fields)
}

/// How strictly a body's fields are checked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FieldValidation {
    /// Unknown fields are dropped.
    Ignore,
    /// Unknown fields are dropped with a warning.
    #[default]
    Warn,
    /// Unknown fields are errors.
    Strict,
}

/// Options of create, update and patch.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Do everything but store.
    pub dry_run: bool,
    /// Who writes; empty when not given.
    pub field_manager: String,
    /// Check of unknown fields.
    pub validation: FieldValidation,
    /// Take fields from other managers.
    pub force: Option<bool>,
}

impl WriteOptions {
    /// Reads and checks the options; `kind` is the options' own kind, for messages.
    ///
    /// # Errors
    ///
    /// On values nobody knows.
    pub fn read(query: &Query, kind: &str) -> ApiResult<Self> {
        let validation = match query.get("fieldValidation").unwrap_or("") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let allowed = ["", "Ignore", "Strict", "Warn"];
                let cause = Cause::unsupported("fieldValidation", &other.into(), &allowed);
                return Err(ApiError::invalid_options(kind, cause));
            }
        };
        let manager = query.get("fieldManager").unwrap_or("").to_owned();
        if manager.len() > 128 {
            let cause =
                Cause::new("FieldValueTooLong", "fieldManager", "Too long: may not be more than 128 bytes");
            return Err(ApiError::invalid_options(kind, cause));
        }
        let force = query.get("force").map(|_| query.flag("force"));
        Ok(Self { dry_run: dry_run(query.all("dryRun"), kind)?, field_manager: manager, validation, force })
    }
}

fn dry_run<'v>(values: impl Iterator<Item = &'v str>, kind: &str) -> ApiResult<bool> {
    let mut dry = false;
    for value in values.filter(|value| !value.is_empty()) {
        if value != "All" {
            let cause = Cause::unsupported("dryRun", &Value::from(vec![value]), &["All"]);
            return Err(ApiError::invalid_options(kind, cause));
        }
        dry = true;
    }
    Ok(dry)
}

/// Options of delete, from the query and the body.
#[derive(Clone, Debug, Default)]
pub struct DeleteOptions {
    /// Do everything but delete.
    pub dry_run: bool,
    /// How long to wait for a graceful end.
    pub grace_period_seconds: Option<i64>,
    /// `Foreground`, `Background` or `Orphan`.
    pub propagation: Option<String>,
    /// Delete only the object with this uid.
    pub uid: Option<String>,
    /// Delete only at this revision.
    pub resource_version: Option<String>,
}

impl DeleteOptions {
    /// Reads both; the body wins.
    ///
    /// # Errors
    ///
    /// On values nobody knows.
    pub fn read(query: &Query, body: Option<&Value>) -> ApiResult<Self> {
        const KIND: &str = "DeleteOptions";
        let field = |key: &str| body.and_then(|body| body.get(key)).filter(|value| !value.is_null());
        let mut options = Self { dry_run: dry_run(query.all("dryRun"), KIND)?, ..Self::default() };
        if let Some(list) = field("dryRun").and_then(Value::as_array) {
            options.dry_run |= dry_run(list.iter().filter_map(Value::as_str), KIND)?;
        }
        options.grace_period_seconds = match field("gracePeriodSeconds").and_then(Value::as_i64) {
            Some(seconds) => Some(seconds),
            None => query.get("gracePeriodSeconds").and_then(|text| text.parse().ok()),
        };
        let policy = field("propagationPolicy").and_then(Value::as_str).or(query.get("propagationPolicy"));
        let orphan = field("orphanDependents")
            .and_then(Value::as_bool)
            .or_else(|| query.get("orphanDependents").map(|_| query.flag("orphanDependents")));
        if let Some(policy) = policy {
            if orphan.is_some() {
                let cause = Cause::invalid(
                    "propagationPolicy",
                    &Value::from(policy),
                    "orphanDependents and deletionPropagation cannot be both set",
                );
                return Err(ApiError::invalid_options(KIND, cause));
            }
            if !matches!(policy, "Foreground" | "Background" | "Orphan") {
                let allowed = ["Foreground", "Background", "Orphan", "nil"];
                let cause = Cause::unsupported("propagationPolicy", &Value::from(policy), &allowed);
                return Err(ApiError::invalid_options(KIND, cause));
            }
        }
        options.propagation = policy.map(str::to_owned).or(match orphan {
            Some(true) => Some("Orphan".to_owned()),
            Some(false) => Some("Background".to_owned()),
            None => None,
        });
        let conditions = field("preconditions");
        let condition = |key: &str| Some(conditions?.get(key)?.as_str()?.to_owned());
        options.uid = condition("uid");
        options.resource_version = condition("resourceVersion");
        Ok(options)
    }
}

/// Decodes `%41` in a path.
pub(super) fn percent_decode(text: &str) -> String {
    decode(text, false)
}

fn form_decode(text: &str) -> String {
    decode(text, true)
}

fn decode(text: &str, plus_is_space: bool) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' if plus_is_space => out.push(b' '),
            b'%' => {
                let rest = bytes.clone();
                let digits: Vec<u8> = rest.take(2).collect();
                let value =
                    std::str::from_utf8(&digits).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
                match value {
                    Some(value) if digits.len() == 2 => {
                        out.push(value);
                        bytes.nth(1);
                    }
                    _ => out.push(b'%'),
                }
            }
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use podsmith_object::json;

    use super::*;

    #[test]
    fn odd_query_strings_are_understood() {
        let query = Query::parse("&watch=true&a=b%20c+d&command=x&command=y&%zz=1");
        assert!(query.flag("watch"));
        assert_eq!(query.get("a"), Some("b c d"));
        assert_eq!(query.all("command").collect::<Vec<_>>(), ["x", "y"]);
        assert!(Query::parse("").get("a").is_none());
    }

    #[test]
    fn field_selectors_are_lists_of_terms() {
        let fields = parse_fields("metadata.name=a,x!=b\\,c,y==d").unwrap();
        let expected = [("metadata.name", true, "a"), ("x", false, "b,c"), ("y", true, "d")];
        assert_eq!(fields.iter().map(|(p, e, v)| (p.as_str(), *e, v.as_str())).collect::<Vec<_>>(), expected);
        assert!(parse_fields("nonsense").is_err());
    }

    #[test]
    fn delete_options_come_from_query_or_body() {
        let body = json!({"gracePeriodSeconds": 3, "preconditions": {"uid": "u"}});
        let options =
            DeleteOptions::read(&Query::parse("propagationPolicy=Orphan&dryRun=All"), Some(&body)).unwrap();
        assert_eq!((options.grace_period_seconds, options.dry_run), (Some(3), true));
        assert_eq!((options.propagation.as_deref(), options.uid.as_deref()), (Some("Orphan"), Some("u")));
        let both = json!({"orphanDependents": true, "propagationPolicy": "Orphan"});
        assert_eq!(DeleteOptions::read(&Query::default(), Some(&both)).unwrap_err().code, 422);
    }
}
