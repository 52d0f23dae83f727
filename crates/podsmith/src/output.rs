//! The one way to print: data to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use podsmith_object::{Diagnostic, Severity};

use crate::cli::{Color, Global};

/// How the result is printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// One YAML document, or one for each object.
    Yaml,
    /// One JSON object a line.
    Ndjson,
}

impl Format {
    /// The format named by `-o`, if it is among the valid ones.
    ///
    /// # Errors
    ///
    /// Names the valid ones.
    pub fn choose(asked: Option<&str>, valid: &[Self], default: Self) -> Result<Self, String> {
        let Some(asked) = asked else { return Ok(default) };
        valid.iter().copied().find(|format| format.name() == asked).ok_or_else(|| {
            let names: Vec<_> = valid.iter().map(|format| format.name()).collect();
            format!("`{asked}` is no output format of this command; valid are {}", names.join(", "))
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Ndjson => "ndjson",
        }
    }
}

/// True if text for `stream` may carry colours.
pub fn colors(global: &Global, stream_is_terminal: bool) -> bool {
    match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            stream_is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Prints diagnostics on stderr. A closed stderr is ignored: there is nobody left to tell.
pub fn report(diagnostics: &[Diagnostic], global: Option<&Global>) {
    let mut stderr = io::stderr().lock();
    let colored = global.is_some_and(|global| colors(global, io::stderr().is_terminal()));
    for diagnostic in diagnostics {
        if diagnostic.severity == Severity::Warning && global.is_some_and(|global| global.quiet) {
            continue;
        }
        let text = diagnostic.to_string();
        let _ = if colored { writeln!(stderr, "{}", paint(&text)) } else { writeln!(stderr, "{text}") };
    }
}

/// Colours the leading word and the hint.
fn paint(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let painted =
            [("error:", "\x1b[1;31m"), ("warning:", "\x1b[1;33m"), ("hint:", "\x1b[1;36m")].iter().find_map(
                |(word, color)| line.strip_prefix(word).map(|rest| format!("{color}{word}\x1b[0m{rest}")),
            );
        out.push_str(painted.as_deref().unwrap_or(line));
    }
    out
}

/// Output that is held back until `limit` bytes have come, so that an error before that leaves stdout untouched, and
/// that streams from then on, so that a long result needs little memory.
pub struct HeldOutput<W: Write> {
    inner: W,
    held: Vec<u8>,
    limit: usize,
}

impl<W: Write> HeldOutput<W> {
    /// Holds back up to `limit` bytes.
    pub fn new(inner: W, limit: usize) -> Self {
        Self { inner, held: Vec::new(), limit }
    }

    /// Appends text.
    ///
    /// # Errors
    ///
    /// When the stream underneath fails.
    pub fn push(&mut self, text: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(text);
        if self.held.len() >= self.limit {
            self.release()?;
            // Once streaming, write in blocks that keep a reader busy without holding much.
            self.limit = self.limit.min(64 << 10);
        }
        Ok(())
    }

    fn release(&mut self) -> io::Result<()> {
        self.inner.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }

    /// Writes what is still held.
    ///
    /// # Errors
    ///
    /// When the stream underneath fails.
    pub fn finish(mut self) -> io::Result<()> {
        self.release()?;
        self.inner.flush()
    }
}

/// Prints a whole result as JSON or YAML.
///
/// # Errors
///
/// When stdout cannot be written.
pub fn print_value(value: &podsmith_object::Value, format: Format) -> io::Result<()> {
    let mut text = match format {
        Format::Yaml => podsmith_object::yaml::to_string(value),
        _ => serde_json::to_string_pretty(value)?,
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    io::stdout().lock().write_all(text.as_bytes())
}

/// Writes a file that only its owner may read, all of it or nothing.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, bytes, 0o600)
}

/// Replaces a file, all of it or nothing, with the same permissions.
///
/// # Errors
///
/// When it cannot be written.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, bytes, std::fs::metadata(path)?.permissions().mode())
}

fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}
