//! `ringfence install`: installs a signed tool, or updates it.

use clap::{Args, ValueHint};
use ringfence_distribution::{IndexPlace, Location, Wanted};
use ringfence_store::Digest;

use super::exit::UsageError;
use super::files::{self, FileError};
use super::grants;
use super::network::Network;
use super::session::{Session, other_build};
use super::show;
use crate::request::{InstallReport, InstallRequest, PackageRequest, Reply};

/// Install a signed tool, or update it, from a file, a folder of packages, a URL or a registry.
///
/// The signature stands beside the component (weather.wasm.minisig), or in the registry.
#[derive(Args)]
#[command(after_help = "\
Locations:
  weather.wasm                               a file
  FOLDER#weather                             of a folder of packages
  https://HOST/weather.wasm                  a download
  https://HOST/index.json#weather            of the index of a site
  oci://HOST/REPOSITORY                      of a registry, the highest version
  oci://HOST/REPOSITORY:TAG                  the same, by its tag
  oci://HOST/REPOSITORY@sha256:DIGEST        the same, by its digest

Next: `ringfence trust add KEY.pub --publisher NAME --sign SOURCE` trusts whoever signed it.")]
pub(super) struct Install {
    /// Where the package is.
    #[arg(value_hint = ValueHint::AnyPath)]
    location: String,
    /// Call the source this, instead of what its manifest proposes.
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Take only the component with this digest.
    #[arg(long, value_name = "sha256:DIGEST")]
    digest: Option<String>,
    /// The signature, where it is not beside the component.
    #[arg(long, value_name = "FILE|URL", value_hint = ValueHint::AnyPath)]
    signature: Option<String>,
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
    #[command(flatten)]
    network: Network,
}

impl Install {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let usage = |error: &dyn std::error::Error| UsageError(error.to_string());
        let parsed = |text: &str| text.parse::<Location>().map_err(|error| usage(&error));
        // Remembered, and the owner of the state may stand in another folder.
        let mut location = parsed(&self.location)?.absolute()?;
        check(&location)?;
        let digest = self.digest.as_deref().map(|text| text.strip_prefix("sha256:").unwrap_or(text).parse::<Digest>());
        let digest = digest.transpose().map_err(|error| usage(&error))?;
        if let (Location::Url { digest: pinned, .. }, Some(_)) = (&mut location, digest) {
            *pinned = digest;
        }
        let signature = self.signature.as_deref().map(parsed).transpose()?;
        if let Some(Location::File(path)) = &signature {
            files::file(path)?;
        }
        let trusted = session.trusted_keys(&location).await?;
        let wanted = Wanted { digest, signature, trusted, ..Wanted::default() };
        let distribution = self.network.distribution(session)?;
        let fetched = distribution.fetch(&location, wanted, session.watcher());
        let staged = session.until_interrupted(fetched).await??;
        // Nothing was said to be there already.
        let Some(staged) = staged else { anyhow::bail!("nothing was fetched") };
        let request = InstallRequest {
            file: staged.file.clone(),
            location: Some(location.to_string()),
            name: self.name,
            allow_unsigned: self.allow_unsigned,
            accept_effects: self.accept_effects,
            keep_effects: false,
            allow_downgrade: self.allow_downgrade,
            accept_signer: self.accept_signer,
            check_only: false,
        };
        let Reply::Installed(report) = session.ask(PackageRequest::Install(request)).await? else {
            return Err(other_build());
        };
        session.answer(&*report, text)
    }
}

/// Checks that a location on this machine is there.
fn check(location: &Location) -> Result<(), FileError> {
    match location {
        // What is in it is told when it is looked at.
        Location::File(path) if path.is_dir() => Ok(()),
        Location::File(path) => files::file(path),
        Location::Listed { index: IndexPlace::Folder(path), .. } => files::folder(path),
        Location::Url { .. } | Location::Oci(_) | Location::Listed { .. } => Ok(()),
    }
}

/// What it means that the claims of its tools are not believed.
fn unbelieved(claims: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    let more = if claims.len() > SHOWN { format!(" and {} more", claims.len() - SHOWN) } else { String::new() };
    let shown = claims.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    (!claims.is_empty()).then(|| {
        format!(
            "  note     its tools say of themselves: {shown}{more}. Nobody has checked that, so clients are told that each \
             may change things, and the rate for such tools holds; with --accept-effects it is believed"
        )
    })
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
    let limits = show::limits(&package.requested);
    lines.extend(limits.map(|limits| format!("  asks for {limits}")));
    if package.requested.is_empty() && report.asked.is_empty() {
        lines.push("  asks for nothing".into());
    }
    for asked in &report.asked {
        let held_back = asked.held_back.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        lines.push(format!("  {} {}{held_back}", if asked.granted { "granted " } else { "asks for" }, asked.what));
    }
    lines.extend(unbelieved(&report.unbelieved));
    lines.extend(report.narrowed.iter().map(|text| format!("  note     {text}")));
    lines.extend(report.grant.iter().map(|text| format!("  note     {text}")));
    lines.extend(report.warnings.iter().map(|text| format!("  warning  {text}")));
    // A call that needs what is not granted fails, so that comes first.
    lines.extend(match (grants::command(&package.source, &report.asked), package.tools.first()) {
        (Some(command), _) => Some(format!("Next: it has to be granted what it asks for: {command}")),
        (None, Some(tool)) => Some(format!("Next: `ringfence tools {tool}`, `ringfence call {tool} JSON`.")),
        (None, None) => None,
    });
    lines.join("\n")
}
