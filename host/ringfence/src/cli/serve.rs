//! `ringfence serve`: serves the tools to an MCP client.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
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
        stop_on_signal(stop.clone())?;
        if io::stdin().is_terminal() {
            exit::tell("waiting for an MCP client on standard input; Ctrl-C ends");
        }
        let served = McpServer::new(door.clone(), self.who.into()).serve_stdio(stop).await;
        door.close().await?; // however it ended: the socket goes, and the rates are written down
        served
    }
}

/// Stops what `stop` stops when a signal comes, from now on.
fn stop_on_signal(stop: CancellationToken) -> io::Result<()> {
    let [mut terminate, mut interrupt] = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stop.cancel();
    });
    Ok(())
}
