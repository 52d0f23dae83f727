//! Builds trees from tokens.

use std::sync::Arc;

use podsmith_object::diagnostic::Excerpt;

use super::lexer::{Kind, Token, Tokens, tokenize};
use super::number::Number;
use super::tree::{Command, Expr, Node, Pipe, Source, Template};
use super::unquote::unquote;
use crate::error::{Details, Stage, TemplateError};
use crate::function::Functions;
use crate::value::Value;

/// The value of a string literal: almost always UTF-8.
#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
}

impl Literal {
    /// The literal as a string value.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone()),
            Self::Bytes(bytes) => Value::RawString(bytes.clone()),
        }
    }
}

/// How deep actions and parentheses may nest.
const DEEPEST: usize = 2000;

/// Parses `text`; the result holds the template itself, last, and before it those that it defines.
pub(crate) fn parse(name: &str, text: &str, functions: &Functions) -> Result<Vec<Template>, TemplateError> {
    let source = Arc::new(Source { file: name.into(), text: text.into() });
    let Tokens { list, error } = tokenize(text);
    let mut parser = Parser {
        source: &source,
        text,
        tokens: list,
        at: 0,
        error,
        functions,
        names: vec!["$".into()],
        scope: vec![0],
        loops: 0,
        depth: 0,
        action_line: 0,
        defined: Vec::new(),
    };
    let body = parser.file()?;
    parser.add(source.file.clone(), body)?;
    Ok(parser.defined)
}

/// True for a template that prints nothing but space; such a definition never replaces another.
pub(crate) fn is_blank(template: &Template) -> bool {
    template.body.iter().all(|node| match node {
        Node::Text { start, end } => template.source.text[*start..*end].trim().is_empty(),
        _ => false,
    })
}

type Parsed<T> = Result<T, TemplateError>;

/// How a list of steps ended.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    End,
    Else,
}

#[derive(Clone, Copy, PartialEq)]
enum Control {
    If,
    With,
    Range,
}

impl Control {
    fn name(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::With => "with",
            Self::Range => "range",
        }
    }
}

enum Item {
    Node(Node),
    Ending(Ending, usize),
}

