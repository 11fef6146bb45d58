//! Where packages come from and go to: files, folders, URLs, OCI registries, and the indexes that list them.
//!
//! A [`Location`] is such a place as a text. The [`Fetcher`] brings a package from one, bounded in size, and compares
//! what came with every digest that is known of it; [`publish`] puts one there. Nothing here decides whether a package
//! may come in: that is the installer's business, and nothing here is believed by it. All requests go through egress,
//! so that what is dialled is what was checked.

mod client;
mod download;
mod error;
mod fetch;
mod folder;
mod index;
mod location;
mod oci;
mod publish;

pub use client::{Allowance, Watcher};
pub use error::DistributionError;
pub use fetch::{Fetcher, Wanted};
pub use index::{Entry, Index, matches};
pub use location::{IndexPlace, Location, LocationError};
pub use oci::auth::Login;
pub use oci::reference::{Reference, ReferenceError};
pub use publish::{Published, publish};
