//! The gates of a call, in the order in which [`ToolHost`](crate::ToolHost) asks them. A gate may only refuse.

pub mod approval;
pub mod depth;
pub mod policy;
pub mod rate;
pub mod schema;
