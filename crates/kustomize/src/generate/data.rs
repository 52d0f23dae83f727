//! ConfigMaps and Secrets from literals, files and env files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use podsmith_object::{Diagnostic, Diagnostics, Map, Value};

use crate::kustomization::{GeneratorArgs, GeneratorOptions};
use crate::load::Loader;
use crate::resources::{Behavior, Resource};

/// Makes the ConfigMap of a generator.
pub(crate) fn config_map(
    loader: &Loader,
    args: &GeneratorArgs,
    global: Option<&GeneratorOptions>,
) -> Result<Resource, Diagnostics> {
    let mut resource = base("ConfigMap", args)?;
    for (key, bytes) in pairs(loader, args)? {
        let (field, text) = match String::from_utf8(bytes) {
            Ok(text) => ("data", text),
            Err(error) => ("binaryData", encode(error.as_bytes())),
        };
        let slot = resource.body.entry(field).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(map) = slot {
            map.insert(key, Value::String(text));
        }
    }
    finish(&mut resource, args, global)?;
    Ok(resource)
}

/// Makes the Secret of a generator.
pub(crate) fn secret(
    loader: &Loader,
    args: &GeneratorArgs,
    global: Option<&GeneratorOptions>,
) -> Result<Resource, Diagnostics> {
    let mut resource = base("Secret", args)?;
    let kind = if args.secret_type.is_empty() { "Opaque" } else { &args.secret_type };
    resource.body.insert("type".into(), Value::from(kind));
    let data: Map<String, Value> =
        pairs(loader, args)?.into_iter().map(|(key, bytes)| (key, Value::String(encode(&bytes)))).collect();
    resource.body.insert("data".into(), Value::Object(data));
    finish(&mut resource, args, global)?;
    Ok(resource)
}

fn base(kind: &str, args: &GeneratorArgs) -> Result<Resource, Diagnostics> {
    if args.name.is_empty() {
        return Err(Diagnostic::error("a generator must have a `name`").into());
    }
    let mut resource = Resource::default();
    resource.body.insert("apiVersion".into(), Value::from("v1"));
    resource.body.insert("kind".into(), Value::from(kind));
    resource.set_name(&args.name);
    if !args.namespace.is_empty() {
        resource.set_namespace(&args.namespace);
    }
    Ok(resource)
}

fn finish(
    resource: &mut Resource,
    args: &GeneratorArgs,
    global: Option<&GeneratorOptions>,
) -> Result<(), Diagnostics> {
    let none = GeneratorOptions::default();
    let (local, global) = (&args.options, global.unwrap_or(&none));
    for (field, own, shared) in
        [("labels", &local.labels, &global.labels), ("annotations", &local.annotations, &global.annotations)]
    {
        let mut all: Vec<&(String, String)> =
            shared.iter().filter(|(key, _)| !own.iter().any(|(found, _)| found == key)).chain(own).collect();
        all.sort();
        if !all.is_empty() {
            let entries = all.into_iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
            resource.metadata_mut().insert(field.into(), Value::Object(entries.collect()));
        }
    }
    if local.immutable || global.immutable {
        resource.body.insert("immutable".into(), Value::Bool(true));
    }
    resource.needs_hash = !(local.disable_name_suffix_hash || global.disable_name_suffix_hash);
    resource.generated = true;
    resource.behavior = match args.behavior.as_str() {
        "create" => Behavior::Create,
        "replace" => Behavior::Replace,
        "merge" => Behavior::Merge,
        _ => Behavior::Unspecified,
    };
    Ok(())
}

