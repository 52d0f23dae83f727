//! Evaluates HCL expressions. Every failure carries the place of the expression that failed.

mod operators;
mod template;
mod traversal;

use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, ForExpr, FuncCall, Object, ObjectKey};
use podsmith_object::{Diagnostic, Map, Value, suggest};

use crate::convert;
use crate::functions::{self, CallContext};
use crate::number;
use crate::source::SourceFile;
use crate::unit::Unit;

/// A failed evaluation. Boxed because results are passed around far more often than failures happen.
pub(crate) type Fault = Box<Diagnostic>;
pub(crate) type Outcome = Result<Value, Fault>;

/// Names bound by `for`, `each` and `count`, innermost first.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'f> {
    pub bindings: &'f [(&'f str, Value)],
    pub parent: Option<&'f Frame<'f>>,
}

impl Frame<'_> {
    pub const EMPTY: Frame<'static> = Frame { bindings: &[], parent: None };

    fn get(&self, name: &str) -> Option<&Value> {
        let found = self.bindings.iter().find(|(bound, _)| *bound == name).map(|(_, value)| value);
        found.or_else(|| self.parent?.get(name))
    }

    fn names<'s>(&'s self, out: &mut Vec<&'s str>) {
        out.extend(self.bindings.iter().map(|(name, _)| *name));
        if let Some(parent) = self.parent {
            parent.names(out);
        }
    }
}

/// Evaluates expressions of one file within one unit.
#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'u> {
    pub unit: &'u Unit<'u>,
    pub file: &'u SourceFile,
}

impl<'u> Evaluator<'u> {
    pub fn fault(&self, span: Option<Range<usize>>, message: impl Into<String>) -> Fault {
        Box::new(self.file.error(span, message))
    }

