//! Where configuration and state live.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use thiserror::Error;

/// Moves configuration and state to one folder of the operator's choice.
const HOME_VARIABLE: &str = "RINGFENCE_HOME";

/// What the host logs to standard error, in the syntax of `tracing_subscriber::EnvFilter`.
const LOG_VARIABLE: &str = "RINGFENCE_LOG";

/// Names the file in which the passphrase of the encrypted file of secrets stands.
pub const PASSPHRASE_VARIABLE: &str = "RINGFENCE_PASSPHRASE_FILE";

/// Where systemd puts the credentials of a service.
const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";

/// The name of ours among them.
const CREDENTIAL: &str = "ringfence";
/// Docker's own variable for the folder of its configuration.
const DOCKER_VARIABLE: &str = "DOCKER_CONFIG";

/// The two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The configuration file.
    pub config: PathBuf,
    /// The state folder.
    pub state: PathBuf,
}

/// The platform does not say where a user's files go.
#[derive(Debug, Error)]
#[error("this system does not say where your files go; set {HOME_VARIABLE} to a folder for ringfence")]
pub struct HomeError;

impl Home {
    /// `folder` where it is given, else `RINGFENCE_HOME`, else the platform's folders.
    ///
    /// # Errors
    /// When none of the three says where.
    pub fn find(folder: Option<&Path>) -> Result<Self, HomeError> {
        if let Some(folder) = folder {
            return Ok(Self::at(folder));
        }
        if let Some(folder) = variable(HOME_VARIABLE) {
            return Ok(Self::at(Path::new(&folder)));
        }
        let dirs = ProjectDirs::from("", "", "ringfence").ok_or(HomeError)?;
        let state = dirs.state_dir().unwrap_or_else(|| dirs.data_dir());
        Ok(Self { config: dirs.config_dir().join("config.toml"), state: state.to_owned() })
    }

    /// The folder of grants, beside the configuration.
    pub fn grants(&self) -> PathBuf {
        self.config.with_file_name("grants")
    }

    /// Both inside `folder`.
    pub fn at(folder: &Path) -> Self {
        Self { config: folder.join("config.toml"), state: folder.join("state") }
    }
}

/// The file in which docker keeps its logins to registries; `None` where nothing says where.
pub(crate) fn docker_config() -> Option<PathBuf> {
    let folder = variable(DOCKER_VARIABLE).map(PathBuf::from);
    let folder = folder.or_else(|| directories::BaseDirs::new().map(|dirs| dirs.home_dir().join(".docker")));
    folder.map(|folder| folder.join("config.json"))
}

/// The log filter that the operator set; `None` means the default.
pub fn log_filter() -> Option<String> {
    variable(LOG_VARIABLE)?.into_string().ok()
}

/// The file of the passphrase that opens the encrypted file of secrets.
pub fn passphrase_file() -> Option<PathBuf> {
    variable(PASSPHRASE_VARIABLE).map(PathBuf::from)
}

/// The systemd credential that opens the encrypted file of secrets: `LoadCredential=ringfence:…` in the service.
pub fn credential_file() -> Option<PathBuf> {
    variable(CREDENTIALS_VARIABLE).map(|folder| Path::new(&folder).join(CREDENTIAL))
}

/// A variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_both() {
        let home = Home::find(Some(Path::new("/x"))).unwrap();
        assert_eq!(home, Home { config: "/x/config.toml".into(), state: "/x/state".into() });
    }
}
