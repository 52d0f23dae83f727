//! Where something was written: file, line and column.

use std::fmt;
use std::sync::Arc;

/// A position in a source text. Lines and columns count from 1; a column counts characters, not bytes.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Place {
    /// The file as the user named it, or a label such as `<stdin>`.
    pub file: Arc<str>,
    /// Line, from 1. Zero means that only the file is known.
    pub line: usize,
    /// Column, from 1. Zero means that only the line is known.
    pub column: usize,
}

impl Place {
    /// A position in `file`.
    pub fn new(file: impl Into<Arc<str>>, line: usize, column: usize) -> Self {
        Self { file: file.into(), line, column }
    }

    /// A whole file, without a line.
    pub fn file(file: impl Into<Arc<str>>) -> Self {
        Self::new(file, 0, 0)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
            if self.column > 0 {
                write!(f, ":{}", self.column)?;
            }
        }
        Ok(())
    }
}

/// Which document of which file an object came from.
#[derive(Clone, Debug, Eq, PartialEq, Hash)]
pub struct Origin {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// The document's number in the file, from 0.
    pub document: usize,
    /// The line where the object starts, from 1.
    pub line: usize,
}

impl Origin {
    /// The position where the object starts.
    pub fn place(&self) -> Place {
        Place::new(self.file.clone(), self.line, 0)
    }
}
