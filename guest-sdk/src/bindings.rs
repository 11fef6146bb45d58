//! What wit-bindgen makes of the contract. Authors meet these types under the names that [the crate](crate) gives them.

wit_bindgen::generate!({
    path: "../wit/tool.wit",
    world: "tool",
    additional_derives: [PartialEq],
    pub_export_macro: true,
    default_bindings_module: "ringfence_sdk::bindings",
});
