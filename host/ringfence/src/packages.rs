//! The installed packages of a running host: installing, removing, trusting, and what of it can be called.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::error::{CallError, Failure, FailureKind, ToolError};
use ringfence_core::limit::{LimitSet, Limits, SetBy};
use ringfence_core::name::SourceName;
use ringfence_core::registry::Registry;
use ringfence_core::schema_rules::{self, SchemaProblem};
use ringfence_core::source::ToolSource;
use ringfence_core::tool::ToolSpec;
use ringfence_package::grant::unused;
use ringfence_package::{
    CompileError, Compiler, Granted, InstallOptions, Installed, Installer, KeyError, PackageError, PackageFile, Plan,
    PublicKey, Signature, Signer, SourcePattern, TrustError, TrustStore, TrustedKey,
};
use ringfence_source_wasm::{Code, CodeError, Concurrency, Engine, GuestComponent, ProbeError, Reach, WasmSource};
use ringfence_store::{Digest, Store};
use tokio::sync::mpsc;

use crate::means::{self, Means, MeansError};
use crate::request::{
    Changes, ErrorKind, Event, Explanation, GrantChange, GrantEntry, InstallReport, InstallRequest, KeyEntry,
    PackageEntry, RemoveReport, Reply, Request, RequestError, VerifyReport,
};

/// What is installed, and how it becomes tools.
pub(crate) struct Packages {
    installer: Arc<Installer>,
    engine: Engine,
    concurrency: Arc<Concurrency>,
    registry: Arc<Registry>,
    means: Arc<Means>,
}

impl Packages {
    /// Registers the tools of everything that is installed. A package that may not run is left out, and listed as such.
    pub(crate) fn open(
        store: Arc<Store>,
        engine: Engine,
        concurrency: Arc<Concurrency>,
        registry: Arc<Registry>,
        means: Arc<Means>,
    ) -> Result<Self, PackageError> {
        let installer = Arc::new(Installer::open(store)?);
        let packages = Self { installer, engine, concurrency, registry, means };
        let inventory = packages.installer.inventory()?;
        for broken in inventory.broken {
            packages.stop(&broken.source, &broken.error.to_string());
        }
        packages.start_all(&inventory.installed);
        Ok(packages)
    }

    /// What knows the installed packages.
    pub(crate) fn installer(&self) -> &Arc<Installer> {
        &self.installer
    }

    /// Answers a request about packages and keys.
    pub(crate) async fn answer(&self, request: Request, events: &mpsc::Sender<Event>) -> Result<Reply, RequestError> {
        match request {
            Request::Install(request) => self.install(request, events).await,
            Request::List => self.list().await.map(Reply::Packages),
            Request::Remove { source } => self.remove(source).map(Reply::Removed),
            Request::TrustAdd { key, publisher, names } => self.trust(&key, &publisher, names).map(Reply::Keys),
            Request::TrustList => self.keys().map(Reply::Keys),
            Request::TrustRevoke { key_id, reason } => self.revoke(&key_id, &reason).map(|()| Reply::Done),
            Request::Verify { file } => self.verify(&file).map(Reply::Verified),
            Request::Grant { source, change } => self.grant(&source, &change).map(|entry| Reply::Grants(vec![entry])),
            Request::Revoke { source } => self.revoke_grant(&source).map(|()| Reply::Done),
            Request::Grants => self.grants().map(Reply::Grants),
            Request::Explain { tool, request } => self.explain(&tool, &request).map(Reply::Explained),
            other => unreachable!("{other:?} is the host's own to answer"),
        }
    }

