//! Asking a component which tools it holds: once when it is built and once when it is installed, never to list tools.

use std::time::Duration;

use ringfence_core::error::ToolError;
use ringfence_core::limit::{LimitKind, Limits};
use ringfence_core::tool::ToolSpec;
use ringfence_package::manifest::MAX_TOOLS;
use thiserror::Error;

use crate::component::{CodeError, Loaded};
use crate::engine::Engine;
use crate::state::GuestState;
use crate::{convert, fault, instance};

/// Why a component could not say which tools it holds.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// Its code cannot be loaded.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// `definitions` did not end well.
    #[error("its function `definitions` did not end well: {0}")]
    Ended(ToolError),
    /// A definition cannot be read.
    #[error("{0}")]
    Definition(String),
    /// More than [`MAX_TOOLS`].
    #[error("it defines {0} tools; at most {MAX_TOOLS} fit into one component")]
    TooMany(usize),
    /// None at all.
    #[error("it defines no tools; a tool component holds at least one")]
    None,
}

/// Runs `definitions` of compiled code, under `limits`, in a world that stands still: no grant, no randomness, no clock
/// that moves. Fails before that when the code imports something that this host does not have.
///
/// # Errors
/// When it does not say what it holds; see [`ProbeError`].
pub async fn definitions(engine: &Engine, compiled: &[u8], limits: &Limits) -> Result<Vec<ToolSpec>, ProbeError> {
    let deadline = Duration::from_millis(limits.get(LimitKind::Deadline));
    let probe = run(engine, compiled, limits);
    let late = || ProbeError::Ended(limits.exceeded(LimitKind::Deadline, None).into());
    let definitions = tokio::time::timeout(deadline, probe).await.map_err(|_| late())??;
    match definitions.len() {
        0 => Err(ProbeError::None),
        1..=MAX_TOOLS => definitions.into_iter().map(|d| convert::spec(d).map_err(ProbeError::Definition)).collect(),
        many => Err(ProbeError::TooMany(many)),
    }
}

async fn run(
    engine: &Engine,
    compiled: &[u8],
    limits: &Limits,
) -> Result<Vec<crate::bindings::exports::ringfence::tool::guest::Definition>, ProbeError> {
    let loaded = Loaded::new(engine, compiled)?;
    let mut store = instance::store(engine, GuestState::waiting(limits)).map_err(CodeError::Compile)?;
    let called = async {
        let tool = loaded.pre.instantiate_async(&mut store).await?;
        tool.ringfence_tool_guest().call_definitions(&mut store).await
    };
    let result = called.await;
    let stack = engine.settings().stack_bytes;
    result.map_err(|error| ProbeError::Ended(fault::classify(error, store.data(), stack)))
}
