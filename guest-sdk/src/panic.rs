//! Tells the host why the guest is about to trap. A component has no other place for it: `wasm32-unknown-unknown` has
//! no standard error.

use crate::bindings::ringfence::tool::log;

/// Has every panic told to the host.
pub(crate) fn tell_host() {
    std::panic::set_hook(Box::new(|panic| log::panicked(&panic.to_string())));
}
