//! Tools that are WebAssembly components, run under limits.
//!
//! A component is compiled once, when it is installed. Each call gets a fresh instance from the engine's pool and the
//! instance ends with the call, so nothing survives it. What a guest can reach is what stands in [`bindings`] and
//! [`wasi`]: a log, progress, a WASI in which nothing is behind the doors, and, as far as [`reach`] says that it was
//! granted, the network, secrets, files, other tools and what is kept between calls.

mod bindings;
pub mod component;
pub mod concurrency;
mod convert;
pub mod engine;
mod fault;
mod guest_log;
mod http;
mod instance;
mod kind;
mod near_agent;
mod outlet;
mod plain;
pub mod probe;
mod reach;
mod secrets;
mod source;
mod spare;
mod state;
mod tool;
mod tool_state;
mod tools;
mod wasi;
mod wasi_http;
mod workspace;

pub use component::{Code, CodeError, GuestComponent, InMemory};
pub use concurrency::Concurrency;
pub use engine::{Engine, EngineError, EngineSettings, LEAST_STACK, Metering, Profile};
pub use plain::FunctionError;
pub use probe::{ProbeError, definitions};
pub use reach::{Granter, Network, Reach, StatePlace};
pub use source::WasmSource;
pub use workspace::Workspace;
