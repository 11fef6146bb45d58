//! What authors need to make a tool: a project to begin with, a compiler, and a component at the end.
//!
//! The only part of the product that runs other programs: `cargo`, `rustc` and `rustup`.

mod command;
pub mod compile;
pub mod componentize;
pub mod package;
pub mod scaffold;
pub mod toolchain;
mod vendored;