    /// Evaluates `expression`.
    pub fn eval(&self, expression: &Expression, frame: &Frame<'_>) -> Outcome {
        match expression {
            Expression::Null(_) => Ok(Value::Null),
            Expression::Bool(flag) => Ok(Value::Bool(*flag.value())),
            Expression::String(text) => Ok(Value::from(text.value().as_str())),
            Expression::Number(literal) => {
                let literal = literal.value();
                let exact = literal.as_i64().map(i128::from).or_else(|| literal.as_u64().map(i128::from));
                let value = match exact {
                    Some(exact) => number::from_exact(exact),
                    None => literal.as_f64().and_then(number::from_float),
                };
                value.ok_or_else(|| self.fault(expression.span(), "this number is out of range"))
            }
            Expression::Array(items) => items
                .iter()
                .map(|item| self.eval(item, frame))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array),
            Expression::Object(object) => self.object(object, frame),
            Expression::StringTemplate(template) => self.template(template, frame),
            Expression::HeredocTemplate(heredoc) => self.heredoc(heredoc, frame),
            Expression::Parenthesis(inner) => self.eval(inner.inner(), frame),
            Expression::Variable(name) => self.variable(name.value().as_str(), name.span(), frame),
            Expression::Conditional(conditional) => {
                let condition = self.eval(&conditional.cond_expr, frame)?;
                let chosen = convert::to_bool(&condition).map_err(|error| {
                    self.fault(conditional.cond_expr.span(), format!("the condition cannot be used: {error}"))
                })?;
                self.eval(if chosen { &conditional.true_expr } else { &conditional.false_expr }, frame)
            }
            Expression::FuncCall(call) => self.call(call, frame),
            Expression::Traversal(traversal) => self.traversal(traversal, frame),
            Expression::UnaryOp(operation) => self.unary(operation, frame),
            Expression::BinaryOp(operation) => self.binary(operation, frame),
            Expression::ForExpr(for_expression) => self.for_expression(for_expression, frame),
        }
    }

    fn object(&self, object: &Object, frame: &Frame<'_>) -> Outcome {
        let mut map = Map::new();
        for (key, value) in object.iter() {
            let name = match key {
                ObjectKey::Ident(name) => name.value().as_str().to_owned(),
                // A bare word in parentheses is a variable, without them it is the key itself.
                ObjectKey::Expression(Expression::Variable(name)) => name.value().as_str().to_owned(),
                ObjectKey::Expression(expression) => {
                    let value = self.eval(expression, frame)?;
                    convert::to_text(&value).map_err(|error| {
                        self.fault(expression.span(), format!("this key cannot be used: {error}"))
                    })?
                }
            };
            map.insert(name, self.eval(value.expr(), frame)?);
        }
        Ok(Value::Object(map))
    }

    fn variable(&self, name: &str, span: Option<Range<usize>>, frame: &Frame<'_>) -> Outcome {
        if let Some(value) = frame.get(name) {
            return Ok(value.clone());
        }
        if let Some(outcome) = self.unit.whole_namespace(name) {
            return outcome;
        }
        let mut known = Vec::new();
        frame.names(&mut known);
        for root in self.unit.root_names() {
            known.push(root);
        }
        let hint = if matches!(name, "each" | "count") {
            let attribute = if name == "each" { "for_each" } else { "count" };
            Some(format!("`{name}` is known only in a block with `{attribute}`"))
        } else {
            suggest::hint(name, known)
        };
        Err(Box::new(self.file.error(span, format!("`{name}` is not defined")).with_hint_if(hint)))
    }

    fn call(&self, call: &FuncCall, frame: &Frame<'_>) -> Outcome {
        let name = call.name.name.value().as_str();
        let span = call.name.name.span().or_else(|| call.span());
        if call.name.is_namespaced() {
            return Err(self.fault(span, "functions of providers are not known here"));
        }
        if matches!(name, "try" | "can") {
            return self.attempt(name, call, frame);
        }
        let Some(function) = functions::find(name) else {
            let hint = suggest::nearest(name, functions::names()).map_or_else(
                || "the functions are listed in docs/podfile.md".to_owned(),
                |found| format!("did you mean `{found}`?"),
            );
            return Err(Box::new(
                self.file.error(span, format!("there is no function `{name}`")).with_hint(hint),
            ));
        };
        let mut arguments = Vec::with_capacity(call.args.len());
        for argument in call.args.iter() {
            arguments.push(self.eval(argument, frame)?);
        }
        if call.args.expand_final() {
            match arguments.pop() {
                Some(Value::Array(items)) => arguments.extend(items),
                _ => return Err(self.fault(span, "only a list can be expanded with `...`")),
            }
        }
        if arguments.len() < function.least || function.most.is_some_and(|most| arguments.len() > most) {
            let message =
                format!("`{name}` was given {} arguments; it is {}", arguments.len(), function.signature);
            return Err(self.fault(span, message));
        }
        let context = CallContext { evaluator: self };
        (function.run)(&context, &arguments)
            .map_err(|error| self.fault(span, format!("`{name}` failed: {error}")))
    }

    /// `try(a, b, …)` gives the first argument that evaluates; `can(a)` says whether it does.
    fn attempt(&self, name: &str, call: &FuncCall, frame: &Frame<'_>) -> Outcome {
        let mut last = None;
        for argument in call.args.iter() {
            match self.eval(argument, frame) {
                Ok(value) => return Ok(if name == "can" { Value::Bool(true) } else { value }),
                Err(fault) => last = Some(fault),
            }
        }
        match last {
            Some(_) if name == "can" => Ok(Value::Bool(false)),
            Some(fault) => Err(fault),
            None => Err(self.fault(call.span(), format!("`{name}` needs an argument"))),
        }
    }

    fn for_expression(&self, expression: &ForExpr, frame: &Frame<'_>) -> Outcome {
        let intro = &expression.intro;
        let collection = self.eval(&intro.collection_expr, frame)?;
        let key_name = intro.key_var.as_ref().map(|name| name.value().as_str());
        let value_name = intro.value_var.value().as_str();
        let mut list = Vec::new();
        let mut map: Map<String, Value> = Map::new();
        for (key, value) in self.elements(collection, intro.collection_expr.span())? {
            let bindings = bind(key_name, key, value_name, value);
            let inner = Frame { bindings: &bindings, parent: Some(frame) };
            if let Some(condition) = &expression.cond {
                let keep = self.eval(&condition.expr, &inner)?;
                let keep = convert::to_bool(&keep).map_err(|error| {
                    self.fault(condition.expr.span(), format!("the condition cannot be used: {error}"))
                })?;
                if !keep {
                    continue;
                }
            }
            let value = self.eval(&expression.value_expr, &inner)?;
            let Some(key) = &expression.key_expr else {
                list.push(value);
                continue;
            };
            let name = self.eval(key, &inner)?;
            let name = convert::to_text(&name)
                .map_err(|error| self.fault(key.span(), format!("this key cannot be used: {error}")))?;
            if expression.grouping {
                match map.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                    Value::Array(group) => group.push(value),
                    other => *other = value,
                }
            } else if map.insert(name.clone(), value).is_some() {
                let message = format!("two elements give the key `{name}`");
                return Err(Box::new(
                    self.file
                        .error(key.span(), message)
                        .with_hint("write `...` after the value to group them"),
                ));
            }
        }
        Ok(if expression.key_expr.is_some() { Value::Object(map) } else { Value::Array(list) })
    }

    /// The elements of a collection with their keys.
    pub fn elements(
        &self,
        collection: Value,
        span: Option<Range<usize>>,
    ) -> Result<Vec<(Value, Value)>, Fault> {
        match collection {
            Value::Array(items) => {
                Ok(items.into_iter().enumerate().map(|(index, item)| (Value::from(index), item)).collect())
            }
            Value::Object(map) => Ok(map.into_iter().map(|(key, value)| (Value::from(key), value)).collect()),
            other => {
                let message = format!(
                    "a list or an object is needed to go through, this is {}",
                    convert::describe(&other)
                );
                Err(self.fault(span, message))
            }
        }
    }
}

/// The bindings of one round of a loop.
pub(crate) fn bind<'n>(
    key_name: Option<&'n str>,
    key: Value,
    value_name: &'n str,
    value: Value,
) -> Vec<(&'n str, Value)> {
    match key_name {
        Some(key_name) => vec![(key_name, key), (value_name, value)],
        None => vec![(value_name, value)],
    }
}
