//! Compiled expressions.

use std::sync::{Arc, OnceLock};

use jaq_core::data::HasLut;
use jaq_core::load::parse::Def;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, DataT, Error, Filter, Lut, ValR, Vars};
use podsmith_object::{Object, Value};

use super::budget::{self, Limits, Stop};
use super::error::{InExpression, InvalidJq, JqError};
use super::natives;
use super::value::Val;
use crate::{BoxError, Cancel};

/// The types the interpreter works with.
pub(super) struct JqData;

impl DataT for JqData {
    type V<'a> = Val;
    type Data<'a> = RunData<'a>;
}

/// What native functions can reach during a run.
#[derive(Clone)]
pub(super) struct RunData<'a> {
    lut: &'a Lut<JqData>,
    functions: &'a [Function],
}

impl<'a> HasLut<'a, JqData> for RunData<'a> {
    /// Called for every term that is evaluated, which makes it the place to count.
    fn lut(&self) -> &'a Lut<JqData> {
        budget::step();
        self.lut
    }
}

impl RunData<'_> {
    /// Calls a custom function.
    pub fn call(&self, name: &Val, input: Val, arguments: Val) -> ValR<Val> {
        let wanted = name.as_text().unwrap_or("");
        let Some(function) = self.functions.iter().find(|function| function.name == wanted) else {
            return Err(Error::str(format!("there is no function `{wanted}`")));
        };
        let arguments = match arguments.into_value() {
            Value::Array(arguments) => arguments,
            other => vec![other],
        };
        (function.body)(&input.into_value(), &arguments)
            .map(|value| Val::from_value(&value))
            .map_err(|error| Error::str(format!("`{wanted}`: {error}")))
    }
}

type Body = dyn Fn(&Value, &[Value]) -> Result<Value, BoxError> + Send + Sync;

#[derive(Clone)]
struct Function {
    name: String,
    arity: usize,
    body: Arc<Body>,
}

/// Collects what an expression may use, then compiles it; made by [`Program::builder`].
#[derive(Clone)]
pub struct ProgramBuilder {
    expression: String,
    variables: Vec<(String, Value)>,
    functions: Vec<Function>,
    limits: Limits,
}

/// A compiled jq expression. It is compiled once and can run on many threads.
///
/// The language is jq 1.7 without what reaches out of the expression: `env`, `input`, `debug`, `halt`, `now` and the
/// like do not exist. Fields of null can be assigned, deleting keeps the order of keys, and a run is bounded in steps,
/// memory and stack.
///
/// ```
/// use podsmith_engine::jq::Program;
/// use podsmith_object::json;
/// let program = Program::compile(".items | map(select(. > 1))")?;
/// assert_eq!(program.run(&json!({"items": [1, 2, 3]}))?, [json!([2, 3])]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Program {
    expression: String,
    filter: Filter<JqData>,
    variables: Vec<Value>,
    functions: Vec<Function>,
    limits: Limits,
}

impl ProgramBuilder {
    /// Defines `$name`. The `$` in front may be written or not.
    #[must_use]
    pub fn variable(mut self, name: &str, value: Value) -> Self {
        let name = name.strip_prefix('$').unwrap_or(name);
        self.variables.push((format!("${name}"), value));
        self
    }

    /// Defines a function: it gets its input and the values of its `arity` arguments.
    #[must_use]
    pub fn function<E: Into<BoxError>>(
        mut self,
        name: &str,
        arity: usize,
        body: impl Fn(&Value, &[Value]) -> Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        let body =
            Arc::new(move |input: &Value, arguments: &[Value]| body(input, arguments).map_err(Into::into));
        self.functions.push(Function { name: name.to_owned(), arity, body });
        self
    }

    /// Sets other bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Compiles the expression.
    ///
    /// # Errors
    ///
    /// When the expression is not valid, or a name is not.
    pub fn compile(self) -> Result<Program, InvalidJq> {
        let invalid_name = |name: &str, what: &str| {
            InvalidJq::new(&self.expression, 0, format!("`{name}` cannot be the name of a {what}"))
        };
        if let Some((name, _)) =
            self.variables.iter().find(|(name, _)| !is_identifier(name.trim_start_matches('$')))
        {
            return Err(invalid_name(name, "variable"));
        }
        if let Some(function) = self.functions.iter().find(|function| !is_identifier(&function.name)) {
            return Err(invalid_name(&function.name, "function"));
        }
        let definitions: String = self.functions.iter().map(Function::definition).collect();
        let custom = load::parse(&definitions, |parser| parser.defs()).unwrap_or_default();
        let arena = Arena::default();
        let file = File { code: self.expression.as_str(), path: () };
        let modules = Loader::new(prelude().iter().cloned().chain(custom))
            .load(&arena, file)
            .map_err(|errors| InvalidJq::from_load(&self.expression, errors))?;
        let filter = Compiler::default()
            .with_funs(natives::all())
            .with_global_vars(self.variables.iter().map(|(name, _)| name.as_str()))
            .compile(modules)
            .map_err(|errors| InvalidJq::from_compile(&self.expression, errors))?;
        Ok(Program {
            filter,
            variables: self.variables.into_iter().map(|(_, value)| value).collect(),
            functions: self.functions,
            limits: self.limits,
            expression: self.expression,
        })
    }
}

