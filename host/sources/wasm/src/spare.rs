//! Instances made ready before their calls.
//!
//! Making an instance and taking it down is most of what a short call costs. So a call leaves both to a task beside it,
//! which takes the used instance down and makes the next one ready; the next call of the tool finds that one. It is as
//! fresh as any other, since it has served nobody, and it has reached for nothing: where so much as one host call was
//! made while it came to be, the tool gets no spare instances. So no guest acts without a permit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ringfence_core::limit::{LimitKind, Limits};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
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

/// How long a tool keeps a spare instance after its last call.
const IDLE: Duration = Duration::from_secs(10);

/// The spare instance of one tool.
pub(crate) struct Spare {
    slot: Arc<Slot>,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Slot {
    ready: Mutex<Option<Ready>>,
    /// Where used instances go; closed when the keeper has ended.
    keeper: Mutex<Option<mpsc::UnboundedSender<Used>>>,
    /// Set for a tool that gets no spare instances.
    unfit: AtomicBool,
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
    pub(crate) _place: Place,
    pub(crate) _room: Option<OwnedSemaphorePermit>,
}

impl Ready {
    pub(crate) fn into_parts(self) -> (Store<GuestState>, Guest, OwnedSemaphorePermit) {
        (self.store, self.guest, self.room)
    }
}

impl Spare {
    /// No instance yet; `room` is that of all tools.
    pub(crate) fn new(room: Arc<Semaphore>) -> Self {
        Self { slot: Arc::default(), room }
    }

    /// The instance that is ready, if there is one under just these limits.
    pub(crate) fn take(&self, limits: &Limits) -> Option<Ready> {
        lock(&self.slot.ready).take().filter(|ready| ready.store.data().limits == *limits)
    }

    /// Leaves a used instance to be taken down, and has the next one made ready.
    pub(crate) fn leave(&self, used: Used, engine: &Engine, loaded: &Arc<Loaded>, limits: &Limits) {
        if self.slot.unfit.load(Ordering::Relaxed) {
            return;
        }
        let mut keeper = lock(&self.slot.keeper);
        let left = match keeper.as_ref() {
            Some(keeper) => keeper.send(used).map_err(|error| error.0),
            None => Err(used),
        };
        if let Err(used) = left {
            let (sender, receiver) = mpsc::unbounded_channel();
            let maker = Maker { engine: engine.clone(), loaded: loaded.clone(), limits: limits.clone() };
            tokio::spawn(keep(receiver, Arc::downgrade(&self.slot), self.room.clone(), maker));
            if sender.send(used).is_ok() {
                *keeper = Some(sender);
            }
        }
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

/// Takes used instances down and keeps one ready, until the tool is gone or nobody has called it for a while.
async fn keep(mut used: mpsc::UnboundedReceiver<Used>, slot: Weak<Slot>, room: Arc<Semaphore>, maker: Maker) {
    while let Ok(Some(done)) = tokio::time::timeout(IDLE, used.recv()).await {
        drop(done);
        while let Ok(done) = used.try_recv() {
            drop(done);
        }
        let Some(slot) = slot.upgrade() else { return };
        if lock(&slot.ready).is_some() {
            continue;
        }
        let Ok(room) = room.clone().try_acquire_owned() else { continue };
        match maker.instance(room).await {
            Some(ready) => *lock(&slot.ready) = Some(ready),
            None => return slot.unfit.store(true, Ordering::Relaxed),
        }
    }
    if let Some(slot) = slot.upgrade() {
        drop(lock(&slot.ready).take());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ringfence_core::caller::Caller;
    use ringfence_core::limit::LimitSet;

    use super::*;
    use crate::concurrency::Concurrency;
    use crate::engine::EngineSettings;

    const GUEST: &str = r#"(component (core module $m (func (export "f"))) (core instance $i (instantiate $m))
        (func (export "f") (canon lift (core func $i "f"))))"#;

    /// A component, and what bounds its instances.
    struct Host {
        engine: Engine,
        loaded: Arc<Loaded>,
        concurrency: Concurrency,
    }

    impl Host {
        fn new() -> Self {
            let engine = Engine::new(EngineSettings { pooling: false, ..EngineSettings::default() }).unwrap();
            let code = engine.compile(&wat::parse_str(GUEST).unwrap()).unwrap();
            let loaded = Arc::new(Loaded::new(&engine, &code).unwrap());
            let concurrency = Concurrency::new(Default::default(), engine.instances());
            Self { engine, loaded, concurrency }
        }

        /// What the end of a call leaves, and a moment for what happens beside it.
        async fn called(&self, spare: &Spare) {
            let limits = Limits::default();
            let store = instance::store(&self.engine, GuestState::waiting(&limits)).unwrap();
            let place = self.concurrency.tool().place(Caller::default().key(), 0).await.unwrap();
            let used = Used { _store: store, _place: place, _room: None };
            spare.leave(used, &self.engine, &self.loaded, &limits);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_spare_instance_is_kept_for_a_while_after_the_last_call() {
        let host = Host::new();
        let (spare, limits) = (host.concurrency.spare(), Limits::default());
        assert!(spare.take(&limits).is_none(), "nobody has called yet");
        host.called(&spare).await;
        assert!(spare.take(&limits).is_some() && spare.take(&limits).is_none(), "there is one");
        host.called(&spare).await;
        tokio::time::sleep(IDLE / 2).await;
        host.called(&spare).await;
        tokio::time::sleep(IDLE - Duration::from_millis(10)).await;
        assert!(lock(&spare.slot.ready).is_some());
        assert_eq!(spare.room.available_permits() as u32, SPARES - 1);
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(lock(&spare.slot.ready).is_none());
        assert_eq!(spare.room.available_permits() as u32, SPARES, "its room is there for others");
    }

    #[tokio::test(start_paused = true)]
    async fn all_tools_together_have_no_more_spare_instances_than_there_is_room_for() {
        let host = Host::new();
        let spares: Vec<Spare> = (0..SPARES + 2).map(|_| host.concurrency.spare()).collect();
        for spare in &spares {
            host.called(spare).await;
        }
        let ready = |spare: &&Spare| lock(&spare.slot.ready).is_some();
        assert_eq!(spares.iter().filter(ready).count() as u32, SPARES);
        assert!(spares[0].take(&Limits::default()).is_some(), "what is taken and gone leaves room");
        host.called(&spares[SPARES as usize]).await;
        assert_eq!(spares.iter().filter(ready).count() as u32, SPARES);
    }

    #[tokio::test(start_paused = true)]
    async fn an_instance_made_under_other_limits_serves_nobody() {
        let host = Host::new();
        let spare = host.concurrency.spare();
        host.called(&spare).await;
        let fewer = LimitSet::default().with(LimitKind::Fuel, 1000);
        assert!(spare.take(&Limits::effective(&LimitSet::default(), &fewer)).is_none());
    }
}
