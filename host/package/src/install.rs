//! Taking a package in: plan, check, commit. Each step needs what the one before it made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence_core::{SourceName, ToolSpec};
use ringfence_store::{Digest, InstalledRow, Pin, Signed, Store, unix_milliseconds, write_atomically};

use crate::compiled::CompiledCache;
use crate::compiler::Compiler;
use crate::component::{self, Component, ComponentError};
use crate::difference::{ToolChange, between};
use crate::error::PackageError;
use crate::installed::Installed;
use crate::key::Signer;
use crate::manifest::Manifest;
use crate::package_file::PackageFile;
use crate::pinning::Candidate;
use crate::rotation;
use crate::signature::Signature;
use crate::trust::{TrustStore, TrustedKey};

/// Tools of MCP servers will be named behind this; a package of that name could be taken for one.
const RESERVED_FOR_BRIDGE: &str = "mcp";

/// What the operator said beside the package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstallOptions {
    /// The name to install it under; `None`: the one in its manifest.
    pub source: Option<SourceName>,
    /// Take it although nobody signed it. A signature that is there has to be right all the same.
    pub allow_unsigned: bool,
    /// Take it although a higher version was installed before.
    pub allow_downgrade: bool,
    /// Take it from this signer although the name was another's.
    pub accept_signer: Option<Signer>,
    /// Believe what its tools say of their effects.
    pub accept_effects: bool,
    /// Believe it where the package that it replaces was believed, and none of its tools says anything else or new.
    pub keep_effects: bool,
    /// Where it came from, to be remembered.
    pub location: Option<String>,
}

/// Installs, lists, loads and removes packages in one state folder.
pub struct Installer {
    store: Arc<Store>,
    compiled: CompiledCache,
    change: Mutex<()>,
}

/// A verified package, and what installing it would mean. For the operator to look at.
pub struct Plan {
    /// The name that it will have.
    pub source: SourceName,
    /// What it says of itself and asks for.
    pub manifest: Manifest,
    /// SHA-256 of the component.
    pub digest: Digest,
    /// Who vouches for it.
    pub signer: Signer,
    /// Who made it: as the trust store calls the owner of the key, or, when it is unsigned, as its manifest claims.
    pub publisher: String,
    /// The interfaces that it imports, which is what its code can reach.
    pub imports: Vec<String>,
    /// What it will replace.
    pub replaces: Option<Installed>,
    component: Vec<u8>,
    manifest_text: String,
    signature: Option<Signature>,
    options: InstallOptions,
}

/// A package that was also compiled, and defines the tools that its manifest says. Only such a one can be committed.
pub struct Checked {
    plan: Plan,
    engine: Digest,
    code: Vec<u8>,
}

impl Plan {
    /// How its tools differ from those of what it replaces.
    pub fn tool_changes(&self) -> Vec<ToolChange> {
        let before = self.replaces.as_ref().map_or(&[][..], |installed| &installed.manifest().tools);
        between(before, &self.manifest.tools)
    }

    /// Whether what its tools say of their effects will be believed.
    pub fn effects_accepted(&self) -> bool {
        let before = self.replaces.as_ref().filter(|installed| installed.effects_accepted());
        let said_before = |tool: &ToolSpec| {
            before.is_some_and(|before| {
                before.manifest().tools.iter().any(|old| old.name == tool.name && old.effects == tool.effects)
            })
        };
        self.options.accept_effects || (self.options.keep_effects && self.manifest.tools.iter().all(said_before))
    }

    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            source: &self.source,
            version: &self.manifest.package.version,
            digest: self.digest,
            publisher: &self.publisher,
            signer: self.signer,
        }
    }

    fn row(&self) -> InstalledRow {
        InstalledRow {
            source: self.source.clone(),
            version: self.manifest.package.version.clone(),
            publisher: self.publisher.clone(),
            digest: self.digest,
            signed: self.signature.as_ref().map(|signature| Signed {
                key_id: signature.key_id().to_string(),
                signature: signature.as_text().to_owned(),
            }),
            effects_accepted: self.effects_accepted(),
            installed_at: unix_milliseconds(),
            manifest: self.manifest_text.clone(),
            location: self.options.location.clone(),
        }
    }
}

