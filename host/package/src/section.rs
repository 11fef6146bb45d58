//! The custom section that holds the manifest: exactly one, at the top level of the component.

use wasm_encoder::{ComponentSection as _, CustomSection};
use wasmparser::{BinaryReader, BinaryReaderError, Parser, Payload};

use crate::component::ComponentError;

/// The name of the section.
pub const NAME: &str = "ringfence:manifest";

/// Length of what every component begins with: magic number and version.
const PREAMBLE: usize = 8;

/// The id of custom sections, in components as in modules.
const CUSTOM: u8 = 0;

/// The contents of the section; `None` when there is no such section.
///
/// # Errors
/// When there are several, or one stands in a part inside, where a tool that reads only the top would not see it.
pub fn find(component: &[u8]) -> Result<Option<&[u8]>, ComponentError> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::CustomSection(section) if section.name() == NAME => {
                if depth > 0 {
                    return Err(ComponentError::NestedManifest);
                }
                found.push(section.data());
            }
            _ => {}
        }
    }
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => Err(ComponentError::SeveralManifests { count: several.len() }),
    }
}

/// `component` with `manifest` in the section, at its end.
///
/// # Errors
/// [`ComponentError::HasManifest`] when it has one and is not to be `replace`d; that of [`find`].
pub fn embed(component: &[u8], manifest: &[u8], replace: bool) -> Result<Vec<u8>, ComponentError> {
    let mut bytes = match find(component)? {
        Some(_) if !replace => return Err(ComponentError::HasManifest),
        Some(_) => strip(component)?,
        None => component.to_owned(),
    };
    CustomSection { name: NAME.into(), data: manifest.into() }.append_to_component(&mut bytes);
    Ok(bytes)
}

/// `component` without the section, byte for byte the same otherwise.
///
/// # Errors
/// When it is not a sequence of sections.
pub fn strip(component: &[u8]) -> Result<Vec<u8>, ComponentError> {
    let (preamble, mut rest) = component.split_at_checked(PREAMBLE).ok_or(ComponentError::NotWasm)?;
    let mut kept = preamble.to_owned();
    while !rest.is_empty() {
        let (length, is_manifest) = next_section(rest)?;
        let (section, others) = rest.split_at(length);
        if !is_manifest {
            kept.extend_from_slice(section);
        }
        rest = others;
    }
    Ok(kept)
}

/// The length of the section that `bytes` begin with, and whether it is ours.
fn next_section(bytes: &[u8]) -> Result<(usize, bool), BinaryReaderError> {
    let mut reader = BinaryReader::new(bytes, 0);
    let id = reader.read_u8()?;
    let mut contents = reader.read_reader()?;
    let is_manifest = id == CUSTOM && contents.read_string()? == NAME;
    Ok((bytes.len() - reader.bytes_remaining(), is_manifest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn component(inside: &str) -> Vec<u8> {
        wat::parse_str(format!("(component {inside})")).unwrap()
    }

    #[test]
    fn what_is_embedded_is_found_and_can_be_taken_out() {
        let bare = component("(core module (func)) (@custom \"other\" \"x\")");
        let package = embed(&bare, b"{}", false).unwrap();
        assert_eq!(find(&package).unwrap(), Some(b"{}".as_slice()));
        assert_eq!(strip(&package).unwrap(), bare);
        assert_eq!(find(&bare).unwrap(), None);
    }

    #[test]
    fn a_second_manifest_needs_to_be_asked_for() {
        let package = embed(&component(""), b"old", false).unwrap();
        assert!(matches!(embed(&package, b"new", false), Err(ComponentError::HasManifest)));
        let replaced = embed(&package, b"new", true).unwrap();
        assert_eq!(find(&replaced).unwrap(), Some(b"new".as_slice()));
        assert_eq!(strip(&replaced).unwrap(), component(""));
    }

    #[test]
    fn several_and_nested_ones_are_refused() {
        let manifest = "(@custom \"ringfence:manifest\" \"{}\")";
        let several = component(&format!("{manifest}{manifest}"));
        assert!(matches!(find(&several), Err(ComponentError::SeveralManifests { count: 2 })));
        for nested in [
            format!("(core module {manifest})"),
            format!("(component {manifest})"),
            format!("(component (component) (core module {manifest}))"),
            format!("(component) (component (core module) {manifest}) {manifest}"),
        ] {
            assert!(matches!(find(&component(&nested)), Err(ComponentError::NestedManifest)), "{nested}");
        }
        // Behind a nested part the top level goes on.
        assert!(find(&component(&format!("(component (core module)) {manifest}"))).unwrap().is_some());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), with_preamble: bool) {
            let preamble = if with_preamble { b"\0asm\x0d\0\x01\0".as_slice() } else { b"" };
            let bytes = [preamble, bytes.as_slice()].concat();
            let _ = (find(&bytes), strip(&bytes), embed(&bytes, b"{}", true));
        }

        #[test]
        fn any_manifest_comes_back(manifest in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let package = embed(&component(""), &manifest, false).unwrap();
            prop_assert_eq!(find(&package).unwrap(), Some(manifest.as_slice()));
        }
    }
}
