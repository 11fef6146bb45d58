//! The process that is killed: it makes one change.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use ringfence_core::SourceName;
use ringfence_package::{InstallOptions, Installer, PackageFile};

use crate::support::{FakeCompiler, open};

/// What the child says when the commit begins.
pub(crate) const READY: &str = "ready\n";
pub(crate) const NEW_VERSION: &str = "2.0.0";
pub(crate) const PACKAGE: &str = "weather.wasm";
pub(crate) const SIGNATURE: &str = "weather.wasm.minisig";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Install,
    Update,
    Remove,
}

impl Change {
    pub(crate) const ALL: [Self; 3] = [Self::Install, Self::Update, Self::Remove];

    /// What is installed before and after it.
    pub(crate) fn versions(self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Self::Install => (None, Some(NEW_VERSION)),
            Self::Update => (Some("1.0.0"), Some(NEW_VERSION)),
            Self::Remove => (Some("1.0.0"), None),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Install => "install",
            Self::Update => "update",
            Self::Remove => "remove",
        })
    }
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|change| change.to_string() == text).ok_or_else(|| text.to_owned())
    }
}

pub(crate) fn source() -> SourceName {
    "weather".to_owned().try_into().unwrap()
}

pub(crate) fn run(change: Change, folder: &Path) {
    let installer = open(&folder.join("state"));
    apply(change, folder, &installer, || print!("{READY}"));
}

/// Makes the change, and says when its commit begins.
pub(crate) fn apply(change: Change, folder: &Path, installer: &Installer, commit_begins: impl FnOnce()) {
    if change == Change::Remove {
        commit_begins();
        return installer.remove(&source()).unwrap();
    }
    let file = PackageFile::read(&folder.join(PACKAGE)).unwrap();
    let plan = installer.plan(file, InstallOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let checked = runtime.block_on(installer.check(plan, &FakeCompiler)).unwrap_or_else(|error| panic!("{error}"));
    commit_begins();
    installer.commit(checked).unwrap();
}
