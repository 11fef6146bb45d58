//! `ringfence schema`: prints the JSON Schema of a file, for an editor.

use clap::Args;

use super::session::Session;
use crate::schema::File;

/// Print the JSON Schema of a manifest, a grant or the configuration, for an editor.
///
/// Editors that know taplo, such as Even Better TOML, find it by the file's first line: `#:schema ./manifest.schema.json`.
#[derive(Args)]
pub(super) struct SchemaCommand {
    /// The file.
    #[arg(value_enum)]
    file: File,
}

impl SchemaCommand {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        let schema = self.file.schema();
        let text = serde_json::to_string_pretty(&schema)?;
        session.answer(&schema, |_| text)
    }
}
