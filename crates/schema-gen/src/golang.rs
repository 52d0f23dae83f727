//! The declarations in a Go file: struct types, named types, imports and string constants.
//!
//! The sources of the API are formatted by `gofmt` and use one style, so reading them line by line is enough. What
//! the reader does not understand it leaves out; the round-trip tests of the table would notice.

use std::collections::BTreeMap;

/// One Go file, as far as it matters here.
#[derive(Debug, Default)]
pub struct File {
    /// Import path by the name used in the file.
    pub imports: BTreeMap<String, String>,
    /// Type declarations, in their order.
    pub types: Vec<Declaration>,
    /// String constants that have a named type: type name and value.
    pub constants: Vec<(String, String)>,
    /// String constants by name, for defaults that refer to one.
    pub values: BTreeMap<String, String>,
}

/// A type declaration.
#[derive(Debug)]
pub struct Declaration {
    /// Name of the type.
    pub name: String,
    /// Markers in its comment, without the plus.
    pub markers: Vec<String>,
    /// What it is.
    pub body: Body,
}

/// The right side of a type declaration.
#[derive(Debug)]
pub enum Body {
    /// A struct.
    Struct(Vec<Field>),
    /// A named type over another one: the Go expression.
    Named(String),
    /// Another name for the same type: the Go expression.
    Alias(String),
}

/// A field of a struct.
#[derive(Debug)]
pub struct Field {
    /// The Go type expression.
    pub expression: String,
    /// The whole tag, without back quotes.
    pub tag: String,
    /// Markers in its comment, without the plus.
    pub markers: Vec<String>,
}

impl Field {
    /// One key of the tag: `json`, `protobuf`, `patchStrategy`.
    pub fn tag(&self, key: &str) -> Option<&str> {
        let start = self.tag.find(&format!("{key}:\""))? + key.len() + 2;
        let rest = self.tag.get(start..)?;
        rest.get(..rest.find('"')?)
    }
}

/// The value of a marker `name=value`.
pub fn marker<'a>(markers: &'a [String], name: &str) -> Option<&'a str> {
    markers.iter().find_map(|marker| marker.strip_prefix(name)?.strip_prefix('='))
}

/// Reads one file.
pub fn parse(text: &str) -> File {
    let mut file = File::default();
    let mut lines = text.lines();
    let mut comments = Comments::default();
    while let Some(line) = lines.next() {
        if let Some(comment) = line.strip_prefix("//") {
            comments.line(comment);
            continue;
        }
        if line.trim().is_empty() {
            comments.blank();
            continue;
        }
        let markers = comments.take();
        if line.starts_with("/*") {
            while !line.contains("*/") && lines.next().is_some_and(|next| !next.contains("*/")) {}
        } else if line == "import (" {
            for line in lines.by_ref().take_while(|line| *line != ")") {
                import(line, &mut file.imports);
            }
        } else if let Some(single) = line.strip_prefix("import ") {
            import(single, &mut file.imports);
        } else if line == "const (" {
            for line in lines.by_ref().take_while(|line| *line != ")") {
                constant(line, &mut file);
            }
        } else if let Some(single) = line.strip_prefix("const ") {
            constant(single, &mut file);
        } else if let Some(declaration) = line.strip_prefix("type ")
            && let Some((name, rest)) = declaration.split_once(' ')
        {
            let rest = rest.split("//").next().unwrap_or("").trim();
            let body = if rest == "struct {" {
                Body::Struct(fields(&mut lines))
            } else if rest == "struct{}" {
                Body::Struct(Vec::new())
            } else if let Some(target) = rest.strip_prefix("= ") {
                Body::Alias(target.to_owned())
            } else if rest.ends_with('{') {
                while lines.next().is_some_and(|line| line != "}") {}
                continue;
            } else {
                Body::Named(rest.to_owned())
            };
            file.types.push(Declaration { name: name.to_owned(), markers, body });
        }
    }
    file
}

/// Markers of the comment above a declaration; the comment block before that one counts too, because type markers
/// stand apart from the description.
#[derive(Default)]
struct Comments {
    before: Vec<String>,
    current: Vec<String>,
}

impl Comments {
    fn line(&mut self, comment: &str) {
        if let Some(marker) = comment.trim().strip_prefix('+') {
            self.current.push(marker.trim().to_owned());
        }
    }

    fn blank(&mut self) {
        self.before = std::mem::take(&mut self.current);
    }

    fn take(&mut self) -> Vec<String> {
        let mut markers = std::mem::take(&mut self.before);
        markers.append(&mut self.current);
        markers
    }
}

fn import(line: &str, imports: &mut BTreeMap<String, String>) {
    let mut parts = line.trim().rsplitn(2, ' ');
    let Some(path) = parts.next().map(|path| path.trim_matches('"')) else { return };
    let name = match parts.next() {
        Some(name) => name.trim(),
        None => path.rsplit('/').next().unwrap_or(path),
    };
    if !path.is_empty() {
        imports.insert(name.to_owned(), path.to_owned());
    }
}

fn constant(line: &str, file: &mut File) {
    let Some((left, right)) = line.trim().split_once('=') else { return };
    let value = right.split("//").next().unwrap_or("").trim();
    let Some(value) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) else { return };
    let mut words = left.split_whitespace();
    if let Some(name) = words.next() {
        file.values.insert(name.to_owned(), value.to_owned());
    }
    if let Some(kind) = words.next() {
        file.constants.push((kind.to_owned(), value.to_owned()));
    }
}

fn fields<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut markers = Vec::new();
    let mut in_comment = false;
    for line in lines.by_ref() {
        if line == "}" {
            break;
        }
        let line = line.trim();
        if in_comment || line.starts_with("/*") {
            in_comment = !line.contains("*/");
        } else if let Some(comment) = line.strip_prefix("//") {
            if let Some(marker) = comment.trim().strip_prefix('+') {
                markers.push(marker.trim().to_owned());
            }
        } else if line.is_empty() {
            markers.clear();
        } else {
            fields.extend(field(line, std::mem::take(&mut markers)));
        }
    }
    fields
}

fn field(line: &str, markers: Vec<String>) -> Option<Field> {
    let (head, tag) = match line.split_once('`') {
        Some((head, rest)) => (head.trim(), rest.split('`').next().unwrap_or("")),
        None => (line.split("//").next().unwrap_or("").trim(), ""),
    };
    // An embedded field has no name of its own: its whole head is the type.
    let expression = match head.split_once(char::is_whitespace) {
        Some((_, expression)) => expression.trim(),
        None => head,
    };
    (!expression.is_empty()).then(|| Field {
        expression: expression.to_owned(),
        tag: tag.to_owned(),
        markers,
    })
}
