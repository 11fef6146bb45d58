//! Reading what people write: an error says where it is and what was probably meant, and a decision can name its line.

use std::fmt;
use std::io::{self, Read as _};
use std::path::Path;

use ringfence_core::name::nearest;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The longest text that is read, in bytes. What people write is far shorter.
const MAX_TEXT: usize = 1 << 20;

/// What is wrong with a text in TOML.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
pub struct ReadError {
    /// Where.
    pub place: Place,
    /// What, and where a name was mistaken, what it should have been.
    pub problem: String,
}

/// A place in a text, both numbers from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

impl ReadError {
    /// The error of the file at `path`, in the form that editors jump to.
    pub fn in_file(&self, path: &Path) -> String {
        format!("{}:{}:{}: {}", path.display(), self.place.line, self.place.column, self.problem)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Opens the file at `path`. A pipe or a device is none: reading one could wait, or go on, for ever.
///
/// # Errors
/// When it is none, or cannot be opened.
pub fn open(path: &Path) -> io::Result<fs_err::File> {
    if !fs_err::metadata(path)?.is_file() {
        let problem = format!("{} is not a file: give the path of a regular one", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    fs_err::File::open(path)
}

/// Reads the file at `path`, which has at most `limit` bytes.
///
/// # Errors
/// When there are more, when it is no file, or cannot be read.
pub fn bytes(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    bounded(open(path)?, path, limit)
}

/// Reads the text in the file at `path`.
///
/// # Errors
/// As [`bytes`], and when it is no text.
pub fn text(path: &Path) -> io::Result<String> {
    utf8(bytes(path, MAX_TEXT)?, path)
}

/// The text in the file at `path`; `None` where there is none. A link that leads nowhere is an error: whoever made it
/// wants what it should lead to, and to go on without would forget what that forbids.
///
/// # Errors
/// As [`text`], where there is a file.
pub fn text_if_there(path: &Path) -> io::Result<Option<String>> {
    match text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) if !path.is_symlink() => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("{} is a link that leads nowhere", path.display()))),
    }
}

/// Reads the text at `path`, which may be a pipe, such as a shell makes for `<(COMMAND)`.
///
/// # Errors
/// When it is too long, no text, or cannot be read.
pub fn text_or_pipe(path: &Path) -> io::Result<String> {
    utf8(bounded(fs_err::File::open(path)?, path, MAX_TEXT)?, path)
}

fn bounded(file: fs_err::File, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() <= limit {
        return Ok(bytes);
    }
    let problem = format!("{} has more than the {limit} bytes that are read of such a file", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidData, problem))
}

fn utf8(bytes: Vec<u8>, path: &Path) -> io::Result<String> {
    let problem = |_| io::Error::new(io::ErrorKind::InvalidData, format!("{} is not text in UTF-8", path.display()));
    String::from_utf8(bytes).map_err(problem)
}

/// Reads a text in TOML. A name that does not exist is an error wherever it stands.
///
/// # Errors
/// What is wrong with it, and where.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    toml::from_str(text).map_err(|error| {
        // An error of the whole text, such as a field that is missing, is at its beginning.
        let place = place(text, error.span().map_or(0, |span| span.start));
        ReadError { place, problem: unknown_name(error.message()).unwrap_or_else(|| in_words(error.message())) }
    })
}

/// Where something stands in the file at `path`, whose text is `text`, in the form that editors jump to: with the line
/// that [`line_of`] finds.
pub fn place_in(path: &Path, text: &str, key: &[&str], index: Option<usize>) -> String {
    match line_of(text, key, index) {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// The line of what stands at `path` in a text in TOML, from 1: a field by its name, or, where `index` is given, that
/// element of a list, from 0.
pub fn line_of(text: &str, path: &[&str], index: Option<usize>) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let (last, tables) = path.split_last()?;
    let mut table = document.get_ref();
    for name in tables {
        let DeValue::Table(inner) = field(table, name)?.1.get_ref() else { return None };
        table = inner;
    }
    let (key, value) = field(table, last)?;
    let span = match (value.get_ref(), index) {
        (DeValue::Array(list), Some(index)) => list.get(index)?.span(),
        (_, Some(_)) => return None,
        (_, None) => key.span(),
    };
    Some(place(text, span.start).line)
}

fn field<'a, 't>(
    table: &'a DeTable<'t>,
    name: &str,
) -> Option<(&'a Spanned<toml::de::DeString<'t>>, &'a Spanned<DeValue<'t>>)> {
    table.iter().find(|(key, _)| key.get_ref() == name)
}

fn place(text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

/// What `message` says, with the nearest name that there is, when it is about a name that there is not.
///
/// serde tells what it expected in this text alone: "unknown field `x`, expected one of `a`, `b`".
pub(crate) fn unknown_name(message: &str) -> Option<String> {
    let kind = ["field", "variant"].into_iter().find(|kind| message.starts_with(&format!("unknown {kind} `")))?;
    let (name, expected) = message.split_once('`')?.1.split_once("`, expected ")?;
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let what = if kind == "field" { "field" } else { "value" };
    let hint = match nearest(name, known.iter().copied(), 1).pop() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}", known.join(", ")),
    };
    Some(format!("unknown {what} `{}`: {hint}", name.escape_debug()))
}