    async fn install(&self, request: InstallRequest, events: &mpsc::Sender<Event>) -> Result<Reply, RequestError> {
        // Whoever does not watch misses nothing but news.
        let step = |text: &str| drop(events.try_send(Event::Step(text.to_owned())));
        step("verifying");
        let file = PackageFile::read(&request.file).map_err(refused)?;
        let check_only = request.check_only;
        let plan = self.installer.plan(file, options(request)?).map_err(refused)?;
        let warnings = check_schemas(&plan)?;
        let changes = changes(&plan);
        if check_only {
            return Ok(Reply::Planned(changes));
        }
        step("compiling, and asking for its tools");
        let checked = self.installer.check(plan, &WasmCompiler(self.engine.clone())).await.map_err(refused)?;
        let replaced = checked.plan().replaces.as_ref().map(|old| old.manifest().package.version.to_string());
        self.check_names(checked.plan())?;
        checked.plan().replaces.as_ref().map_or(Ok(()), |old| self.settle_grant(old))?;
        let installed = self.installer.commit(checked).map_err(refused)?;
        self.start(&installed);
        let narrowed = self.narrowed(&installed);
        let granted = self.grant_entry(&installed)?;
        let grant = granted.notes();
        let package = self.entry(&installed);
        Ok(Reply::Installed(Box::new(InstallReport {
            package,
            replaced,
            changes,
            narrowed,
            warnings,
            asked: granted.asked,
            grant,
        })))
    }

    /// Before `installed` gives up its name: a grant that was written by hand and not read so far was meant for it. One
    /// that cannot be read grants nothing, to whoever comes after as well.
    fn settle_grant(&self, installed: &Installed) -> Result<(), RequestError> {
        match self.means.grant(installed) {
            Err(MeansError::Holder(error)) => Err(RequestError::new(ErrorKind::Failed, "grant", &error)),
            _ => Ok(()),
        }
    }

    /// Whether the tools of `plan` could be registered; nothing has been changed so far.
    fn check_names(&self, plan: &Plan) -> Result<(), RequestError> {
        let origin = ringfence_core::Origin::Installed {
            digest: plan.digest.to_string(),
            version: plan.manifest.package.version.to_string(),
            key_id: None,
        };
        let tools = plan.manifest.tools.clone();
        let component = Arc::new(GuestComponent::new(self.engine.clone(), Box::new(NoCode), Reach::default()));
        let limits = &plan.manifest.package.limits;
        let source = WasmSource::new(plan.source.clone(), &origin, tools, limits, false, &component, &self.concurrency);
        let refused = |error| RequestError::new(ErrorKind::Refused, "install.registry", &error);
        self.registry.check(&source).map_err(refused)
    }

    /// What is installed. Every component is read and proven for that, so that none is called ready that is not.
    async fn list(&self) -> Result<Vec<PackageEntry>, RequestError> {
        let inventory = self.installer.inventory().map_err(refused)?;
        let installer = self.installer.clone();
        let proven = tokio::task::spawn_blocking(move || {
            let is_current =
                |one: &Installed| installer.installed(one.source()).is_ok_and(|now| now.as_ref() == Some(one));
            let proof = |installed: &Installed| {
                // What was replaced or removed meanwhile was not altered.
                let error = installer.load(installed).err().filter(|_| is_current(installed));
                error.map(|error| error.to_string())
            };
            let proofs: Vec<_> = inventory.installed.iter().map(proof).collect();
            (inventory, proofs)
        });
        let (inventory, proofs) = proven.await.map_err(|error| RequestError::new(ErrorKind::Failed, "list", &error))?;
        let mut entries: Vec<_> = inventory.installed.iter().map(|installed| self.entry(installed)).collect();
        for (entry, proof) in entries.iter_mut().zip(proofs) {
            entry.stopped = entry.stopped.take().or(proof);
        }
        entries.extend(inventory.broken.iter().map(|broken| PackageEntry {
            source: broken.source.to_string(),
            version: String::new(),
            publisher: String::new(),
            description: String::new(),
            location: None,
            key_id: None,
            digest: String::new(),
            tools: Vec::new(),
            effects_accepted: false,
            requested: LimitSet::default(),
            stopped: Some(broken.error.to_string()),
        }));
        Ok(entries)
    }

    fn remove(&self, source: String) -> Result<RemoveReport, RequestError> {
        let source = SourceName::try_from(source).map_err(|e| RequestError::new(ErrorKind::Usage, "name", &e))?;
        // One whose record cannot be used can be removed all the same.
        if let Ok(Some(installed)) = self.installer.installed(&source) {
            self.settle_grant(&installed)?;
        }
        self.installer.remove(&source).map_err(refused)?;
        self.registry.remove(&source);
        Ok(RemoveReport { grant: self.means.grants.file(&source), policy: Vec::new() })
    }

