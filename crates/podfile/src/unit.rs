//! One unit of evaluation: the files of a package or of a module, with everything an expression can refer to.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use hcl_edit::expr::{Expression, TraversalOperator};
use hcl_edit::structure::{Block, Body};
use hcl_edit::{Decorated, Span};
use indexmap::IndexMap;
use podsmith_object::files::FileTree;
use podsmith_object::{Map, Value, suggest};

use crate::convert;
use crate::eval::{Evaluator, Fault, Frame, Outcome};
use crate::modules::ModuleInstance;
use crate::source::SourceFile;

/// A file and its syntax tree.
#[derive(Debug)]
pub(crate) struct ParsedFile {
    pub source: SourceFile,
    pub body: Body,
}

/// A top-level block and its file.
#[derive(Clone, Copy)]
pub(crate) struct BlockRef<'u> {
    pub file: &'u SourceFile,
    pub block: &'u Block,
}

/// A variable's value.
pub(crate) struct Variable {
    pub value: Value,
    pub sensitive: bool,
}

/// Blocks that other blocks can refer to by type and label.
pub(crate) const REFERABLE: [&str; 5] = ["pod", "shared_volume", "config", "secret", "service_account"];

/// See the module documentation.
pub(crate) struct Unit<'u> {
    pub tree: &'u dyn FileTree,
    pub package: String,
    pub namespace: Option<String>,
    pub variables: IndexMap<String, Variable>,
    pub locals: IndexMap<&'u str, (&'u SourceFile, &'u Expression)>,
    pub blocks: IndexMap<(&'static str, &'u str), BlockRef<'u>>,
    pub modules: IndexMap<&'u str, BlockRef<'u>>,
    pub depth: usize,
    pub(crate) module_results: RefCell<HashMap<String, Rc<Vec<ModuleInstance>>>>,
    memo: RefCell<HashMap<usize, (Value, bool)>>,
    active: RefCell<Vec<(usize, String)>>,
    /// Set when the expression being evaluated read a sensitive variable.
    pub sensitive: Cell<bool>,
}

/// One instance of a block with `count` or `for_each`, or the only one.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// `count.index` or `each.key`; `None` without either.
    pub key: Option<Value>,
    pub bindings: Vec<(&'static str, Value)>,
}

impl<'u> Unit<'u> {
    pub fn new(tree: &'u dyn FileTree, package: String, namespace: Option<String>, depth: usize) -> Self {
        Self {
            tree,
            package,
            namespace,
            variables: IndexMap::new(),
            locals: IndexMap::new(),
            blocks: IndexMap::new(),
            modules: IndexMap::new(),
            depth,
            module_results: RefCell::default(),
            memo: RefCell::default(),
            active: RefCell::default(),
            sensitive: Cell::new(false),
        }
    }

