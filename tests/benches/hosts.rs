//! One call in this process: by wasmtime alone, in a fresh instance under every limit, and through the whole pipeline.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ringfence::core::audit::{AuditError, AuditEvent, AuditLog};
use ringfence::core::finish::current::CurrentScrubber;
use ringfence::core::gates::approval::ApprovalGate;
use ringfence::core::gates::policy::{Policy, PolicyRules};
use ringfence::core::gates::rate::{RateClock, RateGate, RateRule, RateRules};
use ringfence::core::limit::Limits;
use ringfence::core::name::SourceName;
use ringfence::core::output::ToolOutput;
use ringfence::core::tool::Origin;
use ringfence::core::{CallContext, Registry, ToolCall, ToolHost};
use ringfence::{Caller, Config, Home, LimitSet, Ringfence};
use ringfence_source_wasm::{Concurrency, Engine, EngineSettings, GuestComponent, InMemory, Reach, WasmSource};

use super::raw::{LinkerPerCall, Reused};
use super::{ROUNDS, each, guests, median, payload, ratio};

const CALLS: u32 = 2000;

pub async fn run() {
    let text = payload().to_string();
    let plain = guests::component("mirror_plain");
    let mut reused = Reused::new(&plain).await;
    let per_call = LinkerPerCall::new(&plain);
    let pooled = Bare::new(&plain, EngineSettings::default()).await;
    let on_demand = Bare::new(&plain, EngineSettings { pooling: false, ..EngineSettings::default() }).await;
    let arena = Bare::new(&guests::component("mirror"), EngineSettings::default()).await;
    let whole = Whole::new().await;

    let mut times: [Vec<_>; 7] = Default::default();
    for _ in 0..ROUNDS {
        let started = std::time::Instant::now();
        for _ in 0..CALLS {
            reused.call(&text).await;
        }
        times[0].push(started.elapsed() / CALLS);
        times[1].push(pooled.execution(CALLS).await);
        times[2].push(arena.execution(CALLS).await);
        times[3].push(on_demand.execution(CALLS / 4).await);
        times[4].push(each(CALLS / 8, || per_call.call(&text)).await);
        times[5].push(each(CALLS, || whole.call("echo", serde_json::json!({"message": text}))).await);
        times[6].push(each(CALLS, || whole.call("guest__run", payload())).await);
    }
    let [reused, pooled, arena, on_demand, per_call, native, wasm] = times.map(median);
    for (what, time) in [
        ("reused instance, wasmtime alone", reused),
        ("fresh instance, every limit", pooled),
        ("the same, guest made with our SDK", arena),
        ("fresh instance, on-demand allocator", on_demand),
        ("linker built for each call, wasmtime alone", per_call),
        ("native built-in through the pipeline", native),
        ("SDK guest through the pipeline", wasm),
    ] {
        println!("  {what:<66} {time:>6.1} µs");
    }
    ratio("fresh instance / reused instance", pooled, reused, 8.0);
    ratio("fresh instance of an SDK guest / reused instance", arena, reused, 5.0);
    ratio("fresh instance / the same with the on-demand allocator", pooled, on_demand, 0.6);
    ratio("fresh instance / linker built for each call", pooled, per_call, 0.2);
    ratio("WASM through the pipeline / native through it", wasm, native, 2.5);
}

/// Calls `guest` for ever.
pub async fn profile(guest: &str) {
    let host = Bare::new(&guests::component(guest), EngineSettings::default()).await;
    loop {
        let time = host.execution(10_000).await;
        println!("{:.1} µs", time.as_secs_f64() * 1e6);
    }
}

/// A guest in a pipeline that has nothing but the guest: no rate, an audit log that forgets.
pub struct Bare(Arc<ToolHost>);

impl Bare {
    pub async fn new(component: &[u8], settings: EngineSettings) -> Self {
        Self::reaching(component, settings, Reach::default()).await
    }

    /// A guest that reaches something.
    pub async fn reaching(component: &[u8], settings: EngineSettings, reach: Reach) -> Self {
        let engine = Engine::new(settings).unwrap();
        let code = engine.compile(component).unwrap();
        let specs = ringfence_source_wasm::definitions(&engine, &code, &Limits::default()).await.unwrap();
        let concurrency = Arc::new(Concurrency::new(Default::default(), engine.instances()));
        let component = Arc::new(GuestComponent::new(engine, Box::new(InMemory(code)), reach));
        let source = SourceName::try_from("guest".to_owned()).unwrap();
        let origin = Origin::Embedded { digest: String::new() };
        let source = WasmSource::new(source, &origin, specs, &LimitSet::default(), false, &component, &concurrency);
        let registry = Arc::new(Registry::new(Default::default()));
        registry.put(&source).unwrap();
        let rates = RateRules { general: Some(RateRule::Unlimited), ..RateRules::default() };
        Self(Arc::new(ToolHost {
            policy: Policy::load(&PolicyRules::default(), &registry).unwrap(),
            registry,
            rate: RateGate::new(rates, RateClock::system(), 1),
            approval: ApprovalGate,
            scrubber: Arc::new(CurrentScrubber::default()),
            audit: Arc::new(Forgetful),
        }))
    }

    pub async fn call(&self) -> ToolOutput {
        self.call_with("guest__run", payload()).await
    }

    pub async fn call_with(&self, tool: &str, params: serde_json::Value) -> ToolOutput {
        self.0.call(ToolCall::new(tool, params, CallContext::default())).await.unwrap()
    }

    /// Mean time that the tool takes in one of `count` calls, as the host reports it: from the permit until the instance
    /// is gone and its result is checked. The gates before and the scrubber after are the pipeline's, measured below.
    async fn execution(&self, count: u32) -> Duration {
        let mut total = Duration::ZERO;
        for _ in 0..count {
            total += self.call().await.duration;
        }
        total / count
    }
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

/// A whole host, as it is embedded: audit log on disk, rates, policy.
pub struct Whole {
    pub host: Arc<Ringfence>,
    _folder: tempfile::TempDir,
}

impl Whole {
    pub async fn new() -> Self {
        Self::with(&["mirror"]).await
    }

    /// With the guest `mirror` as `guest`, and the others under their own names.
    pub async fn with(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config: Config = toml::from_str("[rate]\nper_minute = 1000000000\nper_hour = 1000000000\n").unwrap();
        let mut builder = Ringfence::builder(Home::at(folder.path())).config(config);
        for name in names {
            let source = if *name == "mirror" { "guest".to_owned() } else { name.replace('_', "-") };
            builder = builder.register_wasm(&source, &guests::component(name), LimitSet::default());
        }
        Self { host: Arc::new(builder.open().await.unwrap()), _folder: folder }
    }

    pub async fn call(&self, tool: &str, params: serde_json::Value) {
        self.host.call(tool, params, Caller::default()).await.unwrap();
    }
}
