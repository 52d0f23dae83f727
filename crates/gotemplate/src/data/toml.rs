//! TOML as the library behind `toToml` writes it.

use crate::format::shortest_general;
use crate::value::{Elements, List, Map, Value, with_stack};

/// What `toToml` prints; for a value that TOML cannot hold, the reason.
pub(crate) fn write(value: &Value) -> String {
    let mut writer = Writer { out: String::new() };
    let written = match value {
        Value::List(list) if list.is_nil() => writer.element(value),
        _ => writer.encode(&[], value),
    };
    match written {
        Ok(()) => writer.out,
        Err(reason) => reason.to_owned(),
    }
}

const NIL_ELEMENT: &str = "toml: cannot encode array with nil element";

struct Writer {
    out: String,
}

type Written = Result<(), &'static str>;

/// How TOML sees a value.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Nil,
    Plain,
    Table,
    Tables,
}

fn shape(value: &Value) -> Result<Shape, &'static str> {
    Ok(match value {
        Value::Absent | Value::Nil => Shape::Nil,
        Value::Map(map) if map.is_nil() => Shape::Nil,
        Value::Map(_) => Shape::Table,
        Value::List(list) if list.is_nil() => Shape::Nil,
        Value::List(list) if list.is_empty() => Shape::Plain,
        Value::List(list) => {
            let mut all = true;
            for item in list.items() {
                match with_stack(|| shape(item))? {
                    Shape::Nil => return Err(NIL_ELEMENT),
                    Shape::Table => {}
                    _ => all = false,
                }
            }
            if all { Shape::Tables } else { Shape::Plain }
        }
        _ => Shape::Plain,
    })
}

impl Writer {
    fn newline(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn indent(&mut self, key: &[&str]) {
        self.out.extend(std::iter::repeat_n("  ", key.len().saturating_sub(1)));
    }

    fn header(&mut self, key: &[&str], open: &str, close: &str) {
        self.indent(key);
        self.out.push_str(open);
        for (index, part) in key.iter().enumerate() {
            if index > 0 {
                self.out.push('.');
            }
            self.key(part);
        }
        self.out.push_str(close);
        self.newline();
    }

    fn encode(&mut self, key: &[&str], value: &Value) -> Written {
        match shape(value)? {
            Shape::Nil => Ok(()),
            Shape::Table => {
                if key.len() == 1 {
                    self.newline();
                }
                if !key.is_empty() {
                    self.header(key, "[", "]");
                }
                self.entries(key, value)
            }
            Shape::Tables => {
                if key.is_empty() {
                    return Err("toml: top-level values must be Go maps or structs");
                }
                for table in value.as_list().unwrap_or(&[]) {
                    self.newline();
                    self.header(key, "[[", "]]");
                    self.entries(key, table)?;
                }
                Ok(())
            }
            Shape::Plain => {
                if let Some(name) = key.last() {
                    self.indent(key);
                    self.key(name);
                    self.out.push_str(" = ");
                }
                with_stack(|| self.element(value))?;
                if !key.is_empty() {
                    self.newline();
                }
                Ok(())
            }
        }
    }

    /// The entries of a table: plain values first, then tables.
    fn entries(&mut self, key: &[&str], table: &Value) -> Written {
        let Value::Map(map) = table else { return Ok(()) };
        let Some(_visit) = map.enter() else { return Err("toml: the value contains itself") };
        let entries = map.entries();
        for tables in [false, true] {
            for (name, value) in &entries {
                if matches!(shape(value)?, Shape::Table | Shape::Tables) == tables {
                    let mut path = key.to_vec();
                    path.push(name);
                    with_stack(|| self.encode(&path, value))?;
                }
            }
        }
        Ok(())
    }

    fn element(&mut self, value: &Value) -> Written {
        match value {
            Value::Absent | Value::Nil => return Err(NIL_ELEMENT),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number, _) => self.out.push_str(&number.to_string()),
            Value::Float(number) if number.is_nan() => self.out.push_str("nan"),
            Value::Float(number) if number.is_infinite() => {
                self.out.push_str(if *number > 0.0 { "inf" } else { "-inf" });
            }
            Value::Float(number) => {
                let text = shortest_general(*number);
                self.out.push_str(&text);
                if !text.contains(['.', 'e']) {
                    self.out.push_str(".0");
                }
            }
            Value::String(text) => self.quoted(text),
            Value::RawString(bytes) => self.quoted(&String::from_utf8_lossy(bytes)),
            Value::Bytes(bytes) => {
                let items: Vec<String> = bytes.iter().map(u8::to_string).collect();
                self.out.push_str(&format!("[{}]", items.join(", ")));
            }
            Value::List(list) => {
                self.out.push('[');
                for (index, item) in list.items().iter().enumerate() {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    with_stack(|| self.element(item))?;
                }
                self.out.push(']');
            }
            Value::Map(map) => self.inline(map)?,
            // Times are the one native that TOML has a form for: the one that JSON has, without the quotes.
            Value::Native(native) => match (native.type_name(), native.to_json()) {
                ("time.Time", podsmith_object::Value::String(time)) => self.out.push_str(&time),
                _ => self.quoted(&native.format()),
            },
        }
        Ok(())
    }

    fn inline(&mut self, map: &Map) -> Written {
        let Some(_visit) = map.enter() else { return Err("toml: the value contains itself") };
        self.out.push('{');
        let entries = map.entries();
        let mut ordered = Vec::new();
        for tables in [false, true] {
            for (name, value) in &entries {
                if matches!(shape(value)?, Shape::Table | Shape::Tables) == tables {
                    ordered.push((name, value));
                }
            }
        }
        for (index, (name, value)) in ordered.iter().enumerate() {
            if shape(value)? == Shape::Nil {
                continue;
            }
            self.key(name);
            self.out.push_str(" = ");
            with_stack(|| self.element(value))?;
            if index + 1 < ordered.len() {
                self.out.push_str(", ");
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn key(&mut self, key: &str) {
        let bare =
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if bare {
            self.out.push_str(key);
        } else {
            self.quoted(key);
        }
    }

    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\x08' => self.out.push_str("\\b"),
                '\t' => self.out.push_str("\\t"),
                '\n' => self.out.push_str("\\n"),
                '\x0c' => self.out.push_str("\\f"),
                '\r' => self.out.push_str("\\r"),
                '\0'..='\x1f' | '\x7f' => self.out.push_str(&format!("\\u{:04x}", u32::from(c))),
                other => self.out.push(other),
            }
        }
        self.out.push('"');
    }
}

/// Reads a document: integers are `int64`, arrays of tables are slices of maps.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| format!("toml: {}", error.message()))?;
    Ok(map_of(&table))
}

fn map_of(table: &toml::Table) -> Value {
    let entries = table.iter().map(|(key, value)| (std::sync::Arc::from(key.as_str()), value_of(value)));
    Value::Map(entries.collect())
}

fn value_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::int64(*number),
        toml::Value::Float(number) => Value::Float(*number),
        toml::Value::Boolean(flag) => Value::Bool(*flag),
        toml::Value::Datetime(time) => crate::sprig::time_from_toml(&time.to_string()),
        toml::Value::Array(items) => {
            let tables = !items.is_empty() && items.iter().all(toml::Value::is_table);
            let elements = if tables { Elements::Maps } else { Elements::Any };
            Value::List(List::typed(elements, items.iter().map(value_of).collect()))
        }
        toml::Value::Table(table) => map_of(table),
    }
}
