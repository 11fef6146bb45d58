//! The host's side of a call: the component's imports or, natively, the test host.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::{log, report};
#[cfg(target_arch = "wasm32")]
pub(crate) use imports::{log, report};

pub use crate::bindings::ringfence::tool::log::Level;

#[cfg(target_arch = "wasm32")]
mod imports {
    pub(crate) use crate::bindings::ringfence::tool::log::log;
    pub(crate) use crate::bindings::ringfence::tool::progress::report;
}
