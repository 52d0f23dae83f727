//! Functions that read files next to the Podfile.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::files::{FileKind, join};
use podsmith_object::{Value, suggest};

use super::{CallContext, Function, function, map_of, text_of};
use crate::eval::{Evaluator, Frame};
use crate::source::SourceFile;

pub(super) const FUNCTIONS: &[Function] = &[
    function("file", 1, Some(1), "file(path)", |c, a| {
        let path = text_of(a, 0)?;
        String::from_utf8(read(c, &path)?)
            .map(Value::from)
            .map_err(|_| format!("`{path}` is no text; use filebase64"))
    }),
    function("filebase64", 1, Some(1), "filebase64(path)", |c, a| {
        Ok(STANDARD.encode(read(c, &text_of(a, 0)?)?).into())
    }),
    function("fileexists", 1, Some(1), "fileexists(path)", |c, a| {
        let path = resolve(c, &text_of(a, 0)?)?;
        Ok((c.evaluator.unit.tree.kind(&path) == Some(FileKind::File)).into())
    }),
    function("fileset", 2, Some(2), "fileset(directory, pattern)", |c, a| {
        let directory = resolve(c, &text_of(a, 0)?)?;
        let pattern = glob(&text_of(a, 1)?)?;
        let mut found = Vec::new();
        collect(c, &directory, "", &mut found);
        found.sort();
        Ok(found.into_iter().filter(|path| pattern.is_match(path)).map(Value::from).collect())
    }),
    function("templatefile", 2, Some(2), "templatefile(path, values)", |c, a| {
        let path = text_of(a, 0)?;
        let text = String::from_utf8(read(c, &path)?).map_err(|_| format!("`{path}` is no text"))?;
        let template: hcl_edit::template::Template =
            text.parse().map_err(|error: hcl_edit::parser::Error| {
                let place = error.location();
                format!("{path}:{}:{}: {}", place.line(), place.column(), error.message())
            })?;
        let file = SourceFile::new(&path, &c.evaluator.file.directory, text);
        let bindings: Vec<(&str, Value)> =
            map_of(a, 1)?.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let evaluator = Evaluator { unit: c.evaluator.unit, file: &file };
        let frame = Frame { bindings: &bindings, parent: None };
        evaluator.render_template(&template, &frame).map(Value::from).map_err(|fault| fault.to_string())
    }),
    function("basename", 1, Some(1), "basename(path)", |_, a| {
        Ok(text_of(a, 0)?.rsplit('/').next().unwrap_or("").into())
    }),
    function("dirname", 1, Some(1), "dirname(path)", |_, a| {
        Ok(text_of(a, 0)?.rsplit_once('/').map_or(".", |(directory, _)| directory).into())
    }),
];

/// The path inside the file tree.
fn resolve(context: &CallContext<'_, '_>, path: &str) -> Result<String, String> {
    if path.starts_with('/') {
        return Err(format!("`{path}` is absolute; paths start at the directory of the Podfile"));
    }
    join(&context.evaluator.file.directory, path)
        .ok_or_else(|| format!("`{path}` leaves the directory that may be read"))
}

pub(super) fn read(context: &CallContext<'_, '_>, path: &str) -> Result<Vec<u8>, String> {
    let resolved = resolve(context, path)?;
    let tree = context.evaluator.unit.tree;
    tree.read(&resolved).map_err(|error| {
        let directory = resolved.rsplit_once('/').map_or("", |(directory, _)| directory);
        let names: Vec<String> =
            tree.list(directory).unwrap_or_default().into_iter().map(|entry| entry.name).collect();
        let wanted = resolved.rsplit('/').next().unwrap_or("");
        let near = suggest::nearest(wanted, names.iter().map(String::as_str));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("`{path}` cannot be read: {}{near}", plain(&error))
    })
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::IsADirectory => "it is a directory".into(),
        _ => error.to_string(),
    }
}

fn collect(context: &CallContext<'_, '_>, directory: &str, prefix: &str, found: &mut Vec<String>) {
    if prefix.matches('/').count() > 32 {
        return;
    }
    for entry in context.evaluator.unit.tree.list(directory).unwrap_or_default() {
        let inside =
            if directory.is_empty() { entry.name.clone() } else { format!("{directory}/{}", entry.name) };
        let shown = format!("{prefix}{}", entry.name);
        match entry.kind {
            FileKind::File => found.push(shown),
            FileKind::Directory => collect(context, &inside, &format!("{shown}/"), found),
        }
    }
}

/// `*`, `**`, `?`, `{a,b}` as an anchored pattern.
fn glob(pattern: &str) -> Result<regex::Regex, String> {
    let mut out = String::from("^");
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '*' if rest.peek() == Some(&'*') => {
                rest.next();
                if rest.peek() == Some(&'/') {
                    rest.next();
                    out.push_str("(?:.*/)?");
                } else {
                    out.push_str(".*");
                }
            }
            '*' => out.push_str("[^/]*"),
            '?' => out.push_str("[^/]"),
            '{' => out.push_str("(?:"),
            '}' => out.push(')'),
            ',' => out.push('|'),
            other => out.push_str(&regex::escape(&other.to_string())),
        }
    }
    out.push('$');
    regex::Regex::new(&out).map_err(|_| format!("`{pattern}` is no valid pattern"))
}
