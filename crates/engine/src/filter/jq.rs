//! By a jq expression.

use std::sync::Arc;

use podsmith_object::Object;

use crate::jq::{InvalidJq, Program};
use crate::{BoxError, Context, Filter};

/// Keeps objects for which the expression gives `true`. It must give exactly one boolean: null, numbers and strings
/// are errors, so that a typing mistake does not silently drop everything. `select(…)` is therefore always wrong here.
///
/// ```
/// use podsmith_engine::filter::jq;
/// let filter = jq::expression(".kind == \"Deployment\" and .spec.replicas > 1")?;
/// # let _ = filter;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When the expression is not valid.
pub fn expression(expression: &str) -> Result<Arc<dyn Filter>, InvalidJq> {
    Program::compile(expression).map(program)
}

/// [`expression`] with variables, functions or limits of its own.
///
/// ```
/// use podsmith_engine::{filter, jq::Program};
/// use podsmith_object::json;
/// let program = Program::builder(".metadata.namespace == $wanted").variable("wanted", json!("shop")).compile()?;
/// let filter = filter::jq::program(program);
/// # let _ = filter;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn program(program: Program) -> Arc<dyn Filter> {
    Arc::new(JqFilter(program))
}

struct JqFilter(Program);

impl Filter for JqFilter {
    fn keep(&self, object: &Object, context: &Context<'_>) -> Result<bool, BoxError> {
        Ok(self.0.run_once(object.clone(), context.cancel(), |output| output.into_bool())?)
    }
}