    /// Names that can start a reference.
    pub fn root_names(&self) -> impl Iterator<Item = &'static str> {
        ["var", "local", "module", "podsmith"].into_iter().chain(REFERABLE)
    }

    /// A namespace used on its own, as in `keys(var)`.
    pub fn whole_namespace(&'u self, name: &str) -> Option<Outcome> {
        match name {
            "var" => {
                self.sensitive.set(self.sensitive.get() || self.variables.values().any(|v| v.sensitive));
                let all = self.variables.iter().map(|(name, v)| (name.clone(), v.value.clone()));
                Some(Ok(Value::Object(all.collect())))
            }
            "local" => {
                let mut all = Map::new();
                for name in self.locals.keys() {
                    match self.local(name)? {
                        Ok(value) => all.insert((*name).to_owned(), value),
                        Err(fault) => return Some(Err(fault)),
                    };
                }
                Some(Ok(Value::Object(all)))
            }
            "podsmith" | "podinate" => Some(Ok(self.package_value())),
            _ => None,
        }
    }

    fn package_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("package".into(), Value::from(self.package.as_str()));
        map.insert("namespace".into(), self.namespace.as_deref().map_or(Value::Null, Value::from));
        Value::Object(map)
    }

    fn local(&'u self, name: &str) -> Option<Outcome> {
        let (file, expression) = self.locals.get(name)?;
        let evaluator = Evaluator { unit: self, file };
        Some(
            self.lazily(file, expression, &format!("local.{name}"), || {
                evaluator.eval(expression, &Frame::EMPTY)
            }),
        )
    }

    /// Evaluates once, remembers the result, and refuses to go in circles.
    fn lazily(
        &self,
        file: &SourceFile,
        expression: &Expression,
        name: &str,
        eval: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let key = std::ptr::from_ref(expression) as usize;
        if let Some((value, sensitive)) = self.memo.borrow().get(&key) {
            self.sensitive.set(self.sensitive.get() || *sensitive);
            return Ok(value.clone());
        }
        let outer = self.sensitive.replace(false);
        let outcome = self.guarded(key, file, expression.span(), name, eval);
        if let Ok(value) = &outcome {
            self.memo.borrow_mut().insert(key, (value.clone(), self.sensitive.get()));
        }
        self.sensitive.set(self.sensitive.get() || outer);
        outcome
    }

    fn guarded<T>(
        &self,
        key: usize,
        file: &SourceFile,
        span: Option<Range<usize>>,
        name: &str,
        run: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut active = self.active.borrow_mut();
        if let Some(start) = active.iter().position(|(other, _)| *other == key) {
            let mut chain: Vec<&str> = active.iter().skip(start).map(|(_, name)| name.as_str()).collect();
            chain.push(name);
            let message = format!("this refers to itself: {}", chain.join(" needs "));
            return Err(Box::new(file.error(span, message)));
        }
        if active.len() > 200 {
            return Err(Box::new(file.error(span, "references are nested too deeply")));
        }
        active.push((key, name.to_owned()));
        drop(active);
        let outcome = run();
        self.active.borrow_mut().pop();
        outcome
    }

    /// Resolves a reference. `None` when `root` is no namespace of references; else the value and how many operators
    /// were used up.
    pub fn reference(
        &'u self,
        from: &Evaluator<'_>,
        root: &str,
        span: Option<Range<usize>>,
        operators: &[Decorated<TraversalOperator>],
        frame: &Frame<'_>,
    ) -> Option<Result<(Value, usize), Fault>> {
        let first = operators.first()?;
        match root {
            "var" | "local" | "module" => {}
            "podsmith" | "podinate" => return Some(Ok((self.package_value(), 0))),
            _ if REFERABLE.contains(&root) => {}
            _ => return None,
        }
        Some(self.resolve(from, root, span, first, operators, frame))
    }

    fn resolve(
        &'u self,
        from: &Evaluator<'_>,
        root: &str,
        span: Option<Range<usize>>,
        first: &Decorated<TraversalOperator>,
        operators: &[Decorated<TraversalOperator>],
        frame: &Frame<'_>,
    ) -> Result<(Value, usize), Fault> {
        let name = from.step_key(first, frame)?;
        let name = convert::to_text(&name).map_err(|error| from.fault(first.span(), error))?;
        let unknown = |message: String, known: Vec<&str>, none: &str| {
            let hint = if known.is_empty() { Some(none.to_owned()) } else { suggest::hint(&name, known) };
            let place = first.span().or(span.clone());
            Box::new(from.file.error(place, message).with_hint_if(hint))
        };
        match root {
            "var" => match self.variables.get(&name) {
                Some(variable) => {
                    self.sensitive.set(self.sensitive.get() || variable.sensitive);
                    Ok((variable.value.clone(), 1))
                }
                None => Err(unknown(
                    format!("there is no variable `{name}`"),
                    self.variables.keys().map(String::as_str).collect(),
                    &format!("declare it: variable \"{name}\" {{}}"),
                )),
            },
            "local" => match self.local(&name) {
                Some(outcome) => outcome.map(|value| (value, 1)),
                None => Err(unknown(
                    format!("there is no local value `{name}`"),
                    self.locals.keys().copied().collect(),
                    &format!("declare it: locals {{ {name} = … }}"),
                )),
            },
            "module" => match self.modules.get(name.as_str()) {
                Some(module) => {
                    let key = std::ptr::from_ref(module.block) as usize;
                    let value = self.guarded(
                        key,
                        module.file,
                        module.block.span(),
                        &format!("module.{name}"),
                        || self.module_outputs(&name, *module),
                    )?;
                    Ok((value, 1))
                }
                None => Err(unknown(
                    format!("there is no module `{name}`"),
                    self.modules.keys().copied().collect(),
                    "declare it with a `module` block",
                )),
            },
            kind => {
                let found = REFERABLE
                    .into_iter()
                    .find(|known| *known == kind)
                    .and_then(|kind| self.blocks.get(&(kind, name.as_str())));
                match found {
                    Some(block) => {
                        let rest = operators.get(1..).unwrap_or(&[]);
                        let (value, used) = self.block_reference(from, *block, rest, frame)?;
                        Ok((value, used + 1))
                    }
                    None => {
                        let known = self.blocks.keys().filter(|(k, _)| *k == kind).map(|(_, label)| *label);
                        Err(unknown(
                            format!("there is no {kind} `{name}`"),
                            known.collect(),
                            &format!("declare it: {kind} \"{name}\" {{ … }}"),
                        ))
                    }
                }
            }
        }
    }

    /// The instances of a block: one, or one for each `count` or `for_each`.
    pub fn instances(&'u self, block: BlockRef<'u>) -> Result<Vec<Instance>, Fault> {
        let evaluator = Evaluator { unit: self, file: block.file };
        let count = block.block.body.get_attribute("count");
        let for_each = block.block.body.get_attribute("for_each");
        match (count, for_each) {
            (None, None) => Ok(vec![Instance { key: None, bindings: Vec::new() }]),
            (Some(_), Some(both)) => {
                Err(evaluator.fault(both.key.span(), "a block has either `count` or `for_each`, not both"))
            }
            (Some(count), None) => {
                let name = format!("{}.count", block.block.ident.value().as_str());
                let value = self.lazily(block.file, &count.value, &name, || {
                    evaluator.eval(&count.value, &Frame::EMPTY)
                })?;
                let number = convert::to_integer(&value)
                    .map_err(|error| evaluator.fault(count.value.span(), error))?;
                if !(0..=10_000).contains(&number) {
                    let message = format!("`count` is between 0 and 10000, this is {number}");
                    return Err(evaluator.fault(count.value.span(), message));
                }
                Ok((0..number)
                    .map(|index| Instance {
                        key: Some(Value::from(index)),
                        bindings: vec![("count", podsmith_object::json!({ "index": index }))],
                    })
                    .collect())
            }
            (None, Some(for_each)) => {
                let name = format!("{}.for_each", block.block.ident.value().as_str());
                let value = self.lazily(block.file, &for_each.value, &name, || {
                    evaluator.eval(&for_each.value, &Frame::EMPTY)
                })?;
                each_instances(value).map_err(|error| evaluator.fault(for_each.value.span(), error))
            }
        }
    }

    /// Evaluates `attribute` of a block for one instance.
    pub fn attribute(
        &'u self,
        file: &'u SourceFile,
        expression: &'u Expression,
        name: &str,
        frame: &Frame<'_>,
    ) -> Outcome {
        let evaluator = Evaluator { unit: self, file };
        let key = std::ptr::from_ref(expression) as usize;
        self.guarded(key, file, expression.span(), name, || evaluator.eval(expression, frame))
    }
}

fn each_instances(value: Value) -> Result<Vec<Instance>, String> {
    let pairs: Vec<(String, Value)> = match value {
        Value::Object(map) => map.into_iter().collect(),
        Value::Array(items) => {
            let mut pairs: Vec<(String, Value)> = Vec::with_capacity(items.len());
            let mut seen = std::collections::HashSet::new();
            for item in items {
                let key = convert::to_text(&item).map_err(|_| {
                    "`for_each` goes through an object, or through a list of strings".to_owned()
                })?;
                if !seen.insert(key.clone()) {
                    return Err(format!(
                        "`{key}` occurs twice in this list: each instance needs its own key"
                    ));
                }
                pairs.push((key, item));
            }
            pairs
        }
        other => {
            return Err(format!(
                "`for_each` goes through an object, or through a list of strings; this is {}",
                convert::describe(&other)
            ));
        }
    };
    Ok(pairs
        .into_iter()
        .map(|(key, value)| Instance {
            bindings: vec![("each", podsmith_object::json!({ "key": key.as_str(), "value": value }))],
            key: Some(Value::from(key)),
        })
        .collect())
}
