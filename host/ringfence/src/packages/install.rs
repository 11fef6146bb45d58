//! Installing and removing.

use std::sync::Arc;

use ringfence_core::limit::SetBy;
use ringfence_core::name::SourceName;
use ringfence_core::schema_rules::{self, SchemaProblem};
use ringfence_core::tool::{Effects, ToolSpec};
use ringfence_package::{InstallOptions, Installed, PackageFile, Plan, Signer};
use ringfence_source_wasm::{GuestComponent, Reach, WasmSource};
use tokio::sync::mpsc;

use super::code::{NoCode, WasmCompiler};
use super::{Packages, refused};
use crate::means::{self, MeansError};
use crate::request::{Changes, ErrorKind, Event, InstallReport, InstallRequest, LeftBehind, Reply, RequestError};
use crate::tool_state;

impl Packages {
    pub(super) async fn install(
        &self,
        request: InstallRequest,
        events: &mpsc::Sender<Event>,
    ) -> Result<Reply, RequestError> {
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
        tool_state::inherit(self.installer.store().database(), &installed)?;
        self.start(&installed);
        let narrowed = self.narrowed(&installed);
        let unbelieved = if installed.effects_accepted() { Vec::new() } else { claims(&installed.manifest().tools) };
        let granted = self.grant_entry(&installed)?;
        let kept = tool_state::of_others(self.installer.store().database(), &installed)?;
        let grant = [granted.notes(), kept].concat();
        let package = self.entry(&installed);
        Ok(Reply::Installed(Box::new(InstallReport {
            package,
            replaced,
            changes,
            narrowed,
            warnings,
            unbelieved,
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

    pub(super) fn remove(&self, source: String) -> Result<LeftBehind, RequestError> {
        let source = SourceName::try_from(source).map_err(|e| RequestError::new(ErrorKind::Usage, "name", &e))?;
        // One whose record cannot be used can be removed all the same.
        if let Ok(Some(installed)) = self.installer.installed(&source) {
            self.settle_grant(&installed)?;
        }
        self.installer.remove(&source).map_err(refused)?;
        self.end(&source);
        Ok(self.left_behind(&source))
    }

    /// What is left of `source` beside its package. What the policy says of it, whoever knows the policy adds.
    pub(super) fn left_behind(&self, source: &SourceName) -> LeftBehind {
        LeftBehind { source: source.clone(), grant: self.means.grants.file(source), policy: Vec::new() }
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
                    SetBy::Default => format!("[tools.\"{}\".limits]", entry.source),
                    set_by => set_by.section(tool.wire_name(), "limits"),
                };
                format!("it asks for {key} {asked} and gets {given}; `{key}` under {section} raises it")
            })
            .collect()
    }
}

fn options(request: InstallRequest) -> Result<InstallOptions, RequestError> {
    let usage = |error: &dyn std::error::Error| RequestError::new(ErrorKind::Usage, "install.options", error);
    let accept_signer = request.accept_signer.as_deref().map(str::parse::<Signer>).transpose();
    Ok(InstallOptions {
        source: request.name.map(SourceName::try_from).transpose().map_err(|error| usage(&error))?,
        allow_unsigned: request.allow_unsigned,
        allow_downgrade: request.allow_downgrade,
        accept_signer: accept_signer.map_err(|error| usage(&error))?,
        accept_effects: request.accept_effects,
        keep_effects: request.keep_effects,
        location: request.location,
    })
}

/// What `tools` say of their effects that would make them trusted with more, in words.
fn claims(tools: &[ToolSpec]) -> Vec<String> {
    let of_one = |tool: &ToolSpec| {
        let Effects { read_only, idempotent, pure, .. } = tool.effects;
        let claims = [(read_only, "only reads"), (idempotent, "can be repeated"), (pure, "always answers alike")];
        let words: Vec<_> = claims.iter().filter(|(claimed, _)| *claimed).map(|(_, words)| *words).collect();
        (!words.is_empty()).then(|| format!("`{}` {}", tool.name, words.join(", ")))
    };
    tools.iter().filter_map(of_one).collect()
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
