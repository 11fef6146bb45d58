//! The operator's configuration: `config.toml`, and where it and the state live.
//!
//! `defaults.toml` beside this file is the documentation of every key. This is the only place that reads the
//! environment.

mod home;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ringfence_core::gates::policy::{OperatorLimits, PolicyRules};
use ringfence_core::gates::rate::{RateRule, RateRules};
use ringfence_core::limit::{LimitKind, LimitSet};
use ringfence_core::tool::RateLimit;
use ringfence_egress::FixedHosts;
use ringfence_source_wasm::concurrency::ConcurrencySettings;
use ringfence_source_wasm::{EngineSettings, Metering};
use ringfence_store::Durability;
use serde::Deserialize;
use thiserror::Error;

pub use home::{Home, HomeError, log_filter};

/// Every key with its default, commented.
pub const DEFAULTS: &str = include_str!("defaults.toml");

/// What the operator wrote down. An absent key means its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The WebAssembly engine.
    pub engine: EngineSettings,
    /// How many calls run at once.
    pub concurrency: ConcurrencySettings,
    /// The ceilings of all tools.
    pub limits: LimitSet,
    /// How often any tool may be called.
    pub rate: RateConfig,
    /// What holds for some tools only, by source or by wire name.
    pub tools: BTreeMap<String, ToolConfig>,
    /// Which tools may be used.
    pub policy: PolicyRules,
    /// The network, for tools that were granted something of it.
    pub network: NetworkConfig,
    /// The files, for tools that were granted some of them.
    pub workspace: WorkspaceConfig,
    /// The audit log.
    pub audit: AuditConfig,
}

/// `[network]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// A file of certificates in PEM, of authorities that are trusted beside the usual ones.
    pub authorities: Option<PathBuf>,
    /// Names that lead to a fixed address, whatever the resolver says.
    pub hosts: FixedHosts,
    /// The longest time for a connection, TLS included, in milliseconds.
    pub connect_ms: u64,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self { authorities: None, hosts: FixedHosts::default(), connect_ms: 10_000 }
    }
}

/// `[workspace]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceConfig {
    /// The folder below which tools may be granted files; absent: none.
    pub root: Option<PathBuf>,
}

/// `[tools."NAME"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolConfig {
    /// Its ceilings.
    pub limits: LimitSet,
    /// How often it may be called.
    pub rate: RateConfig,
}

/// `[rate]`: either numbers, or `unlimited = true`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateConfig {
    /// Calls in any minute, per caller and tool.
    pub per_minute: Option<u32>,
    /// Calls in any hour, per caller and tool.
    pub per_hour: Option<u32>,
    /// No limit at all.
    pub unlimited: bool,
}

/// `[audit]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// What a recorded event survives.
    pub durability: DurabilityConfig,
}

/// What a recorded event survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityConfig {
    /// A crash of ringfence.
    #[default]
    Process,
    /// A crash of the machine.
    Power,
}

