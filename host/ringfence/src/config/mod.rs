//! The operator's configuration: `config.toml`, and where it and the state live.
//!
//! `defaults.toml` beside this file is the documentation of every key. This is the only place that reads the
//! environment.

mod home;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ringfence_core::gates::policy::PolicyRules;
use ringfence_core::gates::rate::{RateRule, RateRules};
use ringfence_core::limit::{LimitKind, LimitSet, OperatorLimits};
use ringfence_core::tool::RateLimit;
use ringfence_distribution::{Allowance, IndexPlace};
use ringfence_egress::FixedHosts;
use ringfence_package::grant::NamePattern;
use ringfence_package::reading::{self, ReadError};
use ringfence_source_wasm::concurrency::ConcurrencySettings;
use ringfence_source_wasm::{EngineSettings, LEAST_STACK, Metering};
use ringfence_store::{Durability, StoreError, check_own};
use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

pub(crate) use home::docker_config;
pub use home::{Home, HomeError, PASSPHRASE_VARIABLE, credential_file, log_filter, passphrase_file};

/// Every key with its default, commented.
pub const DEFAULTS: &str = include_str!("defaults.toml");

/// What the operator wrote down. An absent key means its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
    /// The secrets, for the built-in tools that speak of them.
    pub secrets: SecretsConfig,
    /// Where packages may be fetched from.
    pub distribution: DistributionConfig,
    /// Where `ringfence search` looks, by a name for people: folders, or the addresses of index files.
    pub indexes: BTreeMap<String, String>,
    /// The audit log.
    pub audit: AuditConfig,
}

/// `[network]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// A file of certificates in PEM, of authorities that are trusted beside the usual ones.
    #[schemars(with = "Option<String>")]
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

/// `[distribution]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DistributionConfig {
    /// Ranges of private addresses that packages may be fetched from.
    pub addresses: Vec<String>,
    /// Hosts of registries and indexes, with their ports, that are asked over plain HTTP.
    pub plain_http: Vec<String>,
}

/// `[workspace]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkspaceConfig {
    /// The folder below which tools may be granted files, by its path from `/` on; absent: none.
    #[schemars(with = "Option<String>")]
    pub root: Option<PathBuf>,
}

/// `[secrets]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretsConfig {
    /// The secrets whose values `secret_get` gives out; without any there is no such tool.
    pub reveal: Vec<NamePattern>,
}

/// `[tools."NAME"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolConfig {
    /// Its ceilings.
    pub limits: LimitSet,
    /// How often it may be called.
    pub rate: RateConfig,
}

/// `[rate]`: either numbers, or `unlimited = true`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateConfig {
    /// Calls in any minute, per caller and tool.
    #[schemars(range(min = 1))]
    pub per_minute: Option<u32>,
    /// Calls in any hour, per caller and tool.
    #[schemars(range(min = 1))]
    pub per_hour: Option<u32>,
    /// No limit at all.
    pub unlimited: bool,
}

/// `[audit]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// What a recorded event survives.
    pub durability: DurabilityConfig,
}

/// What a recorded event survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
    /// Others can write the file, or the folder that it is in.
    #[error("the configuration is not safe: {0}")]
    Unsafe(#[from] StoreError),
    /// It is not what a configuration looks like.
    #[error("{}\n`ringfence config` prints every key with its default.", .error.in_file(.path))]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        error: ReadError,
    },
    /// Two keys contradict each other, or a value means nothing.
    #[error("[{section}] in {place}: {problem}")]
    Value {
        /// The section.
        section: String,
        /// The file, with the line where it is known.
        place: String,
        /// What is wrong and what to do.
        problem: String,
    },
}

/// A value that means nothing, or contradicts another one.
struct Fault {
    /// The names of the tables around it.
    section: Vec<String>,
    /// Its own.
    key: String,
    /// What is wrong and what to do.
    problem: String,
}

impl Fault {
    fn new(section: &[&str], key: &str, problem: impl Into<String>) -> Self {
        let section = section.iter().map(|name| (*name).to_owned()).collect();
        Self { section, key: key.to_owned(), problem: problem.into() }
    }

    /// The error of a configuration whose `place` of a key is this.
    fn at(self, place: impl FnOnce(&[&str]) -> String) -> ConfigError {
        let path: Vec<&str> = self.section.iter().map(String::as_str).chain([self.key.as_str()]).collect();
        let place = place(&path);
        let section = match self.section.as_slice() {
            [tools, name, rest @ ..] => format!("{tools}.\"{name}\".{}", rest.join(".")),
            other => other.join("."),
        };
        ConfigError::Value { section, place, problem: self.problem }
    }
}

