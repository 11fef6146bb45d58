//! What of a client's requests runs, and what waits for its place.
//!
//! Both are bounded by number and by bytes, as they came in. Beyond that nothing more is read. The id of each is its own
//! until it is answered: rmcp finds the request that an answer is for by the id alone.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetExtensions as _, JsonRpcMessage, JsonRpcRequest, RequestId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::message::MAX_MESSAGE;

/// How many requests of one client run at once: four times what it may call of one tool by default.
pub(super) const MAX_RUNNING: usize = 64;

/// How many bytes they have together: the longest message leaves room for another.
pub(super) const MAX_RUNNING_BYTES: usize = 2 * MAX_MESSAGE;

/// How many wait behind them. They are searched for the id of each that comes, so there are few. While there are so many,
/// nothing is read, not even a ping.
pub(super) const MAX_WAITING: usize = 256;

/// How many bytes wait behind them, one of the longest messages; the last that is let in may go beyond.
const MAX_WAITING_BYTES: usize = MAX_MESSAGE;

/// How many ids of cancelled requests are kept from being used again. What such a request still answers is taken for the
/// answer to the next one of that id. They take 1 MiB at most, and a call ends soon after it is cancelled: one before so
/// many others says nothing any more.
const MAX_CANCELLED: usize = 1024;

/// The requests of one client.
pub(super) struct Requests {
    running: Arc<Semaphore>,
    running_bytes: Arc<Semaphore>,
    waiting: VecDeque<Request>,
    /// The ids of those that were started.
    unanswered: HashSet<RequestId>,
    /// The ids of those that were cancelled after that, oldest first.
    cancelled: VecDeque<RequestId>,
}

struct Request {
    message: JsonRpcRequest<ClientRequest>,
    bytes: usize,
}

/// The place of a request that runs. Goes with it to its handler, and is free again when that has ended.
pub(super) struct Place {
    _one: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
}

impl Requests {
    pub(super) fn new() -> Self {
        Self {
            running: Arc::new(Semaphore::new(MAX_RUNNING)),
            running_bytes: Arc::new(Semaphore::new(MAX_RUNNING_BYTES)),
            waiting: VecDeque::new(),
            unanswered: HashSet::new(),
            cancelled: VecDeque::new(),
        }
    }

    /// Whether another request has `id`: one that waits, that is not answered, or that was cancelled.
    pub(super) fn uses(&self, id: &RequestId) -> bool {
        let waits = self.waiting.iter().any(|request| request.message.id == *id);
        waits || self.unanswered.contains(id) || self.cancelled.contains(id)
    }

    /// Keeps `id` for a request that is started.
    pub(super) fn started(&mut self, id: &RequestId) {
        self.unanswered.insert(id.clone());
    }

    /// The request `id` is answered: the id may be used again, though MCP forbids it: that does no harm.
    pub(super) fn answered(&mut self, id: &RequestId) {
        self.unanswered.remove(id);
    }

    /// Whether one more may wait.
    pub(super) fn has_room(&self) -> bool {
        let bytes: usize = self.waiting.iter().map(|request| request.bytes).sum();
        self.waiting.len() < MAX_WAITING && bytes < MAX_WAITING_BYTES
    }

    /// Whether one waits.
    pub(super) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Lets `message`, which had so many `bytes`, wait for its place.
    pub(super) fn push(&mut self, message: JsonRpcRequest<ClientRequest>, bytes: usize) {
        self.waiting.push_back(Request { message, bytes });
    }

    /// Gives up the request `id`, if it is one of those that wait. Whether it was: it needs no answer then.
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|request| request.message.id != *id);
        if self.unanswered.remove(id) {
            self.cancelled.push_back(id.clone());
            if self.cancelled.len() > MAX_CANCELLED {
                self.cancelled.pop_front();
            }
        }
        self.waiting.len() < before
    }

    /// A place for the request that has waited longest.
    pub(super) async fn place(&self) -> io::Result<Place> {
        let bytes = self.waiting.front().map_or(0, |first| first.bytes.min(MAX_RUNNING_BYTES));
        let bytes = u32::try_from(bytes).map_err(io::Error::other)?;
        let one = self.running.clone().acquire_owned().await.map_err(io::Error::other)?;
        let bytes = self.running_bytes.clone().acquire_many_owned(bytes).await.map_err(io::Error::other)?;
        Ok(Place { _one: one, _bytes: bytes })
    }

    /// The request that has waited longest, in its place; `None` where none waits.
    pub(super) fn start(&mut self, place: Place) -> Option<ClientJsonRpcMessage> {
        let Request { mut message, .. } = self.waiting.pop_front()?;
        self.started(&message.id);
        message.request.extensions_mut().insert(Arc::new(place));
        Some(JsonRpcMessage::Request(message))
    }
}
