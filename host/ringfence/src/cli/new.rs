//! `ringfence new`: begins a tool.

use std::path::Path;

use clap::Args;
use serde_json::json;

use super::exit::UsageError;
use super::session::Session;
use crate::author::scaffold::{self, ScaffoldError};

/// Begin a tool: a project that stands alone, SDK included.
#[derive(Args)]
pub(super) struct New {
    /// The name of the project and of its folder: a-z, 0-9 and -, beginning with a letter.
    name: String,
}

impl New {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        let folder = scaffold::create(Path::new("."), &self.name).map_err(|error| match error {
            ScaffoldError::BadName(_) | ScaffoldError::Exists(_) => UsageError(error.to_string()).into(),
            other => anyhow::Error::from(other),
        })?;
        session.answer(&json!({"folder": folder}), |_| {
            format!("Made {}. Next: `cd {}`, then `ringfence build`.", folder.display(), self.name)
        })
    }
}
