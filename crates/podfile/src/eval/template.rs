//! String templates, directives and heredocs.

use hcl_edit::Span;
use hcl_edit::template::{Directive, Element, HeredocTemplate, Strip, Template};
use podsmith_object::Value;

use super::{Evaluator, Fault, Frame, Outcome, bind};
use crate::convert;

impl Evaluator<'_> {
    /// A template. One that is a single interpolation gives its value unchanged, as in `"${var.ports}"`.
    pub(super) fn template(&self, template: &Template, frame: &Frame<'_>) -> Outcome {
        if let Some(Element::Interpolation(only)) = template.as_single_element() {
            return self.eval(&only.expr, frame);
        }
        self.render(template, frame, Dedent::NONE).map(Value::String)
    }

    /// A template that always gives text.
    pub fn render_template(&self, template: &Template, frame: &Frame<'_>) -> Result<String, Fault> {
        self.render(template, frame, Dedent::NONE)
    }

    pub(super) fn heredoc(&self, heredoc: &HeredocTemplate, frame: &Frame<'_>) -> Outcome {
        let mut text =
            self.render(&heredoc.template, frame, Dedent { here: 0, nested: heredoc.indent().unwrap_or(0) })?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(Value::String(text))
    }

    fn render(&self, template: &Template, frame: &Frame<'_>, dedent: Dedent) -> Result<String, Fault> {
        let elements: Vec<&Element> = template.iter().collect();
        let mut out = String::new();
        for (index, element) in elements.iter().enumerate() {
            match element {
                Element::Literal(literal) => {
                    let before = index.checked_sub(1).and_then(|before| elements.get(before));
                    let strip_start = before.is_some_and(|before| strips_after(before));
                    let strip_end = elements.get(index + 1).is_some_and(|next| strips_before(next));
                    push_literal(&mut out, literal.value(), strip_start, strip_end, dedent.here);
                }
                Element::Interpolation(interpolation) => {
                    let value = self.eval(&interpolation.expr, frame)?;
                    let text = convert::to_text(&value).map_err(|error| {
                        self.fault(
                            interpolation.expr.span(),
                            format!("this cannot be put into a string: {error}"),
                        )
                    })?;
                    out.push_str(&text);
                }
                Element::Directive(directive) => {
                    self.directive(directive, frame, dedent.inside(), &mut out)?
                }
            }
        }
        Ok(out)
    }

    fn directive(
        &self,
        directive: &Directive,
        frame: &Frame<'_>,
        dedent: Dedent,
        out: &mut String,
    ) -> Result<(), Fault> {
        match directive {
            Directive::If(directive) => {
                let condition = self.eval(&directive.if_expr.cond_expr, frame)?;
                let chosen = convert::to_bool(&condition).map_err(|error| {
                    self.fault(
                        directive.if_expr.cond_expr.span(),
                        format!("the condition cannot be used: {error}"),
                    )
                })?;
                let otherwise = directive.else_expr.as_ref();
                let after_first = otherwise.map_or(directive.endif_expr.strip, |e| e.strip);
                if chosen {
                    let text = self.render(&directive.if_expr.template, frame, dedent)?;
                    push_body(out, &text, directive.if_expr.strip, after_first);
                } else if let Some(otherwise) = otherwise {
                    let text = self.render(&otherwise.template, frame, dedent)?;
                    push_body(out, &text, otherwise.strip, directive.endif_expr.strip);
                }
            }
            Directive::For(directive) => {
                let intro = &directive.for_expr;
                let collection = self.eval(&intro.collection_expr, frame)?;
                let key_name = intro.key_var.as_ref().map(|name| name.value().as_str());
                let value_name = intro.value_var.value().as_str();
                for (key, value) in self.elements(collection, intro.collection_expr.span())? {
                    let bindings = bind(key_name, key, value_name, value);
                    let inner = Frame { bindings: &bindings, parent: Some(frame) };
                    let text = self.render(&intro.template, &inner, dedent)?;
                    push_body(out, &text, intro.strip, directive.endfor_expr.strip);
                }
            }
        }
        Ok(())
    }
}

fn strips_before(element: &Element) -> bool {
    let strip = match element {
        Element::Literal(_) => return false,
        Element::Interpolation(interpolation) => interpolation.strip,
        Element::Directive(directive) => match directive.as_ref() {
            Directive::If(directive) => directive.if_expr.strip,
            Directive::For(directive) => directive.for_expr.strip,
        },
    };
    matches!(strip, Strip::Start | Strip::Both)
}

fn strips_after(element: &Element) -> bool {
    let strip = match element {
        Element::Literal(_) => return false,
        Element::Interpolation(interpolation) => interpolation.strip,
        Element::Directive(directive) => match directive.as_ref() {
            Directive::If(directive) => directive.endif_expr.strip,
            Directive::For(directive) => directive.endfor_expr.strip,
        },
    };
    matches!(strip, Strip::End | Strip::Both)
}

/// How many leading blanks each line of a literal loses: the parser has dedented the outermost literals of a heredoc
/// already, those inside directives are left to us.
#[derive(Clone, Copy)]
struct Dedent {
    here: usize,
    nested: usize,
}

impl Dedent {
    const NONE: Self = Self { here: 0, nested: 0 };

    fn inside(self) -> Self {
        Self { here: self.nested, ..self }
    }
}

fn push_literal(out: &mut String, literal: &str, strip_start: bool, strip_end: bool, dedent: usize) {
    let mut text = literal;
    if strip_start {
        text = text.trim_start();
    }
    if strip_end {
        text = text.trim_end();
    }
    for (index, line) in text.split('\n').enumerate() {
        if index == 0 {
            out.push_str(line);
            continue;
        }
        out.push('\n');
        let blanks = line.bytes().take(dedent).take_while(|b| *b == b' ' || *b == b'\t').count();
        out.push_str(line.get(blanks..).unwrap_or(line));
    }
}

/// The body of a directive: `opening` is the marker before it, `closing` the one after it.
fn push_body(out: &mut String, body: &str, opening: Strip, closing: Strip) {
    let mut text = body;
    if matches!(opening, Strip::End | Strip::Both) {
        text = text.trim_start();
    }
    if matches!(closing, Strip::Start | Strip::Both) {
        text = text.trim_end();
    }
    out.push_str(text);
}
