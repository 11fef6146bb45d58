//! `ringfence serve`: serves the tools to an MCP client.

use std::io::IsTerminal as _;
use std::sync::Arc;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::call::Who;
use super::exit;
use super::session::Session;
use crate::door::Door;
use crate::mcp_server::McpServer;

/// Serve the tools to an MCP client over standard input and output.
#[derive(Args)]
#[command(
    after_help = "A client starts it as: ringfence serve\nSeveral may run at once; the first one owns the state, the others go through it."
)]
pub(super) struct Serve {
    #[command(flatten)]
    who: Who,
}

impl Serve {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let door = Arc::new(Door::open(session.home()?).await?);
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        if std::io::stdin().is_terminal() {
            exit::tell("waiting for an MCP client on standard input; Ctrl-C ends");
        }
        let served = McpServer::new(door.clone(), self.who.into()).serve_stdio(stop).await;
        door.close().await?; // however it ended: the socket goes, and the rates are written down
        served
    }
}

async fn stop_on_signal(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        stop.cancel();
    }
}
