//! `ringfence build`: compiles a tool into a component.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::exit::UsageError;
use super::files;
use super::session::Session;
use super::show;
use crate::author::package::{self, PackError};

/// Compile a tool into a component with its manifest inside.
#[derive(Args)]
pub(super) struct Build {
    /// The project.
    #[arg(default_value = ".")]
    directory: PathBuf,
    /// Where the component goes; without it, NAME.wasm in the project.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Build {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        files::folder(&self.directory)?;
        self.out.as_deref().map_or(Ok(()), files::target)?;
        let spinner = session.spinner();
        let package = package::build(&self.directory, &mut |line| spinner.set_message(line.trim().to_owned())).await;
        spinner.finish_and_clear();
        let package = package.map_err(unbuilt)?;
        let info = &package.manifest.package;
        let out = self.out.unwrap_or_else(|| self.directory.join(format!("{}.wasm", info.name)));
        fs_err::write(&out, &package.bytes)?;
        let tools: Vec<&str> = package.manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
        let built = json!({
            "file": out, "bytes": package.bytes.len(), "toolchain": package.toolchain, "tools": tools,
            "warnings": package.warnings,
        });
        let test = match self.directory.as_os_str() == "." {
            true => "ringfence test".to_owned(),
            false => format!("ringfence test {}", self.directory.display()),
        };
        session.answer(&built, |_| {
            let warnings: String = package.warnings.iter().map(|text| format!("  warning   {text}\n")).collect();
            format!(
                "Built {} {} with {}.\n  component {}, {}\n  tools     {}\n{warnings}\
                 Next: `{test}`, then `ringfence sign {} --key NAME.key`.",
                info.name,
                info.version,
                package.toolchain,
                out.display(),
                show::bytes(package.bytes.len() as u64),
                tools.join(", "),
                out.display(),
            )
        })
    }
}

/// Why a project gives no package. That there is none in the folder is a slip in the use of the command.
pub(super) fn unbuilt(error: PackError) -> anyhow::Error {
    match error {
        PackError::NoProject(_) => UsageError(error.to_string()).into(),
        other => other.into(),
    }
}
