//! The grant of one source, as it stands in its file.

use std::path::PathBuf;

use ringfence_package::grant::{Capabilities, GrantError};
use ringfence_package::reading;
use ringfence_package::{Effective, Granted};
use toml_edit::DocumentMut;

use super::GrantFileError;

/// One file, read; it need not be there.
#[derive(Clone, Debug, Default)]
pub(crate) struct GrantFile {
    pub(crate) path: PathBuf,
    pub(super) text: String,
    pub(crate) granted: Granted,
}

impl GrantFile {
    /// Reads `text`, which stands in the file at `path`.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(crate) fn parse(path: PathBuf, text: String) -> Result<Self, GrantFileError> {
        let granted: Granted =
            reading::from_toml(&text).map_err(|error| GrantFileError::Malformed { path: path.clone(), error })?;
        let file = Self { path, text, granted };
        // Said now rather than at the first call.
        file.effective(Capabilities::default())?;
        Ok(file)
    }

    /// What a package that asks for `requested` may use.
    ///
    /// # Errors
    /// When the grant means nothing.
    pub(crate) fn effective(&self, requested: Capabilities) -> Result<Effective, GrantFileError> {
        Effective::new(requested, self.granted.clone()).map_err(|error| {
            let field = match &error {
                GrantError::Expires { .. } => "expires",
                GrantError::Address { .. } => "addresses",
            };
            GrantFileError::Meaningless { place: self.place(&[field], None), problem: error.to_string() }
        })
    }

    /// The same without all that it gives.
    pub(crate) fn taking_away(&self) -> Self {
        Self { granted: self.granted.ceiling(), ..self.clone() }
    }

    /// The file, and the line of what stands at `path` in it; where `index` is given, of that element of a list.
    pub(crate) fn place(&self, path: &[&str], index: Option<usize>) -> String {
        reading::place_in(&self.path, &self.text, path, index)
    }

    /// What it leaves of limits and rate, in words, each with its place.
    pub(crate) fn ceiling(&self) -> Vec<(String, String)> {
        let limits = self.granted.limits.iter().map(|(kind, value)| {
            let key = kind.key();
            (self.place(&["limits", key], None), format!("{key} {value}"))
        });
        let rate = self.granted.rate;
        let rates = [("per_minute", rate.per_minute, "minute"), ("per_hour", rate.per_hour, "hour")];
        let rates = rates.into_iter().filter_map(|(key, number, period)| {
            Some((self.place(&["rate", key], None), format!("{} calls of each tool in any {period}", number?)))
        });
        limits.chain(rates).collect()
    }

    /// The text, to be changed.
    pub(super) fn document(&self) -> Result<DocumentMut, GrantFileError> {
        self.text.parse().map_err(|error: toml_edit::TomlError| GrantFileError::Meaningless {
            place: self.path.display().to_string(),
            problem: error.to_string(),
        })
    }
}
