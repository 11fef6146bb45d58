//! What tools keep between their calls, as the operator sees it: how much, not what.

use std::collections::BTreeSet;

use ringfence_core::name::{NameError, SourceName};
use ringfence_package::Installed;
use ringfence_store::{Database, StateRow, StoreError};

use crate::request::{ErrorKind, Reply, RequestError, StateEntry};

/// How much each package keeps for each user.
pub(crate) fn list(database: &Database) -> Result<Reply, RequestError> {
    let rows = database.tool_state().map_err(|error| failed(&error))?;
    Ok(Reply::State(rows.into_iter().map(entry).collect()))
}

/// Forgets what the tools of `source` kept, for one user or for all.
pub(crate) fn clear(database: &Database, source: String, user: Option<&str>) -> Result<Reply, RequestError> {
    let wrong = |error: NameError| RequestError::new(ErrorKind::Usage, "name", &error);
    let name = SourceName::try_from(source).map_err(wrong)?;
    match database.clear_tool_state(&name, user).map_err(|error| failed(&error))? {
        0 => {
            let message =
                format!("`{name}` keeps nothing that could be cleared; `ringfence state list` shows who does");
            Err(RequestError { kind: ErrorKind::NotFound, code: "state.nothing".into(), message })
        }
        keys => Ok(Reply::StateCleared { keys }),
    }
}

/// Gives what the package of `from` kept to the one that is `installed` in its place.
pub(crate) fn give(database: &Database, installed: &Installed, from: &str) -> Result<Reply, RequestError> {
    let source = installed.source();
    match database.give_tool_state(source, from, &installed.signer()).map_err(|error| failed(&error))? {
        0 => {
            let message = format!(
                "no package of `{from}` keeps anything as `{source}`; `ringfence state list` shows the signers of those \
                 that do"
            );
            Err(RequestError { kind: ErrorKind::NotFound, code: "state.nothing".into(), message })
        }
        keys => Ok(Reply::StateGiven { keys }),
    }
}

/// Gives what was kept under a key whose place that of the `installed` package took to this package.
pub(crate) fn inherit(database: &Database, installed: &Installed) -> Result<(), RequestError> {
    let (source, signer) = (installed.source(), installed.signer());
    for row in database.tool_state().map_err(|error| failed(&error))? {
        let of_source = row.owner.source == *source;
        if of_source && database.succeeds(&signer, &row.owner.signer).map_err(|error| failed(&error))? {
            database.give_tool_state(source, &row.owner.signer, &signer).map_err(|error| failed(&error))?;
        }
    }
    Ok(())
}

/// What was kept as `source` for the packages of other signers than the one that is `installed`, in sentences.
pub(crate) fn of_others(database: &Database, installed: &Installed) -> Result<Vec<String>, RequestError> {
    let (source, signer) = (installed.source(), installed.signer());
    let rows = database.tool_state().map_err(|error| failed(&error))?;
    let others =
        rows.into_iter().map(|row| row.owner).filter(|owner| owner.source == *source && owner.signer != signer);
    let others: BTreeSet<String> = others.map(|owner| owner.signer).collect();
    let told = |other: &String| {
        format!(
            "what a package of `{other}` kept is not seen by this one; `ringfence state give {source} --from SIGNER` gives \
             it to this one"
        )
    };
    Ok(others.iter().map(told).collect())
}

fn entry(row: StateRow) -> StateEntry {
    StateEntry {
        source: row.owner.source.to_string(),
        signer: row.owner.signer,
        package: row.owner.package.to_string(),
        user: row.owner.user,
        keys: row.keys,
        bytes: row.bytes,
    }
}

fn failed(error: &StoreError) -> RequestError {
    RequestError::new(ErrorKind::Failed, error.code(), error)
}
