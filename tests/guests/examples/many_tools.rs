//! Defines 10,000 tools.

use ringfence_sdk::prelude::*;
use ringfence_sdk::{Definition, Tool};

/// Is there 10,000 times.
#[tool]
fn run() {}

/// The tools are made at run time, so the list that `export_tools!` takes is of no use here.
#[cfg_attr(not(target_arch = "wasm32"), expect(dead_code, reason = "only a component exports it"))]
fn definitions() -> Vec<Definition> {
    let define = |number: u32| Definition { name: format!("run_{number}"), ..(RUN.define)() };
    (0..10_000).map(define).collect()
}

const RUN: Tool = run::TOOL;

#[cfg(target_arch = "wasm32")]
mod component {
    use ringfence_sdk::bindings::exports::ringfence::tool::guest::{CallInfo, Definition, Failure, Guest, Output};

    struct Component;

    impl Guest for Component {
        fn definitions() -> Vec<Definition> {
            super::definitions()
        }

        fn call(_: String, parameters: String, info: CallInfo) -> Result<Output, Failure> {
            ringfence_sdk::private::call("run", &parameters, &info, |_| Some(super::RUN.call))
        }
    }

    ringfence_sdk::bindings::export!(Component with_types_in ringfence_sdk::bindings);
}
