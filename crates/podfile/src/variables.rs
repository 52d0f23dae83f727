//! `variable` blocks: types, defaults, validation, and where values come from.

use hcl_edit::Span;
use hcl_edit::expr::{Expression, ObjectKey};
use podsmith_object::{Diagnostics, Map, Value, suggest};

use crate::convert;
use crate::eval::{Evaluator, Frame};
use crate::unit::{BlockRef, Unit, Variable};

/// A type as written in `type = …`.
#[derive(Clone, Debug)]
enum Kind {
    Any,
    Text,
    Number,
    Bool,
    List(Box<Kind>),
    Set(Box<Kind>),
    Map(Box<Kind>),
    Tuple(Vec<Kind>),
    /// Name, type, whether it may be missing, and its default.
    Object(Vec<(String, Kind, bool, Option<Expression>)>),
}

/// Gives every variable of `unit` its value.
///
/// `given` are the values from files and flags, `environment` looks up `PODSMITH_VAR_x`. Unknown names in `given` are
/// errors only when `strict` says so: a values file may serve several Podfiles.
pub(crate) fn assign<'u>(
    unit: &mut Unit<'u>,
    blocks: &[(String, BlockRef<'u>)],
    given: &Map<String, Value>,
    environment: &dyn Fn(&str) -> Option<String>,
    problems: &mut Diagnostics,
) {
    let mut values: Vec<(String, Variable)> = Vec::new();
    {
        let scratch = Unit::new(unit.tree, unit.package.clone(), unit.namespace.clone(), unit.depth);
        for (name, block) in blocks {
            if let Some(variable) = value_of(&scratch, name, *block, given, environment, problems) {
                values.push((name.clone(), variable));
            }
        }
    }
    unit.variables.extend(values);
}

/// Checks `validation` blocks, once every variable has its value.
pub(crate) fn validate<'u>(
    unit: &'u Unit<'u>,
    blocks: &[(String, BlockRef<'u>)],
    problems: &mut Diagnostics,
) {
    for (name, block) in blocks {
        if !unit.variables.contains_key(name) {
            continue;
        }
        let evaluator = Evaluator { unit, file: block.file };
        for validation in block.block.body.get_blocks("validation") {
            let Some(condition) = validation.body.get_attribute("condition") else {
                problems.push(
                    block.file.error(validation.ident.span(), "`validation` needs the attribute `condition`"),
                );
                continue;
            };
            let holds = evaluator.eval(&condition.value, &Frame::EMPTY).map(|value| convert::to_bool(&value));
            match holds {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => {
                    let message = validation
                        .body
                        .get_attribute("error_message")
                        .and_then(|message| evaluator.eval(&message.value, &Frame::EMPTY).ok())
                        .and_then(|message| convert::to_text(&message).ok())
                        .unwrap_or_else(|| "the value breaks a validation rule".to_owned());
                    let message = format!("variable `{name}`: {message}");
                    problems.push(block.file.error(condition.value.span(), message));
                }
                Ok(Err(error)) => problems.push(block.file.error(condition.value.span(), error)),
                Err(fault) => problems.push(*fault),
            }
        }
    }
}

fn value_of<'u>(
    scratch: &Unit<'_>,
    name: &str,
    block: BlockRef<'u>,
    given: &Map<String, Value>,
    environment: &dyn Fn(&str) -> Option<String>,
    problems: &mut Diagnostics,
) -> Option<Variable> {
    let body = &block.block.body;
    let flag = |attribute: &str| body.get_attribute(attribute).and_then(|a| a.value.as_bool());
    let kind = match body.get_attribute("type") {
        None => Kind::Any,
        Some(attribute) => match parse_kind(&attribute.value) {
            Ok(kind) => kind,
            Err((span, message)) => {
                problems.push(block.file.error(span.or_else(|| attribute.value.span()), message));
                return None;
            }
        },
    };
    let variable = format!("PODSMITH_VAR_{name}");
    let (value, from, span) = if let Some(value) = given.get(name) {
        (value.clone(), format!("the value given for variable `{name}`"), block.block.ident.span())
    } else if let Some(text) = environment(&variable) {
        let value = from_environment(&text, &kind);
        (value, format!("the value of {variable}"), block.block.ident.span())
    } else if let Some(default) = body.get_attribute("default") {
        let evaluator = ConstantEvaluator { unit: scratch, block };
        match evaluator.eval(&default.value) {
            Ok(value) => (value, format!("the default of variable `{name}`"), default.value.span()),
            Err(fault) => {
                problems.push(*fault);
                return None;
            }
        }
    } else {
        let message = format!("variable `{name}` has no value");
        let hint =
            format!("give it with --set {name}=…, in a --values file, or as {variable}; or write a default");
        problems.push(block.file.error(block.block.ident.span(), message).with_hint(hint));
        return None;
    };
    if value.is_null() && flag("nullable") == Some(false) {
        problems.push(block.file.error(span, format!("{from} must not be null")));
        return None;
    }
    match shape(value, &kind, scratch, block) {
        Ok(value) => Some(Variable { value, sensitive: flag("sensitive") == Some(true) }),
        Err(error) => {
            problems.push(block.file.error(span, format!("{from} has the wrong type: {error}")));
            None
        }
    }
}

/// Evaluates expressions that may use functions but no references.
struct ConstantEvaluator<'s, 'u> {
    unit: &'s Unit<'s>,
    block: BlockRef<'u>,
}

impl ConstantEvaluator<'_, '_> {
    fn eval(&self, expression: &Expression) -> crate::eval::Outcome {
        Evaluator { unit: self.unit, file: self.block.file }.eval(expression, &Frame::EMPTY)
    }
}

/// Text from the environment: text for strings, JSON or HCL-like literals for everything else.
fn from_environment(text: &str, kind: &Kind) -> Value {
    if matches!(kind, Kind::Text) {
        return Value::from(text);
    }
    if matches!(kind, Kind::Any | Kind::Number | Kind::Bool) {
        return Value::from(text);
    }
    let parsed = text.parse::<Expression>().ok().and_then(|expression| literal(&expression));
    parsed.or_else(|| serde_json::from_str(text).ok()).unwrap_or_else(|| Value::from(text))
}

/// A literal expression without names or operators.
fn literal(expression: &Expression) -> Option<Value> {
    match expression {
        Expression::Null(_) => Some(Value::Null),
        Expression::Bool(flag) => Some(Value::Bool(*flag.value())),
        Expression::String(text) => Some(Value::from(text.value().as_str())),
        Expression::Number(number) => crate::number::parse(&number.value().to_string()),
        Expression::Array(items) => items.iter().map(literal).collect::<Option<Vec<_>>>().map(Value::Array),
        Expression::Object(object) => object
            .iter()
            .map(|(key, value)| {
                let key = match key {
                    ObjectKey::Ident(name) => name.value().as_str().to_owned(),
                    ObjectKey::Expression(expression) => expression.as_str()?.to_owned(),
                };
                Some((key, literal(value.expr())?))
            })
            .collect::<Option<Map<_, _>>>()
            .map(Value::Object),
        _ => None,
    }
}

type KindFault = (Option<std::ops::Range<usize>>, String);

fn parse_kind(expression: &Expression) -> Result<Kind, KindFault> {
    const NAMES: [&str; 9] = ["string", "number", "bool", "any", "list", "set", "map", "object", "tuple"];
    match expression {
        Expression::Variable(name) => match name.value().as_str() {
            "string" => Ok(Kind::Text),
            "number" => Ok(Kind::Number),
            "bool" => Ok(Kind::Bool),
            "any" => Ok(Kind::Any),
            "list" | "set" => Ok(Kind::List(Box::new(Kind::Any))),
            "map" => Ok(Kind::Map(Box::new(Kind::Any))),
            other => {
                let hint = suggest::nearest(other, NAMES).map(|n| format!("; did you mean `{n}`?"));
                Err((name.span(), format!("`{other}` is no type{}", hint.unwrap_or_default())))
            }
        },
        // Old files write the type in quotes.
        Expression::String(text) => match text.value().as_str() {
            "string" => Ok(Kind::Text),
            "number" => Ok(Kind::Number),
            "bool" => Ok(Kind::Bool),
            "list" => Ok(Kind::List(Box::new(Kind::Any))),
            "map" => Ok(Kind::Map(Box::new(Kind::Any))),
            other => Err((text.span(), format!("`{other}` is no type"))),
        },
        Expression::FuncCall(call) => {
            let name = call.name.name.value().as_str();
            let mut arguments = call.args.iter();
            let (Some(first), None) = (arguments.next(), arguments.next()) else {
                return Err((call.span(), format!("`{name}` takes one type")));
            };
            match (name, first) {
                ("list", inner) => Ok(Kind::List(Box::new(parse_kind(inner)?))),
                ("set", inner) => Ok(Kind::Set(Box::new(parse_kind(inner)?))),
                ("map", inner) => Ok(Kind::Map(Box::new(parse_kind(inner)?))),
                ("tuple", Expression::Array(items)) => {
                    items.iter().map(parse_kind).collect::<Result<_, _>>().map(Kind::Tuple)
                }
                ("object", Expression::Object(fields)) => object_kind(fields),
                _ => Err((call.span(), format!("`{name}(…)` is no type"))),
            }
        }
        other => Err((
            other.span(),
            "this is no type; write string, number, bool, list(…), map(…) or object({…})".into(),
        )),
    }
}

fn object_kind(fields: &hcl_edit::expr::Object) -> Result<Kind, KindFault> {
    let mut out = Vec::new();
    for (key, value) in fields.iter() {
        let name = match key {
            ObjectKey::Ident(name) => name.value().as_str().to_owned(),
            ObjectKey::Expression(expression) => match expression {
                Expression::Variable(name) => name.value().as_str().to_owned(),
                other => other.as_str().unwrap_or_default().to_owned(),
            },
        };
        let expression = value.expr();
        if let Expression::FuncCall(call) = expression
            && call.name.name.value().as_str() == "optional"
        {
            let mut arguments = call.args.iter();
            let inner =
                arguments.next().ok_or_else(|| (call.span(), "`optional` needs a type".to_owned()))?;
            out.push((name, parse_kind(inner)?, true, arguments.next().cloned()));
        } else {
            out.push((name, parse_kind(expression)?, false, None));
        }
    }
    Ok(Kind::Object(out))
}

/// Converts a value to a type.
fn shape(value: Value, kind: &Kind, unit: &Unit<'_>, block: BlockRef<'_>) -> Result<Value, String> {
    if value.is_null() {
        return Ok(value);
    }
    let each = |items: Vec<Value>, inner: &Kind| -> Result<Vec<Value>, String> {
        items
            .into_iter()
            .enumerate()
            .map(|(index, item)| {
                shape(item, inner, unit, block).map_err(|error| format!("element {index}: {error}"))
            })
            .collect()
    };
    match (kind, value) {
        (Kind::Any, value) => Ok(value),
        (Kind::Text, value) => convert::to_text(&value).map(Value::from),
        (Kind::Number, value) => convert::to_number(&value).map(Value::Number),
        (Kind::Bool, value) => convert::to_bool(&value).map(Value::Bool),
        (Kind::List(inner), Value::Array(items)) => each(items, inner).map(Value::Array),
        (Kind::Set(inner), Value::Array(items)) => {
            let mut seen = std::collections::HashSet::new();
            let items = each(items, inner)?;
            Ok(items.into_iter().filter(|item| seen.insert(podsmith_object::json::canonical(item))).collect())
        }
        (Kind::Map(inner), Value::Object(map)) => map
            .into_iter()
            .map(|(key, value)| {
                let value = shape(value, inner, unit, block).map_err(|error| format!("`{key}`: {error}"))?;
                Ok((key, value))
            })
            .collect::<Result<Map<_, _>, String>>()
            .map(Value::Object),
        (Kind::Tuple(kinds), Value::Array(items)) if kinds.len() == items.len() => kinds
            .iter()
            .zip(items)
            .map(|(kind, item)| shape(item, kind, unit, block))
            .collect::<Result<Vec<_>, _>>()
            .map(Value::Array),
        (Kind::Tuple(kinds), Value::Array(items)) => {
            Err(format!("{} elements are needed, there are {}", kinds.len(), items.len()))
        }
        (Kind::Object(fields), Value::Object(mut map)) => {
            let mut out = Map::new();
            for (name, kind, optional, default) in fields {
                let value = match (map.shift_remove(name), default) {
                    (Some(value), _) if !value.is_null() => value,
                    (_, Some(default)) => ConstantEvaluator { unit, block }
                        .eval(default)
                        .map_err(|fault| fault.message.clone())?,
                    (Some(null), None) => null,
                    (None, None) if *optional => Value::Null,
                    (None, None) => return Err(format!("the attribute `{name}` is missing")),
                };
                let value = shape(value, kind, unit, block).map_err(|error| format!("`{name}`: {error}"))?;
                out.insert(name.clone(), value);
            }
            Ok(Value::Object(out))
        }
        (Kind::List(_) | Kind::Set(_) | Kind::Tuple(_), other) => {
            Err(format!("a list is needed, this is {}", convert::describe(&other)))
        }
        (Kind::Map(_) | Kind::Object(_), other) => {
            Err(format!("an object is needed, this is {}", convert::describe(&other)))
        }
    }
}
