//! `module` blocks: the Podfiles of another directory with their own variables.

use std::rc::Rc;

use hcl_edit::Span;
use podsmith_object::files::{FileKind, join};
use podsmith_object::{Diagnostics, Map, Object, Value, suggest};

use crate::convert;
use crate::eval::{Fault, Frame, Outcome};
use crate::render::{Inputs, parse_all, render_unit};
use crate::source::SourceFile;
use crate::unit::{BlockRef, Instance, Unit};

/// Modules inside modules inside modules …: deeper than this is a circle.
const DEEPEST: usize = 16;

/// One rendered instance of a module.
#[derive(Debug)]
pub(crate) struct ModuleInstance {
    pub key: Option<Value>,
    pub outputs: Map<String, Value>,
    pub objects: Vec<Object>,
    pub problems: Diagnostics,
}

impl<'u> Unit<'u> {
    /// Renders the instances of a module, once.
    pub(crate) fn module(
        &'u self,
        name: &str,
        block: BlockRef<'u>,
    ) -> Result<Rc<Vec<ModuleInstance>>, Fault> {
        if let Some(done) = self.module_results.borrow().get(name) {
            return Ok(done.clone());
        }
        let mut rendered = Vec::new();
        for instance in self.instances(block)? {
            rendered.push(self.module_instance(block, &instance)?);
        }
        let rendered = Rc::new(rendered);
        self.module_results.borrow_mut().insert(name.to_owned(), rendered.clone());
        Ok(rendered)
    }

    /// What `module.NAME` reads as.
    pub(crate) fn module_outputs(&'u self, name: &str, block: BlockRef<'u>) -> Outcome {
        let instances = self.module(name, block)?;
        if let Some(problem) = instances.iter().flat_map(|i| &i.problems.0).find(|p| is_error(p)) {
            return Err(Box::new(problem.clone()));
        }
        Ok(match instances.as_slice() {
            [only] if only.key.is_none() => Value::Object(only.outputs.clone()),
            many if block.block.body.has_attribute("count") => {
                many.iter().map(|instance| Value::Object(instance.outputs.clone())).collect()
            }
            many => Value::Object(
                many.iter()
                    .map(|instance| {
                        let key = instance.key.as_ref().map(convert::to_text).and_then(Result::ok);
                        (key.unwrap_or_default(), Value::Object(instance.outputs.clone()))
                    })
                    .collect(),
            ),
        })
    }

    fn module_instance(&'u self, block: BlockRef<'u>, instance: &Instance) -> Result<ModuleInstance, Fault> {
        let fault = |span, message: String| Box::new(block.file.error(span, message));
        if self.depth >= DEEPEST {
            return Err(fault(block.block.ident.span(), "modules are nested too deeply".into()));
        }
        let frame = Frame { bindings: &instance.bindings, parent: None };
        let mut arguments = Map::new();
        let mut source = None;
        let mut namespace = self.namespace.clone();
        for attribute in block.block.body.attributes() {
            let name = attribute.key.value().as_str();
            if matches!(name, "count" | "for_each") {
                continue;
            }
            let value = self.attribute(block.file, &attribute.value, &format!("module.{name}"), &frame)?;
            match name {
                "source" => source = Some((value, attribute.value.span())),
                "namespace" => namespace = value.as_str().map(str::to_owned).or(namespace),
                _ => {
                    arguments.insert(name.to_owned(), value);
                }
            }
        }
        let Some((Value::String(source), span)) = source else {
            return Err(fault(
                block.block.ident.span(),
                "`module` needs the attribute `source`, a directory".into(),
            ));
        };
        let files = self.module_files(block.file, &source).map_err(|message| fault(span, message))?;
        let mut problems = Diagnostics::new();
        let parsed = parse_all(files, &mut problems);
        let inputs = Inputs {
            tree: self.tree,
            package: self.package.clone(),
            namespace,
            values: &arguments,
            environment: &|_| None,
            depth: self.depth + 1,
        };
        let rendered = render_unit(&parsed, &inputs, &mut problems);
        for attribute in block.block.body.attributes() {
            let name = attribute.key.value().as_str();
            if arguments.contains_key(name) && !rendered.variables.iter().any(|known| known == name) {
                let hint = suggest::hint(name, rendered.variables.iter().map(String::as_str));
                let message = format!("the module has no variable `{name}`");
                problems.push(block.file.error(attribute.key.span(), message).with_hint_if(hint));
            }
        }
        Ok(ModuleInstance {
            key: instance.key.clone(),
            outputs: rendered.outputs,
            objects: rendered.objects,
            problems,
        })
    }

    fn module_files(&self, from: &SourceFile, source: &str) -> Result<Vec<SourceFile>, String> {
        if source.contains("://") || source.starts_with('/') {
            return Err(format!(
                "`{source}` cannot be used: the source of a module is a directory relative to this file"
            ));
        }
        let directory = join(&from.directory, source)
            .ok_or_else(|| format!("`{source}` leaves the directory that may be read"))?;
        let entries =
            self.tree.list(&directory).map_err(|error| format!("`{source}` cannot be read: {error}"))?;
        let mut files = Vec::new();
        for entry in entries {
            if entry.kind != FileKind::File || !entry.name.ends_with(".pf") {
                continue;
            }
            let path = if directory.is_empty() { entry.name } else { format!("{directory}/{}", entry.name) };
            let bytes = self.tree.read(&path).map_err(|error| format!("`{path}` cannot be read: {error}"))?;
            let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is no text"))?;
            files.push(SourceFile::new(&self.tree.display(&path), &directory, text));
        }
        if files.is_empty() {
            return Err(format!("there is no .pf file in `{source}`"));
        }
        Ok(files)
    }
}

fn is_error(problem: &podsmith_object::Diagnostic) -> bool {
    problem.severity == podsmith_object::Severity::Error
}
