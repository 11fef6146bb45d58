//! What installing needs from whoever runs components.

use std::error::Error;

use async_trait::async_trait;
use ringfence_core::{LimitSet, ToolError, ToolSpec};
use ringfence_store::Digest;

/// Compiles components, and asks them which tools they have.
///
/// It is a trait because the engine depends on this crate, and not the other way round.
#[async_trait]
pub trait Compiler: Send + Sync {
    /// What compiled code depends on besides the component: the engine's version and settings. Code that was compiled
    /// under another value is never loaded.
    fn engine(&self) -> Digest;

    /// Compiles `component`.
    ///
    /// # Errors
    /// When the engine cannot run such a component.
    async fn compile(&self, component: &[u8]) -> Result<Vec<u8>, CompileError>;

    /// Asks compiled code for the definitions of its tools, with every import refused and under limits: those that
    /// are `requested`, where they are lower than the operator's.
    ///
    /// # Errors
    /// When the guest fails or reaches a limit.
    async fn definitions(&self, code: &[u8], requested: &LimitSet) -> Result<Vec<ToolSpec>, ToolError>;
}

/// Why a component cannot be compiled, in the engine's words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CompileError(#[source] pub Box<dyn Error + Send + Sync>);
