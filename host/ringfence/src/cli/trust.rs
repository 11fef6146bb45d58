//! `ringfence trust`: says whose signatures to trust.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use ringfence_package::{Identity, IdentityError, TrustedIdentity, signature};
use serde_json::json;

use super::exit::UsageError;
use super::session::{Session, other_build};
use super::show;
use super::{files, remove};
use crate::request::{KeyEntry, LeftBehind, PackageRequest, Reply, TrustReport};

/// Say whose signatures to trust: add, list, rename, rotate and revoke keys.
#[derive(Args)]
pub(super) struct Trust {
    #[command(subcommand)]
    command: TrustCommand,
}

#[derive(Subcommand)]
enum TrustCommand {
    /// Trust a publisher's key, or a publisher without one, for some source names, in addition to those that it has.
    Add {
        #[command(flatten)]
        signer: SignerArgs,
        /// Whose it is, for people.
        #[arg(long, value_name = "NAME")]
        publisher: String,
        /// A source name that it may sign, exact or with `*` at the end; may be repeated.
        #[arg(long = "sign", value_name = "SOURCE", required = true)]
        names: Vec<String>,
    },
    /// List the keys.
    List,
    /// Call the owner of a key otherwise. What the key may sign stays.
    Rename {
        /// Its id, as `trust list` shows it.
        key_id: String,
        /// Whose it is, for people.
        publisher: String,
    },
    /// Take a publisher's change of keys: the new key may sign what the old one may, and update what that one signed.
    Rotate {
        /// The statement that `ringfence key rotate` wrote, signed by the old key.
        statement: PathBuf,
        /// The signature, where it is not beside the statement.
        #[arg(long, value_name = "FILE")]
        signature: Option<PathBuf>,
    },
    /// Trust a key never again: what it signed stops at once, and the key cannot be added once more.
    Revoke {
        /// Its id, as `trust list` shows it.
        key_id: String,
        /// Why, for people.
        #[arg(long, default_value = "revoked by the operator")]
        reason: String,
    },
}

/// A key, or an identity in the place of one.
#[derive(Args)]
struct SignerArgs {
    /// The public key: a .pub file, or its base64 line.
    #[arg(value_hint = ValueHint::AnyPath, required_unless_present = "identity", conflicts_with = "identity")]
    key: Option<String>,
    /// Instead of a key, who signs with sigstore: the e-mail address or URI in the certificate, exactly.
    #[arg(long, value_name = "WHO", requires = "issuer")]
    identity: Option<String>,
    /// Who says so: the URL of the OpenID Connect issuer in the certificate, exactly.
    #[arg(long, value_name = "URL", requires = "identity")]
    issuer: Option<String>,
    /// The trusted_root.json of a sigstore instance of your own, instead of the public one's.
    #[arg(long, value_name = "FILE", requires = "identity")]
    trusted_root: Option<PathBuf>,
}

impl SignerArgs {
    /// The text of the key or identity.
    fn into_text(self) -> anyhow::Result<String> {
        let Self { key, identity, issuer, trusted_root } = self;
        let (Some(subject), Some(issuer)) = (identity, issuer) else { return key_text(key.unwrap_or_default()) };
        let usage = |error: IdentityError| UsageError(error.to_string());
        let identity = Identity::new(subject, issuer).map_err(usage)?;
        let root = trusted_root.map(|path| files::text(&path)).transpose()?;
        Ok(TrustedIdentity::new(identity, root).and_then(|trusted| trusted.to_text()).map_err(usage)?)
    }
}

impl Trust {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        match self.command {
            TrustCommand::Add { signer, publisher, names } => {
                let key = signer.into_text()?;
                let reply = session.ask(PackageRequest::TrustAdd { key, publisher, names }).await?;
                let Reply::KeyTrusted(report) = reply else { return Err(other_build()) };
                session.answer(&[&report.key], |_| trusted(&report))
            }
            TrustCommand::List => {
                let Reply::Keys(keys) = session.ask(PackageRequest::TrustList).await? else {
                    return Err(other_build());
                };
                session.answer(&keys, |keys| list(keys))
            }
            TrustCommand::Revoke { key_id, reason } => {
                let reply = session.ask(PackageRequest::TrustRevoke { key_id: key_id.clone(), reason }).await?;
                let Reply::KeyRevoked(stopped) = reply else { return Err(other_build()) };
                let Reply::Keys(keys) = session.ask(PackageRequest::TrustList).await? else {
                    return Err(other_build());
                };
                let trusted = successors(&keys, &key_id);
                let answer = json!({"revoked": key_id, "stopped": stopped, "successors": trusted});
                session.answer(&answer, |_| revoked(&key_id, &stopped, &trusted))
            }
            TrustCommand::Rotate { statement, signature } => {
                let beside = || format!("{}.{}", statement.display(), signature::EXTENSION).into();
                let signature: PathBuf = signature.unwrap_or_else(beside);
                let (statement, signature) = (files::text(&statement)?, files::text(&signature)?);
                let reply = session.ask(PackageRequest::TrustRotate { statement, signature }).await?;
                let Reply::Keys(keys) = reply else { return Err(other_build()) };
                session.answer(&keys, |keys| rotated(keys))
            }
            TrustCommand::Rename { key_id, publisher } => {
                let reply = session.ask(PackageRequest::TrustRename { key_id, publisher }).await?;
                let Reply::Keys(keys) = reply else { return Err(other_build()) };
                session.answer(&keys, |keys| list(keys))
            }
        }
    }
}

