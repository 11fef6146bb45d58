//! A running host.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use ringfence_core::ToolHost;
use ringfence_core::call::{CallContext, Progress, ProgressSink, ToolCall};
use ringfence_core::caller::Caller;
use ringfence_core::error::CallError;
use ringfence_core::output::ToolOutput;
use ringfence_store::{AuditFile, Store};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::builder::Builder;
use crate::config::Home;
use crate::means::Means;
use crate::packages::Packages;
use crate::request::{AuditEntry, ErrorKind, Event, HiddenTool, Reply, Request, RequestError, ToolEntry};
use crate::{secrets, tool_state};

/// How often the rates are written down, and the operator's grants looked at: an edit holds as soon as whoever made it can
/// try. After a crash, what is missing of the rates is counted again from the audit log.
const UPKEEP_EVERY: Duration = Duration::from_secs(1);

/// The one process that owns a state folder, and so the one keeper of its limits, policy and audit.
pub struct Ringfence {
    pipeline: Arc<ToolHost>,
    store: Arc<Store>,
    audit: Arc<AuditFile>,
    packages: Arc<Packages>,
    means: Arc<Means>,
    /// The settings that have no effect, in sentences, until somebody was told of them.
    idle_settings: Mutex<Vec<String>>,
    _background: DropGuard,
}

impl Ringfence {
    /// Begins a host that lives in `home`.
    pub fn builder(home: Home) -> Builder {
        Builder::new(home)
    }

    pub(crate) fn start(
        pipeline: ToolHost,
        store: Arc<Store>,
        audit: Arc<AuditFile>,
        packages: Packages,
        means: Arc<Means>,
        idle_settings: Vec<String>,
    ) -> Self {
        let (pipeline, packages) = (Arc::new(pipeline), Arc::new(packages));
        let stop = CancellationToken::new();
        let upkeep = Upkeep {
            pipeline: Arc::downgrade(&pipeline),
            store: Arc::downgrade(&store),
            audit: Arc::downgrade(&audit),
            packages: Arc::downgrade(&packages),
        };
        tokio::spawn(upkeep.run(stop.clone()));
        let idle_settings = Mutex::new(idle_settings);
        Self { pipeline, store, audit, packages, means, idle_settings, _background: stop.drop_guard() }
    }

    /// Makes one call.
    ///
    /// # Errors
    /// Every end of a call but success.
    pub async fn call(&self, tool: &str, params: Value, caller: Caller) -> Result<ToolOutput, CallError> {
        self.pipeline.call(ToolCall::new(tool, params, CallContext::of(caller))).await
    }

    /// Makes one call with everything that may be said of one: progress, cancellation, depth.
    ///
    /// # Errors
    /// Every end of a call but success.
    pub async fn call_with(&self, call: ToolCall) -> Result<ToolOutput, CallError> {
        self.pipeline.call(call).await
    }

    /// The tools that may be called.
    pub fn tools(&self) -> Vec<ToolEntry> {
        self.pipeline.offered().iter().map(|tool| ToolEntry::from(&**tool)).collect()
    }

    /// The tools that the policy hides.
    fn hidden(&self) -> Vec<HiddenTool> {
        let hidden = |tool: &Arc<_>| Some(HiddenTool::new(tool, self.pipeline.policy.ruling(tool)?));
        self.pipeline.registry.all().iter().filter_map(hidden).collect()
    }

