//! The tree as people see it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::keys::Keys;
use crate::model::{Kind, Name, Namespace};
use crate::world::World;

/// Which edges make the tree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Edges {
    /// From parents to sub-namespaces.
    Parents,
    /// From templates to their instances.
    Templates,
}

/// One line of a tree.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Line {
    /// How deep, from 0.
    pub depth: usize,
    /// The namespace.
    pub name: Name,
    /// What is to be said about it, if anything.
    pub note: Option<String>,
}

/// The lines of the tree under `root`, or of all trees: roots first, then what hangs below nothing. `None` when there is
/// no such namespace. Linear in the number of namespaces.
pub fn lines(world: &World, keys: &Keys, edges: Edges, root: Option<&str>) -> Option<Vec<Line>> {
    let up = |namespace: &Namespace| match edges {
        Edges::Parents => namespace.parent().cloned(),
        Edges::Templates if namespace.parent().is_none() => namespace.template().cloned(),
        Edges::Templates => None,
    };
    let mut tops: Vec<&Namespace> = match root {
        Some(name) => vec![world.namespace(name)?],
        None => world
            .namespaces()
            .values()
            .filter(|namespace| match edges {
                Edges::Parents => namespace.kind(keys) == Some(Kind::Root) && namespace.parent().is_none(),
                Edges::Templates => namespace.kind(keys) == Some(Kind::Template) && up(namespace).is_none(),
            })
            .collect(),
    };
    let mut seen: BTreeSet<Name> = BTreeSet::new();
    let mut out = Vec::new();
    let mut walk = |tops: &[&Namespace], seen: &mut BTreeSet<Name>| {
        let names = tops.iter().rev();
        let mut stack: Vec<(usize, Name)> = names.map(|namespace| (0, namespace.name.clone())).collect();
        while let Some((depth, name)) = stack.pop() {
            let Some(namespace) = world.namespace(&name).filter(|namespace| !seen.contains(&namespace.name))
            else {
                continue;
            };
            seen.insert(namespace.name.clone());
            let note = world.chain(&name).err().map(|reason| reason.to_string());
            out.push(Line { depth, name: name.clone(), note });
            let below = world.children(&name).filter(|child| {
                world.namespace(child).is_some_and(|child| up(child).as_ref() == Some(&name))
            });
            let mut below: Vec<(usize, Name)> = below.map(|child| (depth + 1, child.clone())).collect();
            below.reverse();
            stack.extend(below);
        }
    };
    walk(&tops, &mut seen);
    if root.is_none() {
        // What is left hangs below a namespace that is missing, no root, or its own ancestor.
        let left = |seen: &BTreeSet<Name>, namespace: &&Namespace| {
            up(namespace).is_some() && !seen.contains(&namespace.name)
        };
        let gaps: Vec<&Namespace> = world
            .namespaces()
            .values()
            .filter(|namespace| left(&seen, namespace))
            .filter(|namespace| {
                up(namespace)
                    .is_none_or(|above| world.namespace(&above).is_none_or(|above| up(above).is_none()))
            })
            .collect();
        walk(&gaps, &mut seen);
        tops = world.namespaces().values().filter(|namespace| left(&seen, namespace)).collect();
        walk(&tops, &mut seen);
    }
    Some(out)
}

/// Draws lines as a tree.
pub fn draw(lines: &[Line]) -> String {
    // From the end: a line is the last of its depth if no line of the same depth follows before a shallower one.
    let mut last = vec![false; lines.len()];
    let mut open: Vec<bool> = Vec::new();
    for (line, last) in lines.iter().zip(&mut last).rev() {
        open.resize(line.depth + 1, false);
        *last = !open[line.depth];
        open[line.depth] = true;
    }
    let mut out = String::new();
    let mut bars: Vec<bool> = Vec::new();
    for (line, last) in lines.iter().zip(last) {
        bars.truncate(line.depth);
        // The tops stand at the margin, so the first bar belongs to depth 1.
        for bar in bars.iter().skip(1) {
            out.push_str(if *bar { "│   " } else { "    " });
        }
        if line.depth > 0 {
            out.push_str(if last { "└── " } else { "├── " });
        }
        bars.push(!last);
        out.push_str(&line.name);
        if let Some(note) = &line.note {
            let _ = write!(out, " ({note})");
        }
        out.push('\n');
    }
    out
}

/// A row of the list of namespaces.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Row {
    /// The namespace.
    pub name: Name,
    /// `root`, `template`, `sub`, `instance` or `none`.
    pub kind: &'static str,
    /// Parent or template.
    pub upstream: Option<Name>,
    /// How many sub-namespaces or instances it has.
    pub dependants: usize,
    /// Why nothing is propagated to it.
    pub frozen: Option<String>,
}

/// One row for each namespace that has a place in a tree, or for all of them.
pub fn rows(world: &World, keys: &Keys, all: bool) -> Vec<Row> {
    let rows = world.namespaces().values().map(|namespace| Row {
        name: namespace.name.clone(),
        kind: kind_word(namespace, keys),
        upstream: namespace.upstream().cloned(),
        dependants: world.children(&namespace.name).count(),
        frozen: world.chain(&namespace.name).err().map(|reason| reason.to_string()),
    });
    rows.filter(|row| all || row.kind != "none" || row.dependants > 0).collect()
}

/// The type of a namespace in a word.
pub fn kind_word(namespace: &Namespace, keys: &Keys) -> &'static str {
    match namespace.kind(keys) {
        _ if namespace.parent().is_some() => "sub",
        Some(kind) => kind.as_str(),
        None if namespace.template().is_some() => "instance",
        None => "none",
    }
}

/// Draws rows as a table.
pub fn table(rows: &[Row]) -> String {
    let cells: Vec<[String; 5]> =
        std::iter::once(["NAME", "TYPE", "UPSTREAM", "DEPENDANTS", "STATE"].map(str::to_owned))
            .chain(rows.iter().map(|row| {
                [
                    row.name.to_string(),
                    row.kind.to_owned(),
                    row.upstream.as_deref().unwrap_or("-").to_owned(),
                    row.dependants.to_string(),
                    row.frozen.as_ref().map_or_else(|| "live".to_owned(), |why| format!("frozen: {why}")),
                ]
            }))
            .collect();
    columns(&cells)
}

/// Cells in columns, two spaces apart.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: Vec<usize> =
        (0..N).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        out.push_str(line.join("  ").trim_end());
        out.push('\n');
    }
    out
}
