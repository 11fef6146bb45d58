//! `ringfence call`: makes one call.

use std::io::Read as _;

use clap::Args;
use ringfence_core::caller::Caller;
use ringfence_core::error::CallError;
use ringfence_core::output::{Body, Content, ToolOutput};
use serde_json::Value;

use super::exit::{self, Hinted, UsageError};
use super::session::{Session, other_build};
use super::{grants, show};
use crate::request::{PackageRequest, Reply, Request};

/// The longest parameters that are read from standard input, in bytes: a request to the host takes no more.
const MAX_PARAMS: u64 = 64 << 20;

/// Call a tool.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ringfence call echo '{\"message\": \"hello\"}'\n  ringfence call calc__evaluate '{\"expression\": \"0.1 + 0.2\"}'\n\nNext: `ringfence tools NAME` shows the parameters of a tool."
)]
pub(super) struct Call {
    /// The tool: its full name, or its short one where only one tool has it.
    tool: String,
    /// The parameters, a JSON object; `-` reads them from standard input.
    #[arg(default_value = "{}")]
    params: String,
    #[command(flatten)]
    who: Who,
    /// Print what the call used (time, fuel, memory) to standard error.
    #[arg(long)]
    usage: bool,
}

/// Who calls.
#[derive(Args, Clone)]
pub(super) struct Who {
    /// The person the call is made for.
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
    /// The agent that makes it.
    #[arg(long, value_name = "NAME")]
    pub(super) agent: Option<String>,
    /// The conversation it belongs to.
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

impl From<Who> for Caller {
    fn from(who: Who) -> Self {
        Self { user: who.user, agent: who.agent, session: who.session, ..Self::default() }
    }
}

impl Call {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        let params = parse(&read(self.params)?)?;
        let request = Request::Call { tool: self.tool, params, caller: self.who.into() };
        let Reply::Called(called) = session.ask(request).await? else { return Err(other_build()) };
        let output = match called {
            Ok(output) => output,
            Err(error) => return Err(with_remedy(session, error).await),
        };
        session.answer(&output, shown)?;
        if self.usage {
            exit::tell(&used(&output));
        }
        Ok(())
    }
}

/// `error`, with what to do about it, where that is known here: a tool may have told that something was denied to it; where
/// a secret is missing or not taken, the grant of the tool tells the command that mends that.
async fn with_remedy(session: &Session, error: CallError) -> anyhow::Error {
    if let Some(hint) = of_denial(&error) {
        return Hinted { error, hint }.into();
    }
    let CallError::AuthRequired { tool, .. } = &error else { return error.into() };
    let source = tool.split_once("__").map_or(tool.as_str(), |(source, _)| source);
    // Without an answer the error says what it says.
    let Ok(Reply::Grants(entries)) = session.ask(PackageRequest::Grants).await else { return error.into() };
    let entry = entries.iter().find(|entry| entry.source == source);
    match entry.and_then(|entry| grants::secret_remedy(entry, &error.message_for_operator())) {
        Some(hint) => Hinted { error, hint }.into(),
        None => error.into(),
    }
}

/// What to do where a tool says, in the words of the SDK, that something was not granted to it.
fn of_denial(error: &CallError) -> Option<String> {
    let CallError::Failed { tool, .. } = error else { return None };
    match error.tool_code()? {
        "http.denied" => Some(format!(
            "`ringfence explain {tool} 'METHOD URL'` says what refuses a request of its, and what would allow it"
        )),
        "workspace.denied" | "state.denied" | "secret.denied" | "tools.denied" => {
            Some("`ringfence grants` shows what it asks for, what of it is granted, and what would grant more".into())
        }
        _ => None,
    }
}

fn read(params: String) -> anyhow::Result<String> {
    if params != "-" {
        return Ok(params);
    }
    let mut text = String::new();
    std::io::stdin().take(MAX_PARAMS + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_PARAMS {
        return Err(UsageError(format!("the parameters are longer than {MAX_PARAMS} bytes")).into());
    }
    Ok(text)
}

fn parse(text: &str) -> anyhow::Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        UsageError(format!(
            "the parameters are not JSON: {error}\n  write them as one argument: '{{\"key\": \"value\"}}'"
        ))
        .into()
    })
}

/// What a person sees of an output.
pub(super) fn shown(output: &ToolOutput) -> String {
    let contents = output.user_content.as_ref().unwrap_or(&output.content);
    contents.iter().map(content).collect::<Vec<_>>().join("\n")
}

fn content(content: &Content) -> String {
    match content {
        Content::Text { text } => text.clone(),
        Content::Json { value } => format!("{value:#}"),
        Content::Image(media) | Content::Audio(media) => {
            format!("[{}, {}; --json prints it]", media.media_type, show::bytes(media.data.len() as u64))
        }
        Content::Resource(resource) => match &resource.body {
            Body::Text(text) => text.clone(),
            Body::Blob(bytes) => format!("[{}, {}; --json prints it]", resource.uri, show::bytes(bytes.len() as u64)),
        },
    }
}

/// What a call used, on one line.
pub(super) fn used(output: &ToolOutput) -> String {
    let mut parts = vec![format!("{:.1} ms", output.duration.as_secs_f64() * 1000.0)];
    parts.extend(output.usage.fuel.map(|fuel| format!("{fuel} fuel")));
    parts.extend(output.usage.peak_memory.map(|memory| format!("{} of memory", show::bytes(memory))));
    parts.extend(output.cost.map(|cost| format!("cost {cost}")));
    parts.join(", ")
}
