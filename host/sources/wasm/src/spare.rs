//! Instances made ready before their calls.
//!
//! Making an instance and taking it down is most of what a short call costs. So a call leaves both to a task beside it,
//! the keeper, which takes used instances down and makes the next ones ready; the next call of the tool finds one. It is
//! as fresh as any other, since it has served nobody, and it has reached for nothing: where so much as one host call was
//! made while it came to be, the tool gets no spare instances. So no guest acts without a permit.
//!
//! To wake the keeper costs a call as much as its work would where processors sleep deeply. So while calls follow each
//! other closely the keeper holds a small stock, and comes by itself every few milliseconds, or when half of it is gone.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ringfence_core::limit::{LimitKind, Limits};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use wasmtime::Store;

use crate::component::Loaded;
use crate::concurrency::Place;
use crate::engine::Engine;
use crate::instance;
use crate::kind::Guest;
use crate::state::GuestState;

/// Spare instances of all tools together. The pool has room for them beside those of calls, so that they take no call's
/// place.
pub(crate) const SPARES: u32 = 64;

/// Spare instances of one tool while calls follow each other closely; otherwise one.
const STOCK: usize = 8;

/// An instance that takes longer to make is made one at a time: a stock of them would keep a processor busy for nothing.
const QUICK: Duration = Duration::from_millis(1);

/// How often the keeper comes by while calls follow each other closely. So long a used instance may wait for its end.
const ROUND: Duration = Duration::from_millis(2);

/// How long a tool keeps spare instances after its last call.
const IDLE: Duration = Duration::from_secs(10);

/// The spare instances of one tool.
pub(crate) struct Spare {
    shelf: Arc<Shelf>,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Shelf {
    stock: Mutex<Stock>,
    /// Tells the keeper that there is something to do.
    wake: Arc<Notify>,
}

#[derive(Default)]
struct Stock {
    ready: Vec<Ready>,
    used: Vec<Used>,
    keeper: Keeper,
}

/// What the keeper does between two rounds.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Keeper {
    /// There is none.
    #[default]
    Gone,
    /// It waits to be woken.
    Asleep,
    /// It comes by itself, soon.
    Near,
    /// There will never be one: the tool gets no spare instances.
    Unfit,
}

/// An instance that has served nobody.
pub(crate) struct Ready {
    store: Store<GuestState>,
    guest: Guest,
    room: OwnedSemaphorePermit,
}

/// An instance that has served its call. The store goes first, then what it takes up is free.
pub(crate) struct Used {
    pub(crate) _store: Store<GuestState>,
    pub(crate) holds: Holds,
}

/// What a used instance takes up until it is gone.
pub(crate) enum Holds {
    /// The place of its call.
    Place { _place: Place },
    /// The room that it had as a spare instance; its call's place is free already.
    Room { _room: OwnedSemaphorePermit },
}

impl Ready {
    pub(crate) fn into_parts(self) -> (Store<GuestState>, Guest, OwnedSemaphorePermit) {
        (self.store, self.guest, self.room)
    }
}

impl Spare {
    /// No instance yet; `room` is that of all tools.
    pub(crate) fn new(room: Arc<Semaphore>) -> Self {
        Self { shelf: Arc::default(), room }
    }

    /// An instance that is ready, if there is one under just these limits.
    pub(crate) fn take(&self, limits: &Limits) -> Option<Ready> {
        lock(&self.shelf.stock).ready.pop_if(|ready| ready.store.data().limits == *limits)
    }

    /// Leaves a used instance to be taken down, and has the next ones made ready.
    pub(crate) fn leave(&self, used: Used, engine: &Engine, loaded: &Arc<Loaded>, limits: &Limits) {
        let mut stock = lock(&self.shelf.stock);
        match stock.keeper {
            Keeper::Unfit => {
                drop(stock);
                return drop(used);
            }
            Keeper::Gone => {
                stock.keeper = Keeper::Asleep;
                let maker = Maker { engine: engine.clone(), loaded: loaded.clone(), limits: limits.clone() };
                tokio::spawn(keep(Arc::downgrade(&self.shelf), self.shelf.wake.clone(), self.room.clone(), maker));
            }
            Keeper::Asleep | Keeper::Near => {}
        }
        // Somebody may wait for the place of a call.
        let can_wait = matches!(used.holds, Holds::Room { .. }) && stock.ready.len() >= STOCK / 2;
        stock.used.push(used);
        if stock.keeper == Keeper::Asleep || !can_wait {
            drop(stock);
            self.shelf.wake.notify_one();
        }
    }
}

/// The keeper ends when it finds no shelf any more. Told any earlier, it might still find it, and sleep on.
impl Drop for Shelf {
    fn drop(&mut self) {
        self.wake.notify_one();
    }
}

/// What an instance is made of.
struct Maker {
    engine: Engine,
    loaded: Arc<Loaded>,
    limits: Limits,
}

impl Maker {
    /// An instance; `None` where it cannot be made, or reached out while it came to be.
    async fn instance(&self, room: OwnedSemaphorePermit) -> Option<Ready> {
        let mut store = instance::store(&self.engine, GuestState::waiting(&self.limits)).ok()?;
        let deadline = Duration::from_millis(self.limits.get(LimitKind::Deadline));
        let made = tokio::time::timeout(deadline, self.loaded.kind.instantiate(&mut store)).await;
        let guest = made.ok()?.ok()?;
        (!store.data().has_reached_out()).then_some(Ready { store, guest, room })
    }
}

/// Takes used instances down and keeps some ready, until the tool is gone or nobody has called it for a while.
async fn keep(shelf: Weak<Shelf>, wake: Arc<Notify>, room: Arc<Semaphore>, maker: Maker) {
    let (mut is_near, mut is_quick) = (false, true);
    loop {
        let woken = tokio::time::timeout(if is_near { ROUND } else { IDLE }, wake.notified()).await.is_ok();
        let Some(shelf) = shelf.upgrade() else { return };
        let Some(used) = shelf.collect(is_near || woken) else { return };
        let stock = if is_near && is_quick { STOCK } else { 1 };
        is_near = !used.is_empty();
        drop(used);
        while is_near && lock(&shelf.stock).ready.len() < stock {
            let Ok(room) = room.clone().try_acquire_owned() else { break };
            let started = Instant::now();
            let Some(ready) = maker.instance(room).await else { return shelf.close(Keeper::Unfit) };
            is_quick = started.elapsed() < QUICK;
            lock(&shelf.stock).ready.push(ready);
        }
    }
}

impl Shelf {
    /// The used instances. `None` when there are none, and the keeper that finds none is not to `stay`.
    fn collect(&self, stay: bool) -> Option<Vec<Used>> {
        let mut stock = lock(&self.stock);
        if stock.used.is_empty() && !stay {
            drop(stock);
            self.close(Keeper::Gone);
            return None;
        }
        stock.keeper = if stock.used.is_empty() { Keeper::Asleep } else { Keeper::Near };
        Some(std::mem::take(&mut stock.used))
    }

    /// Lets all instances go, as the keeper goes.
    fn close(&self, keeper: Keeper) {
        let left = std::mem::replace(&mut *lock(&self.stock), Stock { keeper, ..Stock::default() });
        drop(left);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
