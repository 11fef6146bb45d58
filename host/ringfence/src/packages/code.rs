//! How a component becomes code that runs: compiled at installation, kept, and compiled again where what is kept cannot
//! be trusted.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::error::{Failure, FailureKind, ToolError};
use ringfence_core::limit::{LimitSet, Limits};
use ringfence_core::tool::ToolSpec;
use ringfence_package::{CompileError, Compiler, Installed, Installer, PackageError};
use ringfence_source_wasm::{Code, CodeError, Engine, ProbeError};
use ringfence_store::Digest;

/// The engine, as installing sees it.
pub(super) struct WasmCompiler(pub(super) Engine);

#[async_trait]
impl Compiler for WasmCompiler {
    fn engine(&self) -> Digest {
        engine_digest(&self.0)
    }

    async fn compile(&self, component: &[u8]) -> Result<Vec<u8>, CompileError> {
        let (engine, component) = (self.0.clone(), component.to_vec());
        let compiled = tokio::task::spawn_blocking(move || engine.compile(&component)).await;
        compiled.map_err(|error| CompileError(error.into()))?.map_err(|error| CompileError(error.into()))
    }

    async fn definitions(&self, code: &[u8], requested: &LimitSet) -> Result<Vec<ToolSpec>, ToolError> {
        let limits = Limits::effective(requested, &LimitSet::default());
        ringfence_source_wasm::definitions(&self.0, code, &limits).await.map_err(|error| match error {
            ProbeError::Ended(error) => error,
            other => ToolError::Failed(Failure {
                kind: FailureKind::Failed,
                code: "definitions".into(),
                message: other.to_string(),
                retry_after: None,
            }),
        })
    }
}

fn engine_digest(engine: &Engine) -> Digest {
    Digest::of(engine.key().as_bytes())
}

/// The compiled code of an installed package: kept, or compiled again where what is kept cannot be trusted.
pub(super) struct InstalledCode {
    pub(super) installer: Arc<Installer>,
    pub(super) installed: Installed,
}

#[async_trait]
impl Code for InstalledCode {
    async fn compiled(&self, engine: &Engine) -> Result<Vec<u8>, CodeError> {
        let (installer, installed, engine) = (self.installer.clone(), self.installed.clone(), engine.clone());
        let loaded = tokio::task::spawn_blocking(move || compiled_code(&installer, &installed, &engine)).await;
        loaded.map_err(|error| CodeError::Refused(error.to_string()))?
    }
}

fn compiled_code(installer: &Installer, installed: &Installed, engine: &Engine) -> Result<Vec<u8>, CodeError> {
    let refused = |error: PackageError| CodeError::Refused(error.to_string());
    // Read and proven even where compiled code is there: an altered component must not run from what it once was.
    let component = installer.load(installed).map_err(refused)?;
    let key = engine_digest(engine);
    if let Some(code) = installer.compiled().get(installed.digest(), &key) {
        return Ok(code);
    }
    let code = engine.compile(&component)?;
    installer.compiled().put(installed.digest(), &key, &code).map_err(refused)?;
    Ok(code)
}

/// For a source that is only looked at.
pub(super) struct NoCode;

#[async_trait]
impl Code for NoCode {
    async fn compiled(&self, _engine: &Engine) -> Result<Vec<u8>, CodeError> {
        Err(CodeError::Refused("it is not installed yet".into()))
    }
}
