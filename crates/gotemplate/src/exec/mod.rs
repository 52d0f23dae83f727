//! Runs trees.

mod eval;
mod field;
mod frame;

pub(crate) use frame::Frame;

use crate::error::TemplateError;
use crate::format;
use crate::parse::{Node, Pipe};
use crate::render::Renderer;
use crate::value::{IntKind, Value};
use frame::At;

/// What running a part of a template gives.
pub(crate) type Run<T> = Result<T, TemplateError>;

/// What the rest of a loop's body should do.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
}

/// Runs `work` with enough stack for one more level of nesting.
fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(96 << 10, 2 << 20, work)
}

impl Renderer<'_> {
    /// Runs a list of steps with `dot`.
    pub(crate) fn walk<'t>(&mut self, frame: &mut Frame<'t>, dot: &Value, nodes: &'t [Node]) -> Run<Flow> {
        for node in nodes {
            let flow = match node {
                Node::Text { start, end } => {
                    self.write(frame, &frame.template.source.text[*start..*end])?;
                    Flow::Next
                }
                Node::Action(pipe) => {
                    let value = self.pipe(frame, dot, pipe)?;
                    if pipe.variables.is_empty() {
                        frame.at = At::Pipe(pipe);
                        self.print(frame, &value)?;
                    }
                    Flow::Next
                }
                Node::If { pipe, then, otherwise } => {
                    self.branch(frame, dot, pipe, then, otherwise, false)?
                }
                Node::With { pipe, then, otherwise } => {
                    self.branch(frame, dot, pipe, then, otherwise, true)?
                }
                Node::Range { pipe, body, otherwise } => self.range(frame, dot, pipe, body, otherwise)?,
                Node::Template { name, pipe, .. } => {
                    self.call_template(frame, dot, node, name, pipe.as_ref())?;
                    Flow::Next
                }
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
            self.tick(frame)?;
        }
        Ok(Flow::Next)
    }

    fn write(&mut self, frame: &Frame<'_>, text: &str) -> Run<()> {
        self.written += text.len();
        if self.written > self.options.limits.output_bytes {
            return Err(
                frame.limit(format!("the output is larger than {} bytes", self.options.limits.output_bytes))
            );
        }
        self.out.push_str(text);
        Ok(())
    }

    fn print(&mut self, frame: &Frame<'_>, value: &Value) -> Run<()> {
        match value {
            Value::String(text) => self.write(frame, text),
            Value::Absent | Value::Nil => self.write(frame, "<no value>"),
            Value::Native(native) => {
                let text = native.print();
                self.write(frame, &text)
            }
            other => {
                let start = self.out.len();
                format::print(&mut self.out, other);
                self.written += self.out.len() - start;
                Ok(())
            }
        }
    }

    fn branch<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        pipe: &'t Pipe,
        then: &'t [Node],
        otherwise: &'t Option<Vec<Node>>,
        sets_dot: bool,
    ) -> Run<Flow> {
        let mark = frame.variables.len();
        let value = self.pipe(frame, dot, pipe)?;
        let flow = with_stack(|| {
            if value.is_true() {
                self.walk(frame, if sets_dot { &value } else { dot }, then)
            } else if let Some(otherwise) = otherwise {
                self.walk(frame, dot, otherwise)
            } else {
                Ok(Flow::Next)
            }
        })?;
        frame.variables.truncate(mark);
        Ok(flow)
    }

    fn range<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        pipe: &'t Pipe,
        body: &'t [Node],
        otherwise: &'t Option<Vec<Node>>,
    ) -> Run<Flow> {
        let mark = frame.variables.len();
        let value = self.pipe(frame, dot, pipe)?;
        let ran = with_stack(|| self.iterate(frame, pipe, body, &value))?;
        let mut flow = Flow::Next;
        if !ran && let Some(otherwise) = otherwise {
            flow = with_stack(|| self.walk(frame, dot, otherwise))?;
        }
        frame.variables.truncate(mark);
        Ok(flow)
    }

    /// Runs the body for each element. False if there was none.
    fn iterate<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        pipe: &'t Pipe,
        body: &'t [Node],
        value: &Value,
    ) -> Run<bool> {
        let mark = frame.variables.len();
        let one = |renderer: &mut Self, frame: &mut Frame<'t>, key: Value, element: Value| -> Run<bool> {
            renderer.tick(frame)?;
            frame.bind_range(pipe, key, &element)?;
            let flow = renderer.walk(frame, &element, body)?;
            frame.variables.truncate(mark);
            Ok(flow == Flow::Break)
        };
        match value {
            Value::Absent | Value::Nil => Ok(false),
            Value::List(list) => {
                for (index, item) in list.items().iter().enumerate() {
                    if one(self, frame, index_value(index), item.clone())? {
                        break;
                    }
                }
                Ok(!list.is_empty())
            }
            Value::Map(map) => {
                let entries = map.entries();
                let ran = !entries.is_empty();
                for (key, item) in entries {
                    if one(self, frame, Value::String(key), item)? {
                        break;
                    }
                }
                Ok(ran)
            }
            Value::Bytes(bytes) => {
                for (index, byte) in bytes.iter().enumerate() {
                    if one(self, frame, index_value(index), Value::Int(i64::from(*byte), IntKind::Uint8))? {
                        break;
                    }
                }
                Ok(!bytes.is_empty())
            }
            Value::Int(count, kind) => {
                if pipe.variables.len() > 1 {
                    return Err(
                        frame.error(format!("can't use {count} to iterate over more than one variable"))
                    );
                }
                for number in 0..*count {
                    if one(self, frame, Value::Absent, Value::Int(number, *kind))? {
                        break;
                    }
                }
                Ok(*count > 0)
            }
            Value::Native(native) => match native.entries() {
                None => Err(frame.error(format!("range can't iterate over {}", native.format()))),
                Some(entries) => {
                    let ran = !entries.is_empty();
                    for (key, item) in entries {
                        if one(self, frame, key, item)? {
                            break;
                        }
                    }
                    Ok(ran)
                }
            },
            other => Err(frame.error(format!("range can't iterate over {}", format::to_string(other)))),
        }
    }

    fn call_template<'t>(
        &mut self,
        frame: &mut Frame<'t>,
        dot: &Value,
        node: &'t Node,
        name: &str,
        pipe: Option<&'t Pipe>,
    ) -> Run<()> {
        frame.at = At::Node(node);
        let Some(template) = self.find(name) else {
            return Err(frame.error(format!("template {name:?} not defined")));
        };
        if frame.depth >= self.options.limits.template_depth {
            let depth = self.options.limits.template_depth;
            return Err(frame.limit(format!("exceeded maximum template depth ({depth})")));
        }
        let value = match pipe {
            Some(pipe) => self.pipe(frame, dot, pipe)?,
            None => Value::Absent,
        };
        let depth = frame.depth + 1;
        with_stack(|| {
            let mut inner = Frame::new(&template, value.clone(), depth);
            self.walk(&mut inner, &value, &template.body)
        })?;
        Ok(())
    }
}

fn index_value(index: usize) -> Value {
    Value::int(i64::try_from(index).unwrap_or(i64::MAX))
}
