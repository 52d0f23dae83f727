//! Checks blocks against the language and evaluates their attributes.
//!
//! Every problem of a block is reported; a wrong attribute does not hide the next one.

use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, TraversalOperator};
use hcl_edit::structure::{Block as Syntax, Body, Structure};
use indexmap::IndexMap;
use podsmith_object::quantity::Quantity;
use podsmith_object::{Diagnostics, Map, Value, json, suggest};

use crate::convert;
use crate::eval::{Evaluator, Frame};
use crate::functions::kubernetes::VALUE_FROM;
use crate::language::{BlockType, BodyType, Need, Times, Type};
use crate::source::SourceFile;
use crate::unit::Unit;

/// An evaluated attribute.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub value: Value,
    pub span: Option<Range<usize>>,
    /// True when the value was made from a sensitive variable.
    pub sensitive: bool,
}

/// An evaluated block.
#[derive(Debug)]
pub(crate) struct Block<'u> {
    pub file: &'u SourceFile,
    pub kind: &'static str,
    pub label: String,
    pub span: Option<Range<usize>>,
    pub attributes: IndexMap<String, Attribute>,
    pub blocks: Vec<Block<'u>>,
}

impl<'u> Block<'u> {
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.attributes.get(name).map(|attribute| &attribute.value)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    pub fn map(&self, name: &str) -> Option<&Map<String, Value>> {
        self.value(name)?.as_object()
    }

    pub fn blocks<'s>(&'s self, kind: &str) -> impl Iterator<Item = &'s Block<'u>> {
        self.blocks.iter().filter(move |block| block.kind == kind)
    }

    pub fn block(&self, kind: &str) -> Option<&Block<'u>> {
        self.blocks(kind).next()
    }

    /// Where an attribute was written, or the block without it.
    pub fn span_of(&self, name: &str) -> Option<Range<usize>> {
        self.attributes.get(name).and_then(|attribute| attribute.span.clone()).or_else(|| self.span.clone())
    }
}

/// Decodes blocks of one unit and collects what is wrong.
pub(crate) struct Decoder<'d, 'u> {
    pub unit: &'u Unit<'u>,
    pub problems: &'d mut Diagnostics,
}

