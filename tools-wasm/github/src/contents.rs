//! Files and folders of a repository.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ringfence_sdk::Body;
use ringfence_sdk::http::{Response, encode};
use ringfence_sdk::prelude::*;

use crate::api;
use crate::repository::Repository;

/// The arguments of [`get_contents`](fn@get_contents).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetContents {
    /// The repository, as `owner/name`.
    pub repository: Repository,
    /// The file or folder, such as `src/main.rs`; the root unless given.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    pub path: String,
    /// A branch, a tag or a commit; the default branch unless given.
    #[schemars(length(min = 1, max = 255))]
    pub reference: Option<String>,
}

/// A file or a folder.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Contents {
    /// Its path from the root of the repository.
    pub path: String,
    /// `file` or `folder`.
    pub kind: &'static str,
    /// The page for browsers; null for a folder.
    pub html_url: Option<String>,
    /// Bytes of a file.
    pub size: Option<u64>,
    /// The text of a file; null for a folder, and for a file that is no text.
    pub text: Option<String>,
    /// What lies in a folder; null for a file.
    pub entries: Option<Vec<Entry>>,
}

/// What lies in a folder.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// `file`, `dir`, `symlink` or `submodule`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Bytes; 0 for what is no file.
    #[serde(default)]
    pub size: u64,
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    size: u64,
    encoding: Option<String>,
    content: Option<String>,
    html_url: Option<String>,
}

/// Gives a file of a repository, decoded, or lists what lies in a folder. A file can have up to 1 MiB; of a folder
/// GitHub lists the first 1,000 entries.
#[tool(
    title = "Get a file or folder",
    read_only,
    idempotent,
    open_world,
    categories("github"),
    short_doc = "Gives a file or lists a folder.",
    output = Contents,
    example(
        description = "A file of a tag",
        input = { "repository": "rust-lang/rust", "path": "README.md", "reference": "1.90.0" },
    ),
)]
pub fn get_contents(args: GetContents) -> Result<Output, Failure> {
    let path = args.repository.path(&format!("/contents{}", path(&args.path)?));
    let answer = api::answer(api::get(&path).optional_query("ref", args.reference.as_ref()))?;
    // A folder is a list, a file an object.
    let is_list = answer.body.trim_ascii_start().starts_with(b"[");
    if is_list { folder(&args.path, &answer) } else { file(answer.json()?) }
}

/// `text` as the end of a path in a URL: empty, or segments that each begin with `/`.
fn path(text: &str) -> Result<String, Failure> {
    let text = text.trim_matches('/');
    if text.is_empty() {
        return Ok(String::new());
    }
    let is_bad = |part: &str| matches!(part, "" | "." | "..") || part.chars().any(|c| c.is_control() || c == '\\');
    if text.split('/').any(is_bad) {
        let message =
            format!("{text:?} is no path in a repository: write one such as \"src/main.rs\", without `.` or `..`");
        return Err(Failure::invalid_params(message).with_code("bad_path"));
    }
    Ok(text.split('/').map(|part| format!("/{}", encode(part))).collect())
}

fn folder(path: &str, answer: &Response) -> Result<Output, Failure> {
    let entries: Vec<Entry> = answer.json()?;
    let lines: Vec<String> = entries.iter().map(Entry::line).collect();
    let text = if lines.is_empty() { "The folder is empty.".to_owned() } else { lines.join("\n") };
    let path = path.trim_matches('/').to_owned();
    let contents = Contents { path, kind: "folder", html_url: None, size: None, text: None, entries: Some(entries) };
    Output::text(text).with_structured(&contents)
}

fn file(file: File) -> Result<Output, Failure> {
    let bytes = decode(&file)?;
    let (content, text) = match String::from_utf8(bytes) {
        Ok(text) => (Content::text(text.as_str()), Some(text)),
        Err(error) => {
            let uri = file.html_url.as_deref().unwrap_or(&file.path);
            (Content::resource(uri, None, Body::Blob(error.into_bytes())), None)
        }
    };
    let File { path, html_url, size, .. } = file;
    let contents = Contents { path, kind: "file", html_url, size: Some(size), text, entries: None };
    Output::new().with(content).with_structured(&contents)
}

/// The bytes of a file. GitHub breaks base64 into lines, and leaves it out above 1 MiB.
fn decode(file: &File) -> Result<Vec<u8>, Failure> {
    let File { path, kind, size, .. } = file;
    match (kind.as_str(), file.encoding.as_deref(), &file.content) {
        ("file", Some("base64"), Some(content)) => {
            let content: String = content.split_ascii_whitespace().collect();
            let wrong = |error| format!("GitHub gives `{path}` in base64 that cannot be decoded: {error}.");
            STANDARD.decode(content).map_err(|error| Failure::failed(wrong(error)).with_code("bad_base64"))
        }
        ("file", ..) => {
            let message = format!("`{path}` has {size} bytes, more than the 1 MiB that GitHub gives in this way.");
            Err(Failure::failed(message).with_code("too_large"))
        }
        (kind, ..) => {
            Err(Failure::invalid_params(format!("`{path}` is a {kind}, neither file nor folder.")).with_code("no_file"))
        }
    }
}

impl Entry {
    fn line(&self) -> String {
        match self.kind.as_str() {
            "file" => format!("{} ({} bytes)", self.name, self.size),
            "dir" => format!("{}/", self.name),
            other => format!("{} ({other})", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_made_of_names() {
        for (text, expected) in
            [("", ""), ("/", ""), ("src/main.rs", "/src/main.rs"), ("/a b/100%/é#?/", "/a%20b/100%25/%C3%A9%23%3F")]
        {
            assert_eq!(path(text).unwrap(), expected);
        }
        for wrong in ["..", "a/../b", "./a", "a//b", "a\\b", "a\nb"] {
            assert_eq!(path(wrong).unwrap_err().code, "bad_path", "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_path_leads_nowhere_else(text in "[a-z./%\\\\ é?#&]{0,20}") {
            if let Ok(path) = path(&text) {
                prop_assert!(path.is_empty() || path.starts_with('/'));
                prop_assert!(!path.contains(['?', '#', '\\', ' ']));
                prop_assert!(path.split('/').skip(1).all(|part| !matches!(part, "" | "." | "..")));
            }
        }

        #[test]
        fn what_was_encoded_is_decoded(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let content = STANDARD.encode(&bytes);
            let lines: Vec<_> = content.as_bytes().chunks(60).map(String::from_utf8_lossy).collect();
            let file = File {
                kind: "file".into(),
                path: "a".into(),
                size: bytes.len() as u64,
                encoding: Some("base64".into()),
                content: Some(lines.join("\n")),
                html_url: None,
            };
            prop_assert_eq!(decode(&file), Ok(bytes));
        }
    }
}
