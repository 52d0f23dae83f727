//! Versions and constraints in the grammar of Masterminds/semver, which Helm and package authors write.
//!
//! A version may leave out parts and may start with `v`: `v1`, `1.2`, `1.2.3-rc.1+build`. A constraint joins
//! comparisons with spaces or commas (all must hold) and `||` (one group must hold); it knows `=`, `!=`, `>`, `<`,
//! `>=`, `=>`, `<=`, `=<`, `~`, `~>`, `^`, wildcards (`1.x`, `1.2.*`) and ranges (`1.2 - 2.3`).
//!
//! ```
//! use podsmith_gotemplate::semver::{Constraint, Version};
//! let constraint = Constraint::parse(">=1.2, <2 || ~3.1").unwrap();
//! assert!(constraint.matches(&Version::parse("v1.9").unwrap()));
//! assert!(!constraint.matches(&Version::parse("2.0.0").unwrap()));
//! assert!(!constraint.matches(&Version::parse("1.3.0-rc.1").unwrap()));
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use thiserror::Error;

/// A version.
///
/// The order is total: precedence first, as semver defines it; versions of one precedence are ordered by their build
/// metadata, so that `1.0.0+1 < 1.0.0+2`. [`Version::precedence`] leaves the metadata out.
#[derive(Clone, Debug)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number; 0 if left out.
    pub minor: u64,
    /// The third number; 0 if left out.
    pub patch: u64,
    /// What follows `-`.
    pub pre: String,
    /// What follows `+`.
    pub metadata: String,
    /// The text as given.
    pub original: String,
}

/// Why a text is no version or constraint.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum SemverError {
    /// Not of the form of a version.
    #[error("invalid semantic version")]
    Version,
    /// A number that does not fit.
    #[error("error parsing version segment: strconv.ParseUint: parsing {0:?}: value out of range")]
    Number(String),
    /// A number in the pre-release starts with 0.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// A part of a pre-release is empty.
    #[error("invalid prerelease string")]
    Prerelease,
    /// Too long.
    #[error("version string is too long (max 256 bytes)")]
    VersionTooLong,
    /// Not of the form of a constraint.
    #[error("improper constraint: {0:?}")]
    Constraint(String),
    /// A constraint whose version is none.
    #[error("constraint parser error")]
    ConstraintVersion,
    /// Too long.
    #[error("constraint string is too long (max 512 bytes)")]
    ConstraintTooLong,
    /// Too many `||`.
    #[error("too many constraint groups (max 32)")]
    TooManyGroups,
}

const OPERATORS: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";
const PATTERN: &str = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?";
const SPACE: &str = r"[\t\n\f\r ]";

fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

static ONE: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(&format!("^{SPACE}*({OPERATORS}){SPACE}*({PATTERN}){SPACE}*$")));
static RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(&format!("{SPACE}*({PATTERN}){SPACE}+-{SPACE}+({PATTERN}){SPACE}*")));
static EACH: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(&format!("({OPERATORS}){SPACE}*({PATTERN})")));
static GROUP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(&format!(
        "^({SPACE}*({OPERATORS}){SPACE}*({PATTERN}){SPACE}*)((?:{SPACE}+|,{SPACE}*)({OPERATORS}){SPACE}*({PATTERN}){SPACE}*)*$"
    ))
});

