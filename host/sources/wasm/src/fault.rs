//! From what the runtime reports to what the caller gets: which limit was reached, or how the guest crashed.

use ringfence_core::error::ToolError;
use ringfence_core::limit::{LimitExceeded, LimitKind, Limits};
use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::concurrency::busy;
use crate::state::GuestState;

/// Errors to which the runtime gives no type of their own, by a part of their text. `tests/limits.rs` reaches each of these
/// limits and so holds the texts to them.
const BY_TEXT: [(&str, LimitKind); 3] = [
    ("fuel allocated for hostcalls has been exhausted", LimitKind::HostCall),
    ("store handle limit exceeded", LimitKind::Handles),
    ("instance count too high", LimitKind::Instances),
];

/// Why a guest's call ended abnormally. `state` remembers what the limits refused before.
pub(crate) fn classify(error: wasmtime::Error, state: &GuestState, stack_bytes: usize) -> ToolError {
    let limits = &state.limits;
    if let Some(exceeded) = limit_of(&error, limits, stack_bytes) {
        return exceeded.into();
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return busy("the pool of WebAssembly instances is full");
    }
    // A guest that was refused memory mostly crashes of it; the refusal is the reason.
    if let Some(refused) = state.growth.refused() {
        return refused.into();
    }
    ToolError::Trapped(reason(&error, state))
}

fn limit_of(error: &wasmtime::Error, limits: &Limits, stack_bytes: usize) -> Option<LimitExceeded> {
    if let Some(exceeded) = error.downcast_ref::<LimitExceeded>() {
        return Some(exceeded.clone());
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => return Some(limits.exceeded(LimitKind::Fuel, None)),
        Some(Trap::StackOverflow) => return Some(LimitExceeded::stack(stack_bytes as u64)),
        _ => {}
    }
    if matches!(error.downcast_ref::<ResourceTableError>(), Some(ResourceTableError::Full)) {
        return Some(limits.exceeded(LimitKind::Resources, None));
    }
    let text = format!("{error:#}");
    BY_TEXT.iter().find(|(part, _)| text.contains(part)).map(|(_, kind)| limits.exceeded(*kind, None))
}

/// The guest's own last words, where it had any; else the runtime's.
fn reason(error: &wasmtime::Error, state: &GuestState) -> String {
    if let Some(message) = &state.log.last_words() {
        return message.clone();
    }
    match error.downcast_ref::<Trap>() {
        Some(trap) => trap.to_string().trim_start_matches("wasm trap: ").to_owned(),
        None => error.root_cause().to_string(),
    }
}
