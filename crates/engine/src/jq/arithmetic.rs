//! Comparing, computing and printing values.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

use jaq_core::{Error, ValR};

use super::budget;
use super::value::Val;

type Result = ValR<Val>;

fn fail(message: String) -> Result {
    Err(Error::str(message))
}

fn rank(value: &Val) -> u8 {
    match value {
        Val::Null | Val::Absent => 0,
        Val::Bool(flag) => 1 + u8::from(*flag),
        Val::Int(_) | Val::Float(_) | Val::Read(_) => 3,
        Val::Str(_) => 4,
        other if other.type_name() == "array" => 5,
        _ => 6,
    }
}

/// jq's order of all values. Not-a-number comes first and equals itself, so that sorting is well defined.
impl Ord for Val {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (rank(self), rank(other));
        if left != right {
            return left.cmp(&right);
        }
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Str(a), Self::Str(b)) => a.cmp(b),
            (Self::Arr(a), Self::Arr(b)) => a.items.cmp(&b.items),
            (Self::Obj(a), Self::Obj(b)) => {
                let mut a: Vec<_> = a.map.iter().collect();
                let mut b: Vec<_> = b.map.iter().collect();
                a.sort_unstable_by_key(|(key, _)| *key);
                b.sort_unstable_by_key(|(key, _)| *key);
                let keys = a.iter().map(|(key, _)| key).cmp(b.iter().map(|(key, _)| key));
                keys.then_with(|| a.iter().map(|(_, value)| value).cmp(b.iter().map(|(_, value)| value)))
            }
            (Self::Lazy(_), _) | (_, Self::Lazy(_)) => self.clone().shallow().cmp(&other.clone().shallow()),
            _ => match (self.as_number(), other.as_number()) {
                (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan())),
                _ => Ordering::Equal,
            },
        }
    }
}

/// As [`Ord`], except that not-a-number is less than every number, itself included.
#[expect(clippy::non_canonical_partial_ord_impl, reason = "jq says that nan < nan")]
impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Float(a), Self::Int(_) | Self::Float(_) | Self::Read(_)) if a.is_nan() => {
                Some(Ordering::Less)
            }
            _ => Some(self.cmp(other)),
        }
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null | Self::Absent, Self::Null | Self::Absent) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Arr(a), Self::Arr(b)) => Rc::ptr_eq(a, b) || a.items == b.items,
            (Self::Obj(a), Self::Obj(b)) => Rc::ptr_eq(a, b) || a.map == b.map,
            (Self::Lazy(a), Self::Lazy(b)) if Rc::ptr_eq(a, b) => true,
            (Self::Lazy(_), _) | (_, Self::Lazy(_)) => {
                rank(self) == rank(other) && self.clone().shallow() == other.clone().shallow()
            }
            _ => match (self.as_number(), other.as_number()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }
}

impl Eq for Val {}

/// Compact JSON.
impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.clone().into_value())
    }
}

impl Add for Val {
    type Output = Result;

    fn add(self, other: Self) -> Result {
        budget::step();
        match (self.shallow(), other.shallow()) {
            (Self::Null, value) | (value, Self::Null) => Ok(value),
            (Self::Int(a), Self::Int(b)) => Ok(exact_or_float(a.checked_add(b), a, b, |a, b| a + b)),
            (Self::Str(a), Self::Str(b)) => {
                budget::grow_text(a.len() + b.len());
                Ok(Self::Str(Rc::from(format!("{a}{b}"))))
            }
            (Self::Arr(a), Self::Arr(b)) => {
                budget::grow(a.items.len() + b.items.len());
                let mut items = Rc::unwrap_or_clone(a).items;
                items.extend(b.items.iter().cloned());
                Ok(Self::list(items))
            }
            (Self::Obj(a), Self::Obj(b)) => {
                budget::grow(a.map.len() + b.map.len());
                let mut map = Rc::unwrap_or_clone(a).map;
                map.extend(b.map.iter().map(|(key, value)| (key.clone(), value.clone())));
                Ok(Self::fields(map))
            }
            (a, b) => numbers(&a, &b, |a, b| a + b)
                .map_or_else(|| fail(format!("cannot add {} and {}", a.described(), b.described())), Ok),
        }
    }
}

impl Sub for Val {
    type Output = Result;

    fn sub(self, other: Self) -> Result {
        match (self.shallow(), other.shallow()) {
            (Self::Int(a), Self::Int(b)) => Ok(exact_or_float(a.checked_sub(b), a, b, |a, b| a - b)),
            (Self::Arr(a), Self::Arr(b)) => {
                let mut items = Rc::unwrap_or_clone(a).items;
                budget::compare(items.len().saturating_mul(b.items.len()));
                items.retain(|item| !b.items.contains(item));
                Ok(Self::list(items))
            }
            (a, b) => numbers(&a, &b, |a, b| a - b).map_or_else(
                || fail(format!("cannot subtract {} from {}", b.described(), a.described())),
                Ok,
            ),
        }
    }
}

