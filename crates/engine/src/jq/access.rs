//! How expressions take values apart and put them together again.

use std::rc::Rc;

use indexmap::IndexMap;
use jaq_core::box_iter::BoxIter;
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Error, ValR, ValT, ValX};

use super::budget;
use super::natives::indices;
use super::value::{Fields, List, Node, Val, child_at_index, child_at_key};
use crate::lookup::field;

/// Assigning far behind the end of a list must not fill the memory.
const LONGEST_LIST: usize = 1 << 20;

type Failure = Error<Val>;

fn fail<T>(message: String) -> Result<T, Failure> {
    Err(Error::str(message))
}

impl From<bool> for Val {
    fn from(flag: bool) -> Self {
        Self::Bool(flag)
    }
}

impl From<isize> for Val {
    fn from(int: isize) -> Self {
        i64::try_from(int).map_or(Self::Null, Self::Int)
    }
}

impl From<usize> for Val {
    fn from(int: usize) -> Self {
        i64::try_from(int).map_or(Self::Null, Self::Int)
    }
}

impl From<f64> for Val {
    fn from(float: f64) -> Self {
        Self::Float(float)
    }
}

impl From<String> for Val {
    fn from(text: String) -> Self {
        Self::Str(Rc::from(text))
    }
}

/// A slice as it stands in a path: `{"start": 1, "end": null}`.
impl From<Range<Self>> for Val {
    fn from(range: Range<Self>) -> Self {
        let bound = |bound: Option<Self>| bound.unwrap_or(Self::Null);
        let fields = [("start", bound(range.start)), ("end", bound(range.end))];
        Self::fields(fields.into_iter().map(|(key, value)| (Rc::from(key), value)).collect())
    }
}

impl FromIterator<Self> for Val {
    fn from_iter<I: IntoIterator<Item = Self>>(items: I) -> Self {
        Self::list(items.into_iter().inspect(|_| budget::grow(1)).collect())
    }
}

