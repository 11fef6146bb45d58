//! A pipeline around one component, with no rate and an audit log that forgets.

use std::sync::Arc;

use async_trait::async_trait;
use ringfence_core::audit::{AuditError, AuditEvent, AuditLog};
use ringfence_core::finish::current::CurrentScrubber;
use ringfence_core::gates::approval::ApprovalGate;
use ringfence_core::gates::policy::{Policy, PolicyRules};
use ringfence_core::gates::rate::{RateClock, RateGate, RateRule, RateRules};
use ringfence_core::limit::{LimitKind, LimitSet, Limits};
use ringfence_core::name::SourceName;
use ringfence_core::output::ToolOutput;
use ringfence_core::tool::{Origin, ToolSpec};
use ringfence_core::{CallContext, CallError, Registry, ToolCall, ToolHost};
use serde_json::Value;

use crate::{Concurrency, Engine, EngineSettings, GuestComponent, InMemory, ProbeError, Reach, WasmSource};

pub(super) struct Host {
    pipeline: Arc<ToolHost>,
    pub(super) specs: Vec<ToolSpec>,
}

impl Host {
    /// With the component of a text.
    pub(super) async fn new(wat: &str) -> Self {
        Self::limited(wat, &[]).await
    }

    /// With limits that the component asks for.
    pub(super) async fn limited(wat: &str, limits: &[(LimitKind, u64)]) -> Self {
        let (engine, code) = compiled(wat);
        let specs = crate::definitions(&engine, &code, &Limits::default()).await.unwrap();
        let concurrency = Concurrency::new(Default::default(), engine.instances());
        let component = Arc::new(GuestComponent::new(engine, Box::new(InMemory(code)), Reach::default()));
        let name = SourceName::try_from("guest".to_owned()).unwrap();
        let origin = Origin::Embedded { digest: String::new() };
        let limits = limits.iter().fold(LimitSet::default(), |set, (kind, value)| set.with(*kind, *value));
        let source = WasmSource::new(name, &origin, specs.clone(), &limits, false, &component, &Arc::new(concurrency));
        let registry = Arc::new(Registry::new(Default::default()));
        registry.put(&source).unwrap();
        let rates = RateRules { general: Some(RateRule::Unlimited), ..RateRules::default() };
        let pipeline = Arc::new(ToolHost {
            policy: Policy::load(&PolicyRules::default(), &registry).unwrap(),
            registry,
            rate: RateGate::new(rates, RateClock::system(), 1),
            approval: ApprovalGate,
            scrubber: Arc::new(CurrentScrubber::default()),
            audit: Arc::new(Forgetful),
        });
        Self { pipeline, specs }
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<ToolOutput, CallError> {
        self.pipeline.call(ToolCall::new(format!("guest__{tool}"), arguments, CallContext::default())).await
    }

    /// The code of the error with which a call ends.
    pub(super) async fn fault(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.unwrap_err().code().into_owned()
    }
}

/// What a component says of its tools.
pub(super) async fn definitions(wat: &str) -> Result<Vec<ToolSpec>, ProbeError> {
    let (engine, code) = compiled(wat);
    crate::definitions(&engine, &code, &Limits::default()).await
}

fn compiled(wat: &str) -> (Engine, Vec<u8>) {
    let engine = Engine::new(EngineSettings { pooling: false, ..EngineSettings::default() }).unwrap();
    let code = engine.compile(&wat::parse_str(wat).unwrap()).unwrap();
    (engine, code)
}

struct Forgetful;

#[async_trait]
impl AuditLog for Forgetful {
    fn append(&self, _event: &AuditEvent<'_>) -> Result<u64, AuditError> {
        Ok(0)
    }

    async fn settle(&self, _place: u64) -> Result<(), AuditError> {
        Ok(())
    }

    fn digest(&self, _arguments: &str) -> String {
        String::new()
    }
}
