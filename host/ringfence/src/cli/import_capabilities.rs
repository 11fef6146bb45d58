//! `ringfence import-capabilities`: turns IronClaw's `*.capabilities.json` into what a manifest asks for.

use std::path::PathBuf;

use clap::Args;
use ringfence_package::sidecar::{self, Entry, Imported, Outcome};
use ringfence_package::{Capabilities, Granted};
use serde::Serialize;

use super::files;
use super::session::Session;

/// Turn IronClaw's *.capabilities.json into what a manifest asks for, with a suggested grant.
///
/// What is taken over never allows more than it did there; what has no equivalent is listed with the reason.
#[derive(Args)]
#[command(after_help = "Next: append the output to `ringfence.toml`, then \
                        `ringfence pack COMPONENT.wasm --manifest ringfence.toml -o OUT.wasm`.")]
pub(super) struct ImportCapabilities {
    /// The file.
    file: PathBuf,
}

/// The answer.
#[derive(Serialize)]
struct Answer {
    file: PathBuf,
    description: Option<String>,
    version: Option<String>,
    capabilities: Capabilities,
    /// The capabilities as a part of ringfence.toml.
    manifest: String,
    /// The grant as a file `grants/SOURCE.toml`.
    grant: String,
    report: Vec<Entry>,
}

/// `[capabilities]`, as it stands in ringfence.toml.
#[derive(Serialize)]
struct Part<'a> {
    capabilities: &'a Capabilities,
}

impl ImportCapabilities {
    pub(super) fn run(self, session: &Session) -> anyhow::Result<()> {
        let Imported { description, version, capabilities, grant, report } =
            sidecar::import(files::text(&self.file)?.as_bytes())?;
        let manifest = manifest(&capabilities)?;
        let grant = toml::to_string::<Granted>(&grant)?;
        let answer = Answer { file: self.file, description, version, capabilities, manifest, grant, report };
        session.answer(&answer, text)
    }
}

fn manifest(capabilities: &Capabilities) -> Result<String, toml::ser::Error> {
    if capabilities.is_empty() { Ok(String::new()) } else { toml::to_string(&Part { capabilities }) }
}

/// The part of ringfence.toml, with all else as comments.
fn text(answer: &Answer) -> String {
    let mut text = format!("# From {} by `ringfence import-capabilities`.\n", answer.file.display());
    for (name, value) in [("version", &answer.version), ("description", &answer.description)] {
        if let Some(value) = value {
            text.push_str(&comment(&format!("{name} = {value:?}")));
        }
    }
    text.push_str(&format!(
        "\n{}\n# A grant of all of it, for grants/SOURCE.toml beside the configuration:\n",
        answer.manifest
    ));
    answer.grant.lines().for_each(|line| text.push_str(&comment(line)));
    for (title, outcome) in
        [("What became of it:", Outcome::Mapped), ("What has no equivalent:", Outcome::NotSupported)]
    {
        text.push_str(&format!("#\n# {title}\n"));
        for entry in answer.report.iter().filter(|entry| entry.outcome == outcome) {
            let only_parsed = if entry.enforced_there { "" } else { " (IronClaw does not enforce it)" };
            text.push_str(&comment(&format!("  {}{only_parsed}: {}", entry.field, entry.text)));
        }
    }
    text
}

/// A line that is none of TOML's.
fn comment(line: &str) -> String {
    let clean: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("# {clean}\n")
}
