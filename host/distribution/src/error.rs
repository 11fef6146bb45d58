//! Why a package could not be fetched or published.

use ringfence_core::SourceName;
use ringfence_egress::{AddressRefused, EgressError, RequestError, ResolveError, ScannerError, TlsFault};
use ringfence_package::{ComponentError, ManifestError, PackageError, SignatureError};
use semver::Version;
use thiserror::Error;

use crate::location::LocationError;

/// What to do where something was asked over plain HTTP that may want TLS.
pub(crate) const OVER_TLS: &str = "it was asked over http:// and may speak https:// only: leave out `--plain-http`; a \
                                   registry on this machine is asked over https:// by a name, to which `hosts` in \
                                   [network] of the configuration gives its address";

/// Why a package could not be fetched or published. Each text says what, why, and what to do.
#[derive(Debug, Error)]
pub enum DistributionError {
    /// Not a location.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// A range of addresses is none.
    #[error("{0:?} is no range of addresses: write one such as 127.0.0.1/32")]
    Range(String),
    /// A private address, or another one that is not connected to unless it is meant.
    #[error(
        "{place} leads to {}, which is {} ({}): if you mean it, add `--address {}`, or that range to `addresses` under \
         [distribution] in the configuration",
        .refused.address, .refused.range.purpose, .refused.range.source, .refused.judged
    )]
    Address {
        /// Scheme, host and port.
        place: String,
        /// The address.
        refused: Box<AddressRefused>,
    },
    /// Nobody answers there, or not properly.
    #[error("{place} cannot be asked")]
    Unreachable {
        /// Scheme, host and port.
        place: String,
        /// What went wrong.
        #[source]
        source: Box<EgressError>,
    },
    /// Plain HTTP where TLS was meant.
    #[error(
        "{0} does not speak TLS: check host and port, or add `--plain-http` if you mean to ask over http://, which \
         everybody on the way can read and change"
    )]
    NotTls(String),
    /// Something else where plain HTTP was meant.
    #[error("{place} cannot be asked: {OVER_TLS}")]
    NotPlain {
        /// Scheme, host and port.
        place: String,
        /// What went wrong.
        #[source]
        source: Box<EgressError>,
    },
    /// It broke off.
    #[error("the download of {what} broke off: try again; if it does so again, the file at the server is damaged")]
    Truncated {
        /// What.
        what: String,
        /// What went wrong.
        #[source]
        source: Box<EgressError>,
    },
    /// Nothing of the kind could be asked.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The server answers with another status than the one hoped for.
    #[error("{what}: the server answers {status}{said}; {remedy}")]
    Status {
        /// What was asked for.
        what: String,
        /// The status.
        status: http::StatusCode,
        /// What it says about it, with a colon before, or nothing.
        said: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Not there.
    #[error("{what} is not there: check the name, and the version or tag")]
    NotFound {
        /// What.
        what: String,
    },
    /// Larger than such a thing may be.
    #[error("{what} has more than {most} bytes, which is the most that is fetched: it is not what it should be")]
    TooLarge {
        /// What.
        what: String,
        /// The most.
        most: u64,
    },
    /// A web page, such as a login or an error that came with the status of success.
    #[error(
        "{what} is a web page and no package: open it in a browser to see what the server wants, and use the link of the \
         file itself"
    )]
    WebPage {
        /// What.
        what: String,
    },
    /// Other bytes than those that were asked for.
    #[error("{what} is not what was asked for: its digest is sha256:{found}, not sha256:{expected}; do not use it")]
    OtherDigest {
        /// What.
        what: String,
        /// The digest that it should have.
        expected: String,
        /// The one that it has.
        found: String,
    },
    /// Plain HTTP, and no digest.
    #[error(
        "what comes over http:// can be changed on the way: use https://, or say with `--digest sha256:…` which bytes you \
         want"
    )]
    PlainHttp,
    /// A registry or index is to be asked over plain HTTP, which the operator did not allow.
    #[error(
        "{0} would be asked over http://, which everybody on the way can read and change: use https://, or add \
         `--plain-http` if you mean it"
    )]
    PlainHost(String),
    /// Neither signature nor digest.
    #[error(
        "nothing says that {what} is what its publisher made: there is no signature at {beside}; say where it is with \
         `--signature`, or which bytes you want with `--digest sha256:…`"
    )]
    Unproven {
        /// The download.
        what: String,
        /// Where a signature was looked for.
        beside: String,
    },
    /// A flag that this kind of location has no use for.
    #[error("`{flag}` has no meaning for {place}: leave it out")]
    Meaningless {
        /// The flag.
        flag: &'static str,
        /// The location.
        place: String,
    },
    /// The source of a tool where a package has to be.
    #[error("{folder} is the source of a tool and no package: `ringfence build {folder}` makes one of it")]
    Project {
        /// The folder.
        folder: String,
    },
    /// A folder where a package has to be.
    #[error("{folder} is a folder: say which of its packages, as in `{folder}#NAME`; `ringfence search` shows them")]
    Folder {
        /// The folder.
        folder: String,
    },
    /// An index that cannot be read.
    #[error("the index {index} cannot be used: {problem}; whoever keeps it makes it with `ringfence publish`")]
    Index {
        /// Where it is.
        index: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A package that the index does not list.
    #[error("the index {index} has no `{name}`{}{hint}", .version.as_ref().map(|version| format!(" {version}")).unwrap_or_default())]
    NotListed {
        /// Where the index is.
        index: String,
        /// The package.
        name: SourceName,
        /// Its version.
        version: Option<Version>,
        /// What was probably meant.
        hint: String,
    },
    /// In a registry, and no package.
    #[error("{what} is no package: {problem}")]
    NotAPackage {
        /// What.
        what: String,
        /// Why not.
        problem: String,
    },
    /// The registry does not let us.
    #[error(
        "the registry {registry} does not let {who} {action} {repository}: log in with `docker login {registry}`, and ask \
         its owner for access"
    )]
    Forbidden {
        /// The registry.
        registry: String,
        /// Whom.
        who: String,
        /// Read or write.
        action: &'static str,
        /// The repository.
        repository: String,
    },
    /// The registry says in no way we know how to prove who we are.
    #[error("the registry {registry} cannot be logged in to: {problem}")]
    Login {
        /// The registry.
        registry: String,
        /// Why.
        problem: String,
    },
    /// The version is there already, with other contents.
    #[error(
        "{what} is there already with other contents: nobody who has it would take this one; give the package a new version"
    )]
    Published {
        /// What.
        what: String,
    },
    /// Nobody would install it.
    #[error("the package is not signed: `ringfence sign {0} --key KEY` signs it, then publish it again")]
    Unsigned(String),
    /// Nothing can be published there.
    #[error("nothing can be published to {0}: give a folder, or oci://HOST/REPOSITORY")]
    NoTarget(String),
    /// The file is no package.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The signature has not the right form.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// A credential is too long to be kept out of answers.
    #[error(transparent)]
    Scanner(#[from] ScannerError),
    /// A file operation failed; the cause names the file.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl From<ComponentError> for DistributionError {
    fn from(error: ComponentError) -> Self {
        Self::Package(error.into())
    }
}