/// Where a key, or an element of the list that it names, stands in the configuration at `path`.
pub(crate) fn place(path: &Path, key: &[&str], index: Option<usize>) -> String {
    let text = reading::text_if_there(path).ok().flatten().unwrap_or_default();
    reading::place_in(path, &text, key, index)
}

impl Config {
    /// Reads `path`. A file that is not there means that every key has its default.
    ///
    /// # Errors
    /// When others can write it, when it cannot be read, or holds an unknown key or a value that means nothing.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        path.parent().map_or(Ok(()), check_own)?;
        check_own(path)?;
        reading::text_if_there(path)?.map_or_else(|| Ok(Self::default()), |text| Self::parse(path, &text))
    }

    /// Reads `text`, which stands in the file at `path`.
    ///
    /// # Errors
    /// When it holds an unknown key or a value that means nothing.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let config: Self =
            reading::from_toml(text).map_err(|error| ConfigError::Parse { path: path.to_owned(), error })?;
        config.check().map_err(|fault| fault.at(|key| reading::place_in(path, text, key, None)))?;
        Ok(config)
    }

    /// What keys say about each other.
    fn check(&self) -> Result<(), Fault> {
        self.rate.rule(&["rate"])?;
        for (name, tool) in &self.tools {
            tool.rate.rule(&["tools", name, "rate"])?;
        }
        self.check_places()?;
        self.check_engine()
    }

    /// What names places on this machine or in the network.
    fn check_places(&self) -> Result<(), Fault> {
        Allowance::new(&self.distribution.addresses, [])
            .map_err(|error| Fault::new(&["distribution"], "addresses", error.to_string()))?;
        if let Some(root) = self.workspace.root.as_ref().filter(|root| !root.is_absolute()) {
            let root = root.display();
            let problem = format!(
                "`root = \"{root}\"` would be another folder wherever ringfence is started: give the path from `/` on"
            );
            return Err(Fault::new(&["workspace"], "root", problem));
        }
        for (name, place) in &self.indexes {
            let parsed = place.parse::<IndexPlace>();
            drop(parsed.map_err(|error| Fault::new(&["indexes"], name, format!("`{name}`: {error}")))?);
        }
        Ok(())
    }

    /// What bounds the calls that run.
    fn check_engine(&self) -> Result<(), Fault> {
        let places = &self.concurrency;
        for (section, key, number) in [
            ("concurrency", "per_caller_and_tool", Some(places.per_caller_and_tool)),
            ("concurrency", "per_tool", places.per_tool),
            ("engine", "instances", self.engine.instances),
        ] {
            if number == Some(0) {
                let problem = format!("`{key} = 0` would let no call run: give at least 1");
                return Err(Fault::new(&[section], key, problem));
            }
        }
        let stack = self.engine.stack_bytes;
        if stack < LEAST_STACK {
            let problem =
                format!("no tool runs on a stack of {stack} bytes: give `stack_bytes` at least {LEAST_STACK}");
            return Err(Fault::new(&["engine"], "stack_bytes", problem));
        }
        let fuel = self.limits.get(LimitKind::Fuel).is_some()
            || self.tools.values().any(|tool| tool.limits.get(LimitKind::Fuel).is_some());
        if fuel && self.engine.metering == Metering::Epoch {
            let problem = "`metering = \"epoch\"` counts no fuel, so a limit of `fuel` could not be enforced; \
                           remove one of the two";
            return Err(Fault::new(&["engine"], "metering", problem));
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
        // One that was read from a file was checked then; this is for whoever made it in a program.
        let wrong = |fault: Fault| fault.at(|_| "the configuration".into());
        let mut by_name = BTreeMap::new();
        for (name, tool) in &self.tools {
            if let Some(rule) = tool.rate.rule(&["tools", name, "rate"]).map_err(wrong)? {
                by_name.insert(name.clone(), rule);
            }
        }
        Ok(RateRules { general: self.rate.rule(&["rate"]).map_err(wrong)?, by_name })
    }
}

