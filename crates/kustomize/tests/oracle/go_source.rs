//! Finds the file trees that tests of the original tool write, in their Go source.

use std::collections::BTreeMap;

/// One step of a test.
#[derive(Clone, Debug)]
pub enum Step {
    /// Writes a file.
    Write { path: String, content: String },
    /// Builds a directory.
    Build { path: String },
    /// Something that cannot be followed.
    Unknown,
}

/// The steps of every test function in some Go files, helpers followed.
pub fn tests(sources: &[String]) -> BTreeMap<String, Vec<Step>> {
    let mut functions = BTreeMap::new();
    for source in sources {
        for (name, body) in split_functions(source) {
            functions.insert(name, body);
        }
    }
    let names: Vec<String> = functions.keys().filter(|name| name.starts_with("Test")).cloned().collect();
    names.into_iter().map(|name| (name.clone(), steps(&name, &functions, 0))).collect()
}

fn split_functions(source: &str) -> Vec<(String, String)> {
    let mut result = Vec::new();
    for part in source.split("\nfunc ").skip(1) {
        let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // The body ends at the first closing brace in column one outside a raw string.
        let mut raw = false;
        let mut end = part.len();
        let mut previous = '\n';
        for (index, c) in part.char_indices() {
            match c {
                '`' => raw = !raw,
                '}' if !raw && previous == '\n' => {
                    end = index;
                    break;
                }
                _ => {}
            }
            previous = c;
        }
        if !name.is_empty() {
            result.push((name, part[..end].to_owned()));
        }
    }
    result
}

fn steps(name: &str, functions: &BTreeMap<String, String>, depth: usize) -> Vec<Step> {
    let Some(body) = functions.get(name).filter(|_| depth < 4) else { return vec![Step::Unknown] };
    let mut result = Vec::new();
    let mut rest = body.split_once('{').map_or("", |(_, rest)| rest);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('`') {
            rest = after.split_once('`').map_or("", |(_, rest)| rest);
            continue;
        }
        let call = ["th.WriteK(", "th.WriteC(", "th.WriteF(", "th.Run(", "th.RunWithErr("]
            .into_iter()
            .find_map(|call| rest.strip_prefix(call).map(|after| (call, after)));
        if let Some((call, after)) = call {
            let (first, more) = expression(after);
            match call {
                "th.Run(" | "th.RunWithErr(" => {
                    result.push(first.map_or(Step::Unknown, |path| Step::Build { path }));
                    rest = more;
                }
                _ => {
                    let (second, more) = expression(more.trim_start().trim_start_matches(','));
                    result.push(written(call, first, second));
                    rest = more;
                }
            }
            continue;
        }
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if word.is_empty() {
            let skip = rest.chars().next().map_or(1, char::len_utf8);
            rest = &rest[skip..];
            continue;
        }
        rest = &rest[word.len()..];
        if rest.starts_with("(th") && functions.contains_key(&word) {
            if rest.starts_with("(th)") {
                result.extend(steps(&word, functions, depth + 1));
            } else {
                result.push(Step::Unknown);
            }
        }
    }
    result
}

fn written(call: &str, path: Option<String>, content: Option<String>) -> Step {
    let (Some(path), Some(content)) = (path, content) else { return Step::Unknown };
    let header = |version: &str, kind: &str| {
        format!("\napiVersion: kustomize.config.k8s.io/{version}\nkind: {kind}\n{content}")
    };
    match call {
        "th.WriteK(" => Step::Write {
            path: format!("{path}/kustomization.yaml"),
            content: header("v1beta1", "Kustomization"),
        },
        "th.WriteC(" => Step::Write {
            path: format!("{path}/kustomization.yaml"),
            content: header("v1alpha1", "Component"),
        },
        _ => Step::Write { path, content },
    }
}

/// Reads a concatenation of string literals; `None` if something else takes part.
fn expression(text: &str) -> (Option<String>, &str) {
    let mut rest = text.trim_start();
    let mut value = Some(String::new());
    loop {
        if let Some(after) = rest.strip_prefix('`') {
            let (literal, more) = after.split_once('`').unwrap_or((after, ""));
            value = value.map(|value| value + literal);
            rest = more;
        } else if let Some(after) = rest.strip_prefix('"') {
            let mut literal = String::new();
            let mut chars = after.char_indices();
            let mut end = after.len();
            while let Some((index, c)) = chars.next() {
                match c {
                    '"' => {
                        end = index + 1;
                        break;
                    }
                    '\\' => match chars.next() {
                        Some((_, 'n')) => literal.push('\n'),
                        Some((_, 't')) => literal.push('\t'),
                        Some((_, other)) => literal.push(other),
                        None => {}
                    },
                    c => literal.push(c),
                }
            }
            value = value.map(|value| value + &literal);
            rest = &after[end..];
        } else {
            return (None, rest);
        }
        rest = rest.trim_start();
        match rest.strip_prefix('+') {
            Some(after) => rest = after.trim_start(),
            None => return (value, rest),
        }
    }
}
