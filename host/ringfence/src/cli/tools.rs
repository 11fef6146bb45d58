//! `ringfence tools`: lists the tools that can be called, or shows one.

use clap::Args;

use super::session::Session;
use super::show;
use crate::request::{ErrorKind, Reply, Request, RequestError, ToolEntry};

/// List the tools that can be called, or show one.
#[derive(Args)]
pub(super) struct Tools {
    /// Show this one: its parameters, documentation and limits.
    name: Option<String>,
}

impl Tools {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Tools(tools) = session.ask(Request::Tools).await? else { anyhow::bail!("the host misunderstood") };
        match self.name {
            Some(name) => session.answer(find(&tools, &name)?, one),
            None => session.answer(&tools, |tools| all(tools)),
        }
    }
}

fn find<'a>(tools: &'a [ToolEntry], name: &str) -> Result<&'a ToolEntry, RequestError> {
    let mut matching = tools.iter().filter(|tool| tool.name == name || tool.spec.name == name);
    match (matching.next(), matching.next()) {
        (Some(tool), None) => Ok(tool),
        (Some(a), Some(b)) => Err(RequestError {
            kind: ErrorKind::NotFound,
            code: "ambiguous".into(),
            message: format!(
                "several tools are called `{name}`: use the full name, such as `{}` or `{}`",
                a.name, b.name
            ),
        }),
        _ => Err(RequestError {
            kind: ErrorKind::NotFound,
            code: "not_found".into(),
            message: format!("there is no tool `{name}`; `ringfence tools` lists them all"),
        }),
    }
}

fn all(tools: &[ToolEntry]) -> String {
    let rows =
        tools.iter().map(|tool| [tool.name.clone(), tool.origin.label().to_owned(), tool.spec.summary().to_owned()]);
    let table = show::table(["NAME", "ORIGIN", "WHAT IT DOES"], rows);
    format!("{table}\n\nNext: `ringfence tools NAME` shows one, `ringfence call NAME JSON` calls it.")
}

fn one(tool: &ToolEntry) -> String {
    let spec = &tool.spec;
    let mut text = format!("{} ({}, from {})\n\n{}\n", tool.name, tool.origin.label(), tool.source, spec.description);
    if let Some(manual) = &spec.long_doc {
        text.push_str(&format!("\n{manual}\n"));
    }
    text.push_str(&format!("\nParameters:\n{:#}\n", spec.parameters));
    for example in &spec.examples {
        text.push_str(&format!(
            "\nExample: {}\n  ringfence call {} '{}'\n",
            example.description, tool.name, example.input
        ));
    }
    let limits = tool.limits.iter().map(|(kind, value)| format!("{} {value}", kind.key())).collect::<Vec<_>>();
    text.push_str(&format!("\nLimits: {}\n", limits.join(", ")));
    text
}
