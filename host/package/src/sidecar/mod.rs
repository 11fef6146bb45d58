//! IronClaw's `NAME.capabilities.json`, read as what a manifest asks for.
//!
//! What is taken over never allows more than it did there, by IronClaw's own rules: where the two differ in meaning, the
//! narrower meaning is taken, and what has no equivalent is left out. The [report](Entry) says for each field what became
//! of it, and whether IronClaw enforces it or only parses it.
//!
//! | there | here |
//! |---|---|
//! | `http.allowlist`: https, a raw prefix of the path | [`http`](Capabilities::http): the same by whole segments, port 443 |
//! | `http.max_request_bytes`, `max_response_bytes`, `timeout_secs` | limits of each of these rules |
//! | `http.credentials` | [`credentials`](Capabilities::credentials), under the name of the secret |
//! | `auth`, `setup.required_secrets`: what people read | the `description` of the credential |
//! | `secrets.allowed_names` | `secrets.test` |
//! | `workspace.allowed_prefixes` | `workspace.read`, by whole segments |

mod fields;
mod http;
mod people;
mod report;
#[cfg(test)]
mod tests;

use ringfence_core::grant::HttpRule;
use serde_json::Value;
use thiserror::Error;

pub use report::{Entry, Outcome};

use crate::grant::{Capabilities, FilePattern, Granted, NamePattern, is_name};
use fields::Fields;
use report::Report;

/// The largest file, in bytes. Real ones have a few thousand.
pub const MAX_BYTES: usize = 256 << 10;

/// How often `capabilities` may stand in itself. IronClaw's number.
const MAX_NESTING: usize = 8;

/// The fields that an inner `capabilities` may hold for the outer one.
const NESTED: [&str; 10] = [
    "description",
    "discovery_summary",
    "http",
    "secrets",
    "tool_invoke",
    "workspace",
    "webhook",
    "websocket",
    "auth",
    "setup",
];

/// What a file was read as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// What the tool is for, where the file says so.
    pub description: Option<String>,
    /// Its version, where the file says so.
    pub version: Option<String>,
    /// What a manifest asks for.
    pub capabilities: Capabilities,
    /// A grant of all of it, with each secret under the name that it had there.
    pub grant: Granted,
    /// What became of each field.
    pub report: Vec<Entry>,
}