    fn trust(&self, key: &str, publisher: &str, names: Vec<String>) -> Result<Vec<KeyEntry>, RequestError> {
        let key = PublicKey::parse(key).map_err(|error| distrusted(error.into()))?;
        let patterns = names.into_iter().map(|name| name.parse::<SourcePattern>()).collect::<Result<Vec<_>, _>>();
        // Names are added, never taken away: that would stop tools that nobody spoke of.
        let known = self.trust_store().list().map_err(distrusted)?;
        let mut names = known.into_iter().find(|known| known.key.id() == key.id()).map_or_else(Vec::new, |k| k.sources);
        for pattern in patterns.map_err(distrusted)? {
            if !names.contains(&pattern) {
                names.push(pattern);
            }
        }
        let trusted = self.trust_store().add(&key, publisher, &names).map_err(distrusted)?;
        self.restart()?;
        Ok(vec![key_entry(&trusted)])
    }

    fn keys(&self) -> Result<Vec<KeyEntry>, RequestError> {
        let keys = self.trust_store().list().map_err(distrusted)?;
        Ok(keys.iter().map(key_entry).collect())
    }

    fn revoke(&self, key_id: &str, reason: &str) -> Result<(), RequestError> {
        let id = key_id.parse().map_err(|error: KeyError| distrusted(error.into()))?;
        self.trust_store().revoke(id, reason).map_err(distrusted)?;
        self.restart()
    }

    fn verify(&self, file: &std::path::Path) -> Result<VerifyReport, RequestError> {
        let file = PackageFile::read(file).map_err(refused)?;
        let signature = file.signature.ok_or_else(|| refused(PackageError::SignatureMissing))?;
        let signature = Signature::parse(&signature).map_err(|error| refused(error.into()))?;
        let key = self.trust_store().key(signature.key_id()).map_err(|error| refused(error.into()))?;
        signature.verify(&file.component, &key.key).map_err(|error| refused(error.into()))?;
        Ok(VerifyReport {
            key_id: key.key.id().to_string(),
            publisher: key.publisher,
            trusted_comment: signature.trusted_comment().to_owned(),
        })
    }

    /// After a change of trust or of secrets: what may run runs, what may not stops.
    pub(crate) fn restart(&self) -> Result<(), RequestError> {
        for installed in self.installer.inventory().map_err(refused)?.installed {
            self.start(&installed);
        }
        Ok(())
    }

    /// Registers the tools of all packages that may run; says of the others why not.
    fn start_all(&self, packages: &[Installed]) {
        let mut sources = Vec::with_capacity(packages.len());
        for installed in packages {
            match self.installer.runnable(installed) {
                Ok(()) => match self.source(installed) {
                    Ok(source) => sources.push(source),
                    Err(error) => self.stop(installed.source(), &error.to_string()),
                },
                Err(error) => self.stop(installed.source(), &error.to_string()),
            }
        }
        for (source, error) in self.registry.put_all(sources.iter().map(|source| source as &dyn ToolSource)) {
            self.stop(&source, &error.to_string());
        }
    }

    /// Registers the tools of a package, where it may run; else says why not.
    fn start(&self, installed: &Installed) {
        let source = installed.source();
        if let Err(error) = self.installer.runnable(installed) {
            return self.stop(source, &error.to_string());
        }
        let started = self.source(installed).map_err(|error| error.to_string());
        if let Err(error) = started.and_then(|tools| self.registry.put(&tools).map_err(|error| error.to_string())) {
            self.stop(source, &error);
        }
    }

    fn stop(&self, source: &SourceName, reason: &str) {
        tracing::info!(%source, reason, "an installed package does not run");
        self.registry.stop(source, reason);
    }