impl Mul for Val {
    type Output = Result;

    fn mul(self, other: Self) -> Result {
        match (self.shallow(), other.shallow()) {
            (Self::Int(a), Self::Int(b)) => Ok(exact_or_float(a.checked_mul(b), a, b, |a, b| a * b)),
            (Self::Obj(a), Self::Obj(b)) => merge(Self::Obj(a), Self::Obj(b)),
            (Self::Str(text), times @ (Self::Int(_) | Self::Float(_) | Self::Read(_)))
            | (times @ (Self::Int(_) | Self::Float(_) | Self::Read(_)), Self::Str(text)) => {
                Ok(repeated(&text, times.as_number().unwrap_or(0.0)))
            }
            (a, b) => numbers(&a, &b, |a, b| a * b)
                .map_or_else(|| fail(format!("cannot multiply {} by {}", a.described(), b.described())), Ok),
        }
    }
}

impl Div for Val {
    type Output = Result;

    fn div(self, other: Self) -> Result {
        match (&self, &other) {
            (Self::Int(a), Self::Int(b)) if *b != 0 && a.checked_rem(*b) == Some(0) => {
                Ok(a.checked_div(*b).map_or_else(|| Self::Float(-(i64::MIN as f64)), Self::Int))
            }
            (Self::Str(text), Self::Str(separator)) => Ok(split(text, separator)),
            (a, b) if b.as_number() == Some(0.0) && a.as_number().is_some() => {
                fail(format!("cannot divide {a} by zero"))
            }
            (a, b) => numbers(a, b, |a, b| a / b)
                .map_or_else(|| fail(format!("cannot divide {} by {}", a.described(), b.described())), Ok),
        }
    }
}

impl Rem for Val {
    type Output = Result;

    fn rem(self, other: Self) -> Result {
        let (Some(a), Some(b)) = (self.as_number(), other.as_number()) else {
            let (a, b) = (self.described(), other.described());
            return fail(format!("cannot take the remainder of {a} divided by {b}"));
        };
        if a.is_nan() || b.is_nan() {
            return Ok(Self::Float(f64::NAN));
        }
        // jq truncates both sides to integers.
        #[expect(clippy::cast_possible_truncation, reason = "saturating is what jq does")]
        let (a, b) = (a as i64, b as i64);
        match b {
            0 => fail(format!("cannot divide {self} by zero")),
            b => Ok(Self::Int(a.checked_rem(b).unwrap_or(0))),
        }
    }
}

impl Neg for Val {
    type Output = Result;

    fn neg(self) -> Result {
        match self {
            Self::Int(int) => Ok(int.checked_neg().map_or_else(|| Self::Float(-(int as f64)), Self::Int)),
            other if other.as_number().is_some() => Ok(Self::Float(-other.as_number().unwrap_or(f64::NAN))),
            other => fail(format!("cannot negate {}", other.described())),
        }
    }
}

fn numbers(a: &Val, b: &Val, compute: impl Fn(f64, f64) -> f64) -> Option<Val> {
    Some(Val::Float(compute(a.as_number()?, b.as_number()?)))
}

/// The exact integer, or the floating-point result when it does not fit.
fn exact_or_float(exact: Option<i64>, a: i64, b: i64, compute: impl Fn(f64, f64) -> f64) -> Val {
    #[expect(clippy::cast_precision_loss, reason = "jq numbers are floating point")]
    exact.map_or_else(|| Val::Float(compute(a as f64, b as f64)), Val::Int)
}

/// Merges mappings at every level; the right side wins.
fn merge(a: Val, b: Val) -> Result {
    match (a.shallow(), b.shallow()) {
        (Val::Obj(a), Val::Obj(b)) => {
            budget::grow(a.map.len() + b.map.len());
            let mut map = Rc::unwrap_or_clone(a).map;
            for (key, value) in &b.map {
                let merged = match map.get(key) {
                    Some(old) => merge(old.clone(), value.clone())?,
                    None => value.clone(),
                };
                map.insert(key.clone(), merged);
            }
            Ok(Val::fields(map))
        }
        (_, b) => Ok(b),
    }
}

/// A text repeated; null when it is repeated less than once.
fn repeated(text: &str, times: f64) -> Val {
    if times.is_nan() || times <= 0.0 {
        return Val::Null;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and saturating is fine"
    )]
    let times = if times < 1.0 { 1 } else { times as usize };
    budget::grow_text(text.len().saturating_mul(times));
    Val::text(&text.repeat(times))
}

/// Cuts a text at every separator; an empty separator cuts between all characters.
pub(super) fn split(text: &str, separator: &str) -> Val {
    let parts: Vec<Val> = match (text.is_empty(), separator.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => text.chars().map(|c| Val::text(c.encode_utf8(&mut [0; 4]))).collect(),
        (false, false) => text.split(separator).map(Val::text).collect(),
    };
    budget::grow(parts.len());
    Val::list(parts)
}
