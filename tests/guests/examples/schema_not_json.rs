//! Defines a tool whose schema is not JSON.

use ringfence_sdk::prelude::*;
use ringfence_sdk::{Definition, Tool};

/// Is like any other.
#[tool]
fn honest() {}

#[expect(non_camel_case_types, reason = "named like the tool")]
enum run {}

impl run {
    const TOOL: Tool = Tool { name: "run", is_named: |name| name == "run", define, ..honest::TOOL };
}

fn define() -> Definition {
    Definition { name: "run".to_owned(), parameters: "{".to_owned(), ..(honest::TOOL.define)() }
}

export_tools!(run);
