//! Small packages, publishers who sign them, and a compiler that needs no engine.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::{LimitSet, ToolError, ToolSpec};
use ringfence_package::{
    CompileError, Compiler, Component, Contract, InstallOptions, Installed, Installer, Manifest, PackageError,
    PackageFile, PackageInfo, PublicKey, SecretKey, TrustStore, section, signing,
};
use ringfence_store::{Digest, Store};

/// A component that exports an (empty) instance under the name of the contract.
pub(crate) fn bare_component() -> Vec<u8> {
    wat::parse_str(format!(
        "(component (core module (func)) (instance $guest) (export \"{}\" (instance $guest)))",
        ringfence_wit::GUEST_INTERFACE
    ))
    .unwrap()
}

pub(crate) fn manifest(name: &str, version: &str) -> Manifest {
    let info = PackageInfo::parse(&format!(
        "name = {name:?}\nversion = {version:?}\npublisher = \"acme\"\ndescription = \"A test.\"\nlicense = \"MIT\""
    ))
    .unwrap();
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        parameters: serde_json::json!({"type": "object", "properties": {}}),
        ..ToolSpec::default()
    };
    Manifest::new(info, Contract::Tool, vec![tool("today"), tool("tomorrow")]).unwrap()
}

pub(crate) fn package(name: &str, version: &str) -> Vec<u8> {
    section::embed(&bare_component(), &manifest(name, version).to_bytes().unwrap(), false).unwrap()
}

/// Somebody with a key.
pub(crate) struct Publisher {
    pub(crate) public: PublicKey,
    secret: SecretKey,
}

impl Publisher {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let public = signing::generate(dir.path(), "publisher", None).unwrap();
        Self { public, secret: SecretKey::read(&dir.path().join("publisher.key"), None).unwrap() }
    }

    pub(crate) fn sign(&self, component: Vec<u8>) -> PackageFile {
        let signature = self.secret.sign(&component, "test.wasm", "1.0.0").unwrap();
        PackageFile { component, signature: Some(signature.into_bytes()) }
    }

    /// The statement that the key of `other` takes the place of this one, and its signature.
    pub(crate) fn rotation(&self, other: &Self) -> (String, String) {
        self.secret.sign_rotation(other.public.clone()).unwrap()
    }

    /// A signature of `bytes`, whatever they are.
    pub(crate) fn signature(&self, bytes: &str) -> String {
        self.secret.sign(bytes.as_bytes(), "test.wasm", "1.0.0").unwrap()
    }

    pub(crate) fn package(&self, name: &str, version: &str) -> PackageFile {
        self.sign(package(name, version))
    }
}

/// "Compiles" by prefixing, and believes the manifest.
pub(crate) struct FakeCompiler;

const COMPILED: &[u8] = b"compiled ";

#[async_trait]
impl Compiler for FakeCompiler {
    fn engine(&self) -> Digest {
        Digest::of(b"fake engine")
    }

    async fn compile(&self, component: &[u8]) -> Result<Vec<u8>, CompileError> {
        Ok([COMPILED, component].concat())
    }

    async fn definitions(&self, code: &[u8], _: &LimitSet) -> Result<Vec<ToolSpec>, ToolError> {
        Ok(Component::read(&code[COMPILED.len()..]).unwrap().manifest().unwrap().unwrap().tools)
    }
}

pub(crate) fn open(folder: &Path) -> Installer {
    Installer::open(Arc::new(Store::open(folder).unwrap())).unwrap()
}

pub(crate) fn trust(installer: &Installer, publisher: &Publisher, sources: &[&str]) {
    let sources: Vec<_> = sources.iter().map(|pattern| pattern.parse().unwrap()).collect();
    TrustStore::new(installer.store().database()).add(publisher.public.clone(), "acme", &sources).unwrap();
}

/// An installer in `folder` with the packages `maps` and `weather` of one publisher.
pub(crate) fn maps_and_weather(folder: &Path) -> (Installer, Publisher) {
    let (installer, publisher) = (open(folder), Publisher::new());
    trust(&installer, &publisher, &["*"]);
    for name in ["maps", "weather"] {
        install(&installer, publisher.package(name, "1.0.0"), InstallOptions::default()).unwrap();
    }
    (installer, publisher)
}

pub(crate) fn install(
    installer: &Installer,
    file: PackageFile,
    options: InstallOptions,
) -> Result<Installed, PackageError> {
    install_with(installer, file, options, &FakeCompiler)
}

pub(crate) fn install_with(
    installer: &Installer,
    file: PackageFile,
    options: InstallOptions,
    compiler: &dyn Compiler,
) -> Result<Installed, PackageError> {
    let plan = installer.plan(file, options)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    installer.commit(runtime.block_on(installer.check(plan, compiler))?)
}
