//! The MCP front: what a client asks, through the same door as everybody, and back in the client's words.
//!
//! rmcp speaks the protocol: the handshake revisions 2024-11-05 to 2025-11-25 and the stateless 2026-07-28. Nothing but
//! protocol is ever written to standard output; the log goes to standard error.

mod translate;
mod transport;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ringfence_core::call::Progress;
use ringfence_core::caller::Caller;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, InitializeRequestParams, InitializeResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{Peer, RequestContext, RoleServer, ServerInitializeError, SubscriptionContext};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::transport::Lines;
use crate::door::Door;
use crate::request::{EVENT_QUEUE, Event, Reply, Request, RequestError, ToolEntry};

/// After the owner went away: about as long as another one takes to start. What changed meanwhile is told then.
const BEFORE_FOLLOWING_AGAIN: Duration = Duration::from_millis(200);

/// How long calls that were cancelled may take to be on record, in whichever process that is: as long as one waits for a
/// process that owns the state and does not answer.
const FOR_THE_LAST_CALLS: Duration = Duration::from_secs(10);

/// How long the client may take to read what was said last. The SDKs' clients kill a server that is still there two
/// seconds after they left.
const FOR_THE_LAST_LINES: Duration = Duration::from_secs(2);

/// How many subscriptions one client may have. One tells it all; each is a task that stays.
const MAX_SUBSCRIPTIONS: usize = 8;

/// One client's server.
#[derive(Clone)]
pub(crate) struct McpServer {
    door: Arc<Door>,
    caller: Caller,
    changes: watch::Receiver<u64>,
    calls: TaskTracker,
    subscriptions: Arc<Semaphore>,
    /// Whether the client has shaken hands.
    initialized: Arc<AtomicBool>,
    /// Cancelled when the client goes away.
    gone: CancellationToken,
}

