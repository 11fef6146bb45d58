//! The host's side of a call: the component's imports or, natively, the test host.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::{
    call_tool, entries, log, read, report, secret_exists, send, sign, state_delete, state_get, state_keys, state_set,
    state_swap, write,
};
#[cfg(target_arch = "wasm32")]
pub(crate) use imports::{
    call_tool, entries, log, read, report, secret_exists, send, sign, state_delete, state_get, state_keys, state_set,
    state_swap, write,
};

pub use crate::bindings::ringfence::tool::log::Level;

#[cfg(target_arch = "wasm32")]
mod imports {
    pub(crate) use crate::bindings::ringfence::tool::http::send;
    pub(crate) use crate::bindings::ringfence::tool::log::log;
    pub(crate) use crate::bindings::ringfence::tool::progress::report;
    pub(crate) use crate::bindings::ringfence::tool::secrets::{exists as secret_exists, sign};
    pub(crate) use crate::bindings::ringfence::tool::state::{
        delete as state_delete, get as state_get, keys as state_keys, set as state_set, swap as state_swap,
    };
    pub(crate) use crate::bindings::ringfence::tool::tools::call as call_tool;
    pub(crate) use crate::bindings::ringfence::tool::workspace::{entries, read, write};
}
