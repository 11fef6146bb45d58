//! What most tools need: `use ringfence_sdk::prelude::*`.

pub use crate::{
    CallInfo, Content, Failure, Json, Output, export_tools, http, log, progress, secrets, state, tool, tools, workspace,
};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};
