//! Cuts a template's text into tokens. Trim markers and comments are gone after this step.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Text,
    LeftDelimiter,
    RightDelimiter,
    Space,
    Assign,
    Declare,
    Pipe,
    LeftParen,
    RightParen,
    Char,
    Dot,
    Field,
    Variable,
    Identifier,
    Bool,
    Nil,
    Number,
    CharConstant,
    String,
    RawString,
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
    EndOfFile,
    Error,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    pub line: usize,
}

/// The tokens of a text. The last one is the end of the file or an error with its message.
pub(crate) struct Tokens {
    pub list: Vec<Token>,
    pub error: Option<String>,
}

const LEFT: &str = "{{";
const RIGHT: &str = "}}";

/// Cuts `text` into tokens.
pub(crate) fn tokenize(text: &str) -> Tokens {
    let mut lexer = Lexer { text, at: 0, line: 1, list: Vec::new() };
    let error = lexer.run().err();
    let kind = if error.is_some() { Kind::Error } else { Kind::EndOfFile };
    let token = Token { kind, start: lexer.at, end: lexer.at, line: lexer.line };
    lexer.list.push(token);
    Tokens { list: lexer.list, error }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    list: Vec<Token>,
}

impl<'t> Lexer<'t> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(offset) = self.rest().find(LEFT) {
            let delimiter = self.at + offset;
            let inside = delimiter + LEFT.len();
            let trims = has_left_trim(self.text.get(inside..).unwrap_or(""));
            let mut end = delimiter;
            if trims {
                end = self.at + self.text[self.at..delimiter].trim_end_matches(is_space).len();
            }
            self.text_token(self.at..end);
            self.skip_to(delimiter);
            let body = if trims { inside + 2 } else { inside };
            if self.text[body..].starts_with("/*") {
                self.comment(body)?;
                continue;
            }
            let line = self.line;
            self.list.push(Token { kind: Kind::LeftDelimiter, start: delimiter, end: inside, line });
            self.skip_to(body);
            self.action()?;
        }
        let end = self.text.len();
        self.text_token(self.at..end);
        self.skip_to(end);
        Ok(())
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Moves on to `to`, counting lines.
    fn skip_to(&mut self, to: usize) {
        self.line += self.text[self.at..to].bytes().filter(|b| *b == b'\n').count();
        self.at = to;
    }

    fn text_token(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.list.push(Token { kind: Kind::Text, start: range.start, end: range.end, line: self.line });
        }
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let (start, line) = (self.at, self.line);
        self.list.push(Token { kind, start, end: start + length, line });
        self.skip_to(start + length);
    }

    fn comment(&mut self, body: usize) -> Result<(), String> {
        self.skip_to(body);
        let Some(length) = self.text[body + 2..].find("*/") else { return Err("unclosed comment".into()) };
        self.skip_to(body + 2 + length + 2);
        if !self.right_delimiter(false) {
            return Err("comment ends before closing delimiter".into());
        }
        Ok(())
    }

    /// Steps over a right delimiter and the space that its trim marker eats. False if there is none here.
    fn right_delimiter(&mut self, emit: bool) -> bool {
        let rest = self.rest();
        let (marker, trims) = if has_right_trim(rest) && rest[2..].starts_with(RIGHT) {
            (2, true)
        } else if rest.starts_with(RIGHT) {
            (0, false)
        } else {
            return false;
        };
        self.skip_to(self.at + marker);
        if emit {
            self.push(Kind::RightDelimiter, RIGHT.len());
        } else {
            self.skip_to(self.at + RIGHT.len());
        }
        if trims {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches(is_space).len();
            self.skip_to(self.at + spaces);
        }
        true
    }

    /// The inside of an action, to its right delimiter.
    fn action(&mut self) -> Result<(), String> {
        let mut depth = 0usize;
        loop {
            let rest = self.rest();
            let closes = rest.starts_with(RIGHT) || (has_right_trim(rest) && rest[2..].starts_with(RIGHT));
            if closes {
                if depth > 0 {
                    return Err("unclosed left paren".into());
                }
                self.right_delimiter(true);
                return Ok(());
            }
            let Some(c) = rest.chars().next() else { return Err("unclosed action".into()) };
            match c {
                c if is_space(c) => self.spaces(),
                '=' => self.push(Kind::Assign, 1),
                ':' if rest.starts_with(":=") => self.push(Kind::Declare, 2),
                ':' => return Err("expected :=".into()),
                '|' => self.push(Kind::Pipe, 1),
                '"' | '\'' => self.quoted(c)?,
                '`' => match rest[1..].find('`') {
                    Some(length) => self.push(Kind::RawString, length + 2),
                    None => return Err("unterminated raw quoted string".into()),
                },
                '$' => self.name(Kind::Variable)?,
                '.' if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.name(Kind::Field)?,
                '.' | '+' | '-' | '0'..='9' => self.number()?,
                c if is_word(c) => self.word()?,
                '(' => {
                    depth += 1;
                    self.push(Kind::LeftParen, 1);
                }
                ')' => {
                    depth = depth.checked_sub(1).ok_or("unexpected right paren")?;
                    self.push(Kind::RightParen, 1);
                }
                ' '..='~' => self.push(Kind::Char, 1),
                other => return Err(format!("unrecognized character in action: {}", named(Some(other)))),
            }
        }
    }

    /// A run of spaces, up to the one that belongs to a right trim marker.
    fn spaces(&mut self) {
        let rest = self.rest();
        let mut length = rest.len() - rest.trim_start_matches(is_space).len();
        let last = &rest[length - 1..];
        if has_right_trim(last) && last[2..].starts_with(RIGHT) {
            length -= 1;
        }
        if length > 0 {
            self.push(Kind::Space, length);
        }
    }

    fn quoted(&mut self, quote: char) -> Result<(), String> {
        let error =
            if quote == '"' { "unterminated quoted string" } else { "unterminated character constant" };
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((offset, c)) = chars.next() {
            match c {
                '\n' => return Err(error.into()),
                '\\' => match chars.next() {
                    None | Some((_, '\n')) => return Err(error.into()),
                    Some(_) => {}
                },
                c if c == quote => {
                    let kind = if quote == '"' { Kind::String } else { Kind::CharConstant };
                    self.push(kind, offset + 1);
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(error.into())
    }

    /// `.name`, `$name`, `.` or `$`.
    fn name(&mut self, kind: Kind) -> Result<(), String> {
        let rest = &self.rest()[1..];
        let length = rest.len() - rest.trim_start_matches(is_word).len();
        check_terminator(&rest[length..])?;
        let kind = if length == 0 && kind == Kind::Field { Kind::Dot } else { kind };
        self.push(kind, length + 1);
        Ok(())
    }

    fn word(&mut self) -> Result<(), String> {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches(is_word).len();
        check_terminator(&rest[length..])?;
        let kind = match &rest[..length] {
            "block" => Kind::Block,
            "break" => Kind::Break,
            "continue" => Kind::Continue,
            "define" => Kind::Define,
            "else" => Kind::Else,
            "end" => Kind::End,
            "if" => Kind::If,
            "range" => Kind::Range,
            "nil" => Kind::Nil,
            "template" => Kind::Template,
            "with" => Kind::With,
            "true" | "false" => Kind::Bool,
            _ => Kind::Identifier,
        };
        self.push(kind, length);
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        let rest = self.rest();
        let mut scan = Scan { text: rest, at: 0 };
        if scan.number() && !matches!(scan.peek(), Some('+' | '-')) {
            self.push(Kind::Number, scan.at);
            return Ok(());
        }
        if let Some(c) = scan.peek() {
            scan.at += c.len_utf8();
        }
        Err(format!("bad number syntax: {:?}", &rest[..scan.at]))
    }
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn accept(&mut self, set: &str) -> bool {
        match self.peek() {
            Some(c) if set.contains(c) => {
                self.at += c.len_utf8();
                true
            }
            _ => false,
        }
    }

    fn run(&mut self, set: &str) {
        while self.accept(set) {}
    }

    /// Steps over anything that looks like a number. Its meaning is the parser's business.
    fn number(&mut self) -> bool {
        const DECIMAL: &str = "0123456789_";
        const HEX: &str = "0123456789abcdefABCDEF_";
        self.accept("+-");
        let mut digits = DECIMAL;
        if self.accept("0") {
            if self.accept("xX") {
                digits = HEX;
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.run(digits);
        if self.accept(".") {
            self.run(digits);
        }
        if (digits == DECIMAL && self.accept("eE")) || (digits == HEX && self.accept("pP")) {
            self.accept("+-");
            self.run(DECIMAL);
        }
        self.accept("i");
        !self.peek().is_some_and(is_word)
    }
}

fn check_terminator(rest: &str) -> Result<(), String> {
    let ok = match rest.chars().next() {
        None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
        Some(c) => is_space(c) || rest.starts_with(RIGHT),
    };
    if ok { Ok(()) } else { Err(format!("bad character {}", named(rest.chars().next()))) }
}

/// A character as `U+002B '+'`.
fn named(c: Option<char>) -> String {
    c.map_or_else(|| "U+FFFD".to_owned(), |c| format!("U+{:04X} '{c}'", u32::from(c)))
}

fn has_left_trim(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next() == Some('-') && chars.next().is_some_and(is_space)
}

fn has_right_trim(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next().is_some_and(is_space) && chars.next() == Some('-')
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
