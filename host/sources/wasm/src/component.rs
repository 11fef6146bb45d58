//! A component, from its bytes to something that can be instantiated in microseconds.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::name::SourceName;
use ringfence_package::Contract;
use thiserror::Error;
use tokio::sync::OnceCell;
use wasmtime::component::{Component, Linker};

use crate::bindings::Tool;
use crate::engine::{Engine, Profile};
use crate::kind::Kind;
use crate::near_agent;
use crate::plain::FunctionError;
use crate::reach::{Granter, Lacking, Reach, abilities};
use crate::state::GuestState;
use crate::{wasi, wasi_http};

/// Where compiled code comes from. Loading compiled code is trusting it, so whoever implements this vouches that the
/// bytes are what [`Engine::compile`] once returned, for a component that may run.
#[async_trait]
pub trait Code: Send + Sync {
    /// The compiled code for `engine`.
    ///
    /// # Errors
    /// When the component may not run, or cannot be read or compiled.
    async fn compiled(&self, engine: &Engine) -> Result<Vec<u8>, CodeError>;
}

/// Code that this process has compiled itself.
pub struct InMemory(pub Vec<u8>);

#[async_trait]
impl Code for InMemory {
    async fn compiled(&self, _engine: &Engine) -> Result<Vec<u8>, CodeError> {
        Ok(self.0.clone())
    }
}

/// What is said of a grant that has ended, also to a call that is under way.
pub(crate) const GRANT_ENDED: &str =
    "its grant has ended: `ringfence grants` shows when, and `ringfence grant SOURCE --expires TIME` sets another end";

/// Why a component cannot run.
#[derive(Debug, Error)]
pub enum CodeError {
    /// It could not be read, or must not be run.
    #[error("{0}")]
    Refused(String),
    /// It does not compile.
    #[error("it does not compile: {0:#}")]
    Compile(wasmtime::Error),
    /// It does not fit into the pool.
    #[error("it does not fit into the engine: {0:#}; {remedy}", remedy = .1.remedy())]
    Room(wasmtime::Error, Profile),
    /// It needs something that this host does not have.
    #[error("{0}")]
    Import(String),
    /// It needs something of which nothing was granted.
    #[error("it needs to {abilities}, and nothing of that is granted to it: {}", .granter.remedy())]
    NotGranted {
        /// What it needs to do and may not.
        abilities: String,
        /// Who could grant it.
        granter: Granter,
    },
    /// It needs something of a grant that gives nothing now.
    #[error("it needs to {abilities}, and {why}")]
    Suspended {
        /// What it needs to do.
        abilities: String,
        /// Why the grant gives nothing, and what to do about that.
        why: String,
    },
    /// It needs something of a grant that has ended.
    #[error("it needs to {abilities}, and {GRANT_ENDED}")]
    Ended {
        /// What it needs to do.
        abilities: String,
    },
    /// It is granted files, and there is no folder that they could be in.
    #[error(
        "it needs to use files, and this host has no folder for them: set `root` under [workspace] in config.toml to one and \
         restart ringfence; `ringfence config --path` says where that file is"
    )]
    NoWorkspace,
    /// It exports functions that cannot be tools.
    #[error(transparent)]
    Function(#[from] FunctionError),
}

/// A component whose code is loaded at the first call of one of its tools.
pub struct GuestComponent {
    engine: Engine,
    code: Box<dyn Code>,
    reach: Arc<Reach>,
    /// What its author calls the package, where it has one.
    package: Option<SourceName>,
    loaded: OnceCell<Arc<Loaded>>,
}

/// A component that is ready for instances.
pub(crate) struct Loaded {
    pub(crate) kind: Kind,
    /// The names of the interfaces that it imports.
    imports: Vec<String>,
}

impl GuestComponent {
    /// A component that takes its code from `code`, and whose tools reach `reach`. Nothing is read yet.
    pub fn new(engine: Engine, code: Box<dyn Code>, reach: Reach) -> Self {
        Self { engine, code, reach: Arc::new(reach), package: None, loaded: OnceCell::new() }
    }

    /// The same, as its author called it, whatever the operator calls it: some contracts tell a guest its own name.
    #[must_use]
    pub fn of_package(mut self, name: SourceName) -> Self {
        self.package = Some(name);
        self
    }

    pub(crate) fn package(&self) -> Option<&SourceName> {
        self.package.as_ref()
    }

    pub(crate) fn reach(&self) -> &Arc<Reach> {
        &self.reach
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) async fn loaded(&self) -> Result<&Arc<Loaded>, CodeError> {
        let load = async {
            let compiled = self.code.compiled(&self.engine).await?;
            let loaded = Loaded::new(&self.engine, &compiled)?;
            match (self.reach.lacks(loaded.imports()), &self.reach.suspended) {
                (None, _) => Ok(Arc::new(loaded)),
                (Some(Lacking::Folder), _) => Err(CodeError::NoWorkspace),
                (Some(Lacking::Grant(abilities)), Some(why)) => {
                    Err(CodeError::Suspended { abilities, why: why.clone() })
                }
                (Some(Lacking::Grant(abilities)), None) => {
                    Err(CodeError::NotGranted { abilities, granter: self.reach.granter })
                }
            }
        };
        let loaded = self.loaded.get_or_try_init(|| load).await?;
        if self.reach.grant.has_ended()
            && let Some(abilities) = abilities(loaded.imports())
        {
            return Err(CodeError::Ended { abilities });
        }
        Ok(loaded)
    }
}

impl Loaded {
    fn imports(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(String::as_str)
    }

    pub(crate) fn new(engine: &Engine, compiled: &[u8]) -> Result<Self, CodeError> {
        let component = load(engine, compiled)?;
        let linker = linker(engine).map_err(CodeError::Compile)?;
        let pre = linker.instantiate_pre(&component).map_err(missing_import)?;
        let imports = component.component_type().imports(&engine.inner).map(|(name, _)| name.to_owned()).collect();
        Ok(Self { kind: Kind::of(pre)?, imports })
    }
}

/// Everything that a guest can be linked to.
fn linker(engine: &Engine) -> wasmtime::Result<Linker<GuestState>> {
    let mut linker = Linker::new(&engine.inner);
    Tool::add_to_linker::<_, wasmtime::component::HasSelf<GuestState>>(&mut linker, |state| state)?;
    near_agent::link(&mut linker)?;
    wasi::link(&mut linker)?;
    wasi_http::link(&mut linker)?;
    Ok(linker)
}

#[expect(unsafe_code, reason = "wasmtime offers no other way to load compiled code")]
fn load(engine: &Engine, compiled: &[u8]) -> Result<Component, CodeError> {
    // SAFETY: the bytes are `Engine::compile`'s own: `Code` vouches for that, by having just compiled them or by
    // checking their MAC under the host's key.
    let component = unsafe { Component::deserialize(&engine.inner, compiled) };
    component.map_err(|error| CodeError::Room(error, engine.settings().profile))
}

pub(crate) fn missing_import(error: wasmtime::Error) -> CodeError {
    CodeError::Import(format!(
        "it needs something that this host does not have: {error:#}. This host speaks {} and WASI 0.2; rebuild the tool \
         for these",
        Contract::packages()
    ))
}