    fn source(&self, installed: &Installed) -> Result<WasmSource, MeansError> {
        let reach = self.means.reach(installed)?;
        let code = InstalledCode { installer: self.installer.clone(), installed: installed.clone() };
        let manifest = installed.manifest();
        let component = GuestComponent::new(self.engine.clone(), Box::new(code), reach);
        let component = Arc::new(component.of_package(manifest.package.name.clone()));
        Ok(WasmSource::new(
            installed.source().clone(),
            &installed.origin(),
            manifest.tools.clone(),
            &manifest.package.limits,
            installed.effects_accepted(),
            &component,
            &self.concurrency,
        ))
    }

    fn grant(&self, source: &str, change: &GrantChange) -> Result<GrantEntry, RequestError> {
        let installed = self.installed(source)?;
        change.tools.iter().try_for_each(|(_, tool)| self.known(tool))?;
        let wrong = |error: &dyn std::error::Error| RequestError::new(ErrorKind::Refused, "grant", error);
        match (&change.accept_signer, self.means.grant(&installed).map_err(|error| wrong(&error))?.suspended) {
            (Some(signer), _) => is_signed_by(&installed, signer)?,
            (None, Some(suspended)) => {
                let code = "grant.suspended".into();
                return Err(RequestError { kind: ErrorKind::Refused, code, message: suspended.to_string() });
            }
            (None, None) => {}
        }
        if *change != (GrantChange { accept_signer: change.accept_signer.clone(), ..GrantChange::default() }) {
            let requested = &installed.manifest().package.capabilities;
            let extended = self.means.grants.extend(installed.source(), requested, change);
            drop(extended.map_err(|error| RequestError::new(error.kind(), "grant", &error))?);
        }
        if change.accept_signer.is_some() {
            self.means.holders.give(&installed).map_err(|error| wrong(&error))?;
        }
        self.start(&installed);
        self.grant_entry(&installed)
    }

    /// Checks that there is a tool of this wire name: a slip would only show when the tool is called.
    fn known(&self, tool: &str) -> Result<(), RequestError> {
        if self.registry.get(tool).is_some() {
            return Ok(());
        }
        let tools = self.registry.all();
        let nearest = ringfence_core::name::nearest(tool, tools.iter().map(|tool| tool.wire_name()), 1);
        let error = CallError::NotFound { name: tool.to_owned(), nearest };
        Err(RequestError { kind: ErrorKind::NotFound, code: "grant.tool".into(), message: error.for_operator() })
    }

    fn revoke_grant(&self, source: &str) -> Result<(), RequestError> {
        let installed = self.installed(source)?;
        let removed = self.means.grants.remove(installed.source());
        if !removed.map_err(|error| RequestError::new(ErrorKind::Failed, "grant", &error))? {
            let message =
                format!("nothing is granted to `{source}` that could be taken back; `ringfence grants` lists what is");
            return Err(RequestError { kind: ErrorKind::NotFound, code: "grant".into(), message });
        }
        let forgotten = self.means.holders.forget(installed.source());
        forgotten.map_err(|error| RequestError::new(ErrorKind::Failed, "grant", &error))?;
        self.registry.remove(installed.source()); // ends the calls that still have what was granted
        self.start(&installed);
        Ok(())
    }

    fn grants(&self) -> Result<Vec<GrantEntry>, RequestError> {
        let inventory = self.installer.inventory().map_err(refused)?;
        let unusable = |installed: &Installed, error: RequestError| GrantEntry {
            source: installed.source().to_string(),
            file: self.means.grants.path(installed.source()),
            expires: None,
            asked: means::asked(&installed.manifest().package.capabilities, &Granted::default(), |_| None),
            ceiling: Vec::new(),
            suspended: None,
            unused: Vec::new(),
            unusable: Some(error.message),
        };
        let entry =
            |installed: &Installed| self.grant_entry(installed).unwrap_or_else(|error| unusable(installed, error));
        Ok(inventory.installed.iter().map(entry).collect())
    }

