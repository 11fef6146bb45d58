//! The way to the owner of a state folder: this process, or another one behind the socket.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::config::Home;
use crate::request::{ErrorKind, Event, Reply, Request, RequestError};
use crate::socket::{self, AskError, SocketServer};
use crate::{BuildError, Ringfence};

/// How long to wait for an owner that neither answers nor goes away. It is there for a moment at its start and end.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// The way to the owner.
pub(crate) enum Door {
    /// This process owns the state folder, and lets others in.
    Owner {
        /// The host.
        host: Arc<Ringfence>,
        /// Where others come in.
        socket: SocketServer,
    },
    /// Another process owns it.
    Guest(Home),
}

/// Why there is no way to the owner.
#[derive(Debug, Error)]
pub(crate) enum DoorError {
    /// This process cannot be the owner.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The socket cannot be made.
    #[error("cannot listen in the state folder: {0}")]
    Socket(io::Error),
}

impl Door {
    /// Becomes the owner, or finds the one that there is.
    ///
    /// # Errors
    /// When the state folder or the configuration cannot be used.
    pub(crate) async fn open(home: Home) -> Result<Self, DoorError> {
        match Ringfence::builder(home.clone()).open().await {
            Ok(host) => {
                let host = Arc::new(host);
                let socket = SocketServer::start(host.state(), &host.socket(), &host).map_err(DoorError::Socket)?;
                Ok(Self::Owner { host, socket })
            }
            Err(error) if error.is_busy() => Ok(Self::Guest(home)),
            Err(error) => Err(error.into()),
        }
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
        match self {
            Self::Owner { host, .. } => host.answer(request, events, cancel).await,
            Self::Guest(home) => ask_owner(home, request, events, cancel).await,
        }
    }

    /// Leaves: an owner lets those who are inside finish, and writes down what has to last.
    ///
    /// # Errors
    /// When the last of the state cannot be written.
    pub(crate) async fn close(self) -> io::Result<()> {
        match self {
            Self::Owner { host, socket } => {
                socket.finish().await;
                host.close()
            }
            Self::Guest(_) => Ok(()),
        }
    }
}

/// Asks through the socket. An owner that is just going leaves the folder to us, so the door is tried as well.
async fn ask_owner(
    home: &Home,
    request: Request,
    events: mpsc::Sender<Event>,
    cancel: CancellationToken,
) -> Result<Reply, RequestError> {
    let started = std::time::Instant::now();
    let name = home.state.join(ringfence_store::SOCKET);
    loop {
        match socket::ask(&home.state, &name, &request, &events, &cancel).await {
            Ok(answer) => return answer,
            Err(AskError::Lost(error)) => return Err(lost(&error)),
            Err(AskError::NotTaken(error)) if started.elapsed() > PATIENCE => return Err(unreachable_owner(&error)),
            Err(AskError::NotTaken(_)) => {}
        }
        match Ringfence::builder(home.clone()).open().await {
            Ok(host) => {
                let host = Arc::new(host);
                let answer = host.answer(request, events, cancel).await;
                host.close().map_err(|error| RequestError::new(ErrorKind::Failed, "state", &error))?;
                return answer;
            }
            Err(error) if error.is_busy() => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(RequestError::new(ErrorKind::Failed, "state", &error)),
        }
    }
}

fn lost(error: &io::Error) -> RequestError {
    let message = format!(
        "the ringfence process that owns the state folder took the request and ended before it answered ({error}); \
         it may or may not have been done: `ringfence audit` shows it"
    );
    RequestError { kind: ErrorKind::Failed, code: "owner_lost".into(), message }
}

fn unreachable_owner(error: &io::Error) -> RequestError {
    let message = format!(
        "another ringfence process owns the state folder and does not answer ({error}); end it, or use another folder \
         with --home"
    );
    RequestError { kind: ErrorKind::Failed, code: "owner_unreachable".into(), message }
}
