//! One fresh instance, with every limit set before its first instruction.

use std::time::Duration;

use ringfence_core::limit::{LimitKind, Limits};
use wasmtime::{CallHook, CallHookHandler, Result, Store, StoreContextMut};

use crate::engine::{Engine, Metering, YIELD_EVERY};
use crate::state::GuestState;

/// How long a guest may have run when it comes back from a host call and goes on without letting others run.
const TURN: Duration = Duration::from_micros(100);

/// A store whose guest cannot exceed the limits in `state`.
///
/// The deadline is not here: it is a timer around the call. What is here makes sure that the guest lets the timer run,
/// by yielding every [`YIELD_EVERY`] units of fuel or, where fuel is off, at every tick of the epoch; and at the end of a
/// host call by the clock, because what the host does for a guest burns no fuel.
pub(crate) fn store(engine: &Engine, state: GuestState) -> Result<Store<GuestState>> {
    let limits = state.limits.clone();
    let mut store = Store::new(&engine.inner, state);
    match engine.settings().metering {
        Metering::Fuel => {
            store.set_fuel(limits.get(LimitKind::Fuel))?;
            store.fuel_async_yield_interval(Some(YIELD_EVERY))?;
        }
        Metering::Epoch => store.epoch_deadline_async_yield_and_update(1),
    }
    store.call_hook_async(TakeTurns);
    store.limiter(|state| &mut state.growth);
    store.set_hostcall_fuel(limits.get_usize(LimitKind::HostCall));
    store.set_max_component_handles(limits.get_usize(LimitKind::Handles));
    Ok(store)
}

/// Lets others run at the end of a host call, when the guest's turn has been long enough.
struct TakeTurns;

#[async_trait::async_trait]
impl CallHookHandler<GuestState> for TakeTurns {
    async fn handle_call_event(&self, mut store: StoreContextMut<'_, GuestState>, event: CallHook) -> Result<()> {
        if matches!(event, CallHook::ReturningFromHost) && store.data().turn() > TURN {
            tokio::task::yield_now().await;
            store.data_mut().begin_turn();
        }
        Ok(())
    }
}

/// The fuel that `store` has burnt; `None` where fuel is off.
pub(crate) fn fuel_used(store: &Store<GuestState>, limits: &Limits) -> Option<u64> {
    store.get_fuel().ok().map(|left| limits.get(LimitKind::Fuel).saturating_sub(left))
}
