//! `ringfence test`: runs a tool's own tests, and its examples in the sandbox.

use std::path::PathBuf;

use clap::Args;
use ringfence_core::caller::Caller;
use ringfence_core::error::CallError;
use ringfence_core::output::{Content, ToolOutput};
use ringfence_core::tool::Example;
use ringfence_package::grant::Capabilities;
use serde_json::json;

use super::build::unbuilt;
use super::files;
use super::session::Session;
use super::show;
use crate::Ringfence;
use crate::author::compile;
use crate::author::package::{self, PackError};
use crate::config::{Config, Home, RateConfig};

/// Run a tool's own tests, and its examples in the sandbox.
///
/// The tests run natively; then the project is built, and the examples of its tools have to give what they say. Nothing is
/// granted there: examples that need something granted are left out.
#[derive(Args)]
pub(super) struct Test {
    /// The project.
    #[arg(default_value = ".")]
    directory: PathBuf,
}

impl Test {
    pub(super) async fn run(self, session: &Session) -> anyhow::Result<()> {
        files::folder(&self.directory)?;
        // Before cargo is asked, which would test whatever project is around.
        if !self.directory.join(package::MANIFEST).exists() {
            return Err(unbuilt(PackError::NoProject(self.directory)));
        }
        let spinner = session.spinner();
        let mut say = |line: &str| spinner.set_message(line.trim().to_owned());
        say("running the native tests");
        compile::native_tests(&self.directory, &mut say)?;
        let package = package::build(&self.directory, &mut say).await.map_err(unbuilt)?;
        say("running the examples in the sandbox");

        let folder = tempfile::tempdir()?;
        let config = Config { rate: RateConfig { unlimited: true, ..RateConfig::default() }, ..Config::default() };
        let info = &package.manifest.package;
        let host = Ringfence::builder(Home::at(folder.path()))
            .config(config)
            .register_wasm(info.name.as_str(), &package.bytes, info.limits.clone())
            .open()
            .await?;
        let (mut ran, mut left_out, mut wrong) = (0, 0, Vec::new());
        for tool in host.tools().iter().filter(|tool| tool.source == info.name.as_str()) {
            for example in &tool.spec.examples {
                match host.call(&tool.name, example.input.clone(), Caller::default()).await {
                    Err(CallError::Unavailable { .. }) if info.capabilities != Capabilities::default() => left_out += 1,
                    result => {
                        ran += 1;
                        wrong.extend(judge(example, result).map(|why| format!("{}: {why}", tool.name)));
                    }
                }
            }
        }
        spinner.finish_and_clear();
        if !wrong.is_empty() {
            anyhow::bail!(
                "{} of {} do not show what happens:\n  {}",
                wrong.len(),
                show::count(ran, "example"),
                wrong.join("\n  ")
            );
        }
        session.answer(&json!({"native_tests": "passed", "examples": ran, "left_out": left_out}), |_| {
            let passed = format!("The native tests passed, and so did {} in the sandbox.", show::count(ran, "example"));
            match left_out {
                0 => passed,
                _ => format!(
                    "{passed}\nLeft out: {}, for what only an operator grants.",
                    show::count(left_out, "example")
                ),
            }
        })
    }
}

/// What is wrong with an example, if anything.
fn judge(example: &Example, result: Result<ToolOutput, CallError>) -> Option<String> {
    let output = match result {
        Ok(output) => output,
        Err(error) => return Some(format!("\"{}\" fails: {error}", example.description)),
    };
    let wanted = example.output.as_ref()?;
    let text: Vec<String> = output
        .content
        .iter()
        .map(|content| match content {
            Content::Text { text } => text.clone(),
            Content::Json { value } => value.to_string(),
            _ => String::new(),
        })
        .collect();
    let got = text.join("\n");
    (got != *wanted).then(|| format!("\"{}\" gives {got:?}, not {wanted:?}", example.description))
}
