//! `ringfence inspect`: shows what a component imports, exports, holds and asks for.

use std::path::PathBuf;

use clap::Args;
use ringfence_core::limit::LimitSet;
use ringfence_core::tool::ToolSpec;
use ringfence_package::{Component, Identity, Manifest, PackageFile, Signature};
use ringfence_store::Digest;
use serde::Serialize;

use super::files;
use super::session::Session;
use super::show;
use crate::author::package;
use crate::means;

/// Show what a component imports, exports, holds and asks for.
///
/// A component without tools is an error.
#[derive(Args)]
pub(super) struct Inspect {
    /// The component.
    file: PathBuf,
}

/// What is to be seen of a file.
#[derive(Serialize)]
struct Inspected {
    file: PathBuf,
    bytes: usize,
    sha256: String,
    imports: Vec<String>,
    exports: Vec<String>,
    /// As the component itself says.
    tools: Vec<ToolSpec>,
    manifest: Option<Manifest>,
    /// What the manifest asks for beside limits, in words.
    asks_for: Vec<String>,
    signed_by: Option<String>,
    /// Who that is, where it is an identity and no key.
    identity: Option<Identity>,
    trusted_comment: Option<String>,
}

impl Inspect {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        files::file(&self.file)?;
        let file = PackageFile::read(&self.file)?;
        let component = Component::read(&file.component)?;
        component.contract()?;
        let manifest = component.manifest()?;
        let limits = manifest.as_ref().map_or_else(LimitSet::default, |manifest| manifest.package.limits.clone());
        let signature = file.signature.as_deref().map(Signature::parse).transpose()?;
        let spinner = session.spinner();
        spinner.set_message("asking the component for its tools");
        let tools = package::definitions(&file.component, &limits).await;
        spinner.finish_and_clear();
        let inspected = Inspected {
            bytes: file.component.len(),
            sha256: Digest::of(&file.component).to_string(),
            tools: tools?,
            asks_for: manifest.as_ref().map_or_else(Vec::new, |manifest| means::asked_by(&manifest.package)),
            imports: component.imports,
            exports: component.exports,
            manifest,
            signed_by: signature.as_ref().map(|signature| signature.key_id().to_string()),
            identity: signature.as_ref().and_then(Signature::identity).cloned(),
            trusted_comment: signature.as_ref().and_then(Signature::trusted_comment).map(str::to_owned),
            file: self.file,
        };
        let written = inspected.manifest.as_ref().map(|manifest| manifest.package.to_toml()).transpose()?;
        session.answer(&inspected, |inspected| {
            let written = written.map(|text| numbered(&text)).unwrap_or_default();
            format!("{}{written}", text(inspected))
        })
    }
}

/// The manifest with the numbers of its lines, by which `ringfence explain` names them.
fn numbered(manifest: &str) -> String {
    let lines = manifest.lines().enumerate().map(|(i, line)| format!("\n{:>4}  {line}", i + 1));
    format!("\n\nringfence.toml{}", lines.collect::<String>())
}

fn text(seen: &Inspected) -> String {
    let none = |list: &[String]| if list.is_empty() { "nothing".to_owned() } else { list.join("\n           ") };
    let manifest = match &seen.manifest {
        Some(manifest) => {
            let info = &manifest.package;
            let asks: Vec<_> = show::limits(&info.limits).into_iter().chain(seen.asks_for.iter().cloned()).collect();
            let (name, version, publisher, license) = (&info.name, &info.version, &info.publisher, &info.license);
            format!("{name} {version} by {publisher} ({license})\nasks for   {}", none(&asks))
        }
        None => "none: `ringfence build` or `ringfence pack` puts one in".into(),
    };
    let about = seen.identity.as_ref().map(ToString::to_string).or_else(|| seen.trusted_comment.clone());
    let signature = match &seen.signed_by {
        Some(key) => format!("by {key} (`ringfence verify` checks it): {}", about.unwrap_or_default()),
        None => "none: `ringfence sign` makes one".into(),
    };
    let tools = seen.tools.iter().map(|tool| [tool.name.clone(), tool.summary().to_owned()]);
    format!(
        "{}, {}\nsha256     {}\nmanifest   {manifest}\nsignature  {signature}\nimports    {}\nexports    {}\n\n{}",
        seen.file.display(),
        show::bytes(seen.bytes as u64),
        seen.sha256,
        none(&seen.imports),
        none(&seen.exports),
        show::table(["TOOL", "WHAT IT DOES"], tools),
    )
}