    fn grant_entry(&self, installed: &Installed) -> Result<GrantEntry, RequestError> {
        let grant = self.means.grant(installed);
        let grant = grant.map_err(|error| RequestError::new(ErrorKind::Refused, "grant", &error))?;
        let file = &grant.file;
        Ok(GrantEntry {
            source: installed.source().to_string(),
            expires: file.granted.expires.clone(),
            asked: grant.asked(&self.means.vault),
            ceiling: file.ceiling().into_iter().map(|(_, text)| text).collect(),
            suspended: grant.suspended.as_ref().map(ToString::to_string),
            unused: unused(grant.effective.requested(), &file.granted),
            file: file.path.clone(),
            unusable: None,
        })
    }

    fn explain(&self, tool: &str, request: &str) -> Result<Explanation, RequestError> {
        let source = tool.split_once("__").map_or(tool, |(source, _)| source);
        let installed = self.installed(source)?;
        let wrong = |kind, error: &dyn std::error::Error| RequestError::new(kind, "explain", error);
        let (method, url) = request.split_once(' ').unwrap_or(("GET", request));
        let request = ringfence_egress::Request::new(method, url.trim(), [], "");
        let request = request.map_err(|error| wrong(ErrorKind::Usage, &error))?;
        self.means.explain(&installed, &request).map_err(|error| wrong(ErrorKind::Refused, &error))
    }

    fn installed(&self, source: &str) -> Result<Installed, RequestError> {
        let name = SourceName::try_from(source.to_owned());
        let name = name.map_err(|error| RequestError::new(ErrorKind::Usage, "name", &error))?;
        let found = self.installer.installed(&name).map_err(refused)?;
        found.ok_or_else(|| refused(self.installer.not_installed(&name).unwrap_or_else(|error| error)))
    }

    fn entry(&self, installed: &Installed) -> PackageEntry {
        let package = &installed.manifest().package;
        let wire_name = |spec: &ToolSpec| {
            ringfence_core::ToolId::new(installed.source().as_str(), &spec.name)
                .map_or_else(|_| spec.name.clone(), |id| id.wire_name())
        };
        PackageEntry {
            source: installed.source().to_string(),
            version: package.version.to_string(),
            publisher: installed.publisher().to_owned(),
            description: package.description.clone(),
            location: installed.location().map(str::to_owned),
            key_id: installed.key_id().map(str::to_owned),
            digest: installed.digest().to_string(),
            tools: installed.manifest().tools.iter().map(wire_name).collect(),
            effects_accepted: installed.effects_accepted(),
            requested: package.limits.clone(),
            stopped: self.registry.stopped(installed.source().as_str()),
        }
    }

    /// What the package asks for and does not get, in sentences.
    fn narrowed(&self, installed: &Installed) -> Vec<String> {
        let entry = self.entry(installed);
        let Some(tool) = entry.tools.first().and_then(|name| self.registry.get(name)) else { return Vec::new() };
        let asked = entry.requested.iter().map(|(kind, asked)| (kind, asked, tool.limits().get(kind)));
        asked
            .filter(|(_, asked, given)| given < asked)
            .map(|(kind, asked, given)| {
                let key = kind.key();
                let section = match tool.limits().set_by(kind) {
                    SetBy::Grant => "[limits] in its grant".to_owned(),
                    _ => format!("[tools.\"{}\".limits]", entry.source),
                };
                format!("it asks for {key} {asked} and gets {given}; `{key}` under {section} raises it")
            })
            .collect()
    }

    fn trust_store(&self) -> TrustStore<'_> {
        TrustStore::new(self.installer.store().database())
    }
}

fn options(request: InstallRequest) -> Result<InstallOptions, RequestError> {
    let usage = |error: &dyn std::error::Error| RequestError::new(ErrorKind::Usage, "install.options", error);
    let accept_signer = match request.accept_signer.as_deref() {
        Some("unsigned") => Some(Signer::Unsigned),
        Some(id) => Some(Signer::Key(id.parse().map_err(|error: KeyError| usage(&error))?)),
        None => None,
    };
    Ok(InstallOptions {
        source: request.name.map(SourceName::try_from).transpose().map_err(|error| usage(&error))?,
        allow_unsigned: request.allow_unsigned,
        allow_downgrade: request.allow_downgrade,
        accept_signer,
        accept_effects: request.accept_effects,
        keep_effects: request.keep_effects,
        location: request.location,
    })
}

