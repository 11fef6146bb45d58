//! The composition root: where the parts become a host.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ringfence_core::finish::current::CurrentScrubber;
use ringfence_core::finish::scrub::ScrubberError;
use ringfence_core::gates::approval::ApprovalGate;
use ringfence_core::gates::policy::{Policy, PolicyError, RulePlace};
use ringfence_core::gates::rate::{RateClock, RateGate, RateLedger as _, TABLE_SIZE};
use ringfence_core::limit::{LimitSet, Limits};
use ringfence_core::name::{NameError, SourceName};
use ringfence_core::registry::RegistryError;
use ringfence_core::source::{Ceiling, Offered, ToolSource};
use ringfence_core::tool::{Origin, Tool};
use ringfence_core::{Registry, Secret, ToolHost};
use ringfence_egress::{Egress, Settings, SettingsError, Tokens};
use ringfence_package::{Capabilities, Component, Effective, Granted, PackageError, reading};
use ringfence_source_builtin::Builtins;
use ringfence_source_wasm::{
    Concurrency, Engine, EngineError, GuestComponent, InMemory, ProbeError, Reach, WasmSource, Workspace,
};
use ringfence_store::audit::AuditFault;
use ringfence_store::{AuditFile, Digest, Store, StoreError};
use ringfence_vault::{Vault, VaultError};
use thiserror::Error;

use crate::config::{self, Config, ConfigError, Home};
use crate::dumps;
use crate::grants::{GrantHolders, Grants};
use crate::host::Ringfence;
use crate::known_secrets::KnownSecrets;
use crate::means::Means;
use crate::packages::Packages;
use crate::shelf::Shelf;
use crate::unlock::{AskPassphrase, UnlockError, unlock};

/// The longest file of certificates, in bytes: many times what a system trusts.
const MAX_AUTHORITIES: usize = 16 << 20;

/// What a host will consist of.
pub struct Builder {
    home: Home,
    config: Option<Config>,
    native: Vec<Arc<dyn Tool>>,
    embedded: Vec<Embedded>,
    secrets: Vec<(String, Secret)>,
    /// Of the binary: asks for a passphrase. It stays open to an operator whose policy cannot be read, and closed to
    /// whoever would dump its memory.
    for_operator: Option<AskPassphrase>,
}

struct Embedded {
    name: String,
    component: Vec<u8>,
    grant: WasmGrant,
}

/// What an embedded component asks for and is granted. A [`LimitSet`] alone is one that grants nothing but those limits.
#[derive(Clone, Debug, Default)]
pub struct WasmGrant {
    /// What its author asks for; `None`: what its manifest says, and nothing where it has none.
    pub requested: Option<Capabilities>,
    /// What the embedding program grants: whatever was not asked for has no effect. Secrets are those of the vault.
    pub granted: Granted,
}

impl From<LimitSet> for WasmGrant {
    fn from(limits: LimitSet) -> Self {
        Self { requested: None, granted: Granted { limits, ..Granted::default() } }
    }
}

