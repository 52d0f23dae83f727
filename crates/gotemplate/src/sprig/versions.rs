//! `semver` and `semverCompare`.

use podsmith_object::Value as Json;

use crate::args::{Table, text};
use crate::error::CallError;
use crate::function::Parameter::String as S;
use crate::native::Native;
use crate::semver::{Constraint, SemverError, Version};
use crate::value::{IntKind, Value};

pub(super) const TABLE: Table = &[
    ("semver", &[S], None, |_, a| {
        Ok(Value::native(GoVersion(Version::parse(&text(a, 0)).map_err(refused)?)))
    }),
    ("semverCompare", &[S, S], None, |_, a| {
        let constraint = Constraint::parse(&text(a, 0)).map_err(refused)?;
        let version = Version::parse(&text(a, 1)).map_err(refused)?;
        Ok(constraint.matches(&version).into())
    }),
];

fn refused(error: SemverError) -> CallError {
    CallError::from(error.to_string())
}

/// A version with the methods that templates call.
struct GoVersion(Version);

impl Native for GoVersion {
    fn type_name(&self) -> &str {
        "*semver.Version"
    }

    fn kind(&self) -> &'static str {
        "ptr"
    }

    fn field(&self, _: &str) -> Option<Value> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let version = &self.0;
        let number = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX), IntKind::Uint64);
        let next = |major: u64, minor: u64, patch: u64| {
            let text = format!("{major}.{minor}.{patch}");
            Version::parse(&text).map(|version| Value::native(Self(version))).unwrap_or_default()
        };
        let value = match (name, arguments) {
            ("Major", []) => number(version.major),
            ("Minor", []) => number(version.minor),
            ("Patch", []) => number(version.patch),
            ("Prerelease", []) => version.pre.as_str().into(),
            ("Metadata", []) => version.metadata.as_str().into(),
            ("Original", []) => version.original.as_str().into(),
            ("String", []) => version.to_string().into(),
            ("IncMajor", []) => next(version.major.saturating_add(1), 0, 0),
            ("IncMinor", []) => next(version.major, version.minor.saturating_add(1), 0),
            ("IncPatch", []) => {
                let step = u64::from(version.pre.is_empty());
                next(version.major, version.minor, version.patch.saturating_add(step))
            }
            (
                "Compare" | "LessThan" | "GreaterThan" | "Equal" | "LessThanEqual" | "GreaterThanEqual",
                [other],
            ) => {
                let Some(order) = self.order(other) else {
                    let found = other.type_name();
                    return Some(Err(format!("wrong type for value; expected *semver.Version; got {found}")));
                };
                match name {
                    "Compare" => Value::int(order as i64),
                    "LessThan" => order.is_lt().into(),
                    "GreaterThan" => order.is_gt().into(),
                    "LessThanEqual" => order.is_le().into(),
                    "GreaterThanEqual" => order.is_ge().into(),
                    _ => order.is_eq().into(),
                }
            }
            _ => return None,
        };
        Some(Ok(value))
    }

    fn print(&self) -> String {
        self.0.to_string()
    }

    fn to_json(&self) -> Json {
        Json::from(self.0.to_string())
    }
}

impl GoVersion {
    fn order(&self, other: &Value) -> Option<std::cmp::Ordering> {
        let Value::Native(native) = other else { return None };
        let any: &dyn std::any::Any = &**native;
        any.downcast_ref::<Self>().map(|other| self.0.precedence(&other.0))
    }
}
