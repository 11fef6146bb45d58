//! What authors need to make a tool: a project to begin with, a compiler, and a component at the end.
//!
//! It runs `cargo`, `rustc` and `rustup`. Beside docker's credential helpers the product runs no other programs.

mod command;
pub mod compile;
pub mod componentize;
pub mod package;
pub mod scaffold;
pub mod toolchain;
mod vendored;