impl Version {
    /// Parses a version, filling in what is left out.
    ///
    /// # Errors
    ///
    /// On any other text.
    pub fn parse(text: &str) -> Result<Self, SemverError> {
        if text.len() > 256 {
            return Err(SemverError::VersionTooLong);
        }
        let rest = text.strip_prefix('v').unwrap_or(text);
        let (rest, metadata) = split_suffix(rest, '+')?;
        let (numbers, pre) = split_suffix(rest, '-')?;
        let parts: Vec<&str> = numbers.split('.').collect();
        let wrong = parts.len() > 3
            || parts.iter().any(|part| part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()));
        if wrong {
            return Err(SemverError::Version);
        }
        let number = |index: usize| match parts.get(index) {
            None => Ok(0),
            Some(part) => part.parse::<u64>().map_err(|_| SemverError::Number((*part).to_owned())),
        };
        let (major, minor, patch) = (number(0)?, number(1)?, number(2)?);
        for part in pre.split('.') {
            if part.len() > 1 && part.starts_with('0') && part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(SemverError::LeadingZero);
            }
        }
        Ok(Self {
            major,
            minor,
            patch,
            pre: pre.to_owned(),
            metadata: metadata.to_owned(),
            original: text.to_owned(),
        })
    }

    /// The order of versions as semver defines it, without build metadata.
    pub fn precedence(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_pre(&self.pre, &other.pre))
    }
}

/// Cuts off the part after `mark`: identifiers of letters, digits and hyphens, joined with dots.
fn split_suffix(text: &str, mark: char) -> Result<(&str, &str), SemverError> {
    let Some((head, tail)) = text.split_once(mark) else { return Ok((text, "")) };
    let fine = tail
        .split('.')
        .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
    if fine { Ok((head, tail)) } else { Err(SemverError::Version) }
}

fn compare_pre(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => compare_identifiers(a, b),
    }
}

