//! Connections that wait for the next request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::connection::Connection;

/// How many are kept for each origin and client.
const MAX_IDLE: usize = 8;

/// How long one is kept. Most servers close theirs after 60 to 120 s.
const IDLE: Duration = Duration::from_secs(60);

/// The idle connections of a client, by their origin.
#[derive(Default)]
pub(super) struct IdleConnections(Mutex<State>);

#[derive(Default)]
struct State {
    /// The one used last stands last.
    by_origin: HashMap<String, Vec<(Instant, Connection)>>,
    /// Closes those that nobody has used for long, while there are any.
    sweeper: Option<JoinHandle<()>>,
}

impl IdleConnections {
    /// One to `origin` that can be used, as far as one can see.
    fn take(&self, origin: &str) -> Option<Connection> {
        let mut state = self.lock();
        let waiting = state.by_origin.get_mut(origin)?;
        while let Some((since, mut connection)) = waiting.pop() {
            if since.elapsed() < IDLE && connection.is_usable() {
                return Some(connection);
            }
        }
        None
    }

    fn give(self: &Arc<Self>, origin: &str, connection: Connection) {
        let mut state = self.lock();
        let idle = (Instant::now(), connection);
        match state.by_origin.get_mut(origin) {
            Some(waiting) if waiting.len() < MAX_IDLE => waiting.push(idle),
            Some(_) => return,
            None => {
                state.by_origin.insert(origin.to_owned(), vec![idle]);
            }
        }
        // One whose runtime has ended has finished as well.
        if state.sweeper.as_ref().is_none_or(JoinHandle::is_finished) {
            state.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(self))));
        }
    }

    /// Closes what has waited too long; whether any are left.
    fn close_old(&self) -> bool {
        let mut state = self.lock();
        state.by_origin.retain(|_, waiting| {
            waiting.retain(|(since, _)| since.elapsed() < IDLE);
            !waiting.is_empty()
        });
        if state.by_origin.is_empty() {
            state.sweeper = None;
        }
        state.sweeper.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn sweep(idle: Weak<IdleConnections>) {
    loop {
        sleep(IDLE).await;
        if !idle.upgrade().is_some_and(|idle| idle.close_old()) {
            return;
        }
    }
}

/// Where a connection goes when it has served a request.
#[derive(Clone)]
pub(super) struct Home {
    idle: Arc<IdleConnections>,
    origin: String,
}

impl Home {
    pub(super) fn new(idle: &Arc<IdleConnections>, origin: String) -> Self {
        Self { idle: Arc::clone(idle), origin }
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Takes one that waits there.
    pub(super) fn take(&self) -> Option<Connection> {
        self.idle.take(&self.origin)
    }

    pub(super) fn give(&self, connection: Connection) {
        self.idle.give(&self.origin, connection);
    }
}
