//! The one engine: how guests are compiled, where their instances live, and how their instructions are counted.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use ringfence_package::asynchronous;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use crate::component::CodeError;
use crate::concurrency::nested;
use crate::plain::FunctionError;
use crate::spare::SPARES;

/// How often a running guest lets others run, in units of fuel: some tens of microseconds. Shorter costs throughput,
/// longer costs its neighbours latency.
pub(crate) const YIELD_EVERY: u64 = 50_000;

/// How often the epoch advances where fuel is off; also how late a deadline may then be noticed by a busy guest.
const EPOCH_TICK: Duration = Duration::from_millis(1);

/// Memory, in bytes, of an instance's slot that is wiped in place instead of being handed back to the kernel. Above
/// what ordinary guests touch; measured as the point from which more brings nothing.
const KEEP_RESIDENT: usize = 1 << 20;

/// The same for a table.
const TABLE_KEEP_RESIDENT: usize = 64 << 10;

/// Elements that a pooled table can hold; above [`LimitKind::Table`](ringfence_core::LimitKind)'s default, so that an
/// operator can raise it.
const TABLE_ELEMENTS: usize = 200_000;

/// The least stack of a guest, in bytes: twice what the simplest tools in Rust need. With much less no tool could even say
/// what it is.
pub const LEAST_STACK: usize = 16 << 10;

/// The engine's settings, `[engine]` in the configuration. They hold for all guests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EngineSettings {
    /// How large a component may be.
    pub profile: Profile,
    /// How instructions are counted.
    pub metering: Metering,
    /// The stack of a guest, in bytes.
    #[schemars(range(min = 16384))]
    pub stack_bytes: usize,
    /// Live instances at once, for all tools and callers together; absent: what the profile says.
    #[schemars(range(min = 1))]
    pub instances: Option<u32>,
    /// Whether instances live in a pool. Without it every call maps its memory anew, which is several times slower; it
    /// is there for systems whose address space is bounded.
    pub pooling: bool,
}

/// How large a component may be, and so how many instances fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Guests in Rust, C, Go: 2,048 instances.
    #[default]
    Standard,
    /// Guests that carry an interpreter, such as JavaScript and Python: 256 instances.
    Large,
}

/// How a guest's instructions are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metering {
    /// By fuel. The same call always burns the same.
    #[default]
    Fuel,
    /// Not at all; only the deadline ends a busy guest. Up to 1.8 times faster for code that computes.
    Epoch,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            profile: Profile::Standard,
            metering: Metering::Fuel,
            stack_bytes: 512 << 10,
            instances: None,
            pooling: true,
        }
    }
}

/// What one component may consist of.
struct Shape {
    instances: u32,
    core_instances: u32,
    memories: u32,
    tables: u32,
    /// Bytes of bookkeeping for one component.
    metadata: usize,
}

impl Profile {
    /// What the operator can do for a component that does not fit.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Standard => "the operator can set `profile = \"large\"` under [engine] in config.toml",
            Self::Large => {
                "this is the largest profile; the operator can set `pooling = false` under [engine] in config.toml, which \
                 makes the calls of all tools slower"
            }
        }
    }

    /// Sized from components that were measured: a Rust guest has 1 to 3 core instances, 1 memory and 1 to 3 tables;
    /// one with an interpreter 25 core instances and 13 tables, and with its WASI stubbed out, as Python's can be, more than
    /// 32 core instances.
    fn shape(self) -> Shape {
        match self {
            Self::Standard => Shape { instances: 2048, core_instances: 64, memories: 4, tables: 16, metadata: 1 << 20 },
            Self::Large => Shape { instances: 256, core_instances: 128, memories: 16, tables: 64, metadata: 8 << 20 },
        }
    }
}

/// Why there is no engine.
#[derive(Debug, Error)]
#[error("the WebAssembly engine cannot start with these settings: {0:#}; check [engine] in config.toml")]
pub struct EngineError(wasmtime::Error);

