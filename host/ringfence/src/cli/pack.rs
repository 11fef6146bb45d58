//! `ringfence pack`: puts a manifest into a finished component.

use std::path::{Path, PathBuf};

use clap::Args;
use ringfence_core::tool::ToolSpec;
use ringfence_package::{PackageFile, reading};
use serde_json::json;

use super::files;
use super::session::Session;
use super::show;
use crate::author::package;

/// Put a manifest into a finished component.
///
/// It may be one of our contract, one of plain functions, or one of IronClaw's `near:agent`.
#[derive(Args)]
#[command(
    after_help = "Next: `ringfence sign OUT.wasm --key NAME.key`. `ringfence import-capabilities` turns IronClaw's \
                        *.capabilities.json into what belongs into the manifest."
)]
pub(super) struct Pack {
    /// The component.
    component: PathBuf,
    /// What its author says of it.
    #[arg(long, value_name = "FILE", default_value = "ringfence.toml")]
    manifest: PathBuf,
    /// Where the package goes.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// The tools of a component of `near:agent` that holds several, as a JSON list of name, description and parameters (a
    /// JSON Schema). The component learns by PACKAGE.NAME which one is meant.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Replace the manifest of a component that has one already.
    #[arg(long)]
    replace: bool,
}

impl Pack {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        [&self.component, &self.manifest].into_iter().chain(&self.tools).try_for_each(|file| files::file(file))?;
        files::target(&self.out)?;
        let component = PackageFile::read(&self.component)?.component;
        let text = reading::text(&self.manifest).map_err(package::PackError::NoManifest)?;
        let tools = self.tools.as_deref().map(tools).transpose()?;
        let spinner = session.spinner();
        spinner.set_message("asking the component for its tools");
        let packed = package::pack(&component, &text, tools, self.replace).await;
        spinner.finish_and_clear();
        let (bytes, manifest, warnings) = packed?;
        fs_err::write(&self.out, &bytes)?;
        let tools: Vec<&str> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
        let packed = json!({
            "file": self.out, "bytes": bytes.len(), "contract": manifest.contract, "tools": tools, "warnings": warnings,
        });
        session.answer(&packed, |_| {
            let warnings: String = warnings.iter().map(|text| format!("  warning   {text}\n")).collect();
            format!(
                "Packed {} {}.\n  component {}, {}\n  contract  {}\n  tools     {}\n{warnings}\
                 Next: `ringfence sign {} --key NAME.key`.",
                manifest.package.name,
                manifest.package.version,
                self.out.display(),
                show::bytes(bytes.len() as u64),
                manifest.contract,
                tools.join(", "),
                self.out.display(),
            )
        })
    }
}

fn tools(path: &Path) -> anyhow::Result<Vec<ToolSpec>> {
    let tools = serde_json::from_str(&reading::text(path)?);
    Ok(tools.map_err(|error| package::PackError::Tools { path: path.to_owned(), error })?)
}
