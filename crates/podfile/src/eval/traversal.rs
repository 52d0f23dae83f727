//! `a.b`, `a[0]`, `a[*].b` and references to other blocks.

use std::ops::Range;

use hcl_edit::expr::{Expression, Traversal, TraversalOperator};
use hcl_edit::{Decorated, Span};
use podsmith_object::{Value, suggest};

use super::{Evaluator, Frame, Outcome};
use crate::convert;
use crate::number;

impl Evaluator<'_> {
    pub(super) fn traversal(&self, traversal: &Traversal, frame: &Frame<'_>) -> Outcome {
        let operators = traversal.operators.as_slice();
        if let Expression::Variable(root) = &traversal.expr
            && frame.get(root.value().as_str()).is_none()
            && let Some(outcome) =
                self.unit.reference(self, root.value().as_str(), root.span(), operators, frame)
        {
            let (value, used) = outcome?;
            return self.walk(value, operators.get(used..).unwrap_or(&[]), frame);
        }
        let value = self.eval(&traversal.expr, frame)?;
        self.walk(value, operators, frame)
    }

    /// Applies traversal operators to a value.
    pub fn walk(
        &self,
        mut value: Value,
        operators: &[Decorated<TraversalOperator>],
        frame: &Frame<'_>,
    ) -> Outcome {
        for (index, operator) in operators.iter().enumerate() {
            let rest = operators.get(index + 1..).unwrap_or(&[]);
            match operator.value() {
                TraversalOperator::FullSplat(_) => {
                    let items: Result<Vec<_>, _> =
                        spread(value).into_iter().map(|item| self.walk(item, rest, frame)).collect();
                    return items.map(Value::Array);
                }
                TraversalOperator::AttrSplat(_) => {
                    // `.*` covers only the attribute steps that follow; an index after it applies to the whole list.
                    let attributes = rest
                        .iter()
                        .take_while(|next| matches!(next.value(), TraversalOperator::GetAttr(_)))
                        .count();
                    let (each, after) = rest.split_at(attributes);
                    let items: Result<Vec<_>, _> =
                        spread(value).into_iter().map(|item| self.walk(item, each, frame)).collect();
                    return self.walk(Value::Array(items?), after, frame);
                }
                _ => {
                    let key = self.step_key(operator, frame)?;
                    value = self.step(value, &key, operator.span())?;
                }
            }
        }
        Ok(value)
    }

    /// The key of an attribute or index step.
    pub fn step_key(&self, operator: &Decorated<TraversalOperator>, frame: &Frame<'_>) -> Outcome {
        match operator.value() {
            TraversalOperator::GetAttr(name) => Ok(Value::from(name.value().as_str())),
            TraversalOperator::LegacyIndex(index) => Ok(Value::from(*index.value())),
            TraversalOperator::Index(expression) => self.eval(expression, frame),
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => Ok(Value::from("*")),
        }
    }

    fn step(&self, value: Value, key: &Value, span: Option<Range<usize>>) -> Outcome {
        match value {
            Value::Object(mut map) => {
                let name = convert::to_text(key).map_err(|error| self.fault(span.clone(), error))?;
                match map.shift_remove(&name) {
                    Some(found) => Ok(found),
                    None => {
                        let hint = suggest::hint(&name, map.keys().map(String::as_str));
                        let message = format!("there is no `{name}` here");
                        Err(Box::new(self.file.error(span, message).with_hint_if(hint)))
                    }
                }
            }
            Value::Array(items) => {
                let index = convert::to_number(key).ok().and_then(|number| number::exact(&number));
                let Some(index) = index else {
                    let message = format!("a list is read by number, not by {}", convert::describe(key));
                    return Err(self.fault(span, message));
                };
                let length = items.len();
                let found = usize::try_from(index).ok().and_then(|index| items.into_iter().nth(index));
                found.ok_or_else(|| {
                    self.fault(span, format!("there is no element {index}: the list has {length} elements"))
                })
            }
            other => {
                let message =
                    format!("only objects and lists have parts, this is {}", convert::describe(&other));
                Err(self.fault(span, message))
            }
        }
    }
}

/// What a splat goes through: a list itself, nothing for null, else the one value.
fn spread(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        other => vec![other],
    }
}
