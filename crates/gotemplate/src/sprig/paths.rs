//! Slash-separated paths.

use crate::args::{Table, text};
use crate::function::Parameter::String as S;

pub(super) const TABLE: Table = &[
    ("base", &[S], None, |_, a| Ok(base(&text(a, 0)).into())),
    ("dir", &[S], None, |_, a| Ok(dir(&text(a, 0)).into())),
    ("clean", &[S], None, |_, a| Ok(clean(&text(a, 0)).into())),
    ("ext", &[S], None, |_, a| Ok(ext(&text(a, 0)).into())),
    ("isAbs", &[S], None, |_, a| Ok(text(a, 0).starts_with('/').into())),
    ("osBase", &[S], None, |_, a| Ok(base(&text(a, 0)).into())),
    ("osDir", &[S], None, |_, a| Ok(dir(&text(a, 0)).into())),
    ("osClean", &[S], None, |_, a| Ok(clean(&text(a, 0)).into())),
    ("osExt", &[S], None, |_, a| Ok(ext(&text(a, 0)).into())),
    ("osIsAbs", &[S], None, |_, a| Ok(text(a, 0).starts_with('/').into())),
];

fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}

fn dir(path: &str) -> String {
    clean(path.rfind('/').map_or("", |at| &path[..=at]))
}

fn ext(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').map_or("", |at| &name[at..])
}

/// The shortest path with the same meaning.
pub(super) fn clean(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}
