//! A few values that outlive the call: of this package, for the user for whom the call is made.
//!
//! Several calls may run at once, so what depends on an earlier value is written with [`swap`]:
//!
//! ```no_run
//! # use ringfence_sdk::prelude::*;
//! # fn count() -> Result<u64, Failure> {
//! loop {
//!     let old = state::get("count")?;
//!     let count = old.as_deref().map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default())) + 1;
//!     if state::swap("count", old.as_deref(), &count.to_le_bytes())? {
//!         return Ok(count);
//!     }
//! }
//! # }
//! ```

use crate::Failure;
use crate::bindings::ringfence::tool::state as wire;

/// The value of `key`, where there is one.
///
/// # Errors
/// Nothing may be kept, or the key is none.
pub fn get(key: &str) -> Result<Option<Vec<u8>>, Failure> {
    crate::host::state_get(key).map_err(failure)
}

/// Writes the value of `key`: it is stored for good, or the old one is still there.
///
/// # Errors
/// Nothing or no more may be kept, or the key is none.
pub fn set(key: &str, value: &[u8]) -> Result<(), Failure> {
    crate::host::state_set(key, value).map_err(failure)
}

/// The same, where the value still is `expected`, or, with `None`, where there is none. Whether that was so.
///
/// # Errors
/// Nothing or no more may be kept, or the key is none.
pub fn swap(key: &str, expected: Option<&[u8]>, value: &[u8]) -> Result<bool, Failure> {
    crate::host::state_swap(key, expected, value).map_err(failure)
}

/// Forgets `key`. Whether it was there.
///
/// # Errors
/// Nothing may be kept, or the key is none.
pub fn delete(key: &str) -> Result<bool, Failure> {
    crate::host::state_delete(key).map_err(failure)
}

/// The keys that begin with `prefix`, in the order of their bytes.
///
/// # Errors
/// Nothing may be kept.
pub fn keys(prefix: &str) -> Result<Vec<String>, Failure> {
    crate::host::state_keys(prefix).map_err(failure)
}

fn failure(error: wire::Error) -> Failure {
    let (message, code) = match error {
        wire::Error::Denied => ("The operator did not grant that anything is kept.", "state.denied"),
        wire::Error::InvalidKey => ("A key is 1 to 256 bytes without control characters.", "state.invalid_key"),
        wire::Error::OverQuota => ("It would be more than the operator allows to keep.", "state.over_quota"),
        wire::Error::Failed => ("The host could not read or write what is kept.", "state.failed"),
    };
    Failure::failed(message).with_code(code)
}
