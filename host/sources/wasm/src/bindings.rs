//! Rust types and traits for the contract, generated from `wit/tool.wit`.

#![allow(missing_docs, reason = "generated; the WIT file documents the items")]
#![allow(unreachable_pub, reason = "generated")]
#![allow(clippy::needless_pass_by_value, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../../../wit/tool.wit",
    world: "tool",
    imports: {
        "ringfence:tool/http": async | trappable,
        "ringfence:tool/secrets": async | trappable,
        "ringfence:tool/workspace": async | trappable,
        "ringfence:tool/tools": async | trappable,
        "ringfence:tool/state": async | trappable,
        default: trappable,
    },
    exports: { default: async },
});