impl ValT for Val {
    fn from_num(text: &str) -> ValR<Self> {
        if let Ok(int) = text.parse() {
            return Ok(Self::Int(int));
        }
        text.parse().map(Self::Float).or_else(|_| fail(format!("`{text}` is not a number")))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(entries: I) -> ValR<Self> {
        let mut map = IndexMap::new();
        for (key, value) in entries {
            budget::grow(1);
            match key {
                Self::Str(key) => map.insert(key, value),
                other => {
                    return fail(format!(
                        "the key of an object must be a string, this is {}",
                        other.described()
                    ));
                }
            };
        }
        Ok(Self::fields(map))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Self, Self), Self>> {
        match self.shallow() {
            Self::Arr(list) => Box::new((0..list.items.len()).filter_map(move |index| {
                list.items.get(index).map(|item| Ok((Self::from(index), item.clone())))
            })),
            Self::Obj(fields) => Box::new((0..fields.map.len()).filter_map(move |index| {
                fields.map.get_index(index).map(|(key, value)| Ok((Self::Str(key.clone()), value.clone())))
            })),
            other => Box::new(std::iter::once(not_iterable(&other))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Self>>> {
        match self.shallow() {
            Self::Arr(list) => Box::new(
                (0..list.items.len()).filter_map(move |index| list.items.get(index).cloned().map(Ok)),
            ),
            Self::Obj(fields) => Box::new(
                (0..fields.map.len())
                    .filter_map(move |index| fields.map.get_index(index).map(|(_, value)| Ok(value.clone()))),
            ),
            other => Box::new(std::iter::once(not_iterable(&other))),
        }
    }

    fn index(self, index: &Self) -> ValR<Self> {
        match (&self, index) {
            (Self::Lazy(lazy), Self::Str(key)) => {
                if let Node::Map(map) = lazy.node() {
                    return Ok(field(map, key).map_or(Self::Null, |value| child_at_key(lazy, key, value)));
                }
            }
            (Self::Lazy(lazy), Self::Int(_) | Self::Float(_) | Self::Read(_)) => {
                if let Node::List(list) = lazy.node() {
                    let at = position(index, list.len());
                    let found = at.and_then(|at| list.get(at).map(|value| child_at_index(lazy, at, value)));
                    return Ok(found.unwrap_or(Self::Null));
                }
            }
            _ => {}
        }
        match (self.shallow(), index) {
            (
                Self::Null,
                Self::Null | Self::Absent | Self::Int(_) | Self::Float(_) | Self::Read(_) | Self::Str(_),
            ) => Ok(Self::Null),
            (Self::Obj(fields), Self::Str(key)) => Ok(fields.map.get(key).cloned().unwrap_or(Self::Null)),
            (Self::Arr(list), Self::Int(_) | Self::Float(_) | Self::Read(_)) => {
                let found = position(index, list.items.len()).and_then(|at| list.items.get(at).cloned());
                Ok(found.unwrap_or(Self::Null))
            }
            (Self::Arr(list), part) if part.type_name() == "array" => Ok(indices(&Self::Arr(list), part)),
            (value, slice) if slice.type_name() == "object" => {
                let (start, end) = slice_bounds(slice)?;
                value.range(start.as_ref()..end.as_ref())
            }
            (value, index) => not_indexable(&value, index),
        }
    }

    fn range(self, range: Range<&Self>) -> ValR<Self> {
        match self.shallow() {
            Self::Null => Ok(Self::Null),
            Self::Str(text) => {
                let count = text.chars().count();
                let (from, to) = bounds(&range, count)?;
                Ok(Self::text(&text.chars().skip(from).take(to - from).collect::<String>()))
            }
            Self::Arr(list) => {
                let (from, to) = bounds(&range, list.items.len())?;
                budget::grow(to - from);
                Ok(Self::list(list.items.get(from..to).unwrap_or_default().to_vec()))
            }
            other => fail(format!("cannot slice {}", other.described())),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let absent = matches!(self, Self::Absent);
        match self.shallow() {
            Self::Arr(list) => {
                let items = Rc::unwrap_or_clone(list).items;
                Ok(Self::list(items.into_iter().filter_map(|item| f(item).next()).collect::<Result<_, _>>()?))
            }
            Self::Obj(fields) => {
                let change = |(key, value)| Some(f(value).next()?.map(|value| (key, value)));
                let map = Rc::unwrap_or_clone(fields).map;
                Ok(Self::fields(map.into_iter().filter_map(change).collect::<Result<_, _>>()?))
            }
            Self::Null if absent && matches!(opt, Opt::Optional) => Ok(Self::Absent),
            other => Ok(opt.fail(other, |other| {
                not_iterable::<()>(&other).err().unwrap_or_else(|| Error::new(other))
            })?),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        index: &Self,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let was_null = matches!(self, Self::Null | Self::Absent);
        let nothing = if matches!(self, Self::Absent) { Self::Absent } else { Self::Null };
        match (self.shallow(), index) {
            (Self::Null, Self::Str(key)) => {
                let made = change_field(Rc::default(), key, f)?;
                Ok(made.filter(|fields| !fields.map.is_empty()).map_or(nothing, Self::Obj))
            }
            (Self::Obj(fields), Self::Str(key)) => {
                Ok(change_field(fields, key, f)?.map_or(Self::Null, Self::Obj))
            }
            (Self::Null, Self::Int(_) | Self::Float(_) | Self::Read(_)) => {
                let list = change_item(Rc::default(), index, f)?;
                Ok(if list.items.is_empty() { nothing } else { Self::Arr(list) })
            }
            (Self::Arr(list), Self::Int(_) | Self::Float(_) | Self::Read(_)) => {
                Ok(Self::Arr(change_item(list, index, f)?))
            }
            (value @ (Self::Arr(_) | Self::Null), slice) if slice.type_name() == "object" => {
                let (start, end) = slice_bounds(slice)?;
                let value = if was_null { Self::list(Vec::new()) } else { value };
                value.map_range(start.as_ref()..end.as_ref(), opt, f)
            }
            (value, index) => Ok(opt.fail(value, |value| {
                not_indexable::<()>(&value, index).err().unwrap_or_else(|| Error::new(value))
            })?),
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        range: Range<&Self>,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let list = match self.shallow() {
            Self::Arr(list) => list,
            Self::Null => Rc::default(),
            other => {
                let message =
                    |other: Self| Error::str(format!("cannot update a slice of {}", other.described()));
                return Ok(opt.fail(other, message)?);
            }
        };
        let (from, to) = bounds(&range, list.items.len())?;
        let slice = Self::list(list.items.get(from..to).unwrap_or_default().to_vec());
        let new = match f(slice).next().transpose()?.map(Self::shallow) {
            None => Vec::new(),
            Some(Self::Arr(new)) => Rc::unwrap_or_clone(new).items,
            Some(other) => {
                return Err(Error::str(format!(
                    "a slice can only be replaced by an array, this is {}",
                    other.described()
                ))
                .into());
            }
        };
        let mut items = Rc::unwrap_or_clone(list).items;
        budget::grow(items.len() + new.len());
        items.splice(from..to, new);
        Ok(Self::list(items))
    }

    fn as_bool(&self) -> bool {
        !matches!(self, Self::Null | Self::Absent | Self::Bool(false))
    }

    fn into_string(self) -> Self {
        match self {
            Self::Str(_) => self,
            other => Self::text(&other.to_string()),
        }
    }
}

/// Replaces or removes one field in place.
fn change_field<'a, I: Iterator<Item = ValX<'a, Val>>>(
    mut fields: Rc<Fields>,
    key: &Rc<str>,
    f: impl Fn(Val) -> I,
) -> ValX<'a, Option<Rc<Fields>>, Val> {
    let inner = Rc::make_mut(&mut fields);
    // The old value is taken out, so that it has one owner and can itself be changed in place.
    let old = inner.map.get_mut(key).map(|slot| std::mem::replace(slot, Val::Null));
    match f(old.unwrap_or(Val::Absent)).next().transpose()? {
        Some(Val::Absent) => {}
        Some(new) => {
            inner.note(&new);
            inner.map.insert(key.clone(), new);
        }
        None => {
            inner.map.shift_remove(key);
        }
    }
    Ok(Some(fields))
}

/// Replaces, removes or adds one item in place; a gap before it is filled with null.
fn change_item<'a, I: Iterator<Item = ValX<'a, Val>>>(
    mut list: Rc<List>,
    index: &Val,
    f: impl Fn(Val) -> I,
) -> ValX<'a, Rc<List>, Val> {
    let length = list.items.len();
    let wanted = index.as_number().unwrap_or(f64::NAN).floor();
    let inner = Rc::make_mut(&mut list);
    let Some(at) = position(index, length) else {
        if wanted.is_nan() || wanted < 0.0 {
            return Err(Error::str(format!("the index {index} is before the start of the array")).into());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative; saturating is fine"
        )]
        let at = wanted as usize;
        if at >= LONGEST_LIST {
            return Err(Error::str(format!("the index {index} is too large")).into());
        }
        let new = f(Val::Absent).next().transpose()?;
        if let Some(new) = new.filter(|new| !matches!(new, Val::Absent)) {
            budget::grow(at - length);
            inner.note(&new);
            inner.items.resize(at, Val::Null);
            inner.items.push(new);
        }
        return Ok(list);
    };
    let old = inner.items.get_mut(at).map_or(Val::Null, |slot| std::mem::replace(slot, Val::Null));
    match f(old).next().transpose()? {
        Some(new) => {
            inner.note(&new);
            if let Some(slot) = inner.items.get_mut(at) {
                *slot = new;
            }
        }
        None => {
            inner.items.remove(at);
        }
    }
    Ok(list)
}

/// The place a number means in a list: fractions are cut off, negative numbers count from the end.
pub(super) fn position(index: &Val, length: usize) -> Option<usize> {
    let wanted = index.as_number()?.floor();
    #[expect(clippy::cast_precision_loss, reason = "lists are far shorter than 2^53")]
    let wanted = if wanted < 0.0 { wanted + length as f64 } else { wanted };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; saturating is fine"
    )]
    let at = if wanted >= 0.0 { wanted as usize } else { return None };
    (at < length).then_some(at)
}

/// The start and end of a slice within `0..=length`, start not after end.
fn bounds(range: &Range<&Val>, length: usize) -> Result<(usize, usize), Failure> {
    let bound = |bound: Option<&Val>, missing: usize, round: fn(f64) -> f64| match bound {
        None | Some(Val::Null | Val::Absent) => Ok(missing),
        Some(value) => match value.as_number() {
            None => fail(format!("a slice must be given by numbers, this is {}", value.described())),
            Some(number) => {
                #[expect(clippy::cast_precision_loss, reason = "lists are far shorter than 2^53")]
                let length = length as f64;
                let number = round(if number.is_nan() { 0.0 } else { number });
                let number = if number < 0.0 { number + length } else { number };
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
                let clamped = number.clamp(0.0, length) as usize;
                Ok(clamped)
            }
        },
    };
    let from = bound(range.start, 0, f64::floor)?;
    let to = bound(range.end, length, f64::ceil)?;
    Ok((from.min(to), to))
}

fn slice_bounds(slice: &Val) -> Result<(Option<Val>, Option<Val>), Failure> {
    let bound = |key: &str| slice.clone().index(&Val::text(key)).map(Some);
    Ok((bound("start")?, bound("end")?))
}

fn not_iterable<T>(value: &Val) -> Result<T, Failure> {
    fail(format!("cannot iterate over {}", value.described()))
}

fn not_indexable<T>(value: &Val, index: &Val) -> Result<T, Failure> {
    match index {
        Val::Str(key) => fail(format!("cannot read `{key}` of {}", value.described())),
        Val::Int(_) | Val::Float(_) | Val::Read(_) => {
            fail(format!("cannot read item {index} of {}", value.described()))
        }
        other => fail(format!("cannot index {} with {}", value.described(), other.described())),
    }
}

impl jaq_std::ValT for Val {
    fn into_seq<S: FromIterator<Self>>(self) -> Result<S, Self> {
        match self.shallow() {
            Self::Arr(list) => Ok(Rc::unwrap_or_clone(list).items.into_iter().collect()),
            other => Err(other),
        }
    }

    fn is_int(&self) -> bool {
        matches!(self, Self::Int(_))
    }

    fn as_isize(&self) -> Option<isize> {
        match self {
            Self::Int(int) => isize::try_from(*int).ok(),
            #[expect(clippy::cast_possible_truncation, reason = "integral and within range")]
            other => match other.as_number() {
                Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => Some(float as isize),
                _ => None,
            },
        }
    }

    fn as_f64(&self) -> Option<f64> {
        self.as_number()
    }

    fn is_utf8_str(&self) -> bool {
        matches!(self, Self::Str(_))
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        self.as_text().map(str::as_bytes)
    }

    fn as_sub_str(&self, part: &[u8]) -> Self {
        Self::from_utf8_bytes(part.to_vec())
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        Self::text(&String::from_utf8_lossy(bytes.as_ref()))
    }
}
