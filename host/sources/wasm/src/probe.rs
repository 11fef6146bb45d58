//! Asking a component which tools it holds: when it is built, packed, inspected or installed, never to list tools.

use std::time::Duration;

use ringfence_core::error::ToolError;
use ringfence_core::limit::{LimitKind, Limits};
use ringfence_core::tool::ToolSpec;
use ringfence_package::manifest::MAX_TOOLS;
use thiserror::Error;

use crate::bindings::exports::ringfence::tool::guest::Definition;
use crate::component::{CodeError, Loaded};
use crate::engine::Engine;
use crate::kind::Kind;
use crate::near_agent::Description;
use crate::state::GuestState;
use crate::{convert, fault, instance};

/// Why a component could not say which tools it holds.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// Its code cannot be loaded.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// Its answer did not end well.
    #[error("asked for its tools, it did not end well: {0}")]
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

/// The tools of compiled code. A component with a contract is asked: it runs under `limits` in a world that stands still,
/// with no grant, no randomness, no clock that moves. For a component of plain functions their types say it, and nothing
/// runs. Fails before that when the code imports something that this host does not have.
///
/// # Errors
/// When it does not say what it holds; see [`ProbeError`].
pub async fn definitions(engine: &Engine, compiled: &[u8], limits: &Limits) -> Result<Vec<ToolSpec>, ProbeError> {
    let kind = Loaded::new(engine, compiled)?.kind;
    match asked(engine, &kind, limits).await? {
        Said::Definitions(definitions) => counted(definitions)?.into_iter().map(convert::spec).collect(),
        Said::Description(description) => description.spec().map(|spec| vec![spec]),
        Said::Types(specs) => Ok(counted(specs)?),
    }
    .map_err(ProbeError::Definition)
}

/// What a component says of its tools.
enum Said {
    /// By our contract.
    Definitions(Vec<Definition>),
    /// By `near:agent`.
    Description(Description),
    /// By the types of its functions.
    Types(Vec<ToolSpec>),
}

fn counted<T>(tools: Vec<T>) -> Result<Vec<T>, ProbeError> {
    match tools.len() {
        0 => Err(ProbeError::None),
        1..=MAX_TOOLS => Ok(tools),
        many => Err(ProbeError::TooMany(many)),
    }
}

/// What a component says of its tools when it is asked.
async fn asked(engine: &Engine, kind: &Kind, limits: &Limits) -> Result<Said, ProbeError> {
    let mut store = instance::store(engine, GuestState::waiting(limits)).map_err(CodeError::Compile)?;
    let called = async {
        match kind {
            Kind::Contract(pre) => {
                let tool = pre.instantiate_async(&mut store).await?;
                tool.ringfence_tool_guest().call_definitions(&mut store).await.map(Said::Definitions)
            }
            Kind::NearAgent(pre) => {
                pre.instantiate(&mut store).await?.describe(&mut store).await.map(Said::Description)
            }
            Kind::Plain(plain) => Ok(Said::Types(plain.specs())),
        }
    };
    let deadline = Duration::from_millis(limits.get(LimitKind::Deadline));
    let late = |_| ProbeError::Ended(limits.exceeded(LimitKind::Deadline, None).into());
    let result = tokio::time::timeout(deadline, called).await.map_err(late)?;
    let stack = engine.settings().stack_bytes;
    result.map_err(|error| ProbeError::Ended(fault::classify(error, store.data(), stack)))
}
