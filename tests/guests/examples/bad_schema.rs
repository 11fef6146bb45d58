//! Defines tools whose schemas break the host's rules, each another.

use ringfence_sdk::prelude::*;
use ringfence_sdk::{Approval, Definition, Effects, Tool};

macro_rules! bad {
    ($($name:ident: $schema:literal),+ $(,)?) => {
        $(
            #[expect(non_camel_case_types, reason = "named like the tool")]
            enum $name {}

            impl $name {
                const TOOL: Tool = Tool {
                    name: stringify!($name),
                    is_named: |name| name == stringify!($name),
                    define: || definition(stringify!($name), $schema),
                    call: |_, _| Ok(Output::new()),
                };
            }
        )+
        export_tools!($($name),+);
    };
}

bad! {
    not_a_schema: "7",
    no_object: r#"{"type":"string"}"#,
    no_properties: r#"{"type":"object"}"#,
    unknown_required: r#"{"type":"object","properties":{},"required":["absent"]}"#,
    nested_without_properties: r#"{"type":"object","properties":{"inner":{"type":"object","required":["absent"]}}}"#,
    remote_reference: r#"{"type":"object","properties":{"x":{"$ref":"https://example.com/schema.json"}}}"#,
    file_reference: r#"{"type":"object","properties":{"x":{"$ref":"file:///etc/passwd"}}}"#,
    bad_pattern: r#"{"type":"object","properties":{"x":{"type":"string","pattern":"("}}}"#,
    array_without_items: r#"{"type":"object","properties":{"x":{"type":"array"}}}"#,
}

fn definition(name: &str, parameters: &str) -> Definition {
    Definition {
        name: name.to_owned(),
        title: None,
        description: "Has a bad schema.".to_owned(),
        parameters: parameters.to_owned(),
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