struct Parser<'t> {
    source: &'t Arc<Source>,
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    error: Option<String>,
    functions: &'t Functions,
    /// Every variable name of the source; the index is the variable's number.
    names: Vec<Arc<str>>,
    /// The variables that are in scope.
    scope: Vec<u32>,
    loops: usize,
    depth: usize,
    action_line: usize,
    defined: Vec<Template>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Token {
        match self.tokens.get(self.at).or(self.tokens.last()) {
            Some(token) => *token,
            None => Token { kind: Kind::EndOfFile, start: 0, end: 0, line: 1 },
        }
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn next_word(&mut self) -> Token {
        self.skip_space();
        self.next()
    }

    fn peek_word(&mut self) -> Token {
        self.skip_space();
        self.peek()
    }

    fn skip_space(&mut self) {
        while self.peek().kind == Kind::Space {
            self.at += 1;
        }
    }

    fn text_of(&self, token: Token) -> &'t str {
        &self.text[token.start..token.end]
    }

    fn fail<T>(&self, reason: impl Into<String>) -> Parsed<T> {
        let token = self.tokens.get(self.at.saturating_sub(1)).copied().unwrap_or_else(|| self.peek());
        self.fail_at(token, reason)
    }

    fn fail_at<T>(&self, token: Token, reason: impl Into<String>) -> Parsed<T> {
        let before = &self.text[..token.start.min(self.text.len())];
        let line = 1 + before.bytes().filter(|b| *b == b'\n').count();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = 1 + before[line_start..].chars().count();
        Err(TemplateError::from(Details {
            stage: Stage::Parse,
            file: self.source.file.clone(),
            template: self.source.file.clone(),
            line,
            column,
            expression: String::new(),
            reason: reason.into(),
            excerpt: Excerpt::cut(self.text, line, column),
            user_message: None,
            cause: None,
        }))
    }

    fn unexpected<T>(&self, token: Token, context: &str) -> Parsed<T> {
        if token.kind == Kind::Error {
            let mut reason = self.error.clone().unwrap_or_default();
            if self.action_line != 0 && self.action_line != token.line {
                let within =
                    if reason.ends_with(" action") { " started at" } else { " in action started at" };
                reason.push_str(&format!("{within} {}:{}", self.source.file, self.action_line));
            }
            return self.fail_at(token, reason);
        }
        self.fail_at(token, format!("unexpected {} in {context}", self.describe(token)))
    }

    fn describe(&self, token: Token) -> String {
        let text = self.text_of(token);
        match token.kind {
            Kind::EndOfFile => "EOF".into(),
            Kind::Block
            | Kind::Break
            | Kind::Continue
            | Kind::Define
            | Kind::Else
            | Kind::End
            | Kind::If
            | Kind::Range
            | Kind::Nil
            | Kind::Template
            | Kind::Dot
            | Kind::With => format!("<{text}>"),
            _ if text.chars().count() > 10 => {
                format!("{:?}...", text.chars().take(10).collect::<String>())
            }
            _ => format!("{text:?}"),
        }
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Parsed<Token> {
        let token = self.next_word();
        if token.kind == kind { Ok(token) } else { self.unexpected(token, context) }
    }

    /// The whole file: steps and definitions.
    fn file(&mut self) -> Parsed<Vec<Node>> {
        let mut body = Vec::new();
        while self.peek().kind != Kind::EndOfFile {
            if self.peek().kind == Kind::LeftDelimiter {
                let start = self.at;
                self.next();
                if self.next_word().kind == Kind::Define {
                    self.definition()?;
                    continue;
                }
                self.at = start;
            }
            match self.item()? {
                Item::Node(node) => body.push(node),
                Item::Ending(ending, _) => {
                    let word = if ending == Ending::End { "{{end}}" } else { "{{else}}" };
                    return self.fail(format!("unexpected {word}"));
                }
            }
        }
        Ok(body)
    }

    fn add(&mut self, name: Arc<str>, body: Vec<Node>) -> Parsed<()> {
        let template = Template { name, source: self.source.clone(), body };
        match self.defined.iter().position(|known| known.name == template.name) {
            None => self.defined.push(template),
            Some(index) if is_blank(&self.defined[index]) => self.defined[index] = template,
            Some(_) if is_blank(&template) => {}
            Some(_) => {
                return self.fail(format!("template: multiple definition of template {:?}", template.name));
            }
        }
        Ok(())
    }

    fn definition(&mut self) -> Parsed<()> {
        let token = self.next_word();
        let name = self.template_name(token, "define clause")?;
        self.expect(Kind::RightDelimiter, "define clause")?;
        let body = self.own_scope(|parser| parser.body_to_end("define clause"))?;
        self.add(name, body)
    }

    /// Parses a template body, which sees no variable from around it.
    fn own_scope<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let scope = std::mem::replace(&mut self.scope, vec![0]);
        let loops = std::mem::take(&mut self.loops);
        let result = parse(self);
        self.scope = scope;
        self.loops = loops;
        result
    }

    fn body_to_end(&mut self, context: &str) -> Parsed<Vec<Node>> {
        match self.items()? {
            (body, Ending::End, _) => Ok(body),
            _ => self.fail(format!("unexpected {{{{else}}}} in {context}")),
        }
    }

    /// Steps up to an `end` or `else`.
    fn items(&mut self) -> Parsed<(Vec<Node>, Ending, usize)> {
        let mut body = Vec::new();
        while self.peek_word().kind != Kind::EndOfFile {
            match self.item()? {
                Item::Node(node) => body.push(node),
                Item::Ending(ending, at) => return Ok((body, ending, at)),
            }
        }
        self.fail_at(self.peek(), "unexpected EOF")
    }

    fn item(&mut self) -> Parsed<Item> {
        let token = self.next_word();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text { start: token.start, end: token.end })),
            Kind::LeftDelimiter => {
                self.action_line = token.line;
                let item = self.nested(Self::action);
                self.action_line = 0;
                item
            }
            _ => self.unexpected(token, "input"),
        }
    }

    /// Guards the stack.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return self.fail("max expression depth exceeded");
        }
        self.depth += 1;
        let result = stacker::maybe_grow(64 << 10, 1 << 20, || parse(self));
        self.depth -= 1;
        result
    }

    fn action(&mut self) -> Parsed<Item> {
        let token = self.next_word();
        let node = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break | Kind::Continue => self.loop_control(token.kind)?,
            Kind::Else => {
                // `else if` and `else with` leave their keyword for the caller.
                let next = self.peek_word();
                if !matches!(next.kind, Kind::If | Kind::With) {
                    self.expect(Kind::RightDelimiter, "else")?;
                }
                return Ok(Item::Ending(Ending::Else, token.start));
            }
            Kind::End => {
                self.expect(Kind::RightDelimiter, "end")?;
                return Ok(Item::Ending(Ending::End, token.start));
            }
            Kind::If => self.control(Control::If)?,
            Kind::Range => self.control(Control::Range)?,
            Kind::With => self.control(Control::With)?,
            Kind::Template => self.template()?,
            _ => {
                self.at -= 1;
                Node::Action(self.pipe("command", Kind::RightDelimiter)?)
            }
        };
        Ok(Item::Node(node))
    }

    fn loop_control(&mut self, kind: Kind) -> Parsed<Node> {
        let word = if kind == Kind::Break { "{{break}}" } else { "{{continue}}" };
        self.expect(Kind::RightDelimiter, word)?;
        if self.loops == 0 {
            return self.fail(format!("{word} outside {{{{range}}}}"));
        }
        Ok(if kind == Kind::Break { Node::Break } else { Node::Continue })
    }

    fn control(&mut self, control: Control) -> Parsed<Node> {
        let mark = self.scope.len();
        let pipe = self.pipe(control.name(), Kind::RightDelimiter)?;
        let is_range = usize::from(control == Control::Range);
        self.loops += is_range;
        let items = self.items();
        self.loops -= is_range;
        let (then, ending, _) = items?;
        let mut otherwise = None;
        if ending == Ending::Else {
            let next = self.peek().kind;
            if (control == Control::If && next == Kind::If)
                || (control == Control::With && next == Kind::With)
            {
                self.next();
                otherwise = Some(vec![self.nested(|parser| parser.control(control))?]);
            } else {
                let (list, ending, _) = self.items()?;
                if ending != Ending::End {
                    return self.fail("expected end; found {{else}}");
                }
                otherwise = Some(list);
            }
        }
        self.scope.truncate(mark);
        Ok(match control {
            Control::If => Node::If { pipe, then, otherwise },
            Control::With => Node::With { pipe, then, otherwise },
            Control::Range => Node::Range { pipe, body: then, otherwise },
        })
    }

    fn template_name(&mut self, token: Token, context: &str) -> Parsed<Arc<str>> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(token, context);
        }
        match unquote(self.text_of(token)) {
            Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into()),
            None => self.fail("invalid syntax"),
        }
    }

    fn template(&mut self) -> Parsed<Node> {
        let token = self.next_word();
        let name = self.template_name(token, "template clause")?;
        let mut pipe = None;
        if self.peek_word().kind == Kind::RightDelimiter {
            self.next();
        } else {
            pipe = Some(self.pipe("template clause", Kind::RightDelimiter)?);
        }
        Ok(Node::Template { at: token.start, name, pipe })
    }

    fn block(&mut self) -> Parsed<Node> {
        let token = self.next_word();
        let name = self.template_name(token, "block clause")?;
        let pipe = self.pipe("block clause", Kind::RightDelimiter)?;
        let body = self.own_scope(|parser| parser.body_to_end("block clause"))?;
        self.add(name.clone(), body)?;
        Ok(Node::Template { at: token.start, name, pipe: Some(pipe) })
    }

    fn pipe(&mut self, context: &str, end: Kind) -> Parsed<Pipe> {
        let at = self.peek_word().start;
        let mut pipe = Pipe { at, variables: Vec::new(), assigns: false, commands: Vec::new() };
        self.declarations(&mut pipe, context)?;
        loop {
            let token = self.peek_word();
            match token.kind {
                kind if kind == end => {
                    self.next();
                    break;
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen => {
                    let command = self.command()?;
                    pipe.commands.push(command);
                }
                _ => {
                    self.next();
                    return self.unexpected(token, context);
                }
            }
        }
        if pipe.commands.is_empty() {
            return self.fail(format!("missing value for {context}"));
        }
        for (index, command) in pipe.commands.iter().enumerate().skip(1) {
            if matches!(
                command.operands.first(),
                Some(
                    Expr::Bool { .. }
                        | Expr::Dot { .. }
                        | Expr::Nil { .. }
                        | Expr::Number { .. }
                        | Expr::String { .. }
                )
            ) {
                return self.fail(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(pipe)
    }

    /// `$x :=`, `$x =`, or in a range `$k, $v :=`.
    fn declarations(&mut self, pipe: &mut Pipe, context: &str) -> Parsed<()> {
        while self.peek_word().kind == Kind::Variable {
            let back = self.at;
            let token = self.next();
            let next = self.peek_word();
            let comma = next.kind == Kind::Char && self.text_of(next) == ",";
            if !comma && !matches!(next.kind, Kind::Assign | Kind::Declare) {
                self.at = back;
                return Ok(());
            }
            self.next();
            let id = self.number_of(self.text_of(token));
            pipe.variables.push((id, self.names[id as usize].clone()));
            self.scope.push(id);
            if !comma {
                pipe.assigns = next.kind == Kind::Assign;
                return Ok(());
            }
            if context != "range" || pipe.variables.len() >= 2 {
                return self.fail(format!("too many declarations in {context}"));
            }
            if !matches!(self.peek_word().kind, Kind::Variable | Kind::RightDelimiter | Kind::RightParen) {
                return self.fail("range can only initialize variables");
            }
        }
        Ok(())
    }

    fn number_of(&mut self, name: &str) -> u32 {
        let index = self.names.iter().position(|known| &**known == name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn command(&mut self) -> Parsed<Command> {
        let at = self.peek_word().start;
        let mut operands = Vec::new();
        loop {
            self.skip_space();
            if let Some(operand) = self.operand()? {
                operands.push(operand);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelimiter | Kind::RightParen => self.at -= 1,
                Kind::Pipe => {}
                _ => return self.unexpected(token, "operand"),
            }
            break;
        }
        if operands.is_empty() {
            return self.fail("empty command");
        }
        Ok(Command { at, operands })
    }

    fn operand(&mut self) -> Parsed<Option<Expr>> {
        let Some(base) = self.term()? else { return Ok(None) };
        if self.peek().kind != Kind::Field {
            return Ok(Some(base));
        }
        let at = self.peek().start;
        let mut path = Vec::new();
        while self.peek().kind == Kind::Field {
            let token = self.next();
            path.push(Arc::from(&self.text_of(token)[1..]));
        }
        Ok(Some(match base {
            Expr::Field { path: mut first, .. } => {
                first.append(&mut path);
                Expr::Field { at, path: first }
            }
            Expr::Variable { id, name, .. } => Expr::Variable { at, id, name, path },
            Expr::Bool { .. }
            | Expr::String { .. }
            | Expr::Number { .. }
            | Expr::Nil { .. }
            | Expr::Dot { .. } => {
                return self.fail(format!("unexpected . after term {:?}", base.to_string()));
            }
            other => Expr::Chain { at, base: Box::new(other), path },
        }))
    }

    fn term(&mut self) -> Parsed<Option<Expr>> {
        let token = self.next_word();
        let (at, text) = (token.start, self.text_of(token));
        Ok(Some(match token.kind {
            Kind::Identifier => match self.functions.index_of(text) {
                Some(index) => Expr::Function { at, name: text.into(), index },
                None => return self.fail(format!("function {text:?} not defined")),
            },
            Kind::Dot => Expr::Dot { at },
            Kind::Nil => Expr::Nil { at },
            Kind::Bool => Expr::Bool { at, value: text == "true" },
            Kind::Field => Expr::Field { at, path: vec![text[1..].into()] },
            Kind::Variable => {
                let id = self.number_of(text);
                if !self.scope.contains(&id) {
                    return self.fail(format!("undefined variable {text:?}"));
                }
                Expr::Variable { at, id, name: self.names[id as usize].clone(), path: Vec::new() }
            }
            Kind::Number | Kind::CharConstant => match Number::parse(text) {
                Ok(value) => Expr::Number { at, value },
                Err(reason) => return self.fail(reason),
            },
            Kind::String | Kind::RawString => match unquote(text) {
                Some(bytes) => {
                    let value = match String::from_utf8(bytes) {
                        Ok(text) => Literal::Text(text.into()),
                        Err(error) => Literal::Bytes(error.into_bytes().into()),
                    };
                    Expr::String { at, literal: text.into(), value }
                }
                None => return self.fail("invalid syntax"),
            },
            Kind::LeftParen => Expr::Pipe(Box::new(
                self.nested(|parser| parser.pipe("parenthesized pipeline", Kind::RightParen))?,
            )),
            _ => {
                self.at -= 1;
                return Ok(None);
            }
        }))
    }
}
