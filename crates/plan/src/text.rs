//! The plan for people.

use std::fmt::Write as _;

use podsmith_object::{Object, Value, yaml};

use crate::change::{Action, Change};
use crate::diff::FieldChange;
use crate::mask;
use crate::plan::{Plan, Summary, group_action};

/// How to colour the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Palette {
    /// Plain text.
    Plain,
    /// ANSI colours.
    Ansi,
}

/// How much to show.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Detail {
    /// Changed fields only.
    Changes,
    /// Also the whole body of new objects, secrets masked.
    Everything,
}

#[derive(Clone, Copy)]
enum Tone {
    Good,
    Change,
    Bad,
    Dim,
    Strong,
}

impl Palette {
    fn paint(self, tone: Tone, text: &str) -> String {
        if self == Self::Plain {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => "32",
            Tone::Change => "33",
            Tone::Bad => "31",
            Tone::Dim => "2",
            Tone::Strong => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

fn sign(action: Action) -> (&'static str, Tone) {
    match action {
        Action::Create => ("+", Tone::Good),
        Action::Update => ("~", Tone::Change),
        Action::Replace => ("±", Tone::Bad),
        Action::Delete => ("-", Tone::Bad),
        Action::Noop => ("=", Tone::Dim),
    }
}

/// The plan as text: grouped by resource, only what changes, errors at the end, one line of summary.
pub fn render(plan: &Plan, palette: Palette, detail: Detail) -> String {
    let mut out = String::new();
    for group in plan.groups() {
        let action = group_action(&group.changes);
        if action == Action::Noop && group.changes.iter().all(|change| change.reason.is_none()) {
            continue;
        }
        if let Some(name) = group.name {
            let words = match action {
                Action::Create => "will be created",
                Action::Update => "will be changed",
                Action::Replace => "will be replaced",
                Action::Delete => "will be deleted",
                Action::Noop => "stays",
            };
            let _ = writeln!(out, "{} {words}", palette.paint(Tone::Strong, name));
        }
        let indent = if group.name.is_some() { "  " } else { "" };
        for change in &group.changes {
            if change.action != Action::Noop || change.reason.is_some() {
                object(&mut out, change, palette, detail, indent);
            }
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    for problem in &plan.warnings {
        let _ = writeln!(out, "{}", palette.paint(Tone::Change, &problem.to_string()));
    }
    for problem in &plan.errors {
        let _ = writeln!(out, "{}", palette.paint(Tone::Bad, &problem.to_string()));
    }
    let _ = writeln!(out, "{}", palette.paint(Tone::Strong, &summary_line(plan)));
    out
}

/// The last line of a plan.
pub fn summary_line(plan: &Plan) -> String {
    let package = &plan.package;
    if !plan.errors.is_empty() {
        let count = plan.errors.len();
        let plural = if count == 1 { "" } else { "s" };
        return format!("{package}: {count} error{plural}, nothing will be written");
    }
    let summary = plan.summary();
    if summary.changes() == 0 {
        return format!("{package}: up to date, {} unchanged", summary.noop);
    }
    format!("{package}: {}", counts(summary))
}

/// `2 to create, 1 to change, 4 unchanged`.
pub fn counts(summary: Summary) -> String {
    [
        (summary.create, "to create"),
        (summary.update, "to change"),
        (summary.replace, "to replace"),
        (summary.delete, "to delete"),
        (summary.noop, "unchanged"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("{count} {words}"))
    .collect::<Vec<_>>()
    .join(", ")
}

fn object(out: &mut String, change: &Change, palette: Palette, detail: Detail, indent: &str) {
    let (sign, tone) = sign(change.action);
    let mut line = palette.paint(tone, &format!("{sign} {}", change.id));
    let notes: Vec<String> = change
        .reason
        .iter()
        .cloned()
        .chain(change.notes.iter().cloned())
        .chain(change.checked.note())
        .collect();
    if !notes.is_empty() {
        let _ = write!(line, " {}", palette.paint(Tone::Dim, &format!("({})", notes.join("; "))));
    }
    let _ = writeln!(out, "{indent}{line}");
    for change in &change.fields {
        field(out, change, palette, indent);
    }
    if detail == Detail::Everything
        && change.action == Action::Create
        && let Some(desired) = &change.desired
    {
        for line in body(desired).lines() {
            let _ = writeln!(out, "{indent}    {}", palette.paint(Tone::Good, line));
        }
    }
}

/// An object as YAML with its secrets masked.
pub fn body(object: &Object) -> String {
    yaml::to_string(&mask::masked(object))
}

fn field(out: &mut String, change: &FieldChange, palette: Palette, indent: &str) {
    let path = &change.path;
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if one_line(before) && one_line(after) => {
            let arrow = format!(
                "{} → {}",
                palette.paint(Tone::Bad, &scalar(before)),
                palette.paint(Tone::Good, &scalar(after))
            );
            let _ = writeln!(out, "{indent}    {path}: {arrow}");
        }
        (before, after) => {
            let single = [before, after].into_iter().flatten().all(one_line);
            if single && before.is_some() != after.is_some() {
                let (sign, value, tone) = match (before, after) {
                    (Some(value), _) => ("-", value, Tone::Bad),
                    (_, Some(value)) => ("+", value, Tone::Good),
                    _ => return,
                };
                let _ = writeln!(
                    out,
                    "{indent}    {}",
                    palette.paint(tone, &format!("{sign} {path}: {}", scalar(value)))
                );
                return;
            }
            let _ = writeln!(out, "{indent}    {path}:");
            let (old, new) = (before.as_ref().map(lines), after.as_ref().map(lines));
            for (sign, text, tone) in edit(&old.unwrap_or_default(), &new.unwrap_or_default()) {
                let _ = writeln!(out, "{indent}      {}", palette.paint(tone, &format!("{sign} {text}")));
            }
        }
    }
}

fn one_line(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains('\n') && text.len() <= 200,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => true,
    }
}

fn scalar(value: &Value) -> String {
    value.to_string()
}

fn lines(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.lines().map(str::to_owned).collect(),
        other => yaml::to_string(other).lines().map(str::to_owned).collect(),
    }
}

/// A line edit: the common start and end as context of at most one line, the rest as removed and added.
fn edit<'t>(old: &'t [String], new: &'t [String]) -> Vec<(&'static str, &'t str, Tone)> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let mut out = Vec::new();
    let middle = |list: &'t [String]| list.get(start..list.len() - end).unwrap_or(&[]).iter();
    out.extend(start.checked_sub(1).and_then(|at| old.get(at)).map(|line| (" ", line.as_str(), Tone::Dim)));
    out.extend(middle(old).map(|line| ("-", line.as_str(), Tone::Bad)));
    out.extend(middle(new).map(|line| ("+", line.as_str(), Tone::Good)));
    out.extend(old.get(old.len() - end).map(|line| (" ", line.as_str(), Tone::Dim)));
    out
}
