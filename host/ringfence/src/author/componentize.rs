//! From a core module to a component.

use wasmparser::{BinaryReaderError, Parser, Payload};
use wit_component::ComponentEncoder;

/// The beginning of the names of the custom sections in which a core module says what component it is to become.
const CONTRACT_SECTION: &str = "component-type";

/// Why a file is no component and cannot become one.
#[derive(Debug, thiserror::Error)]
pub enum ComponentizeError {
    /// There is nothing in it.
    #[error("The file is empty: it was probably not copied in full. Build it again.")]
    Empty,
    /// Something else altogether.
    #[error(
        "This is not WebAssembly. A tool is a WebAssembly component; `ringfence build` makes one of a Rust project."
    )]
    NotWasm,
    /// A module that ends too early, for example.
    #[error("This WebAssembly file is damaged: {0}. Build it again.")]
    Damaged(BinaryReaderError),
    /// A module of another kind of program.
    #[error(
        "This is a core module without a contract, and a tool is a component. Write it with `ringfence-sdk` and list its \
         tools in `export_tools!`, or make a component of it with other tools first."
    )]
    NoContract,
    /// A module that breaks the contract it names.
    #[error("No component can be made of this core module: {0:#}.")]
    Unfit(anyhow::Error),
}

/// Makes a component of a core module that names its contract; gives back what is a component already.
///
/// # Errors
///
/// `wasm` is neither, or the module and its contract do not fit together.
pub fn componentize(wasm: Vec<u8>) -> Result<Vec<u8>, ComponentizeError> {
    if wasm.is_empty() {
        return Err(ComponentizeError::Empty);
    }
    if Parser::is_component(&wasm) {
        return Ok(wasm);
    }
    if !Parser::is_core_wasm(&wasm) {
        return Err(ComponentizeError::NotWasm);
    }
    if !has_contract(&wasm).map_err(ComponentizeError::Damaged)? {
        return Err(ComponentizeError::NoContract);
    }
    encode(&wasm).map_err(ComponentizeError::Unfit)
}

fn has_contract(module: &[u8]) -> Result<bool, BinaryReaderError> {
    let mut found = false;
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload? {
            found |= section.name().starts_with(CONTRACT_SECTION);
        }
    }
    Ok(found)
}

fn encode(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    ComponentEncoder::default().validate(true).module(module)?.encode()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty core module, and an empty component: nothing but the preamble.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";
    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    #[test]
    fn a_component_stays_as_it_is() {
        assert_eq!(componentize(COMPONENT.to_vec()).unwrap(), COMPONENT);
    }

    #[test]
    fn each_wrong_file_has_its_own_error() {
        let check = |wasm: &[u8]| componentize(wasm.to_vec()).unwrap_err();
        assert!(matches!(check(b""), ComponentizeError::Empty));
        assert!(matches!(check(b"#!/bin/sh"), ComponentizeError::NotWasm));
        assert!(matches!(check(MODULE), ComponentizeError::NoContract));
        assert!(matches!(check(&[MODULE, b"\x01\x7f"].concat()), ComponentizeError::Damaged(_)));
        let nonsense = [MODULE, b"\x00\x10\x0ecomponent-typexx".get(..18).unwrap_or_default()].concat();
        assert!(matches!(check(&nonsense), ComponentizeError::Unfit(_) | ComponentizeError::Damaged(_)));
    }
}
