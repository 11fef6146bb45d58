//! Requests that go on while their guest waits, in the guest's own task.
//!
//! A task for each would have to wake the guest's, which takes longer than a short exchange does. So whoever runs the
//! guest runs [`InFlight::go_on`] beside it: whatever the guest waits for, its requests go on. One that computes lets them
//! go on whenever it lets others run.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::task::AtomicWaker;
use tokio::sync::oneshot;

/// All requests of one call.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<Inner>);

#[derive(Default)]
struct Inner {
    exchanges: Mutex<FuturesUnordered<BoxFuture<'static, ()>>>,
    /// Who goes on with them, to be told of a new one.
    driver: AtomicWaker,
}

impl InFlight {
    /// Adds `exchange`, and gives where its outcome will be. It ends with whoever waits there.
    pub(super) fn add<T: Send + 'static>(
        &self,
        exchange: impl Future<Output = T> + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (mut sender, receiver) = oneshot::channel();
        let exchange = async move {
            tokio::select! {
                outcome = exchange => drop(sender.send(outcome)),
                () = sender.closed() => {}
            }
        };
        self.0.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push(Box::pin(exchange));
        self.0.driver.wake();
        receiver
    }

    /// Goes on with all of them for as long as it is waited for.
    pub(crate) async fn go_on(&self) -> Infallible {
        poll_fn(|context| {
            self.0.driver.register(context.waker());
            let mut exchanges = self.0.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
            while let Poll::Ready(Some(())) = exchanges.poll_next_unpin(context) {}
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// What `waiting` results in, while the requests go on beside it.
    async fn beside<T>(requests: &InFlight, waiting: impl Future<Output = T>) -> T {
        tokio::select! {
            result = waiting => result,
            never = requests.go_on() => match never {},
        }
    }

    #[tokio::test]
    async fn all_go_on_whatever_is_waited_for() {
        let requests = InFlight::default();
        let later = |name| async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            name
        };
        let (first, second) = (requests.add(later("first")), requests.add(later("second")));
        assert_eq!(beside(&requests, second).await, Ok("second"));
        assert_eq!(beside(&requests, first).await, Ok("first"));
        // One that is added while others wait goes on as well, whichever of the two is looked at first.
        for _ in 0..20 {
            let added = async { requests.add(later("third")).await };
            assert_eq!(beside(&requests, added).await, Ok("third"));
        }
    }

    #[tokio::test]
    async fn one_that_nobody_waits_for_ends() {
        let (requests, alive) = (InFlight::default(), Arc::new(()));
        let held = alive.clone();
        let endless = requests.add(async move {
            std::future::pending::<()>().await;
            drop(held);
        });
        beside(&requests, tokio::task::yield_now()).await;
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(endless);
        beside(&requests, tokio::task::yield_now()).await;
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[tokio::test]
    async fn they_end_with_the_call() {
        let (requests, alive) = (InFlight::default(), Arc::new(()));
        let held = alive.clone();
        let outcome = requests.add(async move { drop(held) });
        drop(requests);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(outcome.await.is_err());
    }
}
