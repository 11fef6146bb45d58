//! The guests in `wat/`.

use anyhow::Context;
use ringfence_wit::{TOOL_WIT, VERSION, WORLD, near_agent};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The fields that all hand-written guests share.
const FRAME: &str = include_str!("../wat/frame.wat");

/// The fields that all hand-written guests of `near:agent` share.
const AGENT_FRAME: &str = include_str!("../wat/agent_frame.wat");

/// A module that is complete as it stands.
const CORE_MODULE: &str = include_str!("../wat/core_module.wat");

/// The oldest version of `near:agent`.
const AGENT_WIT: &str = near_agent::VERSIONS[0].1;

/// A component that knows nothing of our contract.
const PLAIN: &str = include_str!("../wat/plain.wat");

/// The names of the guests in `wat/`, each with the fields of its own.
pub const WAT_GUESTS: [(&str, &str); 11] = [
    ("agent_040", include_str!("../wat/agent_040.wat")),
    ("agent_extra_import", include_str!("../wat/agent_extra_import.wat")),
    ("alias_strings", include_str!("../wat/alias_strings.wat")),
    ("big_table_ok", include_str!("../wat/big_table_ok.wat")),
    ("contract_99", include_str!("../wat/contract_99.wat")),
    ("core_module", CORE_MODULE),
    ("extra_import", include_str!("../wat/extra_import.wat")),
    ("many_tables", include_str!("../wat/many_tables.wat")),
    ("plain", PLAIN),
    ("start_loops", include_str!("../wat/start_loops.wat")),
    ("table_bomb", include_str!("../wat/table_bomb.wat")),
];

/// A guest in `wat/`. All but two are core modules that name their contract, and so can become components; `core_module`
/// names none, and `plain` is a component already.
///
/// # Errors
///
/// There is no such guest, or its file is wrong.
pub fn wat_guest(name: &str) -> anyhow::Result<Vec<u8>> {
    let fields = WAT_GUESTS.iter().find(|(guest, _)| *guest == name).context("no such guest in wat/")?.1;
    match name {
        "core_module" | "plain" => Ok(wat::parse_str(fields)?),
        "contract_99" => {
            let version = |text: &str| text.replace(&format!("@{VERSION}"), "@99.0.0");
            module(&version(fields), &version(FRAME), &version(TOOL_WIT), WORLD)
        }
        "agent_040" => {
            let version = |text: &str| text.replace("@0.3.0", "@0.4.0");
            module(&version(fields), &version(AGENT_FRAME), &version(AGENT_WIT), near_agent::WORLD)
        }
        "agent_extra_import" => {
            let sign = "interface host { nostr-sign-event: func(event: string) -> result<string, string>;";
            let contract = AGENT_WIT.replace("interface host {", sign);
            module(fields, AGENT_FRAME, &contract, near_agent::WORLD)
        }
        "extra_import" => {
            let contract = TOOL_WIT.replace("interface log {", "interface log { erase: func();");
            module(fields, FRAME, &contract, WORLD)
        }
        _ => module(fields, FRAME, TOOL_WIT, WORLD),
    }
}

/// One module of two groups of fields, with the contract in a custom section.
fn module(fields: &str, frame: &str, contract: &str, world: &str) -> anyhow::Result<Vec<u8>> {
    let mut module = wat::parse_str(format!("(module\n{fields}\n{frame}\n)"))?;
    let mut resolve = Resolve::default();
    let package = resolve.push_str("tool.wit", contract)?;
    let world = resolve.select_world(&[package], Some(world))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false)?;
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wit_component::ComponentEncoder;

    #[test]
    fn every_file_is_a_guest() {
        let mut files: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/wat"))
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .filter(|name| !name.ends_with("frame"))
            .collect();
        files.sort();
        assert_eq!(files, WAT_GUESTS.map(|(name, _)| name));
    }

    #[test]
    fn every_guest_becomes_a_component() {
        for (name, _) in WAT_GUESTS.iter().filter(|(name, _)| !["core_module", "plain"].contains(name)) {
            let module = wat_guest(name).unwrap();
            let component = ComponentEncoder::default().validate(true).module(&module).unwrap().encode();
            assert!(component.is_ok(), "{name}: {:?}", component.unwrap_err());
        }
    }
}
