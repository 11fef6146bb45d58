//! Ringfence: the host where an AI agent's tool calls happen safely.
//!
//! A program that embeds it opens a [`Ringfence`] and calls tools; everybody else uses the binary. Both go through the
//! same [pipeline](ringfence_core::pipeline).
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use ringfence::{Caller, Home, Ringfence};
//! use serde_json::json;
//!
//! let host = Ringfence::builder(Home::at("state-of-my-agent".as_ref())).open().await?;
//! let output = host.call("echo", json!({"message": "hello"}), Caller::default()).await?;
//! # Ok(()) }
//! ```

pub mod author;
mod builder;
pub mod cli;
pub mod config;
mod distribution;
mod docker_login;
mod door;
mod dumps;
mod explanation;
mod grants;
mod host;
mod known_secrets;
mod mcp_server;
mod means;
mod packages;
mod request;
mod schema;
mod secrets;
mod shelf;
mod socket;
mod tool_state;
mod unlock;
mod wiped;

pub use builder::{BuildError, Builder, WasmGrant};
pub use config::{Config, Home};
pub use host::Ringfence;
pub use request::ToolEntry;
pub use ringfence_core as core;
pub use ringfence_core::call::Progress;
pub use ringfence_core::error::{CallError, ToolError};
pub use ringfence_core::limit::{LimitKind, LimitSet};
pub use ringfence_core::output::{Content, RawOutput, ToolOutput};
pub use ringfence_core::tool::{Tool, ToolSpec};
pub use ringfence_core::{Caller, Permit, Secret};
pub use ringfence_package::{Capabilities, Granted};
pub use unlock::UnlockError;
