//! The network as one call may use it, whichever interface its guest asks through.

use std::sync::Arc;
use std::time::Duration;

use ringfence_core::limit::{LimitExceeded, Limits};
use ringfence_egress::{Budget, EgressError, Request, Response, Upload};
use tokio::sync::SetOnce;

use crate::guest_log::GuestLog;
use crate::reach::{Network, Reach};

/// What a call may use of the network. All its requests share it, also those that run beside the guest.
#[derive(Clone)]
pub(crate) struct Outlet(Arc<Inner>);

struct Inner {
    /// The tool's name, for the operator's log.
    tool: String,
    log: GuestLog,
    reach: Arc<Reach>,
    budget: Budget,
    /// The first limit that a request beside the guest went over.
    exceeded: SetOnce<LimitExceeded>,
}

impl Outlet {
    /// For a call of `tool` under `limits`, whose log is `log`.
    pub(crate) fn new(tool: &str, log: &GuestLog, reach: &Arc<Reach>, limits: &Limits) -> Self {
        let (tool, log, reach) = (tool.to_owned(), log.clone(), reach.clone());
        Self(Arc::new(Inner { tool, log, reach, budget: Budget::new(limits.clone()), exceeded: SetOnce::new() }))
    }

    /// Sends `request` and follows redirects, each of them a request more.
    pub(crate) async fn send(&self, request: Request) -> Result<Response, EgressError> {
        let network = self.network()?;
        network.door.send(request, &network.access, &self.0.budget).await
    }

    /// Sends `request` once, while its body is being made.
    pub(crate) async fn send_once(
        &self,
        request: Request,
        body: Upload,
        connect_timeout: Option<Duration>,
    ) -> Result<Response, EgressError> {
        let network = self.network()?;
        network.door.send_once(request, body, connect_timeout, &network.access, &self.0.budget).await
    }

    /// The whole reason of `error` goes to the operator's log; what the guest learns is for the caller to say.
    pub(crate) fn report(&self, error: &EgressError) {
        let tool = &self.0.tool;
        // The guest, or a server, has written some of it.
        let reason = self.0.log.shown(&error.for_operator(tool));
        tracing::warn!(target: "egress", %tool, code = error.code(), "{reason}");
    }

    /// Ends the call with `exceeded`, from beside the guest.
    pub(crate) fn end(&self, exceeded: &LimitExceeded) {
        // The first one is the reason, whatever follows.
        let _ = self.0.exceeded.set(exceeded.clone());
    }

    /// Waits until a request beside the guest goes over a limit.
    pub(crate) async fn until_exceeded(&self) -> LimitExceeded {
        self.0.exceeded.wait().await.clone()
    }

    /// The limit that one went over.
    pub(crate) fn exceeded(&self) -> Option<LimitExceeded> {
        self.0.exceeded.get().cloned()
    }

    fn network(&self) -> Result<&Network, EgressError> {
        let reach = &self.0.reach;
        reach.network.as_ref().filter(|_| !reach.grant.has_ended()).ok_or(EgressError::Nothing)
    }
}
