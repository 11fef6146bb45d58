//! Write ringfence tools: a function with an attribute is a tool.
//!
//! ```
//! use ringfence_sdk::prelude::*;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Greet {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! /// Greets somebody by name.
//! #[tool(pure, read_only)]
//! fn greet(args: Greet) -> Result<String, Failure> {
//!     if args.name.is_empty() {
//!         return Err(Failure::invalid_params("`name` is empty. Give the name of a person."));
//!     }
//!     Ok(format!("Hello, {}!", args.name))
//! }
//!
//! export_tools!(greet);
//! # fn main() {}
//! ```
//!
//! - The **arguments** are a struct that serde reads; [schemars](schemars::JsonSchema) makes their schema of it, and the
//!   doc comments of its fields explain them to the model.
//! - The **doc comment** of the function is the description by which a model chooses the tool. The other things that a
//!   tool can say about itself are options of the attribute: see [`tool`].
//! - The **result** is text, [`Json`], or an [`Output`] with images, structured data or a cost. An error is a
//!   [`Failure`] or becomes one.
//! - A function may take a [`&CallInfo`](CallInfo) too, and can report through [`log`] and [`progress`].
//!
//! A crate of tools depends on `serde` and `schemars` beside this one, because their derives write code that names them.
//! Natively the host is a [test host](testing), so that `cargo test` runs tools without any WebAssembly.

// The attribute writes paths that begin with the crate's name; the tests use it inside.
#[cfg(test)]
extern crate self as ringfence_sdk;

#[cfg(all(target_arch = "wasm32", feature = "arena"))]
mod allocator;
#[cfg(any(test, all(target_arch = "wasm32", feature = "arena")))]
mod arena;
#[doc(hidden)]
pub mod bindings;
mod failure;
mod host;
pub mod http;
pub mod log;
mod output;
#[cfg(target_arch = "wasm32")]
mod panic;
pub mod prelude;
pub mod progress;
mod schema;
pub mod secrets;
pub mod state;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod stdio;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod tool;
pub mod tools;
pub mod workspace;

pub use bindings::exports::ringfence::tool::guest::{
    Approval, ApprovalRule, ArgumentRule, Body, CallInfo, Content, Definition, Effects, Embedded, Example, FailureKind,
    Media, Output, RateLimit,
};
pub use failure::Failure;
pub use output::{IntoOutput, Json};
pub use ringfence_sdk_macros::tool;
pub use schemars;
pub use serde;
pub use serde_json;
pub use tool::{Run, Tool};

/// What the macros write into an author's crate. Not for other use.
#[doc(hidden)]
pub mod private {
    pub use crate::schema::{schema_of, schema_of_nothing};
    pub use crate::tool::{arguments, call, definitions};
}

/// Makes a component of functions that are marked with [`tool`]: `export_tools!(greet, text::count)`.
///
/// It also defines `TOOLS`, the same list for [tests](testing). Used once, at the root of a crate. A tool's name stands for a
/// function and a type, so no module beside it can have the same name.
#[macro_export]
macro_rules! export_tools {
    ($($tool:path),* $(,)?) => {
        /// The tools of this component, in the order in which they are listed.
        pub static TOOLS: &[$crate::Tool] = &[$(<$tool>::TOOL),*];

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            use $crate::bindings::exports::ringfence::tool::guest;

            struct Component;

            impl guest::Guest for Component {
                fn definitions() -> ::std::vec::Vec<guest::Definition> {
                    $crate::private::definitions(TOOLS)
                }

                fn call(
                    name: ::std::string::String,
                    parameters: ::std::string::String,
                    info: guest::CallInfo,
                ) -> ::std::result::Result<guest::Output, guest::Failure> {
                    $crate::private::call(&name, &parameters, &info, |name| {
                        $(if (<$tool>::TOOL.is_named)(name) {
                            return ::std::option::Option::Some(<$tool>::TOOL.call);
                        })*
                        ::std::option::Option::None
                    })
                }
            }

            $crate::bindings::export!(Component with_types_in $crate::bindings);
        };
    };
}