impl Function {
    /// The definition in jq that passes the arguments on.
    fn definition(&self) -> String {
        let names: Vec<String> = (0..self.arity).map(|index| format!("$argument{index}")).collect();
        let parameters = if names.is_empty() { String::new() } else { format!("({})", names.join("; ")) };
        format!("def {}{parameters}: call_function(\"{}\"; [{}]);\n", self.name, self.name, names.join(", "))
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Our definitions, parsed once for the whole process.
fn prelude() -> &'static [Def<&'static str>] {
    static PRELUDE: OnceLock<Vec<Def<&'static str>>> = OnceLock::new();
    PRELUDE
        .get_or_init(|| load::parse(include_str!("prelude.jq"), |parser| parser.defs()).unwrap_or_default())
}

impl Program {
    /// Starts with an expression; variables and functions can be added before it is compiled.
    ///
    /// ```
    /// use podsmith_engine::jq::Program;
    /// use podsmith_object::{Value, json};
    /// let double = |input: &Value, _: &[Value]| Ok::<_, std::fmt::Error>(json!(input.as_i64().unwrap_or(0) * 2));
    /// let program = Program::builder("$base + (.n | double)").variable("base", json!(1)).function("double", 0, double).compile()?;
    /// assert_eq!(program.run(&json!({"n": 4}))?, [json!(9)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(expression: impl Into<String>) -> ProgramBuilder {
        ProgramBuilder {
            expression: expression.into(),
            variables: Vec::new(),
            functions: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Compiles an expression without variables and functions of its own.
    ///
    /// # Errors
    ///
    /// When the expression is not valid.
    pub fn compile(expression: impl Into<String>) -> Result<Self, InvalidJq> {
        Self::builder(expression).compile()
    }

    /// The expression as written.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// All outputs for one input.
    ///
    /// # Errors
    ///
    /// When the expression fails or runs over its limits.
    pub fn run(&self, input: &Value) -> Result<Vec<Value>, JqError> {
        self.evaluate(
            &Cancel::new(),
            || Val::from_value(input),
            usize::MAX,
            |outputs| outputs.into_iter().map(Val::into_value).collect(),
        )
    }

    /// All outputs for one object. Only what the expression reads is converted.
    ///
    /// # Errors
    ///
    /// When the expression fails or runs over its limits, or when it is cancelled.
    pub fn run_object(&self, object: &Object, cancel: &Cancel) -> Result<Vec<Value>, JqError> {
        self.evaluate(
            cancel,
            || Val::of_object(object.clone()),
            usize::MAX,
            |outputs| outputs.into_iter().map(Val::into_value).collect(),
        )
    }

    /// The one output for an object.
    pub(crate) fn run_once<T>(
        &self,
        object: Object,
        cancel: &Cancel,
        read: impl FnOnce(Output) -> Result<T, JqError>,
    ) -> Result<T, InExpression> {
        let result = self.evaluate(
            cancel,
            || Val::of_object(object),
            2,
            |mut outputs| match (outputs.pop(), outputs.is_empty()) {
                (None, _) => Err(JqError::NoOutput),
                (Some(_), false) => Err(JqError::ManyOutputs),
                (Some(output), true) => read(Output(output)),
            },
        );
        result
            .and_then(|read| read)
            .map_err(|error| InExpression { expression: self.expression.clone(), error })
    }

    fn evaluate<T>(
        &self,
        cancel: &Cancel,
        input: impl FnOnce() -> Val,
        most: usize,
        read: impl FnOnce(Vec<Val>) -> T,
    ) -> Result<T, JqError> {
        // Values are taken apart inside the guard too: dropping or copying a large one is part of the work.
        let result = budget::guarded(self.limits, cancel, || {
            let data = RunData { lut: &self.filter.lut, functions: &self.functions };
            let context = Ctx::<JqData>::new(data, Vars::new(self.variables.iter().map(Val::from_value)));
            let outputs = self.filter.id.run((context, input())).take(most);
            outputs.collect::<Result<Vec<Val>, _>>().map(read).map_err(|exception| {
                match exception.get_err() {
                    Ok(error) => JqError::Failed(error.into_val().into_value()),
                    Err(_) => JqError::Stopped(Stop::Panic.into()),
                }
            })
        });
        result.unwrap_or_else(|stop| {
            Err(match stop {
                Stop::Cancelled(why) => JqError::Cancelled(why),
                other => JqError::Stopped(other.into()),
            })
        })
    }
}

/// One output that has not been converted yet.
pub(crate) struct Output(Val);

impl Output {
    /// The boolean, and nothing that could be taken for one.
    pub fn into_bool(self) -> Result<bool, JqError> {
        match self.0 {
            Val::Bool(flag) => Ok(flag),
            other => Err(JqError::NotBoolean { found: other.described() }),
        }
    }

    /// The object as JSON data.
    pub fn into_object(self) -> Result<Value, JqError> {
        match self.0.type_name() {
            "object" => Ok(self.0.into_value()),
            _ => Err(JqError::NotObject { found: self.0.described() }),
        }
    }
}
