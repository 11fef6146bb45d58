//! From a project to a package: compiled, asked for its tools, with its manifest inside.

use std::path::{Path, PathBuf};

use ringfence_core::limit::{LimitSet, Limits};
use ringfence_core::schema_rules::{self, SchemaProblem};
use ringfence_core::tool::ToolSpec;
use ringfence_package::{
    Capabilities, Component, ComponentError, Manifest, ManifestError, PackageInfo, reading, section,
};
use ringfence_source_wasm::{Engine, EngineError, ProbeError};
use thiserror::Error;

use super::compile::{self, CompileError};
use super::componentize::{self, ComponentizeError};
use super::toolchain::{NoToolchain, Toolchain};

/// The file in which a project says what its package is.
pub(crate) const MANIFEST: &str = "ringfence.toml";

/// A package that was built.
pub struct Package {
    /// What the author says of it, and its tools.
    pub manifest: Manifest,
    /// The component with the manifest inside.
    pub bytes: Vec<u8>,
    /// The compiler that made it.
    pub toolchain: String,
    /// What could be better about its schemas.
    pub warnings: Vec<String>,
}

/// Why a project gives no package.
#[derive(Debug, Error)]
pub enum PackError {
    /// The folder has no `ringfence.toml`.
    #[error("{} has no ringfence.toml: name the folder of a tool, or begin one with `ringfence new NAME`", .0.display())]
    NoProject(PathBuf),
    /// A `ringfence.toml` cannot be read.
    #[error("{0}; `ringfence new` writes one to begin with")]
    NoManifest(std::io::Error),
    /// It is wrong, or does not go with the tools.
    #[error("ringfence.toml: {0}")]
    Manifest(#[from] ManifestError),
    /// There is no compiler.
    #[error(transparent)]
    Toolchain(#[from] NoToolchain),
    /// The project does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// What came out is no component.
    #[error(transparent)]
    Componentize(#[from] ComponentizeError),
    /// What came out is no component of ours.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The engine cannot start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The component does not say which tools it has.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Tools were given for a component that has its own.
    #[error("the component says itself which tools it has: leave out `--tools`")]
    OwnTools,
    /// The list of tools cannot be read.
    #[error("{} is no list of tools, each with `name`, `description` and `parameters`: {error}", .path.display())]
    Tools {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A tool's schema breaks the registration rules.
    #[error("the tool `{tool}` cannot be registered: {}", .problems.join("; "))]
    Schema {
        /// The tool.
        tool: String,
        /// All that is wrong.
        problems: Vec<String>,
    },
}

/// Builds the project in `directory`. Lines of the compiler, and what happens next, go to `on_line`.
///
/// # Errors
/// When any step fails; nothing is written then.
pub async fn build(directory: &Path, on_line: &mut (dyn FnMut(&str) + Send)) -> Result<Package, PackError> {
    let text = reading::text(&directory.join(MANIFEST)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => PackError::NoProject(directory.to_owned()),
        _ => PackError::NoManifest(error),
    })?;
    let info = PackageInfo::parse(&text)?;
    let toolchain = Toolchain::find(directory)?;
    on_line(&format!("compiling with {}", toolchain.describe()));
    let artifact = compile::library(&toolchain, directory, on_line)?;
    on_line("asking the component for its tools");
    let component = componentize::componentize(artifact.wasm)?;
    let (bytes, manifest, warnings) = with_manifest(&component, info).await?;
    Ok(Package { manifest, bytes, toolchain: toolchain.describe(), warnings })
}

/// Puts what a `ringfence.toml` says into a finished component, with `tools` where it cannot list them itself. A manifest
/// that is there already is replaced only where `replace` says so.
///
/// # Errors
/// As [`with_manifest`], and when there is a manifest already, or the component lists its tools itself.
pub async fn pack(
    component: &[u8],
    manifest: &str,
    tools: Option<Vec<ToolSpec>>,
    replace: bool,
) -> Result<(Vec<u8>, Manifest, Vec<String>), PackError> {
    let info = PackageInfo::parse(manifest)?;
    if !replace && Component::read(component)?.manifest_bytes().is_ok() {
        return Err(ComponentError::HasManifest.into());
    }
    with_tools(component, info, tools).await
}

/// Puts the manifest into a component: what the author says, and the tools that the component itself defines.
///
/// # Errors
/// When the component cannot say which they are, or they cannot be registered.
pub async fn with_manifest(component: &[u8], info: PackageInfo) -> Result<(Vec<u8>, Manifest, Vec<String>), PackError> {
    with_tools(component, info, None).await
}

async fn with_tools(
    component: &[u8],
    info: PackageInfo,
    given: Option<Vec<ToolSpec>>,
) -> Result<(Vec<u8>, Manifest, Vec<String>), PackError> {
    let read = Component::read(component)?;
    let contract = read.contract()?;
    // Asked in any case: what cannot be asked cannot be called.
    let own = definitions(component, &info.limits).await?;
    let tools = match given {
        Some(_) if contract.lists_tools() => return Err(PackError::OwnTools),
        Some(given) => given,
        None => own,
    };
    let mut warnings = unasked(&read.imports, &info.capabilities);
    for tool in &tools {
        warnings.extend(check_schemas(tool)?);
    }
    let manifest = Manifest::new(info, contract, tools)?;
    let bytes = section::embed(component, &manifest.to_bytes()?, true)?;
    Ok((bytes, manifest, warnings))
}

/// The tools of a component, in its own words.
///
/// # Errors
/// When it does not compile, or `definitions` does not end well under `limits`.
pub async fn definitions(component: &[u8], limits: &LimitSet) -> Result<Vec<ToolSpec>, PackError> {
    let engine = Engine::for_one_question()?;
    let code = engine.compile(component).map_err(ProbeError::Code)?;
    let limits = Limits::effective(limits, &LimitSet::default());
    Ok(ringfence_source_wasm::definitions(&engine, &code, &limits).await?)
}

/// The warnings about what a component uses and its manifest does not ask for: nobody can grant that.
fn unasked(imports: &[String], asked: &Capabilities) -> Vec<String> {
    let abilities = [
        ("ringfence:tool/http@", asked.http.is_empty(), "sends requests", "[[capabilities.http]]"),
        ("wasi:http/outgoing-handler@", asked.http.is_empty(), "sends requests", "[[capabilities.http]]"),
        ("ringfence:tool/secrets@", asked.secrets.is_empty(), "uses secrets", "[capabilities.secrets]"),
        ("ringfence:tool/workspace@", asked.workspace.is_empty(), "uses files", "[capabilities.workspace]"),
        ("ringfence:tool/tools@", asked.tools.is_empty(), "calls other tools", "[capabilities.tools]"),
        ("ringfence:tool/state@", asked.state.is_none(), "keeps values between calls", "[capabilities.state]"),
    ];
    let lacking = abilities.into_iter().filter(|(interface, is_unasked, ..)| {
        *is_unasked && imports.iter().any(|import| import.starts_with(interface))
    });
    let warning = |(_, _, does, section)| {
        format!("it {does}, and its manifest does not ask for that: add {section}, or none of its tools can run")
    };
    lacking.map(warning).collect()
}

/// The warnings about a tool's schemas.
fn check_schemas(tool: &ToolSpec) -> Result<Vec<String>, PackError> {
    let (warnings, errors): (Vec<_>, Vec<_>) =
        schema_rules::inspect(tool).into_iter().partition(SchemaProblem::is_warning);
    let texts = |problems: Vec<SchemaProblem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>();
    if errors.is_empty() {
        return Ok(texts(warnings).iter().map(|text| format!("`{}`: {text}", tool.name)).collect());
    }
    Err(PackError::Schema { tool: tool.name.clone(), problems: texts(errors) })
}
