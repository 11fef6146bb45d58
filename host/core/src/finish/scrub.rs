//! The only way from a tainted result to a clean one.
//!
//! What a tool returns, and what it says when it fails, may hold credentials: those that this host injected into its
//! requests, in any usual spelling, and those that it came upon by itself. Both are replaced by marks that say what
//! stood there, and tell equal values from different ones, but nothing of the value.

mod assignments;
mod chars;
mod json;
mod keys;
mod known;
mod redactor;
mod spans;
mod spellings;
mod stems;
mod stream;
#[cfg(test)]
mod tests;
mod tokens;

use std::borrow::Cow;
use std::time::Duration;

use thiserror::Error;

use self::known::KnownValues;
pub use self::known::mark;
use self::redactor::Redactor;
pub use self::spellings::spellings;
pub use self::stream::{FormsInStream, known_form};
use crate::caller::Caller;
use crate::error::{CallError, Failure, FailureKind, ToolError};
use crate::output::{Body, Content, Media, RawOutput, Resource, ToolOutput};
use crate::secret::Secret;

/// A shorter secret would be found by chance everywhere.
pub const MIN_SECRET: usize = 6;

/// The longest text of an error, in bytes.
const MAX_MESSAGE: usize = 4096;

/// The longest code of an error, in bytes.
const MAX_CODE: usize = 64;

/// Takes credentials out of results. Immutable, so one serves all calls at once.
///
/// It does not find a value that a tool split over several texts, reversed or encrypted.
#[derive(Debug, Default)]
pub struct Scrubber {
    known: KnownValues,
}

/// Why there is no scrubber for these secrets.
#[derive(Debug, Error)]
pub enum ScrubberError {
    /// A secret is too short to be told from other text.
    #[error(
        "secret `{name}` is shorter than {MIN_SECRET} bytes, so it cannot be kept out of results: choose a longer one"
    )]
    TooShort {
        /// The secret.
        name: String,
    },
    /// There are too many secrets, or they are too long.
    #[error("the secrets are too many or too long to search for")]
    TooMany(#[source] aho_corasick::BuildError),
}

/// A clean result.
#[derive(Clone, Debug, PartialEq)]
pub struct Scrubbed {
    /// The result.
    pub output: ToolOutput,
    /// Whether the structured result is another than the tool's. It may disagree with the schema then.
    pub structured_changed: bool,
}

impl Scrubber {
    /// A scrubber that knows `secrets`: names and values.
    ///
    /// # Errors
    /// A value is shorter than [`MIN_SECRET`], or all together are too large to search for.
    pub fn new(secrets: Vec<(String, Secret)>) -> Result<Self, ScrubberError> {
        match secrets.iter().find(|(_, secret)| secret.expose().len() < MIN_SECRET) {
            Some((name, _)) => Err(ScrubberError::TooShort { name: name.clone() }),
            None => Ok(Self { known: KnownValues::new(secrets).map_err(ScrubberError::TooMany)? }),
        }
    }

    /// A scrubber that knows `more` secrets as well.
    ///
    /// # Errors
    /// As [`Scrubber::new`].
    pub fn knowing(&self, more: Vec<(String, Secret)>) -> Result<Self, ScrubberError> {
        Ok(Self { known: self.known.with(Self::new(more)?.known) })
    }

    /// Makes the output of a call clean. It took `duration`.
    pub fn output(&self, raw: RawOutput, duration: Duration) -> Scrubbed {
        let RawOutput { mut content, mut user_content, mut structured, mut raw, cost, usage, revealed } = raw;
        let mut redactor = Redactor::new(&self.known);
        redactor.contents(&mut content);
        redactor.contents(user_content.as_deref_mut().unwrap_or_default());
        let structured_changed = structured.as_mut().is_some_and(|value| redactor.tree(value));
        raw.as_mut().into_iter().for_each(|text| redactor.in_place(text));
        // The one value that was asked for, apart from all that the tool says: nothing else gets through with it.
        content.extend(revealed.map(|revealed| Content::text(revealed.secret.expose())));
        let output = ToolOutput { content, user_content, structured, raw, cost, duration, usage };
        Scrubbed { output, structured_changed }
    }

