//! The operator's secrets: storing, listing and removing them.

use std::sync::Arc;

use ringfence_core::Secret;
use ringfence_egress::MIN_CREDENTIAL;
use ringfence_vault::{Choice, FileKey, SecretName, SecretNameError, Vault, VaultError};

use crate::config::{PASSPHRASE_VARIABLE, credential_file};
use crate::means::Means;
use crate::request::{ErrorKind, PlaceChoice, Reply, Request, RequestError, SecretEntry, SecretReport, SecretValue};

/// Answers a request about secrets. The vault may wait for a keyring, so this runs where blocking is allowed.
pub(crate) async fn answer(means: Arc<Means>, request: Request) -> Result<Reply, RequestError> {
    let answer = move || {
        if !matches!(request, Request::SecretList) {
            let changed = change(&means.vault, request);
            means.secrets.forget();
            changed?;
        }
        Ok(Reply::Secrets(report(&means)))
    };
    let done = tokio::task::spawn_blocking(answer).await;
    done.map_err(|error| RequestError::new(ErrorKind::Failed, "secret", &error))?
}

fn change(vault: &Vault, request: Request) -> Result<(), RequestError> {
    match request {
        Request::SecretSet { name, value, rotate: true, .. } => {
            vault.rotate(&named(name)?, long_enough(&value)?).map_err(refused)?;
        }
        Request::SecretSet { name, value, place, .. } => {
            let name = named(name)?;
            long_enough(&value)?;
            place.map_or(Ok(()), |place| vault.choose(choice(place)?).map_err(refused))?;
            vault.set(name, value.0).map_err(refused)?;
        }
        Request::SecretImport { secrets } => {
            let named = |(name, value): (String, SecretValue)| {
                long_enough(&value)?;
                Ok((named(name)?, value.0))
            };
            let secrets: Vec<(SecretName, Secret)> = secrets.into_iter().map(named).collect::<Result<_, _>>()?;
            drop(vault.import(secrets).map_err(refused)?);
        }
        Request::SecretRemove { name } => vault.remove(&named(name)?).map_err(refused)?,
        // Nothing else changes them.
        _ => {}
    }
    Ok(())
}

fn report(means: &Means) -> SecretReport {
    let known = means.secrets.get();
    if let Err(error) = &known {
        tracing::warn!("whether every secret still has its value is not known: {error}");
    }
    let is_lost = |name: &SecretName| known.as_ref().is_ok_and(|known| known.lost.contains(name));
    let entry = |listed: ringfence_vault::Listed| SecretEntry {
        name: listed.name.as_str().to_owned(),
        created: listed.created,
        rotated: listed.rotated,
        lost: is_lost(&listed.name),
    };
    let place = means.vault.location().map(|location| format!("{location}, {}", location.chosen));
    SecretReport { place, secrets: means.vault.list().into_iter().map(entry).collect(), missed_by: Vec::new() }
}

/// The value, if it can be told from other text where it comes back.
fn long_enough(value: &SecretValue) -> Result<&Secret, RequestError> {
    if value.0.expose().trim().len() >= MIN_CREDENTIAL {
        return Ok(&value.0);
    }
    let message = format!(
        "the value is shorter than {MIN_CREDENTIAL} bytes, so it could not be found where it comes back: choose a longer one"
    );
    Err(RequestError { kind: ErrorKind::Usage, code: "secret.too_short".into(), message })
}

fn named(name: String) -> Result<SecretName, RequestError> {
    name.try_into().map_err(|error: SecretNameError| RequestError::new(ErrorKind::Usage, "secret.name", &error))
}

fn choice(place: PlaceChoice) -> Result<Choice, RequestError> {
    Ok(match place {
        PlaceChoice::Keyring => Choice::Keyring,
        PlaceChoice::Kernel => Choice::Kernel,
        PlaceChoice::File => Choice::File(FileKey::KeyFile),
        PlaceChoice::FileWithPassphrase(passphrase) => Choice::File(FileKey::Passphrase(passphrase.0)),
        PlaceChoice::FileWithCredential => Choice::File(FileKey::Credential(credential_file().ok_or_else(|| {
            let message = "the process that owns the state has no systemd credential: run it as a service with \
                           `LoadCredential=ringfence:FILE`";
            RequestError { kind: ErrorKind::Unavailable, code: "secret.place".into(), message: message.into() }
        })?)),
    })
}

fn refused(error: VaultError) -> RequestError {
    let kind = match &error {
        VaultError::Unknown(_) => ErrorKind::NotFound,
        VaultError::Value { .. } => ErrorKind::Usage,
        VaultError::Unavailable { .. } | VaultError::Locked { .. } => ErrorKind::Unavailable,
        _ => ErrorKind::Refused,
    };
    let locked = matches!(error, VaultError::Locked { .. });
    let mut refused = RequestError::new(kind, "secret", &error);
    if locked {
        refused.message.push_str(&format!(
            ". {PASSPHRASE_VARIABLE} names the file of a passphrase; a service gets a credential by \
             `LoadCredential=ringfence:FILE`"
        ));
    }
    refused
}
