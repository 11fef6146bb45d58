//! Secrets that another program kept: a `.env` file, or a JSON object of texts.

mod env;
mod json;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use ringfence_core::Secret;
use thiserror::Error;
use zeroize::Zeroizing;

use crate::error::plain;
use crate::name::SecretName;
use crate::value::{ValueError, check_value, read_bounded};

/// The longest file that is imported, in bytes.
const MAX_IMPORT: usize = 4 << 20;

/// Bad lines that an error shows; it counts the others.
const SHOWN: usize = 20;

/// What an import file holds, checked and ready for [`Vault::import`](crate::Vault::import).
#[derive(Debug)]
pub struct Import {
    /// The secrets, in the order of the file.
    pub secrets: Vec<(SecretName, Secret)>,
    /// Those whose names could not stay as they were.
    pub renamed: Vec<Renamed>,
}

/// A variable that got another name as a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// Its line, from 1.
    pub line: usize,
    /// What the file calls it.
    pub from: String,
    /// What it is called now.
    pub to: SecretName,
}

/// Why a file cannot be imported. Nothing of it is.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is too long.
    #[error("{} is longer than {MAX_IMPORT} bytes: import it in parts", .0.display())]
    TooLong(PathBuf),
    /// It is not text.
    #[error("{} is not text in UTF-8: convert it first", .0.display())]
    NotText(PathBuf),
    /// Lines of it are no secrets.
    #[error("nothing can be imported until these lines are right: {}", shown(.0))]
    Lines(Vec<BadLine>),
}

/// One line that is no secret. Neither its name nor its value is repeated: in a bad line one may be the other.
#[derive(Debug)]
pub struct BadLine {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: LineFault,
}

/// What is wrong with a line.
#[derive(Debug, Error)]
pub enum LineFault {
    /// No `NAME=value`.
    #[error("it is not NAME=value")]
    NotAssignment,
    /// The name has no letter, is too long, or has characters that no variable has.
    #[error("its name is none: use letters, digits, `_`, `.` and `-`, 64 at most, with a letter among them")]
    Name,
    /// The value is refused.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A quotation mark without its second.
    #[error("its quotation mark is not closed on the same line: write a line break inside \"…\" as \\n")]
    Unclosed,
    /// Something follows the closing quotation mark.
    #[error("something follows its closing quotation mark")]
    AfterQuote,
    /// A backslash before something else than n, r, t, $, a quotation mark or a backslash.
    #[error("it has a backslash that means nothing: write it twice, or put the value between '…'")]
    Escape,
    /// Quotation marks or backslashes outside of quotation marks, which programs read in different ways.
    #[error("it has a quotation mark or backslash in the middle: put the whole value between '…'")]
    Ambiguous,
    /// Another line has the same name once both are cleaned.
    #[error("it has the same name as line {0} once both are in lower case: rename one")]
    Repeated(usize),
    /// The JSON is none.
    #[error("it is not valid JSON")]
    Json,
    /// A value of the JSON is no text.
    #[error("its value is not a text: put numbers and the like between \"…\"")]
    NotString,
}

impl ImportError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "import.io",
            Self::TooLong(_) => "import.too_long",
            Self::NotText(_) => "import.not_text",
            Self::Lines(_) => "import.lines",
        }
    }
}

/// One secret as the file writes it: line, name, value.
type Found = (usize, String, Zeroizing<String>);

impl Import {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or any line of it is wrong; all wrong lines are named.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let bytes = fs_err::File::open(path).and_then(|file| read_bounded(file, MAX_IMPORT));
        let bytes = bytes.map_err(|error| ImportError::Io { path: path.to_owned(), source: plain(error) })?;
        let bytes = bytes.ok_or_else(|| ImportError::TooLong(path.to_owned()))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| ImportError::NotText(path.to_owned()))?;
        Self::parse(text)
    }

    /// Reads the text of such a file: JSON when it begins with `{`, else `.env` lines.
    ///
    /// # Errors
    /// [`ImportError::Lines`], with all wrong lines.
    pub fn parse(text: &str) -> Result<Self, ImportError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let found = if text.trim_start().starts_with('{') { json::parse(text) } else { env::parse(text) };
        let mut import = Self { secrets: Vec::new(), renamed: Vec::new() };
        let mut lines = BTreeMap::new();
        let mut bad = Vec::new();
        for found in found {
            let outcome = found.and_then(|(line, from, value)| {
                import.take(&mut lines, line, from, &value).map_err(|fault| BadLine { line, fault })
            });
            bad.extend(outcome.err());
        }
        if bad.is_empty() { Ok(import) } else { Err(ImportError::Lines(bad)) }
    }

    fn take(
        &mut self,
        lines: &mut BTreeMap<SecretName, usize>,
        line: usize,
        from: String,
        value: &str,
    ) -> Result<(), LineFault> {
        let name = SecretName::cleaned(&from).map_err(|_| LineFault::Name)?;
        check_value(value)?;
        if let Some(before) = lines.insert(name.clone(), line) {
            return Err(LineFault::Repeated(before));
        }
        if from != name.as_str() {
            self.renamed.push(Renamed { line, from, to: name.clone() });
        }
        self.secrets.push((name, Secret::new(value.to_owned())));
        Ok(())
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.fault)
    }
}

fn shown(lines: &[BadLine]) -> String {
    let mut text = lines.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join("; ");
    if lines.len() > SHOWN {
        text += &format!("; and {} more", lines.len() - SHOWN);
    }
    text
}

#[cfg(test)]
mod tests;