/// Why a file cannot be read.
#[derive(Debug, Error)]
pub enum SidecarError {
    /// Over [`MAX_BYTES`].
    #[error("the file has {0} bytes, at most {MAX_BYTES} are read: a `*.capabilities.json` is far smaller")]
    TooLarge(usize),
    /// Not JSON.
    #[error("the file is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A field of another type. IronClaw refuses such a file as well.
    #[error("`{field}` has to be {expected}: correct it")]
    Type {
        /// Where.
        field: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A field that is missing. IronClaw refuses such a file as well.
    #[error("`{0}` is missing: add it")]
    Missing(String),
}

/// Reads a `*.capabilities.json`.
///
/// # Errors
/// When IronClaw would not read it either. What has no equivalent here is no error; it stands in the report.
pub fn import(bytes: &[u8]) -> Result<Imported, SidecarError> {
    if bytes.len() > MAX_BYTES {
        return Err(SidecarError::TooLarge(bytes.len()));
    }
    let mut root = Fields::of("", serde_json::from_slice(bytes)?)?;
    let mut reader = Reader::default();
    let imported = &mut reader.imported;
    imported.version = root.text("version")?;
    if imported.version.is_some() {
        reader.report.mapped("version", true, "`version` at the top of ringfence.toml");
    }
    if root.text("wit_version")?.is_some() {
        reader.report.left_out("wit_version", true, "the component itself says it, and is held to that");
    }
    reader.sections(root, 0)?;
    Ok(reader.finish())
}

/// A file on its way.
#[derive(Default)]
struct Reader {
    imported: Imported,
    report: Report,
    /// The sections that an outer level has said already.
    said: Vec<&'static str>,
    /// What people read of a secret.
    texts: Vec<people::Text>,
}

impl Reader {
    /// The sections of one level, and then of the level inside, as far as the outer ones leave that open.
    fn sections(&mut self, mut fields: Fields, depth: usize) -> Result<(), SidecarError> {
        for name in NESTED {
            let Some(value) = fields.any(name) else { continue };
            let path = fields.path(name);
            if self.said.contains(&name) {
                self.report.left_out(&path, false, "an outer level says it already");
                continue;
            }
            self.said.push(name);
            self.section(name, &path, value)?;
        }
        let inner = fields.object("capabilities")?;
        self.report.unknown(fields);
        match inner {
            Some(inner) if depth < MAX_NESTING => self.sections(inner, depth + 1),
            Some(inner) => {
                self.report.left_out(inner.place(), false, "it is nested too deeply to be looked at");
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn section(&mut self, name: &str, path: &str, value: Value) -> Result<(), SidecarError> {
        match name {
            "description" => {
                self.imported.description = Some(fields::text(path, value)?);
                self.report.mapped(path, true, "`description` at the top of ringfence.toml");
            }
            "discovery_summary" => {
                self.report.left_out(path, true, "the model reads the description and the schema of the tool");
            }
            "http" => self.http(Fields::of(path, value)?)?,
            "secrets" => self.secrets(Fields::of(path, value)?)?,
            "tool_invoke" => self.tool_invoke(Fields::of(path, value)?)?,
            "workspace" => self.workspace(Fields::of(path, value)?)?,
            "webhook" => self.webhook(Fields::of(path, value)?)?,
            "websocket" => self.report.left_out(path, true, "tools have no sockets; requests are all that they send"),
            "auth" => self.auth(Fields::of(path, value)?)?,
            _ => self.setup(Fields::of(path, value)?)?,
        }
        Ok(())
    }

    fn secrets(&mut self, mut fields: Fields) -> Result<(), SidecarError> {
        for (path, name) in fields.texts("allowed_names")? {
            // Names are not told by case there.
            match NamePattern::try_from(name.to_ascii_lowercase()) {
                Ok(pattern) => {
                    self.report.mapped(&path, true, &format!("`secrets.test`: `{pattern}`"));
                    self.imported.capabilities.secrets.test.push(pattern);
                }
                Err(error) => self.report.left_out(&path, true, &error.to_string()),
            }
        }
        self.report.unknown(fields);
        Ok(())
    }

    fn tool_invoke(&mut self, mut fields: Fields) -> Result<(), SidecarError> {
        if let Some(mut aliases) = fields.object("aliases")? {
            let place = format!("{}.", aliases.place());
            for (path, tool) in aliases.all_texts()? {
                let alias = path.strip_prefix(&place).unwrap_or(&path).to_owned();
                if !is_name(&alias) {
                    self.report.left_out(&path, true, "its name has to be 1 to 64 of A-Z, a-z, 0-9, _, . and -");
                    continue;
                }
                self.report.mapped(&path, false, &format!("`tools.{alias}`; the operator says which tool that is"));
                self.imported.capabilities.tools.insert(alias, format!("what IronClaw calls `{tool}`"));
            }
        }
        self.rate_limit(&mut fields, "calls of other tools count as calls of these: their rates hold")?;
        self.report.unknown(fields);
        Ok(())
    }

    fn workspace(&mut self, mut fields: Fields) -> Result<(), SidecarError> {
        let prefixes = fields.texts("allowed_prefixes")?;
        if prefixes.is_empty() {
            let path = fields.path("allowed_prefixes");
            self.report.left_out(
                &path,
                false,
                "without a prefix nothing is taken over: name the folders that it reads",
            );
        }
        for (path, prefix) in prefixes {
            match files(&prefix) {
                Ok(pattern) => {
                    self.report.mapped(&path, false, &format!("`workspace.read`: `{pattern}`, by whole segments"));
                    self.imported.capabilities.workspace.read.push(pattern);
                }
                Err(why) => self.report.left_out(&path, false, &why),
            }
        }
        self.report.unknown(fields);
        Ok(())
    }

    fn webhook(&mut self, mut fields: Fields) -> Result<(), SidecarError> {
        for (path, _) in fields.all_texts()? {
            self.report.left_out(&path, true, "no webhooks are received here");
        }
        Ok(())
    }

    /// A `rate_limit`, which has no equivalent.
    fn rate_limit(&mut self, fields: &mut Fields, why: &str) -> Result<(), SidecarError> {
        let Some(mut limit) = fields.object("rate_limit")? else { return Ok(()) };
        for name in ["requests_per_minute", "requests_per_hour"] {
            if limit.number(name)?.is_some() {
                self.report.left_out(&limit.path(name), false, why);
            }
        }
        self.report.unknown(limit);
        Ok(())
    }

    /// What can be said only now that all sections are read.
    fn finish(mut self) -> Imported {
        self.describe();
        let Self { mut imported, report, .. } = self;
        let credentials = std::mem::take(&mut imported.grant.credentials);
        imported.grant = Granted { credentials, ..imported.capabilities.in_full() };
        Imported { report: report.entries(), ..imported }
    }

    /// Adds rules that the manifest does not have yet.
    fn allow(&mut self, rules: &[HttpRule]) {
        let http = &mut self.imported.capabilities.http;
        for rule in rules {
            if !http.contains(rule) {
                http.push(rule.clone());
            }
        }
    }
}

/// The files whose paths begin with `prefix`, as far as they do so by whole segments.
fn files(prefix: &str) -> Result<FilePattern, String> {
    if prefix.contains('*') {
        return Err(format!("{prefix:?} stands for itself there, and is a wildcard here"));
    }
    // A prefix that ends with `/` means what is inside, and not a file of that name.
    let pattern = match (prefix, prefix.strip_suffix('/')) {
        ("", _) => "**".to_owned(),
        (_, Some(folder)) => format!("{folder}/*/**"),
        (_, None) => format!("{prefix}/**"),
    };
    FilePattern::try_from(pattern).map_err(|error| error.to_string())
}
