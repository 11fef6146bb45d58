//! Defines a tool whose schema takes for ever to compile.

use ringfence_sdk::prelude::*;
use ringfence_sdk::{Approval, Definition, Effects, Tool};

/// How often the schema doubles.
const DOUBLED: u32 = 40;

enum Run {}

impl Run {
    const TOOL: Tool =
        Tool { name: "run", is_named: |name| name == "run", define: definition, call: |_, _| Ok(Output::new()) };
}

fn definition() -> Definition {
    Definition {
        name: "run".to_owned(),
        title: None,
        description: "Has an endless schema.".to_owned(),
        parameters: schema(),
        output_schema: None,
        effects: Effects::empty(),
        approval: Approval::Never,
        rules: Vec::new(),
        rate_limit: None,
        deferrable: false,
        categories: Vec::new(),
        short_doc: None,
        long_doc: None,
        examples: Vec::new(),
    }
}

/// Each definition leads to the next one twice, and what is left over is to be found among all of them.
fn schema() -> String {
    let twice = |i: u32| {
        let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, i + 1);
        format!(r#""d{i}":{{"allOf":[{next},{next}]}},"#)
    };
    let definitions: String = (0..DOUBLED).map(twice).collect();
    format!(
        r##"{{"type":"object","properties":{{}},"$ref":"#/$defs/d0","unevaluatedProperties":false,"$defs":{{{definitions}"d{DOUBLED}":{{"properties":{{"a":{{}}}}}}}}}}"##
    )
}

export_tools!(Run);
