//! Fields, keys and methods.

use super::Run;
use super::eval::{not_a_function, present};
use super::frame::{At, Frame};
use crate::function::Parameter;
use crate::parse::Expr;
use crate::render::{MissingKey, Renderer};
use crate::value::{Map, MapKind, Value};

impl Renderer<'_> {
    /// `.a.b`, `$x.a.b` or `(pipe).a.b`; arguments go to the last name, which must then be a method.
    pub(crate) fn path<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        expr: &'t Expr,
        arguments: &'t [Expr],
        last: Option<Value>,
    ) -> Run<Value> {
        frame.at = At::Expr(expr);
        let (mut receiver, path, mut from_map) = match expr {
            Expr::Field { path, .. } => (dot.clone(), path, false),
            Expr::Variable { id, name, path, .. } => {
                let Some(value) = frame.variable(*id).cloned() else {
                    return Err(frame.error(format!("undefined variable: {name}")));
                };
                if path.is_empty() {
                    not_a_function(frame, expr, arguments, &last)?;
                    return Ok(value);
                }
                (value, path, false)
            }
            Expr::Chain { base, path, .. } => {
                if matches!(**base, Expr::Nil { .. }) {
                    return Err(frame.error(format!("indirection through explicit nil in {expr}")));
                }
                let value = self.argument(frame, dot, base, Parameter::Any)?;
                // The type of a nil is lost between parentheses.
                let value = match (&value, &**base) {
                    (Value::Nil, Expr::Pipe(_)) => Value::Absent,
                    _ => value,
                };
                (value, path, false)
            }
            _ => return Ok(Value::Absent),
        };
        let Some((name, leading)) = path.split_last() else { return Ok(receiver) };
        for name in leading {
            let next = self.field(frame, dot, &receiver, name, &[], None, from_map)?;
            from_map = matches!(receiver, Value::Map(_));
            receiver = next;
        }
        self.field(frame, dot, &receiver, name, arguments, last, from_map)
    }

    #[expect(clippy::too_many_arguments, reason = "the receiver, and all that a call needs")]
    fn field<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        receiver: &Value,
        name: &str,
        arguments: &'t [Expr],
        last: Option<Value>,
        from_map: bool,
    ) -> Run<Value> {
        let has_arguments = !arguments.is_empty() || last.is_some();
        match receiver {
            Value::Absent => {
                if self.options.missing_key == MissingKey::Error {
                    return Err(frame.error(format!("nil data; no entry for key {name:?}")));
                }
                Ok(Value::Absent)
            }
            Value::Nil => Err(frame.error(format!("nil pointer evaluating interface {{}}.{name}"))),
            Value::Map(map) => {
                if map.kind() == MapKind::Values && matches!(name, "AsMap" | "YAML" | "Table") {
                    return self.values_method(frame, dot, map, name, arguments, last);
                }
                if has_arguments {
                    return Err(frame.error(format!("{name} is not a method but has arguments")));
                }
                match map.get(name) {
                    Some(value) => Ok(value),
                    None => self.missing(frame, map.kind(), name),
                }
            }
            Value::Native(native) => {
                let at = frame.at;
                let values = self.untyped_arguments(frame, dot, arguments, last)?;
                if let Some(result) = native.call(name, &values) {
                    return result.map_err(|reason| {
                        frame.at = at;
                        frame.call_error(name, reason.into())
                    });
                }
                frame.at = at;
                match native.field(name) {
                    Some(_) if has_arguments => {
                        Err(frame.error(format!("{name} has arguments but cannot be invoked as function")))
                    }
                    Some(value) => Ok(value),
                    None if native.kind() == "map" => self.missing(frame, MapKind::Any, name),
                    None => {
                        Err(frame
                            .error(format!("can't evaluate field {name} in type {}", native.type_name())))
                    }
                }
            }
            other => {
                let type_name = if from_map { "interface {}" } else { other.type_name() };
                Err(frame.error(format!("can't evaluate field {name} in type {type_name}")))
            }
        }
    }

    fn untyped_arguments<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        arguments: &'t [Expr],
        last: Option<Value>,
    ) -> Run<Vec<Value>> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.argument(frame, dot, argument, Parameter::Any)?);
        }
        values.extend(last.map(present));
        Ok(values)
    }

    fn missing(&self, frame: &Frame<'_>, kind: MapKind, name: &str) -> Run<Value> {
        match self.options.missing_key {
            MissingKey::Error => Err(frame.error(format!("map has no entry for key {name:?}"))),
            MissingKey::Go => Ok(Value::Absent),
            MissingKey::Helm if kind == MapKind::Strings => Ok(Value::from("")),
            MissingKey::Helm => Ok(Value::Nil),
        }
    }

    /// The methods that `.Values` and the root of the data have in Helm.
    fn values_method<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        map: &Map,
        name: &str,
        arguments: &'t [Expr],
        last: Option<Value>,
    ) -> Run<Value> {
        let values = self.untyped_arguments(frame, dot, arguments, last)?;
        match (name, values.as_slice()) {
            ("AsMap", []) => Ok(Value::Map(map.entries().into_iter().collect())),
            ("YAML", []) => Ok(Value::from(crate::data::yaml::write(&Value::Map(map.clone())))),
            ("Table", [Value::String(path)]) => {
                let mut table = Value::Map(map.clone());
                for part in path.split('.') {
                    table = match table.get(part) {
                        Some(next @ Value::Map(_)) => next,
                        _ => {
                            let reason = format!("{part:?} is not a table");
                            return Err(frame.call_error(name, reason.into()));
                        }
                    };
                }
                Ok(table)
            }
            _ => Err(frame.error(format!("wrong number of args for {name}"))),
        }
    }
}
