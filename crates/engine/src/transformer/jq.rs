//! By a jq expression.

use std::sync::Arc;

use podsmith_object::Object;

use crate::jq::{InvalidJq, Program};
use crate::{BoxError, Context, Transformer};

/// Replaces the object by what the expression gives, which must be exactly one object.
///
/// ```
/// use podsmith_engine::transformer::jq;
/// let transformer = jq::expression(".metadata.labels.env = \"dev\" | del(.status)")?;
/// # let _ = transformer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the expression is not valid.
pub fn expression(expression: &str) -> Result<Arc<dyn Transformer>, InvalidJq> {
    Program::compile(expression).map(program)
}

/// [`expression`] with variables, functions or limits of its own.
///
/// ```
/// use podsmith_engine::{jq::Program, transformer};
/// use podsmith_object::json;
/// let program = Program::builder(".metadata.labels.env = $env").variable("env", json!("dev")).compile()?;
/// let transformer = transformer::jq::program(program);
/// # let _ = transformer;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn program(program: Program) -> Arc<dyn Transformer> {
    Arc::new(JqTransformer(program))
}

struct JqTransformer(Program);

impl Transformer for JqTransformer {
    fn transform(&self, object: Object, context: &Context<'_>) -> Result<Object, BoxError> {
        let before = object.clone();
        let value = self.0.run_once(object, context.cancel(), |output| output.into_object())?;
        Ok(Object::from_value(value)?.with_origin_of(&before))
    }
}