impl RateConfig {
    fn rule(&self, section: &[&str]) -> Result<Option<RateRule>, Fault> {
        let wrong = |key, problem: &str| Fault::new(section, key, problem);
        let numbers = [self.per_minute, self.per_hour];
        for (key, number) in [("per_minute", self.per_minute), ("per_hour", self.per_hour)] {
            if number == Some(0) {
                return Err(wrong(key, "a rate is at least 1; to forbid a tool, name it under `deny` in [policy]"));
            }
        }
        match (self.unlimited, numbers) {
            (true, [None, None]) => Ok(Some(RateRule::Unlimited)),
            (true, _) => Err(wrong("unlimited", "`unlimited = true` and a number contradict each other; remove one")),
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
        Config::parse("config.toml".as_ref(), text).map_err(|error| error.to_string())
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
        assert_eq!(written.rate.rule(&["rate"]).ok(), Some(rate));
        let rest = Config { limits: LimitSet::default(), rate: RateConfig::default(), ..written };
        let default = Config::default();
        assert_eq!(rest.concurrency, default.concurrency);
        assert_eq!(rest.audit, default.audit);
        assert_eq!(rest.network, default.network);
        assert_eq!(rest.workspace, default.workspace);
        assert_eq!(rest.secrets, default.secrets);
        assert_eq!(rest.policy, default.policy);
        assert_eq!((rest.distribution, rest.indexes), (default.distribution, default.indexes));
        assert_eq!(EngineSettings { instances: None, ..rest.engine }, default.engine);
        assert!(rest.tools.is_empty());
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        for (text, expected) in [
            ("[polcy]\n", "config.toml:1:2: unknown field `polcy`: did you mean `policy`?"),
            ("[limits]\nfule = 1\n", "config.toml:2:1: unknown field `fule`: did you mean `fuel`?"),
            ("[engine]\nstack = 1\n", "config.toml:2:1: unknown field `stack`: did you mean `stack_bytes`?"),
            (
                "[tools.\"calc\".rate]\nper_minut = 1\n",
                "config.toml:2:1: unknown field `per_minut`: did you mean `per_minute`?",
            ),
            ("[audit]\ndurability = \"pwer\"\n", "config.toml:2:14: unknown value `pwer`: did you mean `power`?"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.lines().next(), Some(expected));
        }
    }

    #[test]
    fn places_of_packages_are_checked_at_once() {
        assert!(parse("[distribution]\naddresses = [\"localhost\"]\n").unwrap_err().contains("no range"));
        assert!(parse("[indexes]\nacme = \"ftp://x.example\"\n").unwrap_err().contains("`acme`"));
    }

    #[test]
    fn a_workspace_is_the_same_wherever_ringfence_is_started() {
        assert_eq!(parse("[workspace]\nroot = \"/srv/files\"\n").unwrap().workspace.root, Some("/srv/files".into()));
        for root in ["files", "./files", "../files", "~/files", ""] {
            let error = parse(&format!("[workspace]\nroot = \"{root}\"\n")).unwrap_err();
            assert!(error.starts_with("[workspace]") && error.contains("the path from `/` on"), "{error}");
        }
    }

    #[test]
    fn a_value_that_means_nothing_is_told_with_its_section_its_line_and_what_would_do() {
        for (text, expected) in [
            (
                "[engine]\ninstances = 0\n",
                "[engine] in config.toml:2: `instances = 0` would let no call run: give at least 1",
            ),
            ("[concurrency]\n\nper_tool = 0\n", "[concurrency] in config.toml:3: `per_tool = 0`"),
            ("[concurrency]\nper_caller_and_tool = 0\n", "[concurrency] in config.toml:2: `per_caller_and_tool = 0`"),
            (
                "[engine]\nstack_bytes = 1\n",
                "[engine] in config.toml:2: no tool runs on a stack of 1 bytes: give `stack_bytes` at least",
            ),
            ("[rate]\nper_hour = 0\n", "[rate] in config.toml:2: a rate is at least 1"),
            ("[tools.a.rate]\nper_minute = 0\n", "[tools.\"a\".rate] in config.toml:2: a rate is at least 1"),
            ("[indexes]\na = \"b\"\nc = \"\"\n", "[indexes] in config.toml:3: `c`"),
            (
                "[limits]\nfuel = 0\n",
                "config.toml:2:8: this has to be a whole number of at least 1, and is integer `0`",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn contradictions_are_errors() {
        assert!(parse("[rate]\nunlimited = true\nper_hour = 5\n").unwrap_err().contains("contradict"));
        assert!(parse("[tools.\"calc\".rate]\nper_minute = 0\n").unwrap_err().contains("at least 1"));
        assert!(parse("[engine]\nmetering = \"epoch\"\n[limits]\nfuel = 5\n").unwrap_err().contains("counts no fuel"));
    }
}
