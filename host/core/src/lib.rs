//! The vocabulary of ringfence and the one path of a call.
//!
//! Read [`pipeline`] first: it is the whole path, top to bottom. The nouns it speaks of stand in files of their own.
//! This crate knows no WebAssembly, HTTP, Docker, MCP, SQL or command line; what it needs from above it gets through
//! the traits [`Tool`], [`ToolSource`](source::ToolSource), [`AuditLog`](audit::AuditLog),
//! [`RateLedger`](gates::rate::RateLedger) and [`ToolState`](tool_state::ToolState).

pub mod access;
pub mod audit;
pub mod call;
pub mod caller;
mod deadline;
pub mod error;
pub mod finish;
pub mod gates;
pub mod grant;
pub mod limit;
pub mod name;
pub mod onward;
pub mod output;
pub mod permit;
pub mod pipeline;
pub mod registry;
mod schema_check;
mod schema_references;
pub mod schema_rules;
mod schema_work;
pub mod secret;
pub mod source;
pub mod tool;
pub mod tool_state;

pub use call::{Arguments, CallContext, CallId, CheckedCall, ToolCall};
pub use caller::Caller;
pub use error::{CallError, ToolError};
pub use grant::Grant;
pub use limit::{LimitKind, LimitSet, Limits};
pub use name::{SourceName, ToolId, ToolName};
pub use onward::Onward;
pub use output::{Content, RawOutput, ToolOutput, Usage};
pub use permit::Permit;
pub use pipeline::ToolHost;
pub use registry::{Registered, Registry};
pub use secret::{Revealed, Secret, SecretShelf};
pub use tool::{Origin, Tool, ToolSpec};
