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

    /// A call from its beginning to its end. Says whether it found an instance.
    async fn call(&self, spare: &Spare) -> bool {
        let limits = Limits::default();
        let found = spare.take(&limits).map(Ready::into_parts);
        let is_found = found.is_some();
        let (store, holds) = match found {
            Some((store, _, room)) => (store, Holds::Room { _room: room }),
            None => {
                let place = self.concurrency.tool().place(Caller::default().key(), 0).await.unwrap();
                let store = instance::store(&self.engine, GuestState::waiting(&limits)).unwrap();
                (store, Holds::Place { _place: place })
            }
        };
        spare.leave(Used { _store: store, holds }, &self.engine, &self.loaded, &limits);
        is_found
    }

    /// A call, and time for what happens beside it until the keeper sleeps.
    async fn call_and_rest(&self, spare: &Spare) -> bool {
        let is_found = self.call(spare).await;
        tokio::time::sleep(3 * ROUND).await;
        is_found
    }
}

fn ready(spare: &Spare) -> usize {
    lock(&spare.shelf.stock).ready.len()
}

#[tokio::test(start_paused = true)]
async fn calls_that_come_now_and_then_find_one_instance() {
    let host = Host::new();
    let spare = host.concurrency.spare();
    assert!(!host.call_and_rest(&spare).await, "nobody has called yet");
    for _ in 0..3 {
        assert_eq!(ready(&spare), 1);
        assert!(host.call_and_rest(&spare).await);
    }
    assert!(lock(&spare.shelf.stock).used.is_empty());
    tokio::time::sleep(IDLE / 2).await;
    assert!(host.call_and_rest(&spare).await);
    tokio::time::sleep(IDLE - 10 * ROUND).await;
    assert_eq!(spare.room.available_permits() as u32, SPARES - 1);
    tokio::time::sleep(20 * ROUND).await;
    assert_eq!(ready(&spare), 0, "kept for a while after the last call");
    assert_eq!(spare.room.available_permits() as u32, SPARES, "its room is there for others");
    assert!(!host.call_and_rest(&spare).await);
    assert_eq!(ready(&spare), 1, "there is a keeper again");
}

#[tokio::test(start_paused = true)]
async fn calls_that_follow_each_other_find_a_stock() {
    let host = Host::new();
    let spare = host.concurrency.spare();
    for expected in [1, STOCK] {
        host.call(&spare).await;
        tokio::time::sleep(ROUND / 2).await;
        assert_eq!(ready(&spare), expected);
    }
    for found in 1..=STOCK / 2 {
        assert!(host.call(&spare).await);
        tokio::task::yield_now().await;
        assert_eq!(lock(&spare.shelf.stock).used.len(), found, "the keeper was not woken");
    }
    assert!(host.call(&spare).await);
    tokio::time::sleep(ROUND / 2).await;
    assert!(lock(&spare.shelf.stock).used.is_empty());
    assert_eq!(ready(&spare), STOCK, "half of it was gone");
    // The last one waits for a round, and then it is gone.
    assert!(host.call(&spare).await);
    tokio::time::sleep(3 * ROUND).await;
    assert!(lock(&spare.shelf.stock).used.is_empty());
    assert_eq!(spare.room.available_permits(), SPARES as usize - ready(&spare));
}

#[tokio::test(start_paused = true)]
async fn all_tools_together_have_no_more_spare_instances_than_there_is_room_for() {
    let host = Host::new();
    let spares: Vec<Spare> = (0..SPARES + 2).map(|_| host.concurrency.spare()).collect();
    for spare in &spares {
        host.call_and_rest(spare).await;
    }
    let all = |spares: &[Spare]| spares.iter().map(ready).sum::<usize>() as u32;
    assert_eq!(all(&spares), SPARES);
    assert!(spares[0].take(&Limits::default()).is_some(), "what is taken and gone leaves room");
    host.call_and_rest(&spares[SPARES as usize]).await;
    assert_eq!(all(&spares), SPARES);
}

#[tokio::test(start_paused = true)]
async fn an_instance_made_under_other_limits_serves_nobody() {
    let host = Host::new();
    let spare = host.concurrency.spare();
    host.call_and_rest(&spare).await;
    let fewer = LimitSet::default().with(LimitKind::Fuel, 1000);
    assert!(spare.take(&Limits::effective(&LimitSet::default(), &fewer)).is_none());
    assert!(spare.take(&Limits::default()).is_some());
}

#[tokio::test(start_paused = true)]
async fn instances_go_with_their_tool() {
    let host = Host::new();
    let spare = host.concurrency.spare();
    host.call_and_rest(&spare).await;
    let room = spare.room.clone();
    assert_eq!(room.available_permits() as u32, SPARES - 1);
    drop(spare);
    tokio::time::sleep(ROUND).await;
    assert_eq!(room.available_permits() as u32, SPARES);
    assert_eq!(Arc::strong_count(&host.loaded), 1, "and with them the task that kept them");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_keeper_outlives_its_tool() {
    let host = Host::new();
    for _ in 0..200 {
        host.call(&host.concurrency.spare()).await;
    }
    // Far from the time after which an idle keeper goes.
    let end = Instant::now() + IDLE / 5;
    while Arc::strong_count(&host.loaded) > 1 {
        assert!(Instant::now() < end, "{} keepers", Arc::strong_count(&host.loaded) - 1);
        tokio::time::sleep(ROUND).await;
    }
}