/// Identifier by identifier: numbers by value and before words, words by their bytes; the longer list wins.
fn compare_identifiers(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(x), Some(y)) => compare_identifier(x, y),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn compare_identifier(a: &str, b: &str) -> Ordering {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match (is_number(a), is_number(b)) {
        (true, true) => {
            let (x, y) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
            // Leading zeros make two texts of one number; the longer comes last, to keep the order total.
            x.len().cmp(&y.len()).then_with(|| x.cmp(y)).then_with(|| a.len().cmp(&b.len()))
        }
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => a.cmp(b),
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence(other).then_with(|| match (self.metadata.is_empty(), other.metadata.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => compare_identifiers(&self.metadata, &other.metadata),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

/// Which parts of a constraint's version are wildcards or left out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Open {
    No,
    Patch,
    Minor,
    All,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

#[derive(Clone, Debug)]
struct Comparison {
    operator: Operator,
    version: Version,
    open: Open,
}

/// Groups of comparisons; one group must hold.
#[derive(Clone, Debug)]
pub struct Constraint {
    groups: Vec<Vec<Comparison>>,
    text: String,
}

impl Constraint {
    /// Parses a constraint.
    ///
    /// # Errors
    ///
    /// On any other text.
    pub fn parse(text: &str) -> Result<Self, SemverError> {
        if text.len() > 512 {
            return Err(SemverError::ConstraintTooLong);
        }
        let rewritten = rewrite_ranges(text);
        let parts: Vec<&str> = rewritten.split("||").collect();
        if parts.len() > 32 {
            return Err(SemverError::TooManyGroups);
        }
        let groups = parts.into_iter().map(parse_group).collect::<Result<_, _>>()?;
        Ok(Self { groups, text: text.to_owned() })
    }

    /// True if `version` satisfies the constraint. A pre-release satisfies only a group that names a pre-release
    /// itself.
    pub fn matches(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let takes_pre = group.iter().any(|comparison| !comparison.version.pre.is_empty());
            (version.pre.is_empty() || takes_pre) && group.iter().all(|comparison| comparison.holds(version))
        })
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `1.2 - 2.3` becomes `>= 1.2, <= 2.3`.
fn rewrite_ranges(text: &str) -> String {
    let Some(range) = RANGE.as_ref() else { return text.to_owned() };
    let mut out = text.to_owned();
    for found in range.captures_iter(text) {
        let group = |index: usize| found.get(index).map_or("", |part| part.as_str());
        out = out.replacen(group(0), &format!(">= {}, <= {} ", group(1), group(11)), 1);
    }
    out
}

fn parse_group(text: &str) -> Result<Vec<Comparison>, SemverError> {
    let (Some(group), Some(each)) = (GROUP.as_ref(), EACH.as_ref()) else {
        return Err(SemverError::ConstraintVersion);
    };
    if !group.is_match(text) {
        return Err(SemverError::Constraint(text.to_owned()));
    }
    each.find_iter(text).map(|found| parse_comparison(found.as_str())).collect()
}

fn parse_comparison(text: &str) -> Result<Comparison, SemverError> {
    let improper = || SemverError::Constraint(text.to_owned());
    let found = ONE.as_ref().and_then(|one| one.captures(text)).ok_or_else(improper)?;
    let group = |index: usize| found.get(index).map_or("", |part| part.as_str());
    let is_open = |part: &str| matches!(part.trim_start_matches('.'), "" | "x" | "X" | "*");
    let (major, minor, patch, pre) = (group(3), group(4), group(5), group(6));
    let (version, open) = if is_open(major) {
        (format!("0.0.0{pre}"), Open::All)
    } else if is_open(minor) {
        (format!("{major}.0.0{pre}"), Open::Minor)
    } else if is_open(patch) {
        (format!("{major}{minor}.0{pre}"), Open::Patch)
    } else {
        (group(2).to_owned(), Open::No)
    };
    let version = Version::parse(&version).map_err(|_| SemverError::ConstraintVersion)?;
    let operator = match group(1) {
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        "<" => Operator::Less,
        ">=" | "=>" => Operator::GreaterOrEqual,
        "<=" | "=<" => Operator::LessOrEqual,
        "~" | "~>" => Operator::Tilde,
        "^" => Operator::Caret,
        _ => Operator::Equal,
    };
    Ok(Comparison { operator, version, open })
}

impl Comparison {
    fn holds(&self, version: &Version) -> bool {
        let order = version.precedence(&self.version);
        match self.operator {
            Operator::Equal if self.open == Open::No => order.is_eq(),
            Operator::Equal | Operator::Tilde => self.tilde(version),
            Operator::NotEqual => self.not_equal(version),
            Operator::Less => order.is_lt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Greater => match self.open {
                Open::Minor => version.major > self.version.major,
                Open::Patch => (version.major, version.minor) > (self.version.major, self.version.minor),
                Open::No | Open::All => order.is_gt(),
            },
            Operator::LessOrEqual => match self.open {
                Open::No => order.is_le(),
                Open::Minor => version.major <= self.version.major,
                Open::Patch | Open::All => {
                    (version.major, version.minor) <= (self.version.major, self.version.minor)
                }
            },
            Operator::Caret => self.caret(version),
        }
    }

    /// At least this version, and within its minor version, or within its major version if the minor is open.
    fn tilde(&self, version: &Version) -> bool {
        let own = &self.version;
        if version.precedence(own).is_lt() {
            return false;
        }
        let any = (own.major, own.minor, own.patch) == (0, 0, 0) && matches!(self.open, Open::No | Open::All);
        any || (version.major == own.major && (version.minor == own.minor || self.open == Open::Minor))
    }

    fn not_equal(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.open {
            Open::No => version.precedence(own).is_ne(),
            _ if version.major != own.major => true,
            Open::Minor => false,
            _ if version.minor != own.minor => true,
            Open::All => version.precedence(own).is_ne(),
            Open::Patch => compare_pre(&version.pre, &own.pre).is_ne(),
        }
    }

    /// At least this version, without a change of the first number that is not zero.
    fn caret(&self, version: &Version) -> bool {
        let own = &self.version;
        if version.precedence(own).is_lt() {
            return false;
        }
        if own.major > 0 || self.open == Open::Minor {
            return version.major == own.major;
        }
        if version.major > 0 {
            return false;
        }
        if own.minor > 0 || self.open == Open::Patch {
            return version.minor == own.minor;
        }
        version.minor == 0 && version.patch == own.patch
    }
}
