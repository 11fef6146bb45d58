//! `ringfence install`: installs a signed tool, or updates it.

use std::path::PathBuf;

use clap::Args;

use super::session::Session;
use super::show;
use crate::request::{InstallReport, InstallRequest, Reply, Request};

/// Install a signed tool, or update it. The signature stands beside the file: weather.wasm.minisig.
#[derive(Args)]
#[command(after_help = "Next: `ringfence trust add KEY.pub --publisher NAME --sign SOURCE` trusts whoever signed it.")]
pub(super) struct Install {
    /// The component.
    file: PathBuf,
    /// Call the source this, instead of what its manifest proposes.
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Take a package that nobody signed. It stays marked.
    #[arg(long)]
    allow_unsigned: bool,
    /// Believe what its tools say of their effects (that they only read, for example).
    #[arg(long)]
    accept_effects: bool,
    /// Take an older version than was once installed.
    #[arg(long)]
    allow_downgrade: bool,
    /// Take a package of this signer (a key's id, or `unsigned`), although the one before was another's.
    #[arg(long, value_name = "KEY")]
    accept_signer: Option<String>,
}

impl Install {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        // The owner of the state may stand in another folder.
        let file = std::path::absolute(&self.file)?;
        let request = InstallRequest {
            file,
            name: self.name,
            allow_unsigned: self.allow_unsigned,
            accept_effects: self.accept_effects,
            allow_downgrade: self.allow_downgrade,
            accept_signer: self.accept_signer,
        };
        let Reply::Installed(report) = session.ask(Request::Install(request)).await? else {
            anyhow::bail!("the host misunderstood")
        };
        session.answer(&report, text)
    }
}

/// What was installed and what it asks for.
pub(super) fn text(report: &InstallReport) -> String {
    let package = &report.package;
    let replaced = report.replaced.as_ref().map(|version| format!(" (was {version})")).unwrap_or_default();
    let signer = match &package.key_id {
        Some(key_id) => format!("signed by {key_id}"),
        None => "UNSIGNED".into(),
    };
    let mut lines = vec![
        format!("Installed {} {}{replaced} by {}, {signer}.", package.source, package.version, package.publisher),
        format!("  sha256   {}", show::short(&package.digest)),
        format!("  tools    {}", package.tools.join(", ")),
    ];
    let asks = package.requested.iter().map(|(kind, value)| format!("{} {value}", kind.key())).collect::<Vec<_>>();
    lines.push(format!("  asks for {}", if asks.is_empty() { "nothing".into() } else { asks.join(", ") }));
    for asked in &report.asked {
        lines.push(format!("  {} {}", if asked.granted { "granted " } else { "asks for" }, asked.what));
    }
    if !package.effects_accepted {
        lines.push(
            "  note     what its tools say of their effects is not believed; --accept-effects believes it".into(),
        );
    }
    lines.extend(report.narrowed.iter().map(|text| format!("  note     {text}")));
    lines.extend(report.warnings.iter().map(|text| format!("  warning  {text}")));
    if report.asked.iter().any(|asked| !asked.granted) {
        lines.push(format!("It has to be granted what it asks for: `ringfence grant {} --all`.", package.source));
    }
    if let Some(tool) = package.tools.first() {
        lines.push(format!("Next: `ringfence tools {tool}`, `ringfence call {tool} JSON`."));
    }
    lines.join("\n")
}