impl McpServer {
    /// A server that calls as `caller`.
    pub(crate) fn new(door: Arc<Door>, caller: Caller) -> Self {
        let changes = watch_tools(door.clone());
        let subscriptions = Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS));
        let (calls, initialized, gone) = (TaskTracker::new(), Arc::default(), CancellationToken::new());
        Self { door, caller, changes, calls, subscriptions, initialized, gone }
    }

    /// Serves standard input and output until the client closes them or `stop` is cancelled. Calls that run then get a
    /// few seconds, and are cancelled; when this returns, the end of each is on record.
    ///
    /// # Errors
    /// When the client's first words are not MCP.
    pub(crate) async fn serve_stdio(self, stop: CancellationToken) -> anyhow::Result<()> {
        let (read, write) = rmcp::transport::stdio_pipes();
        let (lines, writing) = Lines::new(read, write, self.gone.clone());
        let served = self.serve(lines, stop).await;
        // Whoever does not read must not hold up the end.
        let _ = tokio::time::timeout(FOR_THE_LAST_LINES, writing).await;
        served
    }

    async fn serve(self, client: impl Transport<RoleServer> + 'static, stop: CancellationToken) -> anyhow::Result<()> {
        let running = match rmcp::service::serve_server_with_ct(self.clone(), client, stop).await {
            Ok(running) => running,
            // It went before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
            Err(error) => anyhow::bail!(
                "the first words on standard input are not those of an MCP client, which begins with `initialize`: {error}; \
                 `ringfence call` makes a call without one"
            ),
        };
        tokio::spawn(tell_of_changes(running.peer().clone(), self.changes));
        running.waiting().await?;
        self.calls.close();
        if tokio::time::timeout(FOR_THE_LAST_CALLS, self.calls.wait()).await.is_err() {
            tracing::warn!("the process that owns the state folder did not say how the last calls ended");
        }
        Ok(())
    }

    async fn tools(&self) -> Result<Vec<ToolEntry>, ErrorData> {
        let (events, _) = mpsc::channel(EVENT_QUEUE);
        match self.door.ask(Request::Tools, events, CancellationToken::new()).await {
            Ok(Reply::Tools(tools)) => Ok(tools),
            Ok(_) => Err(ErrorData::internal_error("the host gave another answer than it was asked for", None)),
            Err(error) => Err(internal(&error)),
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("ringfence", env!("CARGO_PKG_VERSION")))
            .with_instructions("Every tool here runs under limits that its operator set; errors name the limit.")
    }

    /// Once: by a second handshake a client would change what was agreed on under requests that run.
    async fn initialize(
        &self,
        client: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.initialized.swap(true, Ordering::Relaxed) {
            let message = "the session is initialized already; for another one, start another server";
            return Err(ErrorData::invalid_request(message, None));
        }
        context.peer.set_peer_info(client.clone());
        self.negotiate_initialize(&client)
    }

    /// All tools are one page, so no cursor was ever given out.
    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.is_some_and(|page| page.cursor.is_some()) {
            let message = "the `cursor` is none that this server gave out; without one, `tools/list` lists all tools";
            return Err(ErrorData::invalid_params(message, None));
        }
        let tools = self.tools().await?;
        Ok(ListToolsResult::with_all_items(tools.into_iter().map(translate::tool).collect()))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _running = self.calls.token();
        let request = Request::Call {
            tool: params.name.into_owned(),
            params: Value::Object(params.arguments.unwrap_or_default()),
            caller: self.caller.clone(),
        };
        let (events, reports) = mpsc::channel(EVENT_QUEUE);
        // Boxed: rmcp moves this future about, and the path of a call makes it several KiB large.
        let asked = Box::pin(self.door.ask(request, events, context.ct.clone()));
        let reply = match context.meta.get_progress_token() {
            Some(token) => {
                let told = tell_progress(context.peer.clone(), token, reports);
                // Joined, so that every report is sent before the result is.
                tokio::join!(asked, told).0
            }
            None => asked.await,
        };
        match reply {
            Ok(Reply::Called(Ok(output))) => Ok(translate::output(output).into()),
            Ok(Reply::Called(Err(error))) => translate::error(&error),
            Ok(_) => Err(ErrorData::internal_error("the host gave another answer than it was asked for", None)),
            Err(error) => Err(internal(&error)),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let Ok(_place) = self.subscriptions.try_acquire() else {
            let message = format!("there are {MAX_SUBSCRIPTIONS} subscriptions; cancel one of them first");
            return Err(ErrorData::invalid_request(message, None));
        };
        let mut changes = self.changes.clone();
        changes.mark_unchanged();
        let wanted = subscription.accepted().tools_list_changed == Some(true);
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                () = self.gone.cancelled() => return Ok(()),
                changed = changes.changed(), if wanted => {
                    if changed.is_err() || subscription.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Follows the set of tools, wherever its owner is. When the owner goes, the next one is followed.
fn watch_tools(door: Arc<Door>) -> watch::Receiver<u64> {
    let (changes, receiver) = watch::channel(0);
    tokio::spawn(async move {
        loop {
            let (events, mut incoming) = mpsc::channel(EVENT_QUEUE);
            let watching = door.ask(Request::Watch, events, CancellationToken::new());
            tokio::pin!(watching);
            let ended = loop {
                tokio::select! {
                    () = changes.closed() => return,
                    Some(Event::Changed) = incoming.recv() => changes.send_modify(|count| *count += 1),
                    ended = &mut watching => break ended,
                }
            };
            if ended.is_ok() {
                return; // the door was closed
            }
            tokio::time::sleep(BEFORE_FOLLOWING_AGAIN).await;
            changes.send_modify(|count| *count += 1);
        }
    });
    receiver
}

/// Tells a client of the handshake revisions about every change; those of the later one, who introduce themselves with
/// each request, subscribe.
async fn tell_of_changes(peer: Peer<RoleServer>, mut changes: watch::Receiver<u64>) {
    while changes.changed().await.is_ok() {
        let shook_hands = peer.peer_info().is_some();
        if shook_hands && peer.notify_tool_list_changed().await.is_err() {
            return;
        }
    }
}

async fn tell_progress(peer: Peer<RoleServer>, token: ProgressToken, mut reports: mpsc::Receiver<Event>) {
    while let Some(event) = reports.recv().await {
        let Event::Progress(Progress { done, total, message }) = event else { continue };
        let mut report = ProgressNotificationParam::new(token.clone(), done);
        report.total = total;
        report.message = message;
        if peer.notify_progress(report).await.is_err() {
            return;
        }
    }
}

fn internal(error: &RequestError) -> ErrorData {
    ErrorData::internal_error(error.message.clone(), None)
}