/// The engine and the settings that it was made with.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: wasmtime::Engine,
    settings: EngineSettings,
    key: String,
}

impl Engine {
    /// An engine with `settings`.
    ///
    /// # Errors
    /// When the machine or the settings do not permit one.
    pub fn new(settings: EngineSettings) -> Result<Self, EngineError> {
        let config = config(&settings);
        Self::with(settings, &config)
    }

    /// An engine for a component that is asked once which tools it holds. Its code is there sooner and runs slower, and no
    /// pool is made.
    ///
    /// # Errors
    /// When the machine does not permit one.
    pub fn for_one_question() -> Result<Self, EngineError> {
        let settings = EngineSettings { pooling: false, ..EngineSettings::default() };
        let mut config = config(&settings);
        config.cranelift_opt_level(OptLevel::None);
        Self::with(settings, &config)
    }

    fn with(settings: EngineSettings, config: &Config) -> Result<Self, EngineError> {
        let inner = wasmtime::Engine::new(config).map_err(EngineError)?;
        if settings.metering == Metering::Epoch {
            tick(&inner);
        }
        let key = settings_key(&inner);
        Ok(Self { inner, settings, key })
    }

    /// The settings.
    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Live instances that fit.
    pub fn instances(&self) -> u32 {
        self.settings.instances.unwrap_or_else(|| self.settings.profile.shape().instances)
    }

    /// Names the engine's version and everything that decides what compiled code looks like.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Compiles a component. Takes from a tenth of a second to half a minute of processor time.
    ///
    /// # Errors
    /// [`CodeError::Function`] when a function of it deals in streams or futures, [`CodeError::Compile`] when it is not a
    /// valid component.
    pub fn compile(&self, component: &[u8]) -> Result<Vec<u8>, CodeError> {
        self.inner.precompile_component(component).map_err(|error| match asynchronous::find(component) {
            Some(found) => CodeError::Function(FunctionError::asynchronous(found)),
            None => CodeError::Compile(error),
        })
    }
}

fn config(settings: &EngineSettings) -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(settings.metering == Metering::Fuel)
        .epoch_interruption(settings.metering == Metering::Epoch)
        .max_wasm_stack(settings.stack_bytes)
        // The fibre holds the guest's stack and, above it, the host functions that the guest calls.
        .async_stack_size(settings.stack_bytes + (512 << 10))
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(20));
    if settings.pooling {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(settings)));
    }
    config
}

fn pool(settings: &EngineSettings) -> PoolingAllocationConfig {
    let shape = settings.profile.shape();
    let top = settings.instances.unwrap_or(shape.instances);
    let instances = top.saturating_add(nested(top)).saturating_add(SPARES);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(8))
        .total_memories(instances.saturating_mul(2))
        .total_tables(instances.saturating_mul(4))
        .total_stacks(instances)
        .max_component_instance_size(shape.metadata)
        .max_core_instance_size(shape.metadata)
        .max_core_instances_per_component(shape.core_instances)
        .max_memories_per_component(shape.memories)
        .max_tables_per_component(shape.tables)
        .max_tables_per_module(shape.tables)
        .table_elements(TABLE_ELEMENTS)
        .max_memory_size(1 << 32)
        .max_unused_warm_slots(instances)
        .table_keep_resident(TABLE_KEEP_RESIDENT);
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.pagemap_scan(Enabled::Yes).linear_memory_keep_resident(KEEP_RESIDENT);
    } else {
        // Wiping in place without knowing what was touched is slower than giving pages back.
        pool.linear_memory_keep_resident(64 << 10);
    }
    pool
}

/// Advances the epoch for as long as the engine lives.
fn tick(engine: &wasmtime::Engine) {
    let engine = engine.weak();
    std::thread::spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(EPOCH_TICK);
        }
    });
}

fn settings_key(engine: &wasmtime::Engine) -> String {
    let mut hasher = DigestHasher(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Lets `Hash` feed SHA-256, because the standard hasher's result may change with the compiler.
struct DigestHasher(Sha256);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
