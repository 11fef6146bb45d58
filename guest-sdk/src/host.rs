//! The host's side of a call: the component's imports or, natively, the test host.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::{entries, log, read, report, secret_exists, send, sign, write};
#[cfg(target_arch = "wasm32")]
pub(crate) use imports::{entries, log, read, report, secret_exists, send, sign, write};

pub use crate::bindings::ringfence::tool::log::Level;

#[cfg(target_arch = "wasm32")]
mod imports {
    pub(crate) use crate::bindings::ringfence::tool::http::send;
    pub(crate) use crate::bindings::ringfence::tool::log::log;
    pub(crate) use crate::bindings::ringfence::tool::progress::report;
    pub(crate) use crate::bindings::ringfence::tool::secrets::{exists as secret_exists, sign};
    pub(crate) use crate::bindings::ringfence::tool::workspace::{entries, read, write};
}