/// What serde calls the types that it expects, and what they are to whoever writes a file.
const TYPES: [(&str, &str); 9] = [
    ("a nonzero u64", "a whole number of at least 1"),
    ("a nonzero u32", "a whole number of at least 1"),
    ("u64", "a whole number, not below 0"),
    ("usize", "a whole number, not below 0"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("a boolean", "true or false"),
    ("a string", "a text in quotes"),
    ("a sequence", "a list in brackets"),
    ("a map", "a table"),
];

/// What `message` says without the names of types in Rust: "invalid value: integer `0`, expected a nonzero u64".
fn in_words(message: &str) -> String {
    let kinds = ["invalid value: ", "invalid type: "];
    let what = kinds.iter().find_map(|kind| message.strip_prefix(kind));
    let Some((found, expected)) = what.and_then(|what| what.rsplit_once(", expected ")) else {
        return message.to_owned();
    };
    let words = TYPES.iter().find(|(name, _)| *name == expected).map(|(_, words)| *words);
    let words = words.unwrap_or(if expected.starts_with("struct ") { "a table" } else { expected });
    format!("this has to be {words}, and is {found}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading is tested")]
    struct Outer {
        name: String,
        #[serde(default)]
        rules: Vec<Inner>,
        #[serde(default)]
        named: BTreeMap<String, Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading is tested")]
    struct Inner {
        colour: Colour,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only reading is tested")]
    struct Typed {
        some: Option<std::num::NonZeroU64>,
        few: Option<u32>,
        many: Option<usize>,
        on: Option<bool>,
        text: Option<String>,
        list: Option<Vec<u32>>,
        table: Option<BTreeMap<String, u32>>,
        outer: Option<Inner>,
    }

    #[test]
    fn a_wrong_value_is_told_without_the_names_of_types() {
        for (text, expected) in [
            ("some = 0", "column 8: this has to be a whole number of at least 1, and is integer `0`"),
            ("few = -1", "a whole number from 0 to 4294967295, and is integer `-1`"),
            ("few = \"x\"", "a whole number from 0 to 4294967295, and is string \"x\""),
            ("many = -1", "a whole number, not below 0, and is integer `-1`"),
            ("on = 1", "true or false, and is integer `1`"),
            ("text = 1", "a text in quotes, and is integer `1`"),
            ("list = 1", "a list in brackets, and is integer `1`"),
            ("table = 1", "a table, and is integer `1`"),
            ("outer = 1", "a table, and is integer `1`"),
        ] {
            let error = from_toml::<Typed>(text).unwrap_err().to_string();
            assert!(error.starts_with("line 1, ") && error.ends_with(expected), "{error}");
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
        Blue,
    }

    fn error(text: &str) -> String {
        from_toml::<Outer>(text).unwrap_err().to_string()
    }

    #[test]
    fn a_name_that_does_not_exist_is_found_wherever_it_stands() {
        for (text, expected) in [
            ("nam = \"x\"\n", "line 1, column 1: unknown field `nam`: did you mean `name`?"),
            ("name = \"x\"\nzzz = 1\n", "line 2, column 1: unknown field `zzz`: known are name, rules, named"),
            (
                "name = \"x\"\n[[rules]]\n  color = \"red\"\n",
                "line 3, column 3: unknown field `color`: did you mean `colour`?",
            ),
            (
                "name = \"x\"\n[named.a]\ncolour = \"red\"\n[named.b]\ncolor = \"red\"\n",
                "line 5, column 1: unknown field `color`: did you mean `colour`?",
            ),
            (
                "name = \"x\"\nrules = [{ colour = \"rad\" }]\n",
                "line 2, column 21: unknown value `rad`: did you mean `red`?",
            ),
            ("[[rules]]\ncolour = \"red\"\n", "line 1, column 1: missing field `name`"),
        ] {
            assert_eq!(error(text), expected);
        }
        assert!(error("name = ").starts_with("line 1, "), "{}", error("name = "));
        let in_file = from_toml::<Outer>("nam = 1").unwrap_err().in_file(Path::new("a/b.toml"));
        assert_eq!(in_file, "a/b.toml:1:1: unknown field `nam`: did you mean `name`?");
    }

    #[test]
    fn what_never_ends_is_not_read_to_its_end() {
        let zero = Path::new("/dev/zero");
        assert!(bytes(zero, 10).unwrap_err().to_string().contains("is not a file"));
        assert!(text(zero).unwrap_err().to_string().contains("is not a file"));
        assert!(text_or_pipe(zero).unwrap_err().to_string().contains("more than"));
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(text(&socket).unwrap_err().to_string().contains("is not a file"));
        let file = folder.path().join("file");
        fs_err::write(&file, "äb").unwrap();
        assert_eq!((text(&file).unwrap().as_str(), bytes(&file, 3).unwrap().len()), ("äb", 3));
        assert!(bytes(&file, 2).is_err());
        fs_err::write(&file, b"\xff").unwrap();
        assert!(text(&file).unwrap_err().to_string().contains("UTF-8"));
        assert_eq!(text(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_line_is_found_in_every_form_of_writing() {
        let text = "# first\na = 1\nlist = [\n  { x = 1 },\n  { x = 2 },\n]\n[t.u]\nb = 2\n[[t.rules]]\nx = 1\n\n[[t.rules]]\n";
        assert_eq!(line_of(text, &["a"], None), Some(2));
        assert_eq!(line_of(text, &["list"], Some(1)), Some(5));
        assert_eq!(line_of(text, &["t", "u", "b"], None), Some(8));
        assert_eq!([0, 1].map(|i| line_of(text, &["t", "rules"], Some(i))), [Some(9), Some(12)]);
        assert_eq!(line_of(text, &["t", "rules"], Some(2)), None);
        assert_eq!(line_of(text, &["a"], Some(0)), None);
        assert_eq!(line_of(text, &["nobody"], None), None);
    }
}