impl<'u> Decoder<'_, 'u> {
    /// Evaluates one block. `None` when something in it is wrong; the problems are recorded.
    pub fn block(
        &mut self,
        file: &'u SourceFile,
        syntax: &'u Syntax,
        kind: &'static BlockType,
        frame: &Frame<'_>,
    ) -> Option<Block<'u>> {
        let before = self.problems.0.len();
        let label = check_labels(file, syntax, kind, self.problems);
        let mut block = Block {
            file,
            kind: kind.name,
            label: label.unwrap_or_default(),
            span: syntax.ident.span(),
            attributes: IndexMap::new(),
            blocks: Vec::new(),
        };
        self.body(&mut block, &syntax.body, kind.body, frame);
        (self.problems.0.len() == before).then_some(block)
    }

    fn body(&mut self, block: &mut Block<'u>, body: &'u Body, kind: &'static BodyType, frame: &Frame<'_>) {
        check_names(block.file, body, kind, self.problems);
        for structure in body {
            match structure {
                Structure::Attribute(attribute) => {
                    let name = attribute.key.value().as_str();
                    let wanted = match (kind.attribute(name), kind.free) {
                        (Some(known), _) => known.kind,
                        (None, Some(free)) => free,
                        (None, None) => continue,
                    };
                    // `count` and `for_each` are evaluated before the block, outside of its instances.
                    if matches!(name, "count" | "for_each") && kind.attribute(name).is_some() {
                        continue;
                    }
                    if let Some(attribute) = self.attribute(block, name, &attribute.value, wanted, frame) {
                        block.attributes.insert(name.to_owned(), attribute);
                    }
                }
                Structure::Block(inner) => {
                    if let Some(known) = kind.block(inner.ident.value().as_str())
                        && let Some(inner) = self.block(block.file, inner, known, frame)
                    {
                        block.blocks.push(inner);
                    }
                }
            }
        }
        for attribute in kind.attributes().filter(|attribute| attribute.need == Need::Required) {
            if !body.has_attribute(attribute.name) {
                self.missing(block, attribute.name, attribute.about);
            } else if block.value(attribute.name) == Some(&Value::Null) {
                let message = format!("`{}` must not be null", attribute.name);
                self.problems.push(block.file.error(block.span_of(attribute.name), message));
            }
        }
        block.attributes.retain(|_, attribute| !attribute.value.is_null());
    }

    fn missing(&mut self, block: &Block<'_>, name: &str, about: &str) {
        let shown = if block.label.is_empty() {
            format!("`{}`", block.kind)
        } else {
            format!("{} `{}`", block.kind, block.label)
        };
        let message = format!("{shown} needs the attribute `{name}`");
        self.problems
            .push(block.file.error(block.span.clone(), message).with_hint(format!("`{name}`: {about}")));
    }

    fn attribute(
        &mut self,
        block: &Block<'u>,
        name: &str,
        expression: &'u Expression,
        wanted: Type,
        frame: &Frame<'_>,
    ) -> Option<Attribute> {
        let file = block.file;
        if wanted == Type::Environment
            && let Some(reference) = self.key_reference(expression)
        {
            return Some(Attribute { value: reference, span: expression.span(), sensitive: false });
        }
        let outer = self.unit.sensitive.replace(false);
        let outcome = match expression {
            // Most values are written out; they cannot refer to anything, so nothing has to watch for circles.
            Expression::String(_) | Expression::Number(_) | Expression::Bool(_) | Expression::Null(_) => {
                Evaluator { unit: self.unit, file }.eval(expression, frame)
            }
            _ if block.label.is_empty() => self.unit.attribute(file, expression, name, frame),
            _ => {
                let path = format!("{}.{}.{name}", block.kind, block.label);
                self.unit.attribute(file, expression, &path, frame)
            }
        };
        let sensitive = self.unit.sensitive.replace(outer);
        let value = match outcome {
            Ok(value) => value,
            Err(fault) => {
                self.problems.push(*fault);
                return None;
            }
        };
        match coerce(value, wanted) {
            Ok(value) => Some(Attribute { value, span: expression.span(), sensitive }),
            Err(error) => {
                let problem =
                    file.error(expression.span(), format!("`{name}` cannot be used: {}", error.message));
                self.problems.push(problem.with_hint_if(error.hint));
                None
            }
        }
    }

    /// `secret.NAME.data.KEY` and `config.NAME.data.KEY` as an environment value are references, so that the value
    /// stays in the Secret and never reaches the pod's definition.
    fn key_reference(&self, expression: &Expression) -> Option<Value> {
        let Expression::Traversal(traversal) = expression else { return None };
        let Expression::Variable(root) = &traversal.expr else { return None };
        let (kind, field) = match root.value().as_str() {
            "secret" => ("secret", "secretKeyRef"),
            "config" => ("config", "configMapKeyRef"),
            _ => return None,
        };
        let [name, data, key] = traversal.operators.as_slice() else { return None };
        let word = |operator: &TraversalOperator| match operator {
            TraversalOperator::GetAttr(name) => Some(name.value().as_str().to_owned()),
            TraversalOperator::Index(Expression::String(text)) => Some(text.value().clone()),
            _ => None,
        };
        let (name, key) = (word(name.value())?, word(key.value())?);
        if word(data.value())? != "data" {
            return None;
        }
        let block = self.unit.blocks.get(&(kind, name.as_str()))?;
        let body = &block.block.body;
        if body.has_attribute("name") || body.has_attribute("count") || body.has_attribute("for_each") {
            return None;
        }
        Some(json!({ VALUE_FROM: { field: { "name": name, "key": key } } }))
    }
}

/// Checks the names in a body: unknown attributes and blocks, repeated blocks. Does not evaluate anything.
fn check_names(file: &SourceFile, body: &Body, kind: &'static BodyType, problems: &mut Diagnostics) {
    let mut seen: IndexMap<(&str, &str), ()> = IndexMap::new();
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                let name = attribute.key.value().as_str();
                if kind.free.is_some() || kind.attribute(name).is_some() {
                    continue;
                }
                let problem =
                    file.error(attribute.key.span(), format!("there is no attribute `{name}` here"));
                let hint = match kind.block(name) {
                    Some(block) if block.label.is_some() => {
                        Some(format!("`{name}` is a block: {name} \"…\" {{ … }}"))
                    }
                    Some(_) => Some(format!("`{name}` is a block: {name} {{ … }}")),
                    None => suggest::hint(
                        name,
                        kind.attributes().map(|attribute| attribute.name).collect::<Vec<_>>(),
                    ),
                };
                problems.push(problem.with_hint_if(hint));
            }
            Structure::Block(block) => {
                let name = block.ident.value().as_str();
                let Some(known) = kind.block(name) else {
                    let problem = file.error(block.ident.span(), format!("there is no block `{name}` here"));
                    let hint = match kind.attribute(name) {
                        Some(_) => Some(format!("`{name}` is an attribute: {name} = …")),
                        None => {
                            suggest::hint(name, kind.blocks().map(|block| block.name).collect::<Vec<_>>())
                        }
                    };
                    problems.push(problem.with_hint_if(hint));
                    continue;
                };
                let label = block.labels.first().map_or("", |label| label.as_str());
                let repeated = seen.insert((known.name, label), ()).is_some();
                if repeated && known.label.is_some() {
                    let span =
                        block.labels.first().and_then(|label| label.span()).or_else(|| block.ident.span());
                    problems.push(
                        file.error(span, format!("there are two `{name}` blocks with the label `{label}`")),
                    );
                } else if repeated && known.times == Times::Once {
                    problems.push(
                        file.error(block.ident.span(), format!("there is more than one `{name}` block")),
                    );
                }
            }
        }
    }
}

