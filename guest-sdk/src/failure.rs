//! Why a call did not succeed.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Display};
use std::time::Duration;

use crate::FailureKind;
use crate::bindings::exports::ringfence::tool::guest;

/// Why a call did not succeed: made with the constructor that tells what the caller can do about it.
///
/// The constructors take whatever can be shown, so `parse(text).map_err(Failure::invalid_params)?` does for an error of
/// any type. A type of your own can instead say once what its errors are, by `impl From<MyError> for Failure`.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What the caller can do.
    pub kind: FailureKind,
    /// A stable word for programs, of at most 64 characters `[A-Za-z0-9_.-]`.
    pub code: Cow<'static, str>,
    /// For the model: what went wrong and what to try.
    pub message: String,
    /// When a retry makes sense.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// The caller should call again with other parameters.
    pub fn invalid_params(message: impl Display) -> Self {
        Self::new(FailureKind::InvalidParams, "invalid_params", message)
    }

    /// What the parameters name does not exist.
    pub fn not_found(message: impl Display) -> Self {
        Self::new(FailureKind::NotFound, "not_found", message)
    }

    /// The tool needs a login, or a credential that it was not given.
    pub fn auth_required(message: impl Display) -> Self {
        Self::new(FailureKind::AuthRequired, "auth_required", message)
    }

    /// The caller should try again later.
    pub fn unavailable(message: impl Display) -> Self {
        Self::new(FailureKind::Unavailable, "unavailable", message)
    }

    /// Anything else.
    pub fn failed(message: impl Display) -> Self {
        Self::new(FailureKind::Failed, "failed", message)
    }

    /// Replaces the code, which is the kind unless said otherwise.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }

    /// Says when a retry makes sense.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    fn new(kind: FailureKind, code: &'static str, message: impl Display) -> Self {
        Self { kind, code: Cow::Borrowed(code), message: message.to_string(), retry_after: None }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}

impl Failure {
    /// The failure of another tool.
    pub(crate) fn from_wire(failure: guest::Failure) -> Self {
        Self {
            kind: failure.kind,
            code: failure.code.into(),
            message: failure.message,
            retry_after: failure.retry_after_ms.map(Duration::from_millis),
        }
    }

    /// The failure as the contract has it.
    pub(crate) fn into_wire(self) -> guest::Failure {
        guest::Failure {
            kind: self.kind,
            code: self.code.into_owned(),
            message: self.message,
            retry_after_ms: self.retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_error_becomes_a_failure() {
        let failure = "x".parse::<u8>().map_err(Failure::invalid_params).unwrap_err();
        assert_eq!(failure, Failure::invalid_params("invalid digit found in string"));
    }

    #[test]
    fn the_wire_form_keeps_everything() {
        let wire = Failure::unavailable("Busy.").with_code("busy").with_retry_after(Duration::from_secs(2)).into_wire();
        assert_eq!((wire.kind, wire.code.as_str()), (FailureKind::Unavailable, "busy"));
        assert_eq!((wire.message.as_str(), wire.retry_after_ms), ("Busy.", Some(2000)));
        let failure = Failure::unavailable("Busy.").with_code("busy").with_retry_after(Duration::from_secs(2));
        assert_eq!(Failure::from_wire(wire), failure);
    }

    #[test]
    fn an_endless_wait_does_not_overflow() {
        assert_eq!(Failure::failed("").with_retry_after(Duration::MAX).into_wire().retry_after_ms, Some(u64::MAX));
    }
}
