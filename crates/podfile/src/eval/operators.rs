//! `+ - * / %`, comparisons, logic.

use hcl_edit::Span;
use hcl_edit::expr::{BinaryOp, BinaryOperator, UnaryOp, UnaryOperator};
use podsmith_object::{Number, Value};

use super::{Evaluator, Frame, Outcome};
use crate::{convert, number};

impl Evaluator<'_> {
    pub(super) fn unary(&self, operation: &UnaryOp, frame: &Frame<'_>) -> Outcome {
        let value = self.eval(&operation.expr, frame)?;
        let result = match operation.operator.value() {
            UnaryOperator::Not => convert::to_bool(&value).map(|flag| Value::Bool(!flag)),
            UnaryOperator::Neg => convert::to_number(&value)
                .and_then(|number| arithmetic(&Number::from(0), BinaryOperator::Minus, &number)),
        };
        result.map_err(|error| self.fault(operation.expr.span(), error))
    }

    pub(super) fn binary(&self, operation: &BinaryOp, frame: &Frame<'_>) -> Outcome {
        let operator = *operation.operator.value();
        let left = self.eval(&operation.lhs_expr, frame)?;
        if matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
            let decided =
                convert::to_bool(&left).map_err(|error| self.fault(operation.lhs_expr.span(), error))?;
            if decided == (operator == BinaryOperator::Or) {
                return Ok(Value::Bool(decided));
            }
            let right = self.eval(&operation.rhs_expr, frame)?;
            return convert::to_bool(&right)
                .map(Value::Bool)
                .map_err(|error| self.fault(operation.rhs_expr.span(), error));
        }
        let right = self.eval(&operation.rhs_expr, frame)?;
        match operator {
            BinaryOperator::Eq => return Ok(Value::Bool(convert::equal(&left, &right))),
            BinaryOperator::NotEq => return Ok(Value::Bool(!convert::equal(&left, &right))),
            _ => {}
        }
        let left = convert::to_number(&left).map_err(|error| self.fault(operation.lhs_expr.span(), error))?;
        let right =
            convert::to_number(&right).map_err(|error| self.fault(operation.rhs_expr.span(), error))?;
        arithmetic(&left, operator, &right).map_err(|error| self.fault(operation.span(), error))
    }
}

/// One arithmetic or ordering operation.
fn arithmetic(left: &Number, operator: BinaryOperator, right: &Number) -> Result<Value, String> {
    use BinaryOperator as Op;
    if let (Some(a), Some(b)) = (number::exact(left), number::exact(right)) {
        let exact = match operator {
            Op::Plus => a.checked_add(b),
            Op::Minus => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Div if b != 0 && a % b == 0 => Some(a / b),
            Op::Mod if b != 0 => Some(a % b),
            Op::Less => return Ok(Value::Bool(a < b)),
            Op::LessEq => return Ok(Value::Bool(a <= b)),
            Op::Greater => return Ok(Value::Bool(a > b)),
            Op::GreaterEq => return Ok(Value::Bool(a >= b)),
            _ => None,
        };
        if let Some(value) = exact.and_then(number::from_exact) {
            return Ok(value);
        }
    }
    let (a, b) = (left.as_f64().unwrap_or(f64::NAN), right.as_f64().unwrap_or(f64::NAN));
    let result = match operator {
        Op::Plus => a + b,
        Op::Minus => a - b,
        Op::Mul => a * b,
        Op::Div | Op::Mod if b == 0.0 => return Err("this divides by zero".into()),
        Op::Div => a / b,
        Op::Mod => a % b,
        Op::Less => return Ok(Value::Bool(a < b)),
        Op::LessEq => return Ok(Value::Bool(a <= b)),
        Op::Greater => return Ok(Value::Bool(a > b)),
        Op::GreaterEq => return Ok(Value::Bool(a >= b)),
        Op::Eq | Op::NotEq | Op::And | Op::Or => return Err("this operator does not work on numbers".into()),
    };
    number::from_float(result).ok_or_else(|| "the result is out of range".into())
}
