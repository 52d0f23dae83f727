//! `.Files`: the files of a chart that are neither templates nor part of its description.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use podsmith_gotemplate::{List, Native, Value};
use podsmith_object::Value as Json;
use podsmith_object::yaml::{self, GoStyle};

use super::glob;
use crate::chart::ChartFile;

/// The files that templates can read, by path.
#[derive(Clone)]
pub(super) struct Files {
    files: Rc<BTreeMap<Arc<str>, Arc<[u8]>>>,
}

impl Files {
    pub(super) fn new<'f>(files: impl IntoIterator<Item = &'f ChartFile>) -> Self {
        let files = files.into_iter().map(|file| (Arc::from(file.path()), file.shared_content()));
        Self { files: Rc::new(files.collect()) }
    }

    fn content(&self, path: &str) -> Arc<[u8]> {
        self.files.get(path).cloned().unwrap_or_else(|| Arc::from([]))
    }

    fn glob(&self, pattern: &str) -> Self {
        let Some(pattern) = glob::compile(pattern) else { return self.clone() };
        let chosen = self.files.iter().filter(|(path, _)| pattern.is_match(path));
        Self { files: Rc::new(chosen.map(|(path, content)| (path.clone(), content.clone())).collect()) }
    }

    /// The last steps of the paths and the contents, as the YAML of a map of strings.
    fn as_yaml(&self, encode: impl Fn(&[u8]) -> String) -> Value {
        let mut map = podsmith_object::Map::new();
        for (path, content) in self.files.iter() {
            let name = path.rsplit('/').next().unwrap_or(path);
            map.insert(name.to_owned(), Json::String(encode(content)));
        }
        let text = yaml::to_go_string(&Json::Object(map), GoStyle::Kubectl).unwrap_or_default();
        Value::from(text.strip_suffix('\n').unwrap_or(&text))
    }

    fn lines(&self, path: &str) -> Value {
        let content = self.content(path);
        if content.is_empty() {
            return Value::List(List::strings(Vec::<String>::new()));
        }
        let content = content.strip_suffix(b"\n").unwrap_or(&content);
        let lines = content.split(|byte| *byte == b'\n').map(|line| Value::string_from_bytes(line.to_vec()));
        Value::List(List::typed(podsmith_gotemplate::Elements::Strings, lines.collect()))
    }
}

fn one_text<'a>(method: &str, arguments: &'a [Value]) -> Result<&'a str, String> {
    match arguments {
        [Value::String(text)] => Ok(text),
        [other] => Err(format!("wrong type for value; expected string; got {}", other.type_name())),
        _ => Err(format!("wrong number of args for {method}: want 1 got {}", arguments.len())),
    }
}

fn none(method: &str, arguments: &[Value]) -> Result<(), String> {
    if arguments.is_empty() {
        return Ok(());
    }
    Err(format!("wrong number of args for {method}: want 0 got {}", arguments.len()))
}

impl Native for Files {
    fn type_name(&self) -> &str {
        "engine.files"
    }

    fn kind(&self) -> &'static str {
        "map"
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.files.get(name).map(|content| Value::Bytes(content.clone()))
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let text = || one_text(name, arguments);
        Some(match name {
            "Get" => text().map(|path| Value::string_from_bytes(self.content(path).to_vec())),
            "GetBytes" => text().map(|path| Value::Bytes(self.content(path))),
            "Glob" => text().map(|pattern| Value::native(self.glob(pattern))),
            "Lines" => text().map(|path| self.lines(path)),
            "AsConfig" => none(name, arguments)
                .map(|()| self.as_yaml(|content| String::from_utf8_lossy(content).into_owned())),
            "AsSecrets" => none(name, arguments)
                .map(|()| self.as_yaml(|bytes| base64::engine::general_purpose::STANDARD.encode(bytes))),
            _ => return None,
        })
    }

    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        let entries = self.files.iter();
        Some(entries.map(|(path, content)| (path.clone().into(), Value::Bytes(content.clone()))).collect())
    }

    fn print(&self) -> String {
        let entries: Vec<String> = self
            .files
            .iter()
            .map(|(path, content)| {
                let bytes: Vec<String> = content.iter().map(u8::to_string).collect();
                format!("{path}:[{}]", bytes.join(" "))
            })
            .collect();
        format!("map[{}]", entries.join(" "))
    }

    fn to_json(&self) -> Json {
        let entries = self.files.iter();
        Json::Object(
            entries
                .map(|(path, content)| {
                    let text = base64::engine::general_purpose::STANDARD.encode(content);
                    (path.to_string(), Json::String(text))
                })
                .collect(),
        )
    }
}
