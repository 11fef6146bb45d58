//! A tool as a file: what is in it, who signed it, whether it may come in, and how it gets there.
//!
//! A package is one component. Its [`Manifest`] stands in a [custom section](section) of it, so the
//! [`Signature`] beside the file covers code and manifest together. The [`TrustStore`] says whose signatures count for
//! which names. The [`Installer`] takes a package in, in steps that cannot be taken in another order: a [`Plan`] is
//! verified, a [`Checked`] one was also compiled and asked for its tools, and only that can be committed.
//!
//! Nothing of a package is parsed before its signature was verified, except where the operator asked for an unsigned
//! one. No guest code runs here: compiling and asking is a [`Compiler`]'s work.

mod anchor;
pub mod asynchronous;
pub mod author;
pub mod compiled;
mod compiler;
pub mod component;
mod contract;
pub mod difference;
mod error;
pub mod grant;
pub mod identity;
pub mod install;
mod installed;
pub mod key;
pub mod manifest;
mod package_file;
mod pinning;
mod plain_text;
pub mod reading;
pub mod rotation;
pub mod section;
pub mod sidecar;
pub mod signature;
pub mod signing;
pub mod trust;

pub use anchor::TrustAnchor;
pub use author::PackageInfo;
pub use compiled::CompiledCache;
pub use compiler::{CompileError, Compiler};
pub use component::{Component, ComponentError};
pub use contract::Contract;
pub use error::PackageError;
pub use grant::{Capabilities, Effective, Granted};
pub use identity::{Identity, IdentityError, TrustedIdentity};
pub use install::{Checked, InstallOptions, Installer, Plan};
pub use installed::{Broken, Installed, Inventory};
pub use key::{KeyError, KeyId, PublicKey, Signer, UNSIGNED};
pub use manifest::{Manifest, ManifestError};
pub use package_file::PackageFile;
pub use plain_text::hides;
pub use rotation::{Rotation, RotationError};
pub use signature::{Signature, SignatureError};
pub use signing::{SecretKey, SigningError};
pub use trust::{SourcePattern, TrustError, TrustStore, TrustedKey};