impl From<ManifestError> for DistributionError {
    fn from(error: ManifestError) -> Self {
        Self::Package(error.into())
    }
}

impl DistributionError {
    /// What egress says of a request to `place`.
    pub(crate) fn of_egress(place: &str, error: EgressError) -> Self {
        let place = place.to_owned();
        match error {
            EgressError::AfterRedirect(cause) => Self::of_egress(&place, *cause),
            EgressError::Address(refused) | EgressError::Resolve(ResolveError::Refused { refused, .. }) => {
                Self::Address { place, refused: Box::new(refused) }
            }
            EgressError::Tls { source: TlsFault::NotTls, .. } => Self::NotTls(place),
            error if matches!(error, EgressError::Transport { .. }) && place.starts_with("http://") => {
                Self::NotPlain { place, source: Box::new(error) }
            }
            error => Self::Unreachable { place, source: Box::new(error) },
        }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Location(_) | Self::Range(_) | Self::Meaningless { .. } => "location",
            Self::Address { .. } => "fetch.address",
            Self::Unreachable { .. } | Self::NotTls(_) | Self::NotPlain { .. } => "fetch.unreachable",
            Self::Truncated { .. } => "fetch.truncated",
            Self::Request(_) => "fetch.request",
            Self::Status { .. } => "fetch.status",
            Self::NotFound { .. } => "fetch.not_found",
            Self::TooLarge { .. } => "fetch.too_large",
            Self::WebPage { .. } => "fetch.web_page",
            Self::OtherDigest { .. } => "fetch.other_digest",
            Self::PlainHttp | Self::PlainHost(_) => "fetch.plain_http",
            Self::Unproven { .. } => "fetch.unproven",
            Self::Folder { .. } | Self::Project { .. } => "fetch.folder",
            Self::Index { .. } => "index.unusable",
            Self::NotListed { .. } => "index.not_listed",
            Self::NotAPackage { .. } => "registry.not_a_package",
            Self::Forbidden { .. } => "registry.forbidden",
            Self::Login { .. } => "registry.login",
            Self::Published { .. } => "publish.present",
            Self::Unsigned(_) => "publish.unsigned",
            Self::NoTarget(_) => "publish.target",
            Self::Package(error) => error.code(),
            Self::Signature(error) => error.code(),
            Self::Scanner(_) => "fetch.credential",
            Self::Io(_) => "fetch.io",
        }
    }
}