    /// Writes down what has to last. The host may be dropped then.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(&self) -> io::Result<()> {
        self.pipeline.rate.save(self.store.database(), self.audit.place())
    }

    /// Tells once of the settings that have no effect: a slip in a name would go unnoticed.
    pub(crate) fn tell_of_idle_settings(&self) {
        let told = std::mem::take(&mut *self.idle_settings.lock().unwrap_or_else(PoisonError::into_inner));
        told.iter().for_each(|setting| tracing::warn!("{setting}"));
    }

    /// Waits for what must not be broken off.
    pub(crate) async fn settle(&self) {
        self.means.tokens.settled().await;
    }

    /// The state folder.
    pub(crate) fn state(&self) -> &Path {
        self.store.folder().root()
    }

    /// The socket in it.
    pub(crate) fn socket(&self) -> PathBuf {
        self.store.folder().socket()
    }

    /// Answers a request; what happens meanwhile goes to `events`.
    ///
    /// # Errors
    /// When it is not fulfilled. A call that fails is an answer, not an error.
    pub(crate) async fn answer(
        &self,
        request: Request,
        events: mpsc::Sender<Event>,
        cancel: CancellationToken,
    ) -> Result<Reply, RequestError> {
        if matches!(request, Request::Call { .. } | Request::Tools) {
            self.tell_of_idle_settings();
            if let Some(reason) = self.pipeline.policy.fault() {
                let message = format!("{reason}. Until that is mended no call is allowed");
                return Err(RequestError { kind: ErrorKind::Refused, code: "policy".into(), message });
            }
        }
        match request {
            Request::Call { tool, params, caller } => {
                let context = CallContext::of(caller).attended(cancel, Arc::new(Reports(events)));
                let call = ToolCall::new(self.full_name(tool), params, context);
                Ok(Reply::Called(self.pipeline.call(call).await))
            }
            Request::Tools => Ok(Reply::Tools(self.tools())),
            Request::Hidden => Ok(Reply::Hidden(self.hidden())),
            Request::Watch => {
                self.watch(&events, &cancel).await;
                Ok(Reply::Done)
            }
            Request::AuditVerify => self.audit_verify(),
            Request::AuditRecent { limit } => self.audit_recent(limit),
            Request::StateList => tool_state::list(self.store.database()),
            Request::StateClear { source, user } => tool_state::clear(self.store.database(), source, user.as_deref()),
            Request::StateGive { source, from } => {
                tool_state::give(self.store.database(), &self.packages.installed(&source)?, &from)
            }
            Request::SecretList => secrets::answer(self.means.clone(), request).await,
            Request::SecretSet { .. } | Request::SecretImport { .. } | Request::SecretRemove { .. } => {
                let removed = match &request {
                    Request::SecretRemove { name } => Some(name.clone()),
                    _ => None,
                };
                let mut reply = secrets::answer(self.means.clone(), request).await?;
                self.learn_secrets()?;
                if let (Reply::Secrets(report), Some(name)) = (&mut reply, removed) {
                    report.missed_by = self.packages.naming(&name)?;
                }
                Ok(reply)
            }
            Request::Package(request) => {
                let mut reply = self.packages.answer(request, &events).await?;
                let left_behind = match &mut reply {
                    Reply::Removed(left) => std::slice::from_mut(left),
                    Reply::KeyRevoked(left) => left.as_mut_slice(),
                    _ => &mut [],
                };
                left_behind.iter_mut().for_each(|left| left.policy = self.pipeline.policy.entries_for(&left.source));
                Ok(reply)
            }
        }
    }

    /// After a change of secrets: results are searched for the new ones, and the network's door places and finds them.
    fn learn_secrets(&self) -> Result<(), RequestError> {
        drop(self.means.secrets.get().map_err(|error| RequestError::new(ErrorKind::Failed, "secret", &error))?);
        self.means.tokens.forget();
        self.packages.restart()
    }

    /// The wire name for a bare name that only one tool has; anything else stays as it is. One that does not run is
    /// meant where none that runs is called so: by its full name it is said why.
    fn full_name(&self, tool: String) -> String {
        let registry = &self.pipeline.registry;
        if registry.get(&tool).is_some() {
            return tool;
        }
        let mut called: Vec<String> = registry.called(&tool).iter().map(|tool| tool.wire_name().to_owned()).collect();
        if called.is_empty() {
            called = self.packages.stopped_tools(&tool);
        }
        match <[String; 1]>::try_from(called) {
            Ok([only]) => only,
            Err(_) => tool,
        }
    }

    async fn watch(&self, events: &mpsc::Sender<Event>, cancel: &CancellationToken) {
        let mut changes = self.pipeline.registry.changes();
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                changed = changes.changed() => {
                    if changed.is_err() || events.send(Event::Changed).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn audit_verify(&self) -> Result<Reply, RequestError> {
        let failed = |error| RequestError::new(ErrorKind::Failed, "audit", &error);
        let verified = self.audit.verify().map_err(failed)?;
        if verified.gaps.is_empty() {
            return Ok(Reply::AuditWhole { events: verified.events });
        }
        let gaps = verified.gaps.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let message = format!("the audit log has gaps, although what is left of it is genuine: {gaps}");
        Err(RequestError { kind: ErrorKind::Failed, code: "audit.gaps".into(), message })
    }

    fn audit_recent(&self, limit: usize) -> Result<Reply, RequestError> {
        let events = self.audit.recent(limit).map_err(|error| RequestError::new(ErrorKind::Failed, "audit", &error))?;
        Ok(Reply::Audit(events.into_iter().map(AuditEntry::from).collect()))
    }
}

/// Hands the progress of a call to whoever asked for it. What they do not take in time is dropped.
struct Reports(mpsc::Sender<Event>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        let _ = self.0.try_send(Event::Progress(progress));
    }
}

/// What is done again and again. Holds nothing between two times: when the host goes, its state folder is free at once.
struct Upkeep {
    pipeline: Weak<ToolHost>,
    store: Weak<Store>,
    audit: Weak<AuditFile>,
    packages: Weak<Packages>,
}

impl Upkeep {
    async fn run(self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(UPKEEP_EVERY) => {}
            }
            let Some(work) = self.work() else { return };
            // Whatever becomes of it, it is tried again.
            let _ = tokio::task::spawn_blocking(work).await;
        }
    }

    /// What is to be done now; `None` when the host is gone.
    fn work(&self) -> Option<impl FnOnce() + Send + use<>> {
        let (pipeline, store) = (self.pipeline.upgrade()?, self.store.upgrade()?);
        let (audit, packages) = (self.audit.upgrade()?, self.packages.upgrade()?);
        Some(move || {
            if let Err(error) = pipeline.rate.save(store.database(), audit.place()) {
                tracing::error!(%error, "the rates could not be written down");
            }
            packages.follow_grants();
        })
    }
}
