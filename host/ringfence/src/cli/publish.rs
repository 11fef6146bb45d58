//! `ringfence publish`: puts a signed package where others find it.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use ringfence_distribution::Location;
use ringfence_package::PackageFile;

use super::exit::UsageError;
use super::files;
use super::network::Network;
use super::session::{Session, hold_secrets};

/// Put a signed package into a folder or a registry, where `ringfence install` finds it.
///
/// A folder gets an index, so that it can be searched, carried on a stick, and served by any web server.
#[derive(Args)]
#[command(after_help = "\
Registries: log in with `docker login HOST`. Without a tag the package's version is the tag.")]
pub(super) struct Publish {
    /// The component. Its signature stands beside it.
    file: PathBuf,
    /// Where to: FOLDER, or oci://HOST/REPOSITORY.
    #[arg(long, value_name = "LOCATION", value_hint = ValueHint::AnyPath)]
    to: String,
    #[command(flatten)]
    network: Network,
}

impl Publish {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        hold_secrets()?;
        let to = self.to.parse::<Location>().map_err(|error| UsageError(error.to_string()))?.absolute()?;
        files::file(&self.file)?;
        if let Location::File(folder) = &to
            && folder.exists()
        {
            files::folder(folder)?;
        }
        let package = PackageFile::read(&self.file)?;
        let file = self.file.display().to_string();
        let distribution = self.network.distribution(session)?;
        let spinner = session.spinner();
        spinner.set_message(format!("publishing to {to}"));
        let publishing = distribution.publish(&package, &file, &to, Box::new(|_, _, _| {}));
        let published = session.until_interrupted(publishing).await;
        spinner.finish_and_clear();
        session.answer(&published??, |published| {
            format!(
                "Published {} {}.\n  digest   {}\n  this one {}\nNext: `ringfence install {}`.",
                published.name, published.version, published.digest, published.exactly, published.location
            )
        })
    }
}