fn check_labels(
    file: &SourceFile,
    syntax: &Syntax,
    kind: &BlockType,
    problems: &mut Diagnostics,
) -> Option<String> {
    let labels = &syntax.labels;
    match (kind.label, labels.as_slice()) {
        (None, []) => None,
        (Some(_), [label]) if !label.as_str().is_empty() => Some(label.as_str().to_owned()),
        (Some(meaning), []) => {
            let problem =
                file.error(syntax.ident.span(), format!("`{}` needs a label: {meaning}", kind.name));
            problems.push(problem.with_hint(format!("write {} \"…\" {{ … }}", kind.name)));
            None
        }
        (Some(_), [label]) => {
            problems.push(file.error(label.span(), format!("the label of `{}` is empty", kind.name)));
            None
        }
        (None, [first, ..]) => {
            problems.push(file.error(first.span(), format!("`{}` takes no label", kind.name)));
            None
        }
        (Some(_), [_, second, ..]) => {
            problems.push(file.error(second.span(), format!("`{}` takes one label", kind.name)));
            None
        }
    }
}

/// Checks the names at the top of a file.
pub(crate) fn check_top(file: &SourceFile, body: &Body, kind: &'static BodyType, problems: &mut Diagnostics) {
    check_names(file, body, kind, problems);
}

struct Mismatch {
    message: String,
    hint: Option<String>,
}

impl From<String> for Mismatch {
    fn from(message: String) -> Self {
        Self { message, hint: None }
    }
}

/// Turns a value into what the attribute needs. Null stays null: it means "not set".
fn coerce(value: Value, wanted: Type) -> Result<Value, Mismatch> {
    if value.is_null() {
        return match wanted {
            Type::Environment => Err("the value must not be null".to_owned().into()),
            _ => Ok(value),
        };
    }
    match wanted {
        Type::Any => Ok(value),
        Type::Text => Ok(convert::to_text(&value)?.into()),
        Type::Bool => Ok(convert::to_bool(&value)?.into()),
        Type::Integer => Ok(convert::to_integer(&value)?.into()),
        Type::Port => port(&value),
        Type::PortOrName => match &value {
            Value::String(text) if text.parse::<i64>().is_err() => Ok(value),
            _ => port(&value),
        },
        Type::Amount => match &value {
            Value::String(text) if text.strip_suffix('%').is_some_and(|n| n.parse::<u32>().is_ok()) => {
                Ok(value)
            }
            _ => Ok(convert::to_integer(&value)?.into()),
        },
        Type::Quantity => {
            let text = convert::to_text(&value)?;
            match Quantity::parse(&text) {
                Ok(_) => Ok(text.into()),
                Err(error) => Err(error.to_string().into()),
            }
        }
        Type::TextList => match value {
            Value::Array(items) => {
                let texts: Result<Vec<Value>, String> =
                    items.iter().map(|item| convert::to_text(item).map(Value::from)).collect();
                Ok(Value::Array(texts.map_err(|error| format!("in the list {error}"))?))
            }
            other => Err(Mismatch {
                message: format!("a list of strings is needed, this is {}", convert::describe(&other)),
                hint: other.as_str().map(|text| format!("write [{}]", Value::from(text))),
            }),
        },
        Type::TextMap => match value {
            Value::Object(map) => {
                let mut out = Map::new();
                for (key, value) in map {
                    if value.is_null() {
                        continue;
                    }
                    let text = convert::to_text(&value).map_err(|error| format!("at `{key}` {error}"))?;
                    out.insert(key, text.into());
                }
                Ok(Value::Object(out))
            }
            other => Err(format!("an object is needed, this is {}", convert::describe(&other)).into()),
        },
        Type::Environment => match &value {
            Value::Object(map) if map.contains_key(VALUE_FROM) => Ok(value),
            _ => Ok(convert::to_text(&value)?.into()),
        },
        Type::OneOf(words) => {
            let text = convert::to_text(&value)?;
            match words.iter().find(|word| word.eq_ignore_ascii_case(&text)) {
                Some(word) => Ok((*word).into()),
                None => Err(Mismatch {
                    message: format!("`{text}` is not one of {}", words.join(", ")),
                    hint: suggest::nearest(&text, words.iter().copied())
                        .map(|near| format!("did you mean `{near}`?")),
                }),
            }
        }
    }
}

fn port(value: &Value) -> Result<Value, Mismatch> {
    let number = convert::to_integer(value)?;
    if (1..=65535).contains(&number) {
        Ok(number.into())
    } else {
        Err(format!("a port is between 1 and 65535, this is {number}").into())
    }
}