impl Checked {
    /// The plan that was checked.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl Installer {
    /// Works in the folder of `store`, and removes what a kill left there.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn open(store: Arc<Store>) -> Result<Self, PackageError> {
        let compiled = CompiledCache::new(store.clone());
        let installer = Self { store, compiled, change: Mutex::new(()) };
        installer.sweep()?;
        Ok(installer)
    }

    /// The state that it works in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The compiled code of what is installed.
    pub fn compiled(&self) -> &CompiledCache {
        &self.compiled
    }

    /// Verifies `file`, then reads it, then compares it with what was installed before. Changes nothing.
    ///
    /// # Errors
    /// Why the package is refused.
    pub fn plan(&self, file: PackageFile, options: InstallOptions) -> Result<Plan, PackageError> {
        let PackageFile { component, signature } = file;
        if component.len() > component::MAX_BYTES {
            return Err(ComponentError::TooLarge { size: component.len() }.into());
        }
        let signature = signature.map(|bytes| Signature::parse(&bytes)).transpose()?;
        let key = match &signature {
            Some(signature) => Some(self.verify(&component, signature)?),
            None if options.allow_unsigned => None,
            None => return Err(PackageError::SignatureMissing),
        };
        let Contents { manifest, manifest_text, imports } = Contents::read(&component)?;
        let source = source_name(&manifest, &options)?;
        let plan = Plan {
            digest: Digest::of(&component),
            signer: key.as_ref().map_or(Signer::Unsigned, |key| Signer::Key(key.key.id())),
            publisher: key.map_or_else(|| manifest.package.publisher.clone(), |key| key.publisher),
            replaces: self.installed(&source).unwrap_or_default(),
            source,
            manifest,
            imports,
            component,
            manifest_text,
            signature,
            options,
        };
        self.admit(&plan)?;
        Ok(plan)
    }

    /// Compiles the package, unless that was done before, and asks it for its tools, which have to be those of its
    /// manifest, unless it speaks a contract by which it cannot say.
    ///
    /// # Errors
    /// When it cannot be compiled, does not answer, or answers otherwise.
    pub async fn check(&self, plan: Plan, compiler: &dyn Compiler) -> Result<Checked, PackageError> {
        let engine = compiler.engine();
        let code = match self.compiled.get(&plan.digest, &engine) {
            Some(code) => code,
            None => compiler.compile(&plan.component).await?,
        };
        let defined = compiler.definitions(&code, &plan.manifest.package.limits).await;
        let changes = between(&plan.manifest.tools, &defined.map_err(PackageError::Definitions)?);
        if plan.manifest.repeats_component() && !changes.is_empty() {
            return Err(PackageError::DefinitionsDiffer(changes));
        }
        Ok(Checked { plan, engine, code })
    }

    /// Installs the package. One database transaction takes it from the old state to the new; the files that the new
    /// state needs are on the disk before, and those that only the old one needed go after. A kill at any moment
    /// leaves one of the two.
    ///
    /// # Errors
    /// When trust or pin changed since the plan was made, or when the state cannot be written. Nothing has changed then.
    pub fn commit(&self, checked: Checked) -> Result<Installed, PackageError> {
        let _one_at_a_time = self.change();
        let Checked { plan, engine, code } = checked;
        let pin = self.admit(&plan)?;
        write_atomically(&self.component_path(&plan.digest), &[&plan.component])?;
        self.compiled.put(&plan.digest, &engine, &code)?;
        let row = plan.row();
        self.store.database().record_installed(&row, &plan.candidate().pin(pin))?;
        self.sweep_or_warn();
        Ok(Installed::new(row, plan.manifest))
    }

    /// Checks that `signature` is that of `component`, by a key that is trusted. For which names is asked later: the
    /// name may stand in the component, and nothing of that is read before this.
    pub(crate) fn verify(&self, component: &[u8], signature: &Signature) -> Result<TrustedKey, PackageError> {
        let key = TrustStore::new(self.store.database()).signer(signature)?;
        signature.verify(component, &key.key)?;
        Ok(key)
    }

    /// Taken by whoever changes what is installed.
    pub(crate) fn change(&self) -> MutexGuard<'_, ()> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the key of `signer` took the place of the key `earlier`, by that one's own statement.
    fn succeeds(&self, signer: Signer, earlier: Option<&str>) -> Result<bool, PackageError> {
        match (signer, earlier) {
            (Signer::Key(later), Some(earlier)) => Ok(rotation::succeeds(self.store.database(), later, earlier)?),
            _ => Ok(false),
        }
    }

    /// Checks that the name may become what `plan` makes of it, and returns its pin.
    fn admit(&self, plan: &Plan) -> Result<Option<Pin>, PackageError> {
        if let Signer::Key(id) = plan.signer {
            TrustStore::new(self.store.database()).key(id)?.may_sign(&plan.source)?;
        }
        let pin = self.store.database().pin(&plan.source)?;
        if let Some(pin) = &pin {
            plan.candidate().check(pin, self.succeeds(plan.signer, pin.key_id.as_deref())?, &plan.options)?;
        }
        Ok(pin)
    }
}

/// What a component of ours holds.
struct Contents {
    manifest: Manifest,
    manifest_text: String,
    imports: Vec<String>,
}

impl Contents {
    fn read(component: &[u8]) -> Result<Self, PackageError> {
        let component = Component::read(component)?;
        let contract = component.contract()?;
        let bytes = component.manifest_bytes()?;
        let manifest = Manifest::parse(bytes)?;
        manifest.check_contract(contract)?;
        // JSON that was parsed is UTF-8.
        let manifest_text = String::from_utf8_lossy(bytes).into_owned();
        Ok(Self { manifest, manifest_text, imports: component.imports })
    }
}

/// The name that the package will have. Those of ringfence's own sources cannot be had.
fn source_name(manifest: &Manifest, options: &InstallOptions) -> Result<SourceName, PackageError> {
    let source = options.source.as_ref().unwrap_or(&manifest.package.name);
    if source.is_bare() || source.as_str() == RESERVED_FOR_BRIDGE {
        return Err(PackageError::ReservedSource(source.clone()));
    }
    Ok(source.clone())
}
