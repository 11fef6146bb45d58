//! Rust types and traits for both versions, generated from `wit/near-agent/`.

#![allow(missing_docs, reason = "generated; the WIT files document the items")]
#![allow(unreachable_pub, reason = "generated")]
#![allow(clippy::needless_pass_by_value, reason = "generated")]

pub(super) mod v0_3_0 {
    wasmtime::component::bindgen!({
        path: "../../../wit/near-agent/0.3.0.wit",
        world: "sandboxed-tool",
        imports: {
            "near:agent/host.http-request": async | trappable,
            "near:agent/host.tool-invoke": async | trappable,
            "near:agent/host.workspace-read": async | trappable,
            default: trappable,
        },
        exports: { default: async },
    });
}

pub(super) mod v0_4_1 {
    wasmtime::component::bindgen!({
        path: "../../../wit/near-agent/0.4.1.wit",
        world: "sandboxed-tool",
        imports: {
            "near:agent/host.http-request": async | trappable,
            "near:agent/host.tool-invoke": async | trappable,
            "near:agent/host.workspace-read": async | trappable,
            default: trappable,
        },
        exports: { default: async },
    });
}
