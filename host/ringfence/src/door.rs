//! The way to the owner of a state folder: this process, or another one behind the socket.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringfence_core::Secret;
use thiserror::Error;
use tokio::sync::{RwLock, mpsc};
use tokio_util::sync::CancellationToken;

use crate::config::Home;
use crate::request::{ErrorKind, Event, Reply, Request, RequestError};
use crate::socket::{self, AskError, SocketServer};
use crate::{BuildError, Ringfence, dumps};

/// How long to wait for an owner that neither answers nor goes away. It is there for a moment at its start and end, which
/// opening the state takes, and the last calls.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before each other try: less than anybody notices.
const PAUSE: Duration = Duration::from_millis(20);

/// The way to the owner. When another process was the owner and went away, this one takes its place.
pub(crate) struct Door {
    home: Home,
    owned: RwLock<Option<Owned>>,
}

/// What an owner has.
struct Owned {
    host: Arc<Ringfence>,
    /// Where others come in.
    socket: SocketServer,
}

/// Why there is no way to the owner.
#[derive(Debug, Error)]
pub(crate) enum DoorError {
    /// This process cannot be the owner.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The socket cannot be made.
    #[error("cannot listen in the state folder: {0}")]
    Socket(#[from] io::Error),
    /// Core dumps cannot be turned off.
    #[error("core dumps, in which secrets would stand, cannot be turned off: {0}")]
    Dumps(io::Error),
}

impl Door {
    /// Becomes the owner, or leaves that to the one that there is. From then on this process leaves no core dump.
    ///
    /// # Errors
    /// When the state folder or the configuration cannot be used.
    pub(crate) async fn open(home: Home) -> Result<Self, DoorError> {
        let door = Self { home, owned: RwLock::new(None) };
        door.become_owner().await?;
        dumps::prevent().map_err(DoorError::Dumps)?;
        Ok(door)
    }

    /// Asks the owner, wherever it is.
    ///
    /// # Errors
    /// What the owner answers; or that it could not be reached.
    pub(crate) async fn ask(
        &self,
        request: Request,
        events: mpsc::Sender<Event>,
        cancel: CancellationToken,
    ) -> Result<Reply, RequestError> {
        let started = Instant::now();
        let name = self.home.state.join(ringfence_store::SOCKET);
        loop {
            let host = self.owned.read().await.as_ref().map(|owned| owned.host.clone());
            if let Some(host) = host {
                return host.answer(request, events, cancel).await;
            }
            match socket::ask(&self.home.state, &name, &request, &events, &cancel).await {
                Ok(answer) => return answer,
                Err(AskError::Lost(error)) => return Err(lost(&error)),
                Err(AskError::NotTaken(error)) if started.elapsed() > PATIENCE => {
                    return Err(unreachable_owner(&error));
                }
                Err(AskError::NotTaken(_)) => {}
            }
            let owner = self.become_owner().await;
            if !owner.map_err(|error| RequestError::new(ErrorKind::Failed, "state", &error))? {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Leaves: an owner lets those who are inside finish, and writes down what has to last.
    ///
    /// # Errors
    /// When the last of the state cannot be written.
    pub(crate) async fn close(&self) -> io::Result<()> {
        match self.owned.write().await.take() {
            Some(Owned { host, socket }) => {
                socket.finish().await;
                host.settle().await;
                host.close()
            }
            None => Ok(()),
        }
    }

    /// Whether this process is the owner now.
    async fn become_owner(&self) -> Result<bool, DoorError> {
        let mut owned = self.owned.write().await;
        if owned.is_none() {
            let host = match Ringfence::builder(self.home.clone()).for_operator(ask_passphrase).open().await {
                Ok(host) => Arc::new(host),
                Err(error) if error.is_busy() => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            let socket = SocketServer::start(host.state(), &host.socket(), &host)?;
            *owned = Some(Owned { host, socket });
        }
        Ok(true)
    }
}

/// Asks whoever sits at the terminal; for a service there is nobody.
fn ask_passphrase() -> io::Result<Option<Secret>> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(None);
    }
    Ok(Some(Secret::new(rpassword::prompt_password("Passphrase of the secrets (not shown): ")?)))
}

fn lost(error: &io::Error) -> RequestError {
    let message = format!(
        "the ringfence process that owns the state folder took the request and ended before it answered ({error}); \
         it may or may not have been done: `ringfence audit` shows it"
    );
    RequestError { kind: ErrorKind::Unavailable, code: "owner_lost".into(), message }
}

fn unreachable_owner(error: &io::Error) -> RequestError {
    let message = format!(
        "another ringfence process owns the state folder and does not answer ({error}); end it, or use another folder \
         with --home"
    );
    RequestError { kind: ErrorKind::Unavailable, code: "owner_unreachable".into(), message }
}