    /// Makes the error of a call of `tool`, which is its name on the wire, clean.
    pub fn error(&self, tool: &str, error: ToolError) -> CallError {
        let tool = tool.to_owned();
        match error {
            ToolError::Limit(exceeded) => CallError::LimitExceeded { tool, exceeded },
            ToolError::Trapped(message) => CallError::Trapped { tool, message: self.message(&message) },
            ToolError::Unavailable { reason, retry_after } => {
                CallError::Unavailable { tool, reason: self.message(&reason), retry_after }
            }
            ToolError::Failed(failure) => self.failure(tool, &failure),
        }
    }

    /// Makes an error clean, whoever made it: that of a gate may repeat what the caller sent.
    pub fn refusal(&self, mut error: CallError) -> CallError {
        let mut redactor = Redactor::new(&self.known);
        error.texts().into_iter().for_each(|text| redactor.in_place(text));
        error
    }

    /// The caller as it may be written down: nobody is called by a secret.
    pub fn caller(&self, caller: &Caller) -> Caller {
        let (mut caller, mut redactor) = (caller.clone(), Redactor::new(&self.known));
        caller.texts().for_each(|text| redactor.in_place(text));
        caller
    }

    /// Makes a text clean.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        Redactor::new(&self.known).text(text)
    }

    fn failure(&self, tool: String, failure: &Failure) -> CallError {
        let message = self.message(&failure.message);
        let retry_after = failure.retry_after;
        match failure.kind {
            FailureKind::InvalidParams => {
                CallError::InvalidParams { tool, said_by_tool: true, problems: vec![message] }
            }
            FailureKind::AuthRequired => CallError::AuthRequired { tool, message },
            FailureKind::Unavailable => CallError::Unavailable { tool, reason: message, retry_after },
            FailureKind::NotFound | FailureKind::Failed => {
                CallError::Failed { tool, code: self.code(&failure.code), message, retry_after }
            }
        }
    }

    /// Scrubbed first and cut then: half a secret would not be found.
    fn message(&self, text: &str) -> String {
        let clean = self.text(text);
        clean[..clean.floor_char_boundary(MAX_MESSAGE)].to_owned()
    }

    fn code(&self, code: &str) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        let fits = (1..=MAX_CODE).contains(&code.len()) && code.bytes().all(plain);
        if fits && matches!(self.text(code), Cow::Borrowed(_)) { code.to_owned() } else { "failed".to_owned() }
    }
}

impl Redactor<'_> {
    fn contents(&mut self, contents: &mut [Content]) {
        for content in contents {
            match content {
                Content::Text { text } => self.in_place(text),
                Content::Json { value } => {
                    self.tree(value);
                }
                Content::Image(media) | Content::Audio(media) => self.media(media),
                Content::Resource(resource) => self.resource(resource),
            }
        }
    }

    /// Pictures and sound stay as they are; what they are called is text.
    fn media(&mut self, media: &mut Media) {
        self.in_place(&mut media.media_type);
    }

    fn resource(&mut self, resource: &mut Resource) {
        self.in_place(&mut resource.uri);
        if let Some(media_type) = &mut resource.media_type {
            self.in_place(media_type);
        }
        match &mut resource.body {
            Body::Text(text) => self.in_place(text),
            Body::Blob(bytes) => self.blob(bytes),
        }
    }

    /// Bytes that are text may hold a known value. Patterns are not looked for: the file would be damaged.
    fn blob(&mut self, bytes: &mut Vec<u8>) {
        let clean = std::str::from_utf8(bytes).ok().and_then(|text| self.known_only(text));
        if let Some(clean) = clean {
            *bytes = clean.into_bytes();
        }
    }

    fn in_place(&mut self, text: &mut String) {
        if let Cow::Owned(clean) = self.text(text) {
            *text = clean;
        }
    }
}