/// Why there is no host.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The state folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The audit log cannot be used.
    #[error(transparent)]
    Audit(#[from] AuditFault),
    /// The saved rates cannot be read.
    #[error("the saved rates cannot be read: {0}")]
    Rates(std::io::Error),
    /// The engine cannot start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The installed packages cannot be read.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A tool cannot be registered.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The policy names something that there is not.
    #[error("[policy] in {place}: {error}")]
    Policy {
        /// The file, with the line where it is known.
        place: String,
        /// What, and what it may have meant.
        error: PolicyError,
    },
    /// A secret cannot be kept out of results.
    #[error(transparent)]
    Secret(#[from] ScrubberError),
    /// The additional certificate authorities cannot be read.
    #[error("`authorities` under [network] in the configuration: {0}")]
    Network(std::io::Error),
    /// The door to the network cannot be made.
    #[error("[network] in the configuration: {0}")]
    Egress(#[from] SettingsError),
    /// The vault cannot be opened.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The key of the encrypted file of secrets is of no use.
    #[error(transparent)]
    Unlock(#[from] UnlockError),
    /// Core dumps cannot be turned off.
    #[error("core dumps, in which secrets would stand, cannot be turned off: {0}")]
    Dumps(std::io::Error),
    /// The workspace cannot be opened.
    #[error("`root` under [workspace] in the configuration: {} cannot be opened: {error}; make that folder, or name another one", .root.display())]
    Workspace {
        /// What the configuration names.
        root: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The name of an embedded component is no source name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// What an embedded component asks for or is granted cannot be used.
    #[error("the grant of the embedded component `{name}`: {problem}")]
    EmbeddedGrant {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// An embedded component cannot be used.
    #[error("the embedded component `{name}`: {problem}")]
    Embedded {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: ProbeError,
    },
}

impl BuildError {
    /// Whether another process owns the state folder.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Store(StoreError::Busy { .. }))
    }
}

impl Builder {
    pub(crate) fn new(home: Home) -> Self {
        Self { home, config: None, native: Vec::new(), embedded: Vec::new(), secrets: Vec::new(), for_operator: None }
    }

    /// Uses `config` instead of the file in the home.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Adds a native tool of the embedding program. It must not have a reserved name.
    #[must_use]
    pub fn register_native(mut self, tool: Arc<dyn Tool>) -> Self {
        self.native.push(tool);
        self
    }

    /// Adds a component from bytes as the source `name`. It reaches what `grant` gives, and its limits are the ceiling of
    /// those that the component has (the operator's own ceilings hold as well). Nobody signed it, so audit and listings
    /// mark its tools as `embedded`. The secrets behind its credentials are read once, when the host is opened.
    #[must_use]
    pub fn register_wasm(mut self, name: &str, component: &[u8], grant: impl Into<WasmGrant>) -> Self {
        self.embedded.push(Embedded { name: name.to_owned(), component: component.to_vec(), grant: grant.into() });
        self
    }

    /// Keeps `value` out of every result, error and log, in any usual encoding; `name` stands in its place.
    #[must_use]
    pub fn secret(mut self, name: &str, value: Secret) -> Self {
        self.secrets.push((name.to_owned(), value));
        self
    }

    /// Opens the host of the binary. It allows no call when the policy cannot be read, instead of none at all: an
    /// operator has to be able to list, install and remove what the policy speaks of. Where the secrets need a
    /// passphrase that nobody gave, it asks. The process is its own, so it leaves no core dump.
    #[must_use]
    pub(crate) fn for_operator(mut self, ask: AskPassphrase) -> Self {
        self.for_operator = Some(ask);
        self
    }

    /// Opens the host. It owns the state folder until it is dropped.
    ///
    /// # Errors
    /// When a part cannot be used; see [`BuildError`].
    pub async fn open(self) -> Result<Ringfence, BuildError> {
        let file = self.config.is_none().then_some(self.home.config.as_path());
        let config = match self.config {
            Some(config) => config,
            None => Config::load(&self.home.config)?,
        };
        let for_operator = self.for_operator.is_some();
        let store = Arc::new(Store::open(&self.home.state)?);
        let audit = Arc::new(AuditFile::open(store.clone(), config.audit.durability.into())?);
        let engine = Engine::new(config.engine.clone())?;
        let concurrency = Arc::new(Concurrency::new(config.concurrency.clone(), engine.instances()));
        let registry = Arc::new(Registry::new(config.operator_limits()));

        if for_operator {
            dumps::prevent().map_err(BuildError::Dumps)?; // before the first secret is read
        }
        let scrubber = Arc::new(CurrentScrubber::default());
        let means = Arc::new(means(&config, &self.home, &store, self.secrets, &scrubber)?);
        unlock(&means.vault, self.for_operator)?;
        registry.put(&NativeTools::new(self.native))?;
        let packages =
            Packages::open(store.clone(), engine.clone(), concurrency.clone(), registry.clone(), means.clone())?;
        registry.put(&builtins(&config, &means, &packages))?;
        for embedded in self.embedded {
            registry.put(&embedded.source(&engine, &concurrency, &means).await?)?;
        }

        let rate = RateGate::new(config.rate_rules()?, RateClock::system(), TABLE_SIZE);
        let (saved, passed) = store.database().load().map_err(BuildError::Rates)?;
        rate.restore(saved.buckets, passed, audit.permitted_behind(saved.counted, passed)?, &registry);
        let policy = match Policy::load(&config.policy, &registry) {
            Err(error) if for_operator => Policy::closed(unread(&error, file)),
            loaded => loaded.map_err(|error| BuildError::Policy { place: rule_place(file, error.place()), error })?,
        };
        let idle = idle_settings(file, &config, &policy, &registry);
        learn_stored_secrets(&means);
        let pipeline = ToolHost { registry, policy, rate, approval: ApprovalGate, scrubber, audit: audit.clone() };
        let host = Ringfence::start(pipeline, store, audit, packages, means, idle);
        if !for_operator {
            host.tell_of_idle_settings();
        }
        Ok(host)
    }
}

/// Why a policy is closed. Clients read that as well, and in which folder the file lies is not for them.
fn unread(error: &PolicyError, file: Option<&Path>) -> String {
    let place = rule_place(file, error.place());
    let name = Path::new(&place).file_name().unwrap_or_default().display();
    format!("[policy] in {name}: {error}")
}

/// Where a rule of the policy stands in `file`, or in the configuration that a program made.
fn rule_place(file: Option<&Path>, RulePlace { list, entry }: RulePlace) -> String {
    place(file, &["policy", list.key()], entry)
}

fn place(file: Option<&Path>, key: &[&str], index: Option<usize>) -> String {
    file.map_or_else(|| "the configuration".into(), |file| config::place(file, key, index))
}

/// The door to the network, as the configuration says. Tokens that it obtains are made known to `scrubber`.
pub(crate) fn door(config: &Config, scrubber: &Arc<CurrentScrubber>) -> Result<Egress, BuildError> {
    let read = |path: &Path| reading::bytes(path, MAX_AUTHORITIES).map_err(BuildError::Network);
    let authorities = config.network.authorities.as_deref().map(read).transpose()?;
    let settings = Settings {
        hosts: config.network.hosts.clone(),
        authorities: authorities.unwrap_or_default(),
        connect_timeout: Duration::from_millis(config.network.connect_ms),
        scrubber: scrubber.clone(),
        ..Settings::default()
    };
    Ok(Egress::new(settings)?)
}

fn means(
    config: &Config,
    home: &Home,
    store: &Arc<Store>,
    secrets: Vec<(String, Secret)>,
    scrubber: &Arc<CurrentScrubber>,
) -> Result<Means, BuildError> {
    let open =
        |root: &PathBuf| Workspace::open(root).map_err(|error| BuildError::Workspace { root: root.clone(), error });
    let workspace = config.workspace.root.as_ref().map(open).transpose()?;
    let vault = Arc::new(Vault::open(&store.folder().root().join("vault"))?);
    Ok(Means {
        door: Arc::new(door(config, scrubber)?),
        secrets: KnownSecrets::new(vault.clone(), secrets, scrubber.clone())?,
        tokens: Tokens::new(vault.clone()),
        vault,
        workspace,
        state: store.tool_state(),
        grants: Grants::open(home.grants())?,
        holders: GrantHolders::new(store.clone()),
    })
}

fn builtins(config: &Config, means: &Arc<Means>, packages: &Packages) -> Builtins {
    let reveal = config.secrets.reveal.clone();
    let revealing = !reveal.is_empty();
    let shelf = Shelf { means: means.clone(), installer: packages.installer().clone(), reveal };
    Builtins::new().with_secrets(Arc::new(shelf), revealing)
}

/// Makes the secrets in the vault known. One that does not answer places none either, so nothing can come back.
fn learn_stored_secrets(means: &Means) {
    if let Err(error) = means.secrets.get() {
        tracing::warn!("no credential is placed and none is looked for: {error}");
    }
}

/// The settings for a source or tool that is not there, in sentences: they have no effect, and a slip in the name would go
/// unnoticed.
fn idle_settings(file: Option<&Path>, config: &Config, policy: &Policy, registry: &Registry) -> Vec<String> {
    let rules =
        policy.absent().iter().map(|absent| format!("[policy] in {}: {absent}", rule_place(file, absent.place)));
    let known =
        |name: &str| registry.all().iter().any(|tool| tool.wire_name() == name || tool.id().source.as_str() == name);
    let sections = config.tools.keys().filter(|name| !known(name)).map(|name| {
        let place = place(file, &["tools", name], None);
        format!("[tools.\"{name}\"] in {place} names no source and no tool that is there")
    });
    rules.chain(sections).collect()
}

impl Embedded {
    async fn source(
        self,
        engine: &Engine,
        concurrency: &Arc<Concurrency>,
        means: &Means,
    ) -> Result<WasmSource, BuildError> {
        let source = SourceName::try_from(self.name.clone())?;
        let wrong = |problem| BuildError::Embedded { name: self.name.clone(), problem };
        let digest = Digest::of(&self.component);
        let code = engine.compile(&self.component).map_err(|error| wrong(error.into()))?;
        let reach = self.reach(&source, means)?;
        let limits = Limits::effective(&self.grant.granted.limits, &LimitSet::default());
        let specs = ringfence_source_wasm::definitions(engine, &code, &limits).await.map_err(wrong)?;
        let component = Arc::new(GuestComponent::new(engine.clone(), Box::new(InMemory(code)), reach));
        let origin = Origin::Embedded { digest: digest.to_string() };
        Ok(WasmSource::new(source, &origin, specs, &self.grant.granted.limits, false, &component, concurrency))
    }

    /// What its tools reach: what is asked for, as far as it is granted.
    fn reach(&self, source: &SourceName, means: &Means) -> Result<Reach, BuildError> {
        let wrong = |problem: String| BuildError::EmbeddedGrant { name: self.name.clone(), problem };
        let requested = match &self.grant.requested {
            Some(requested) => requested.clone(),
            None => capabilities(&self.component).map_err(wrong)?,
        };
        let effective = Effective::new(requested, self.grant.granted.clone());
        let effective = effective.map_err(|error| wrong(error.to_string()))?;
        means.reach_embedded(effective, source).map_err(|error| wrong(error.to_string()))
    }
}

/// What the manifest of `component` asks for; nothing where it has none. That it is a component is checked elsewhere.
fn capabilities(component: &[u8]) -> Result<Capabilities, String> {
    let Ok(component) = Component::read(component) else { return Ok(Capabilities::default()) };
    let manifest = component.manifest().map_err(|error| error.to_string())?;
    Ok(manifest.map(|manifest| manifest.package.capabilities).unwrap_or_default())
}

/// The embedding program's native tools.
struct NativeTools {
    name: SourceName,
    tools: Vec<Arc<dyn Tool>>,
}

impl NativeTools {
    fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { name: SourceName::embedder(), tools }
    }
}

impl ToolSource for NativeTools {
    fn name(&self) -> &SourceName {
        &self.name
    }

    fn tools(&self) -> Vec<Offered> {
        let offer = |tool: &Arc<dyn Tool>| Offered {
            tool: tool.clone(),
            origin: Origin::Native,
            requested: LimitSet::default(),
            ceiling: Ceiling::default(),
            effects_believed: true,
        };
        self.tools.iter().map(offer).collect()
    }
}