/// The argument is a file's name, or the key itself.
fn key_text(key: String) -> anyhow::Result<String> {
    let path = std::path::Path::new(&key);
    if key.starts_with("RW") && !path.is_file() {
        return Ok(key);
    }
    Ok(files::text_or_pipe(path)?)
}

fn trusted(report: &TrustReport) -> String {
    let TrustReport { key: KeyEntry { key_id, names, .. }, known, added, other_root } = report;
    let publisher = publisher(&report.key);
    let done = match (known, added.as_slice()) {
        (false, _) => format!("Trusted {key_id} of {publisher} for {}.", names.join(", ")),
        (true, []) if *other_root => format!("{key_id} of {publisher} is proven by that root from now on."),
        (true, []) => {
            format!("{key_id} of {publisher} is already trusted for {}: nothing has changed.", names.join(", "))
        }
        (true, added) => {
            let (added, all) = (added.join(", "), names.join(", "));
            format!("{key_id} of {publisher} is already trusted. Now it may sign {added} as well, in all {all}.")
        }
    };
    format!("{done}\nNext: `ringfence install FILE.wasm`.")
}

fn rotated(keys: &[KeyEntry]) -> String {
    let told = |key: &KeyEntry| {
        let (id, publisher, names) = (&key.key_id, &key.publisher, key.names.join(", "));
        format!(
            "Trusted {id} of {publisher} for {names}, by the word of the key before it. It may update what that one signed, \
             which runs on.\nNext: `ringfence update --check`; `ringfence trust revoke KEY` ends the old key for good."
        )
    };
    keys.iter().map(told).collect()
}

/// Whose the key is, and where it is none, who that is.
fn publisher(key: &KeyEntry) -> String {
    let root = if key.own_root { ", by a root of your own" } else { "" };
    let identity = key.identity.as_ref().map(|identity| format!(", {identity}{root}"));
    format!("{}{}", key.publisher, identity.unwrap_or_default())
}

/// The keys that are trusted by the word of `key_id`, one behind the other. Who stole that one may have named them.
fn successors<'a>(keys: &'a [KeyEntry], key_id: &str) -> Vec<&'a str> {
    let after = |id: &str| keys.iter().find(|key| key.key_id == id)?.successor.as_deref();
    // In a circle of keys, each stands once.
    let all = std::iter::successors(after(key_id), |id| after(id)).take(keys.len());
    let is_trusted = |id: &&str| keys.iter().any(|key| key.key_id == *id && key.revoked.is_none());
    let mut trusted: Vec<&str> = Vec::new();
    for id in all.filter(is_trusted) {
        if !trusted.contains(&id) {
            trusted.push(id);
        }
    }
    trusted
}

fn revoked(key_id: &str, stopped: &[LeftBehind], successors: &[&str]) -> String {
    let first = match stopped {
        [] => format!("Revoked {key_id}. Nothing that is installed was signed with it."),
        _ => format!("Revoked {key_id}."),
    };
    let of_each = |left: &LeftBehind| [vec![format!("Stopped {}.", left.source)], remove::remains(left)].concat();
    let by_its_word = successors.iter().map(|id| {
        format!("{id} took its place and is still trusted; if its owner is not the publisher: `ringfence trust revoke {id}`.")
    });
    let lines = [first].into_iter().chain(stopped.iter().flat_map(of_each)).chain(by_its_word);
    lines.collect::<Vec<_>>().join("\n")
}

fn list(keys: &[KeyEntry]) -> String {
    if keys.is_empty() {
        return "No key is trusted. Next: `ringfence trust add KEY.pub --publisher NAME --sign SOURCE`.".into();
    }
    let rows = keys.iter().map(|key| {
        let state = match (&key.revoked, &key.successor) {
            (Some(why), None) => format!("revoked: {why}"),
            (Some(why), Some(successor)) => format!("revoked: {why}; followed by {successor}"),
            (None, Some(successor)) => format!("trusted, followed by {successor}"),
            (None, None) => "trusted".into(),
        };
        [key.key_id.clone(), publisher(key), key.names.join(" "), state]
    });
    show::table(["KEY", "PUBLISHER", "MAY SIGN", "STATE"], rows)
}