/// How `plan` differs from what it replaces.
fn changes(plan: &Plan) -> Changes {
    let version = plan.manifest.package.version.to_string();
    let Some(old) = &plan.replaces else { return Changes { version, ..Changes::default() } };
    let before = means::asked_by(&old.manifest().package);
    let mut asks_more = means::asked_by(&plan.manifest.package);
    asks_more.retain(|what| !before.contains(what));
    for (kind, value) in plan.manifest.package.limits.iter() {
        let was = old.manifest().package.limits.get(kind).unwrap_or(kind.default_value());
        if value > was {
            asks_more.push(format!("{} {value} (was {was})", kind.key()));
        }
    }
    Changes { version, asks_more, tools: plan.tool_changes().iter().map(ToString::to_string).collect() }
}

/// The warnings about the schemas of a package's tools.
fn check_schemas(plan: &Plan) -> Result<Vec<String>, RequestError> {
    let problems = plan
        .manifest
        .tools
        .iter()
        .flat_map(|tool| schema_rules::inspect(tool).into_iter().map(move |problem| (problem, &tool.name)));
    let (warnings, errors): (Vec<_>, Vec<_>) = problems.partition(|(problem, _)| SchemaProblem::is_warning(problem));
    let texts = |list: Vec<(SchemaProblem, &String)>| {
        list.iter().map(|(problem, tool)| format!("`{tool}`: {problem}")).collect::<Vec<_>>()
    };
    if errors.is_empty() {
        return Ok(texts(warnings));
    }
    let message = format!(
        "the schemas of its tools cannot be used: {}; the author has to correct them",
        texts(errors).join("; ")
    );
    Err(RequestError { kind: ErrorKind::Refused, code: "install.schema".into(), message })
}

/// Checks that `signer` is who signed the package, as `ringfence list` shows it.
fn is_signed_by(installed: &Installed, signer: &str) -> Result<(), RequestError> {
    let wrong = |error: &dyn std::error::Error| RequestError::new(ErrorKind::Refused, "grant.signer", error);
    let said: Signer = signer.parse().map_err(|error: KeyError| wrong(&error))?;
    let signed_by = installed.key_id().unwrap_or("unsigned");
    if said.to_string() == signed_by {
        return Ok(());
    }
    let message = format!("the signer of `{}` is {signed_by}, not {said}", installed.source());
    Err(RequestError { kind: ErrorKind::Refused, code: "grant.signer".into(), message })
}

fn key_entry(key: &TrustedKey) -> KeyEntry {
    KeyEntry {
        key_id: key.key.id().to_string(),
        publisher: key.publisher.clone(),
        names: key.sources.iter().map(ToString::to_string).collect(),
        revoked: key.revoked.as_ref().map(|revocation| revocation.reason.clone()),
    }
}

fn distrusted(error: TrustError) -> RequestError {
    let kind = match &error {
        TrustError::NoSuchKey(_) => ErrorKind::NotFound,
        TrustError::Pattern(_) | TrustError::Text(..) | TrustError::Key(KeyError::Id(_)) => ErrorKind::Usage,
        TrustError::Store(_) => ErrorKind::Failed,
        _ => ErrorKind::Refused,
    };
    RequestError::new(kind, error.code(), &error)
}

fn refused(error: PackageError) -> RequestError {
    let kind = match &error {
        PackageError::NotInstalled { .. } => ErrorKind::NotFound,
        PackageError::Io(_) | PackageError::Store(_) => ErrorKind::Failed,
        _ => ErrorKind::Refused,
    };
    RequestError::new(kind, error.code(), &error)
}

/// The engine, as installing sees it.
struct WasmCompiler(Engine);

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
struct InstalledCode {
    installer: Arc<Installer>,
    installed: Installed,
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
struct NoCode;

#[async_trait]
impl Code for NoCode {
    async fn compiled(&self, _engine: &Engine) -> Result<Vec<u8>, CodeError> {
        Err(CodeError::Refused("it is not installed yet".into()))
    }
}
