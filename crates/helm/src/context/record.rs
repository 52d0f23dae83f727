//! Go structs as templates see them: fields in order, printed and serialized as Go does.

use std::collections::BTreeMap;

use podsmith_gotemplate::{Native, Value};
use podsmith_object::{Map as JsonMap, Value as Json};

/// One field of a struct.
pub(super) struct Field {
    /// The Go name.
    pub name: &'static str,
    /// The name in JSON.
    pub json: &'static str,
    /// Whether JSON leaves the field out when it is empty.
    pub omit_empty: bool,
    /// What a template gets.
    pub value: Value,
    /// How `%v` prints it inside the struct.
    pub printed: String,
}

/// A struct. Methods are few enough to be given as a table of results.
pub(super) struct Record {
    pub type_name: &'static str,
    pub kind: &'static str,
    pub fields: Vec<Field>,
    /// What `{{ x }}` prints instead of the fields, when the type has a `String` method.
    pub text: Option<String>,
    /// What `%v` prints instead of the fields.
    pub formatted: Option<String>,
    /// A struct inside, reachable by its name although JSON shows only its fields.
    pub embedded: Option<(&'static str, Value)>,
    /// Methods without arguments.
    pub methods: BTreeMap<&'static str, Value>,
}

impl Record {
    pub(super) fn new(type_name: &'static str, fields: Vec<Field>) -> Self {
        Self {
            type_name,
            kind: "struct",
            fields,
            text: None,
            formatted: None,
            embedded: None,
            methods: BTreeMap::new(),
        }
    }

    /// `{a b}`: the fields as Go prints a struct.
    pub(super) fn braces(&self) -> String {
        let printed: Vec<&str> = self.fields.iter().map(|field| field.printed.as_str()).collect();
        format!("{{{}}}", printed.join(" "))
    }
}

impl Native for Record {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn kind(&self) -> &'static str {
        self.kind
    }

    fn field(&self, name: &str) -> Option<Value> {
        if let Some(field) = self.fields.iter().find(|field| field.name == name) {
            return Some(field.value.clone());
        }
        self.embedded.as_ref().filter(|(embedded, _)| *embedded == name).map(|(_, value)| value.clone())
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>> {
        let result = self.methods.get(name)?;
        Some(if arguments.is_empty() {
            Ok(result.clone())
        } else {
            Err(format!("wrong number of args for {name}: want 0 got {}", arguments.len()))
        })
    }

    fn print(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.format())
    }

    fn format(&self) -> String {
        if let Some(text) = &self.formatted {
            return text.clone();
        }
        if self.kind == "ptr" { format!("&{}", self.braces()) } else { self.braces() }
    }

    fn to_json(&self) -> Json {
        let mut out = JsonMap::new();
        for field in &self.fields {
            if !field.omit_empty || field.value.is_true() {
                out.insert(field.json.to_owned(), field.value.to_json());
            }
        }
        Json::Object(out)
    }
}

pub(super) fn text(name: &'static str, json: &'static str, value: &str) -> Field {
    Field { name, json, omit_empty: true, value: value.into(), printed: value.to_owned() }
}