impl From<DurabilityConfig> for Durability {
    fn from(config: DurabilityConfig) -> Self {
        match config {
            DurabilityConfig::Process => Self::Process,
            DurabilityConfig::Power => Self::Power,
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration: {0}")]
    Read(#[from] std::io::Error),
    /// It is not what a configuration looks like.
    #[error("{path} is not a configuration: {error}\n`ringfence config` prints every key with its default.")]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        error: Box<toml::de::Error>,
    },
    /// Two keys contradict each other, or a value means nothing.
    #[error("[{section}] in the configuration: {problem}")]
    Value {
        /// The section.
        section: String,
        /// What is wrong and what to do.
        problem: String,
    },
}

impl Config {
    /// Reads `path`. A file that is not there means that every key has its default.
    ///
    /// # Errors
    /// When it cannot be read, or holds an unknown key or a value that means nothing.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = match fs_err::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        let config: Self = toml::from_str(&text)
            .map_err(|error| ConfigError::Parse { path: path.to_owned(), error: Box::new(error) })?;
        config.check()?;
        Ok(config)
    }

    /// What keys say about each other.
    fn check(&self) -> Result<(), ConfigError> {
        self.rate.rule("rate")?;
        for (name, tool) in &self.tools {
            tool.rate.rule(&format!("tools.\"{name}\".rate"))?;
        }
        let places = &self.concurrency;
        if places.per_caller_and_tool == 0 || places.per_tool == Some(0) || self.engine.instances == Some(0) {
            let problem = "0 would let no call run; a number of places is at least 1";
            return Err(ConfigError::Value { section: "concurrency".into(), problem: problem.into() });
        }
        let fuel = self.limits.get(LimitKind::Fuel).is_some()
            || self.tools.values().any(|tool| tool.limits.get(LimitKind::Fuel).is_some());
        if fuel && self.engine.metering == Metering::Epoch {
            let problem = "`metering = \"epoch\"` counts no fuel, so a limit of `fuel` could not be enforced; \
                           remove one of the two";
            return Err(ConfigError::Value { section: "engine".into(), problem: problem.into() });
        }
        Ok(())
    }

    /// The ceilings, as the policy takes them.
    pub fn operator_limits(&self) -> OperatorLimits {
        let by_name = self.tools.iter().map(|(name, tool)| (name.clone(), tool.limits.clone())).collect();
        OperatorLimits { general: self.limits.clone(), by_name }
    }

    /// The rates, as the rate gate takes them.
    ///
    /// # Errors
    /// When a section says two things at once, or zero.
    pub fn rate_rules(&self) -> Result<RateRules, ConfigError> {
        let mut by_name = BTreeMap::new();
        for (name, tool) in &self.tools {
            if let Some(rule) = tool.rate.rule(&format!("tools.\"{name}\".rate"))? {
                by_name.insert(name.clone(), rule);
            }
        }
        Ok(RateRules { general: self.rate.rule("rate")?, by_name })
    }
}

impl RateConfig {
    fn rule(&self, section: &str) -> Result<Option<RateRule>, ConfigError> {
        let wrong = |problem: &str| ConfigError::Value { section: section.into(), problem: problem.into() };
        let numbers = [self.per_minute, self.per_hour];
        if numbers.contains(&Some(0)) {
            return Err(wrong("a rate is at least 1; to forbid a tool, name it under `deny` in [policy]"));
        }
        match (self.unlimited, numbers) {
            (true, [None, None]) => Ok(Some(RateRule::Unlimited)),
            (true, _) => Err(wrong("`unlimited = true` and a number contradict each other; remove one")),
            (false, [None, None]) => Ok(None),
            (false, [per_minute, per_hour]) => {
                let default = RateLimit::default();
                Ok(Some(RateRule::Limited(RateLimit {
                    per_minute: per_minute.unwrap_or(default.per_minute),
                    per_hour: per_hour.unwrap_or(default.per_hour),
                })))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string()).map(|()| config)
    }

    #[test]
    fn the_documented_defaults_are_the_defaults() {
        // Every key stands there as a comment that begins with `#:`; with that taken away it has to parse, and give
        // what an empty file gives.
        let text: String =
            DEFAULTS.lines().map(|line| format!("{}\n", line.strip_prefix("#: ").unwrap_or(line))).collect();
        let written = parse(&text).unwrap();
        let limits = LimitKind::all().fold(LimitSet::default(), |set, kind| set.with(kind, kind.default_value()));
        assert_eq!(written.limits, limits);
        let rate = Some(RateRule::Limited(RateLimit::default()));
        assert_eq!(written.rate.rule("rate").unwrap(), rate);
        let rest = Config { limits: LimitSet::default(), rate: RateConfig::default(), ..written };
        let default = Config::default();
        assert_eq!(rest.concurrency, default.concurrency);
        assert_eq!(rest.audit, default.audit);
        assert_eq!(rest.network, default.network);
        assert_eq!(rest.workspace, default.workspace);
        assert_eq!(rest.policy, default.policy);
        assert_eq!(EngineSettings { instances: None, ..rest.engine }, default.engine);
        assert!(rest.tools.is_empty());
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        assert!(parse("[polcy]\n").unwrap_err().contains("polcy"));
        assert!(parse("[limits]\nfule = 1\n").unwrap_err().contains("did you mean `fuel`"));
        assert!(parse("[engine]\nstack = 1\n").unwrap_err().contains("stack_bytes"));
    }

    #[test]
    fn contradictions_are_errors() {
        assert!(parse("[rate]\nunlimited = true\nper_hour = 5\n").unwrap_err().contains("contradict"));
        assert!(parse("[tools.\"calc\".rate]\nper_minute = 0\n").unwrap_err().contains("at least 1"));
        assert!(parse("[engine]\nmetering = \"epoch\"\n[limits]\nfuel = 5\n").unwrap_err().contains("counts no fuel"));
    }
}
