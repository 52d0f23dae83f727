//! Changing values at paths: `setpath`, `delpaths`, and updates through `first`, `last`, `limit` and `skip`.

use std::rc::Rc;

use jaq_core::box_iter::box_once;
use jaq_core::native::Fun;
use jaq_core::path::Opt;
use jaq_core::{Error, Exn, ValR, ValT, ValX};

use super::program::JqData;
use super::value::Val;
use super::{access, budget};

type Result = ValR<Val>;

fn steps(path: Val) -> std::result::Result<Vec<Val>, Error<Val>> {
    match path.shallow() {
        Val::Arr(list) => Ok(Rc::unwrap_or_clone(list).items),
        other => Err(Error::str(format!("a path must be an array, this is {}", other.described()))),
    }
}

pub(super) fn set(value: Val, path: Val, new: Val) -> Result {
    set_at(value, &steps(path)?, new)
}

fn set_at(value: Val, path: &[Val], new: Val) -> Result {
    budget::step();
    let Some((first, rest)) = path.split_first() else { return Ok(new) };
    let change = |old: Val| std::iter::once(set_at(old, rest, new.clone()).map_err(Exn::from));
    let changed: ValX<'_, Val> = value.map_index(first, Opt::Essential, change);
    changed.map_err(|exception| exception.get_err().unwrap_or_else(|_| Error::str("cannot set the path")))
}

fn get_at(value: Val, path: &[Val]) -> Result {
    path.iter().try_fold(value, |value, step| value.index(step))
}

/// Deletes all paths at once: what one path means does not depend on what another one deletes.
pub(super) fn delete(value: Val, paths: Val) -> Result {
    let paths = steps(paths)?.into_iter().map(steps).collect::<std::result::Result<Vec<_>, _>>()?;
    delete_all(value, paths)
}

fn delete_all(value: Val, mut paths: Vec<Vec<Val>>) -> Result {
    // From the last to the first, so that an index still means what it meant. A negative index is made positive
    // first, or it would sort wrongly.
    for path in &mut paths {
        normalize(&value, path)?;
    }
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().rev().try_fold(value, |value, path| delete_at(value, &path))
}

fn normalize(value: &Val, path: &mut [Val]) -> std::result::Result<(), Error<Val>> {
    let mut current = value.clone();
    for step in path {
        if let Val::Arr(list) = current.clone().shallow()
            && let Some(at) = access::position(step, list.items.len())
        {
            *step = Val::from(at);
        }
        current = match current.index(step) {
            Ok(next) => next,
            Err(_) => return Ok(()),
        };
    }
    Ok(())
}

fn delete_at(value: Val, path: &[Val]) -> Result {
    budget::step();
    let Some((first, rest)) = path.split_first() else { return Ok(Val::Null) };
    if value.type_name() == "null" {
        return Ok(Val::Null);
    }
    // Deleting what is not there must not make its parents.
    if !rest.is_empty() && value.clone().index(first)?.type_name() == "null" {
        return Ok(value);
    }
    let change = |old: Val| {
        let kept = (!rest.is_empty()).then(|| delete_at(old, rest).map_err(Exn::from));
        kept.into_iter()
    };
    let changed: ValX<'_, Val> = value.map_index(first, Opt::Essential, change);
    changed.map_err(|exception| exception.get_err().unwrap_or_else(|_| Error::str("cannot delete the path")))
}

/// The events of `tostream`, as a list.
pub(super) fn stream_events(value: Val) -> Result {
    fn visit(out: &mut Vec<Val>, path: &mut Vec<Val>, value: Val) -> std::result::Result<(), Error<Val>> {
        budget::grow(path.len() + 1);
        let is_empty = match value.type_name() {
            "array" | "object" => value.clone().key_values().next().is_none(),
            _ => true,
        };
        if is_empty {
            out.push(Val::list(vec![Val::list(path.clone()), value]));
            return Ok(());
        }
        let mut last = None;
        for pair in value.key_values() {
            let (key, child) = pair?;
            path.push(key.clone());
            visit(out, path, child)?;
            path.pop();
            last = Some(key);
        }
        if let Some(key) = last {
            let mut closing = path.clone();
            closing.push(key);
            out.push(Val::list(vec![Val::list(closing)]));
        }
        Ok(())
    }
    let mut out = Vec::new();
    visit(&mut out, &mut Vec::new(), value)?;
    Ok(Val::list(out))
}

/// Gives `first(f)`, `last(f)`, `limit(n; f)` and `skip(n; f)` an update, which the interpreter lacks: the paths are
/// collected, then each is changed.
pub(super) fn with_update((name, arguments, native): Fun<JqData>) -> Fun<JqData> {
    macro_rules! update {
        ($choose:expr, $variable:expr) => {
            native.with_update(|mut cv, f| {
                let (id, context) = cv.0.pop_fun();
                let count = if $variable { cv.0.pop_var() } else { Val::Null };
                let value = cv.1;
                let paths = id.paths((context, (value.clone(), Default::default())));
                let paths = paths.map(|found| {
                    let (_, path) = found?;
                    let mut path: Vec<Val> = path.iter().cloned().collect();
                    path.reverse();
                    Ok(path)
                });
                let chosen: Chosen<'_> = $choose(Box::new(paths), &count);
                box_once(chosen.and_then(|paths| update_all(value, paths, &|old| f(old).next())))
            })
        };
    }
    let native = match (name, arguments.len()) {
        ("first", 1) => update!(first_path, false),
        ("last", 1) => update!(last_path, false),
        ("limit", 2) => update!(limited_paths, true),
        ("skip", 2) => update!(skipped_paths, true),
        _ => native,
    };
    (name, arguments, native)
}

type Paths<'a> = Box<dyn Iterator<Item = ValX<'a, Vec<Val>, Val>> + 'a>;

type Chosen<'a> = ValX<'a, Vec<Vec<Val>>, Val>;

fn first_path<'a>(paths: Paths<'a>, _: &Val) -> Chosen<'a> {
    paths.take(1).collect()
}

fn last_path<'a>(paths: Paths<'a>, _: &Val) -> Chosen<'a> {
    Ok(paths.collect::<Chosen<'a>>()?.pop().into_iter().collect())
}

fn limited_paths<'a>(paths: Paths<'a>, count: &Val) -> Chosen<'a> {
    paths.take(whole(count)).collect()
}

fn skipped_paths<'a>(paths: Paths<'a>, count: &Val) -> Chosen<'a> {
    paths.skip(whole(count)).collect()
}

fn whole(count: &Val) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what is positive"
    )]
    let count = count.as_number().unwrap_or(0.0).max(0.0).ceil() as usize;
    count
}

fn update_all<'a>(
    value: Val,
    paths: Vec<Vec<Val>>,
    change: &dyn Fn(Val) -> Option<ValX<'a, Val>>,
) -> ValX<'a, Val> {
    let mut current = value;
    let mut unwanted = Vec::new();
    for path in paths {
        match change(get_at(current.clone(), &path)?) {
            Some(new) => current = set_at(current, &path, new?)?,
            None => unwanted.push(path),
        }
    }
    if unwanted.is_empty() { Ok(current) } else { Ok(delete_all(current, unwanted)?) }
}
