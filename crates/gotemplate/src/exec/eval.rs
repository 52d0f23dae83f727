//! Pipelines, commands and arguments.

use super::frame::{At, Frame};
use super::{Run, with_stack};
use crate::args::check_size;
use crate::error::CallError;
use crate::function::{Function, Parameter, Special};
use crate::parse::{Command, Expr, Number, Pipe};
use crate::render::Renderer;
use crate::value::{Elements, IntKind, MapKind, Value};

impl Renderer<'_> {
    /// The value of a pipeline. Variables that it declares stay on the frame.
    pub(crate) fn pipe<'t>(&mut self, frame: &mut Frame<'t>, dot: &Value, pipe: &'t Pipe) -> Run<Value> {
        frame.at = At::Pipe(pipe);
        let mut value = None;
        for command in &pipe.commands {
            let result = self.command(frame, dot, command, value.take())?;
            // A nil that leaves a command is no longer a nil of some type, just nothing.
            value = Some(if matches!(result, Value::Nil) { Value::Absent } else { result });
        }
        let value = value.unwrap_or(Value::Absent);
        for (id, name) in &pipe.variables {
            if pipe.assigns {
                frame.assign(*id, name, value.clone())?;
            } else {
                frame.variables.push((*id, value.clone()));
            }
        }
        Ok(value)
    }

    fn command<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        command: &'t Command,
        last: Option<Value>,
    ) -> Run<Value> {
        let Some(first) = command.operands.first() else { return Ok(Value::Absent) };
        let arguments = &command.operands[1..];
        match first {
            Expr::Function { name, index, .. } => {
                frame.at = At::Expr(first);
                self.call_function(frame, dot, *index, name, At::Command(command), arguments, last)
            }
            Expr::Field { .. } | Expr::Chain { .. } | Expr::Variable { .. } => {
                self.path(frame, dot, first, arguments, last)
            }
            Expr::Pipe(pipe) => {
                not_a_function(frame, first, arguments, &last)?;
                with_stack(|| self.pipe(frame, dot, pipe))
            }
            literal => {
                frame.at = At::Expr(literal);
                not_a_function(frame, literal, arguments, &last)?;
                match literal {
                    Expr::Nil { .. } => Err(frame.error("nil is not a command")),
                    Expr::Dot { .. } => Ok(dot.clone()),
                    other => self.literal(frame, other),
                }
            }
        }
    }

    /// A literal where any type will do.
    fn literal(&mut self, frame: &Frame<'_>, expr: &Expr) -> Run<Value> {
        Ok(match expr {
            Expr::Bool { value, .. } => Value::Bool(*value),
            Expr::String { value, .. } => value.to_value(),
            Expr::Number { value, .. } => ideal_constant(frame, value)?,
            _ => Value::Nil,
        })
    }

    /// Calls a function by its place in the table.
    #[expect(clippy::too_many_arguments, reason = "one call site for each of two forms")]
    pub(crate) fn call_function<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        index: usize,
        name: &str,
        at: At<'t>,
        arguments: &'t [Expr],
        last: Option<Value>,
    ) -> Run<Value> {
        let functions = self.functions.clone();
        let Some(function) = functions.at(index) else {
            return Err(frame.error(format!("{name:?} is not a defined function")));
        };
        check_count(frame, name, function, arguments.len(), last.is_some())?;
        if function.special != Special::None {
            return self.short_circuit(frame, dot, function.special, arguments, last);
        }
        let mut values = Vec::with_capacity(arguments.len() + 1);
        for (position, argument) in arguments.iter().enumerate() {
            let parameter = function.parameter(position);
            values.push(present(self.argument(frame, dot, argument, parameter)?));
        }
        if let Some(last) = last {
            let parameter = function.parameter(values.len());
            values.push(present(validate(frame, last, parameter)?));
        }
        let result = (function.body)(self, &values).and_then(|value| self.bounded(value));
        result.map_err(|error| {
            frame.at = at;
            frame.call_error(name, error)
        })
    }

    /// Refuses results so large that a loop which doubles them would eat all memory.
    fn bounded(&self, value: Value) -> Result<Value, CallError> {
        let bytes = match &value {
            Value::String(text) => text.len(),
            Value::List(list) => list.len().saturating_mul(size_of::<Value>()),
            _ => 0,
        };
        check_size(self, bytes)?;
        Ok(value)
    }

    /// `and` and `or` evaluate only what they need.
    fn short_circuit<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        special: Special,
        arguments: &'t [Expr],
        last: Option<Value>,
    ) -> Run<Value> {
        let mut value = Value::Absent;
        for argument in arguments {
            value = self.argument(frame, dot, argument, Parameter::Any)?;
            if value.is_true() == (special == Special::Or) {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// One argument, of the type that the function wants.
    pub(crate) fn argument<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        expr: &'t Expr,
        parameter: Parameter,
    ) -> Run<Value> {
        frame.at = At::Expr(expr);
        let value = match expr {
            Expr::Dot { .. } => dot.clone(),
            Expr::Nil { .. } => {
                return if parameter.can_be_nil() {
                    Ok(Value::Nil)
                } else {
                    Err(frame.error(format!("cannot assign nil to {}", parameter.type_name())))
                };
            }
            Expr::Field { .. } | Expr::Variable { .. } | Expr::Chain { .. } => {
                self.path(frame, dot, expr, &[], None)?
            }
            Expr::Pipe(pipe) => with_stack(|| self.pipe(frame, dot, pipe))?,
            Expr::Function { name, index, .. } => {
                self.call_function(frame, dot, *index, name, At::Expr(expr), &[], None)?
            }
            literal => return self.typed_literal(frame, literal, parameter),
        };
        validate(frame, value, parameter)
    }

    fn typed_literal(&mut self, frame: &Frame<'_>, expr: &Expr, parameter: Parameter) -> Run<Value> {
        let expected = |what: &str| Err(frame.error(format!("expected {what}; found {expr}")));
        let number = if let Expr::Number { value, .. } = expr { Some(value) } else { None };
        match parameter {
            Parameter::Any => self.literal(frame, expr),
            Parameter::Bool => match expr {
                Expr::Bool { value, .. } => Ok(Value::Bool(*value)),
                _ => expected("bool"),
            },
            Parameter::String => match expr {
                Expr::String { value, .. } => Ok(value.to_value()),
                _ => expected("string"),
            },
            Parameter::Int => match number.and_then(|number| number.int) {
                Some(int) => Ok(Value::int(int)),
                None => expected("integer"),
            },
            Parameter::Uint32 => match number.and_then(|number| number.uint) {
                Some(uint) => Ok(Value::Int((uint & 0xffff_ffff).cast_signed(), IntKind::Uint32)),
                None => expected("unsigned integer"),
            },
            Parameter::Float => match number.and_then(|number| number.float) {
                Some(float) => Ok(Value::Float(float)),
                None => expected("float"),
            },
            other => Err(frame.error(format!("can't handle {expr} for arg of type {}", other.type_name()))),
        }
    }
}

fn ideal_constant(frame: &Frame<'_>, number: &Number) -> Run<Value> {
    if let Some(float) = number.as_written_float() {
        return Ok(Value::Float(float));
    }
    match number.int {
        Some(int) => Ok(Value::int(int)),
        None => Err(frame.error(format!("{} overflows int", number.text))),
    }
}

/// Functions see a nil where the pipeline has nothing.
pub(super) fn present(value: Value) -> Value {
    if matches!(value, Value::Absent) { Value::Nil } else { value }
}

pub(super) fn not_a_function(
    frame: &Frame<'_>,
    first: &Expr,
    arguments: &[Expr],
    last: &Option<Value>,
) -> Run<()> {
    if arguments.is_empty() && last.is_none() {
        return Ok(());
    }
    Err(frame.error(format!("can't give argument to non-function {first}")))
}

fn check_count(frame: &Frame<'_>, name: &str, function: &Function, given: usize, piped: bool) -> Run<()> {
    let fixed = function.signature.fixed.len();
    let total = given + usize::from(piped);
    if function.signature.variadic.is_some() {
        if total < fixed {
            return Err(
                frame.error(format!("wrong number of args for {name}: want at least {fixed} got {given}"))
            );
        }
    } else if total != fixed {
        return Err(frame.error(format!("wrong number of args for {name}: want {fixed} got {total}")));
    }
    Ok(())
}

/// Checks that `value` can be passed as `parameter`.
fn validate(frame: &Frame<'_>, value: Value, parameter: Parameter) -> Run<Value> {
    let fits = match (&value, parameter) {
        (Value::Absent, _) => {
            return if parameter.can_be_nil() {
                Ok(Value::Nil)
            } else {
                Err(frame.error(format!("invalid value; expected {}", parameter.type_name())))
            };
        }
        (_, Parameter::Any)
        | (Value::String(_) | Value::RawString(_), Parameter::String)
        | (Value::Int(_, IntKind::Int), Parameter::Int)
        | (Value::Int(_, IntKind::Uint32), Parameter::Uint32)
        | (Value::Float(_), Parameter::Float)
        | (Value::Bool(_), Parameter::Bool) => true,
        (Value::Map(map), Parameter::Map) => matches!(map.kind(), MapKind::Any | MapKind::Values),
        (Value::List(list), Parameter::List) => list.elements() == Elements::Any,
        (Value::Native(native), Parameter::Native(name)) => {
            native.type_name() == name || native.type_name().strip_prefix('*') == Some(name)
        }
        _ => false,
    };
    if fits {
        return Ok(value);
    }
    let found = if matches!(value, Value::Nil) { "interface {}" } else { value.type_name() };
    Err(frame.error(format!("wrong type for value; expected {}; got {found}", parameter.type_name())))
}
