//! What tools keep between their calls, as the operator sees it: how much, not what.

use ringfence_core::name::{NameError, SourceName};
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

fn entry(row: StateRow) -> StateEntry {
    StateEntry {
        source: row.owner.source.to_string(),
        package: row.owner.package.to_string(),
        user: row.owner.user,
        keys: row.keys,
        bytes: row.bytes,
    }
}

fn failed(error: &StoreError) -> RequestError {
    RequestError::new(ErrorKind::Failed, error.code(), error)
}