/// All key/value pairs, sorted by key, each key once.
fn pairs(loader: &Loader, args: &GeneratorArgs) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
    let mut pairs = Vec::new();
    for path in &args.envs {
        let content = loader.load(path)?;
        read_env(path, &content, &mut pairs)?;
    }
    for literal in &args.literals {
        pairs.push(read_literal(literal)?);
    }
    for file in &args.files {
        let (key, path) = split_file(file)?;
        pairs.push((key.to_owned(), loader.load(path)?));
    }
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    if let Some(double) = pairs.windows(2).find(|pair| matches!(pair, [a, b] if a.0 == b.0)) {
        let key = double.first().map_or("", |pair| pair.0.as_str());
        return Err(Diagnostic::error(format!("`{}` has the key `{key}` twice", args.name)).into());
    }
    Ok(pairs)
}

fn read_env(path: &str, content: &[u8], pairs: &mut Vec<(String, Vec<u8>)>) -> Result<(), Diagnostics> {
    for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(
                Diagnostic::error(format!("line {} of `{path}` is not valid UTF-8", number + 1)).into()
            );
        };
        let text = if number == 0 { text.strip_prefix('\u{FEFF}').unwrap_or(text) } else { text };
        let text = text.trim_start();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        if !key.is_empty() {
            pairs.push((key.to_owned(), value.as_bytes().to_vec()));
        }
    }
    Ok(())
}

fn read_literal(literal: &str) -> Result<(String, Vec<u8>), Diagnostics> {
    match literal.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), unquote(value).as_bytes().to_vec())),
        _ => Err(Diagnostic::error(format!("literal `{literal}` must have the form key=value")).into()),
    }
}

fn unquote(text: &str) -> &str {
    for quote in ['"', '\''] {
        if text.len() >= 2
            && let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote))
        {
            return inner;
        }
    }
    text
}

/// `key=path`, or a path whose last step is the key.
fn split_file(source: &str) -> Result<(&str, &str), Diagnostics> {
    match source.split('=').collect::<Vec<_>>().as_slice() {
        [path] => Ok((path.trim_end_matches('/').rsplit('/').next().unwrap_or(path), path)),
        ["", _] => Err(Diagnostic::error(format!("file source `{source}` has no key before `=`")).into()),
        [_, ""] => Err(Diagnostic::error(format!("file source `{source}` has no path after `=`")).into()),
        [key, path] => Ok((key, path)),
        _ => Err(Diagnostic::error(format!("file source `{source}` has more than one `=`")).into()),
    }
}

/// Base64 in lines of 70 characters once it needs more than one.
fn encode(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let encoded = STANDARD.encode(bytes);
    if encoded.len() < LINE {
        return encoded;
    }
    let mut out = String::with_capacity(encoded.len() + encoded.len() / LINE + 1);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(LINE));
        out.push_str(line);
        out.push('\n');
        rest = more;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_lose_one_pair_of_quotes() {
        let cases =
            [("a=1", "1"), ("a='x y'", "x y"), ("a=\"x\"", "x"), ("a='", "'"), ("a=b=c", "b=c"), ("a=", "")];
        for (literal, value) in cases {
            assert_eq!(read_literal(literal).unwrap(), ("a".into(), value.as_bytes().to_vec()), "{literal}");
        }
        assert!(read_literal("=x").is_err());
        assert!(read_literal("x").is_err());
    }

    #[test]
    fn env_files_have_comments_and_bare_keys() {
        let mut pairs = Vec::new();
        read_env("e", b"\xEF\xBB\xBFa=1\r\n # c\n\n  b = 2\nc\n", &mut pairs).unwrap();
        let texts: Vec<_> =
            pairs.iter().map(|(k, v)| (k.as_str(), std::str::from_utf8(v).unwrap())).collect();
        assert_eq!(texts, [("a", "1"), ("b ", " 2"), ("c", "")]);
    }

    #[test]
    fn long_base64_comes_in_lines() {
        assert_eq!(encode(b"a"), "YQ==");
        let long = encode(&[0; 60]);
        assert_eq!(long.lines().map(str::len).collect::<Vec<_>>(), [70, 10]);
        assert!(long.ends_with('\n'));
    }
}
