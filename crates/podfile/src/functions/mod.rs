//! The functions of the language: the string, collection, number, encoding, hash, file and date functions that
//! Terraform users know, with the same names and results. Nothing here depends on the clock or on chance.

mod collection;
mod dates;
mod digest;
mod encoding;
mod files;
mod format;
pub(crate) mod kubernetes;
mod numbers;
mod text;

use podsmith_object::Value;

use crate::convert;
use crate::eval::Evaluator;

pub(crate) use text::slug;

/// What a function may use besides its arguments.
pub(crate) struct CallContext<'c, 'u> {
    pub evaluator: &'c Evaluator<'u>,
}

type Body = fn(&CallContext<'_, '_>, &[Value]) -> Result<Value, String>;

/// One function.
pub(crate) struct Function {
    pub name: &'static str,
    pub least: usize,
    pub most: Option<usize>,
    pub signature: &'static str,
    pub run: Body,
}

/// A function with a fixed or open number of arguments.
const fn function(
    name: &'static str,
    least: usize,
    most: Option<usize>,
    signature: &'static str,
    run: Body,
) -> Function {
    Function { name, least, most, signature, run }
}

const GROUPS: [&[Function]; 8] = [
    text::FUNCTIONS,
    collection::FUNCTIONS,
    numbers::FUNCTIONS,
    encoding::FUNCTIONS,
    digest::FUNCTIONS,
    files::FUNCTIONS,
    dates::FUNCTIONS,
    kubernetes::FUNCTIONS,
];

/// The function with this name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    all().find(|function| function.name == name)
}

/// All names, group by group.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|function| function.name).chain(["try", "can"])
}

/// All functions, group by group.
pub(crate) fn all() -> impl Iterator<Item = &'static Function> {
    GROUPS.into_iter().flatten()
}

fn text_of(arguments: &[Value], index: usize) -> Result<String, String> {
    let value = arguments.get(index).unwrap_or(&Value::Null);
    convert::to_text(value).map_err(|error| format!("argument {}: {error}", index + 1))
}

fn list_of(arguments: &[Value], index: usize) -> Result<&Vec<Value>, String> {
    match arguments.get(index) {
        Some(Value::Array(items)) => Ok(items),
        other => Err(format!(
            "argument {}: a list is needed, this is {}",
            index + 1,
            convert::describe(other.unwrap_or(&Value::Null))
        )),
    }
}

fn texts_of(arguments: &[Value], index: usize) -> Result<Vec<String>, String> {
    list_of(arguments, index)?
        .iter()
        .map(|item| convert::to_text(item).map_err(|error| format!("argument {}: {error}", index + 1)))
        .collect()
}

fn integer_of(arguments: &[Value], index: usize) -> Result<i64, String> {
    let value = arguments.get(index).unwrap_or(&Value::Null);
    convert::to_integer(value).map_err(|error| format!("argument {}: {error}", index + 1))
}

fn map_of(arguments: &[Value], index: usize) -> Result<&podsmith_object::Map<String, Value>, String> {
    match arguments.get(index) {
        Some(Value::Object(map)) => Ok(map),
        other => Err(format!(
            "argument {}: an object is needed, this is {}",
            index + 1,
            convert::describe(other.unwrap_or(&Value::Null))
        )),
    }
}
