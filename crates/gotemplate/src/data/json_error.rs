//! Says in the words of encoding/json what is wrong with a text.

/// The message for a text that is known to be wrong.
pub(super) fn explain(text: &str) -> String {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    let error = scanner.value(0).and_then(|()| {
        scanner.space();
        match scanner.peek() {
            None => Ok(()),
            Some(byte) => Err(unexpected(byte, "after top-level value")),
        }
    });
    error.err().unwrap_or_else(|| "unexpected end of JSON input".to_owned())
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

fn unexpected(byte: u8, context: &str) -> String {
    let shown = match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        other => {
            let quoted = crate::format::quote(&char::from(other).to_string());
            format!("'{}'", quoted.trim_matches('"'))
        }
    };
    format!("invalid character {shown} {context}")
}

fn ended<T>() -> Result<T, String> {
    Err("unexpected end of JSON input".to_owned())
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), String> {
        self.space();
        if depth > 500 {
            return Err("exceeded max depth".to_owned());
        }
        match self.peek() {
            None => ended(),
            Some(b'{') => self.members(depth),
            Some(b'[') => self.elements(depth),
            Some(b'"') => self.string(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(byte) => Err(unexpected(byte, "looking for beginning of value")),
        }
    }

    fn members(&mut self, depth: usize) -> Result<(), String> {
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            match self.peek() {
                None => return ended(),
                Some(b'"') => self.string()?,
                Some(byte) => return Err(unexpected(byte, "looking for beginning of object key string")),
            }
            self.space();
            match self.peek() {
                None => return ended(),
                Some(b':') => self.at += 1,
                Some(byte) => return Err(unexpected(byte, "after object key")),
            }
            self.value(depth + 1)?;
            self.space();
            match self.peek() {
                None => return ended(),
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                Some(byte) => return Err(unexpected(byte, "after object key:value pair")),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn elements(&mut self, depth: usize) -> Result<(), String> {
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth + 1)?;
            self.space();
            match self.peek() {
                None => return ended(),
                Some(b',') => self.at += 1,
                Some(b']') => break,
                Some(byte) => return Err(unexpected(byte, "after array element")),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.peek() {
                None => return ended(),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        None => return ended(),
                        Some(b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"') => {}
                        Some(b'u') => self.hex()?,
                        Some(byte) => return Err(unexpected(byte, "in string escape code")),
                    }
                }
                Some(byte) if byte < b' ' => return Err(unexpected(byte, "in string literal")),
                Some(_) => {}
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }

    fn hex(&mut self) -> Result<(), String> {
        for _ in 0..4 {
            self.at += 1;
            match self.peek() {
                None => return ended(),
                Some(byte) if byte.is_ascii_hexdigit() => {}
                Some(byte) => return Err(unexpected(byte, r"in \u hexadecimal character escape")),
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        for (index, expected) in word.bytes().enumerate() {
            match self.peek() {
                None => return ended(),
                Some(byte) if byte == expected => self.at += 1,
                Some(byte) => {
                    let wanted = &word[index..=index];
                    return Err(unexpected(byte, &format!("in literal {word} (expecting '{wanted}')")));
                }
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), String> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            None => return ended(),
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            Some(byte) => return Err(unexpected(byte, "in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn some_digits(&mut self, context: &str) -> Result<(), String> {
        match self.peek() {
            None => ended(),
            Some(b'0'..=b'9') => {
                self.digits();
                Ok(())
            }
            Some(byte) => Err(unexpected(byte, context)),
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }
}
