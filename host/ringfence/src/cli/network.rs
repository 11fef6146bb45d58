//! What the commands that fetch and publish have in common.

use clap::Args;

use super::session::Session;
use crate::config::Config;
use crate::distribution::{Allowed, Distribution};

/// What may be reached beside public addresses over https.
#[derive(Args)]
pub(super) struct Network {
    /// A private address, or a range such as 10.1.0.0/16, that may be asked; may be repeated.
    #[arg(long = "address", value_name = "RANGE")]
    addresses: Vec<String>,
    /// Ask over http:// where the location is. Registries on this machine are asked like that anyway.
    #[arg(long)]
    plain_http: bool,
}

impl Network {
    /// What fetches and publishes, as the configuration and these flags allow.
    pub(super) fn distribution(self, session: &Session) -> anyhow::Result<Distribution> {
        let config = Config::load(&session.home()?.config)?;
        Ok(Distribution::new(&config, Allowed { addresses: self.addresses, plain_http: self.plain_http })?)
    }
}
