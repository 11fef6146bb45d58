//! `ringfence tools`: lists the tools that can be called, or shows one.

use clap::Args;
use ringfence_core::gates::policy::RulePlace;

use super::session::{Session, other_build};
use super::show;
use crate::config;
use crate::request::{ErrorKind, HiddenTool, PackageEntry, PackageRequest, Reply, Request, RequestError, ToolEntry};

/// List the tools that can be called, or show one.
#[derive(Args)]
pub(super) struct Tools {
    /// Show this one: its parameters, documentation and limits.
    name: Option<String>,
}

impl Tools {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let Reply::Tools(tools) = session.ask(Request::Tools).await? else { return Err(other_build()) };
        match self.name {
            Some(name) => match find(&tools, &name)? {
                Some(tool) => session.answer(tool, one),
                None => Err(missing(session, &name).await?.into()),
            },
            None => session.answer(&tools, |tools| all(tools)),
        }
    }
}

/// The tool called `name`, where there is one.
fn find<'a>(tools: &'a [ToolEntry], name: &str) -> Result<Option<&'a ToolEntry>, RequestError> {
    let mut matching = tools.iter().filter(|tool| tool.name == name || tool.spec.name == name);
    match (matching.next(), matching.next()) {
        (first, None) => Ok(first),
        (Some(a), Some(b)) => Err(RequestError {
            kind: ErrorKind::NotFound,
            code: "ambiguous".into(),
            message: format!(
                "several tools are called `{name}`: use the full name, such as `{}` or `{}`",
                a.name, b.name
            ),
        }),
        (None, Some(_)) => Ok(None),
    }
}

/// Why the tool `name` is not there.
async fn missing(session: &Session, name: &str) -> anyhow::Result<RequestError> {
    if let Some(error) = stopped(session, name).await? {
        return Ok(error);
    }
    let hidden = hidden(session, name).await?;
    Ok(hidden.unwrap_or_else(|| RequestError {
        kind: ErrorKind::NotFound,
        code: "not_found".into(),
        message: format!("there is no tool `{name}`; `ringfence tools` lists them all"),
    }))
}

/// That the policy hides the tool `name`, where it does.
async fn hidden(session: &Session, name: &str) -> anyhow::Result<Option<RequestError>> {
    let Reply::Hidden(hidden) = session.ask(Request::Hidden).await? else { return Err(other_build()) };
    let Some(tool) = hidden.into_iter().find(|tool| tool.name == name || tool.bare_name == name) else {
        return Ok(None);
    };
    let config = session.home()?.config;
    let place = match tool.place {
        Some(RulePlace { list, entry }) => config::place(&config, &["policy", list.key()], entry),
        None => config.display().to_string(),
    };
    let HiddenTool { name, rule, .. } = tool;
    let message = format!("the operator's policy hides `{name}`: {rule} decided, under [policy] in {place}");
    Ok(Some(RequestError { kind: ErrorKind::Refused, code: "denied".into(), message }))
}

/// That the package of the tool `name` was stopped, where that is why the tool is not there.
async fn stopped(session: &Session, name: &str) -> anyhow::Result<Option<RequestError>> {
    let Reply::Packages(packages) = session.ask(PackageRequest::List).await? else { return Err(other_build()) };
    let source = name.split_once("__").map_or(name, |(source, _)| source);
    let is_called = |tool: &String| tool.split_once("__").is_some_and(|(_, bare)| bare == name);
    let has_it = |package: &PackageEntry| package.source == source || package.tools.iter().any(is_called);
    let stopped = packages.into_iter().find(|package| package.stopped.is_some() && has_it(package));
    Ok(stopped.map(|PackageEntry { source, stopped, .. }| RequestError {
        kind: ErrorKind::NotFound,
        code: "stopped".into(),
        message: format!("`{source}` is stopped, so its tools are not there: {}", stopped.unwrap_or_default()),
    }))
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
    let limits = tool.limits.iter().map(|(kind, value)| [kind.key().to_owned(), value.to_string()]);
    text.push_str(&format!("\n{}\n", show::table(["LIMIT", "OF EACH CALL"], limits)));
    text
}
