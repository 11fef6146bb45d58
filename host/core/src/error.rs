//! How a call can fail: tainted as a tool reports it, clean as the caller gets it.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limit::{LimitExceeded, SetBy};

/// What a tool reports. Its texts are tainted: only the scrubber turns it into a [`CallError`].
#[derive(Debug, Error)]
pub enum ToolError {
    /// The call reached a limit.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// The guest's code ended abnormally.
    #[error("trapped: {0}")]
    Trapped(String),
    /// The tool cannot run now.
    #[error("{reason}")]
    Unavailable {
        /// Why.
        reason: String,
        /// When to try again.
        retry_after: Option<Duration>,
    },
    /// The tool says that it did not succeed.
    #[error("{}", .0.message)]
    Failed(Failure),
}

/// A failure in the tool's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What the caller can do about it.
    pub kind: FailureKind,
    /// A stable word, `[A-Za-z0-9_.-]`, at most 64 bytes.
    pub code: String,
    /// What went wrong and what to try.
    pub message: String,
    /// When to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
}

/// What the caller can do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Call again with other parameters.
    InvalidParams,
    /// What the parameters name does not exist.
    NotFound,
    /// The tool needs a login or a credential.
    AuthRequired,
    /// Try again later.
    Unavailable,
    /// Anything else.
    Failed,
}

/// Why a call has no output. Every variant has a stable [code](CallError::code), a text for the model that holds no
/// secret and nothing that the model did not send, and a text for the operator that names a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallError {
    /// No tool has this name.
    #[error("there is no tool `{name}`{}", did_you_mean(.nearest))]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// Those most like it that the caller may use.
        nearest: Vec<String>,
    },
    /// The tool is not among those that this caller was offered.
    #[error("the tool `{name}` is not offered here{}", did_you_mean(.nearest))]
    NotOffered {
        /// The name that was asked for.
        name: String,
        /// Those most like it that the caller may use.
        nearest: Vec<String>,
    },
    /// The tool belongs to a source that was stopped. The reason may name files and keys, so it is for the operator.
    #[error("`{tool}` is not available: `{source_name}` is stopped until the operator has mended that")]
    Stopped {
        /// The name that was asked for.
        tool: String,
        /// Its source.
        source_name: String,
        /// Why it was stopped.
        reason: String,
    },
    /// The parameters do not agree with the tool's schema, or the tool does not take them.
    #[error("{}: {}", invalid(.tool, *.said_by_tool), .problems.join("; "))]
    InvalidParams {
        /// The tool.
        tool: String,
        /// Whether the tool says so, in its own words, and not the host by the schema.
        said_by_tool: bool,
        /// What is wrong, each with its place.
        problems: Vec<String>,
    },
    /// The policy forbids the call.
    #[error("the operator's policy does not allow `{tool}`")]
    Denied {
        /// The tool.
        tool: String,
        /// The rule that decided.
        rule: String,
    },
    /// A person has to approve the call.
    #[error("a person has to approve this call of `{tool}`; its ticket is {ticket}")]
    NeedsApproval {
        /// The tool.
        tool: String,
        /// Names the request for approval.
        ticket: String,
    },
    /// Nobody answered the request for approval in time.
    #[error("nobody approved this call of `{tool}` in time")]
    ApprovalTimeout {
        /// The tool.
        tool: String,
    },
    /// The caller uses the tool too often.
    #[error("too many calls of `{tool}`: at most {allowed} in a {period} and {} at once; try again in {}", (.allowed / 4).max(1), wait(*.retry_after))]
    RateLimited {
        /// The tool.
        tool: String,
        /// How many calls the period allows.
        allowed: u32,
        /// `minute` or `hour`.
        period: Cow<'static, str>,
        /// Who says so.
        set_by: SetBy,
        /// When the next call is possible.
        retry_after: Duration,
    },
    /// The call reached a limit.
    #[error("`{tool}` was stopped: {exceeded}")]
    LimitExceeded {
        /// The tool.
        tool: String,
        /// Which, and how.
        exceeded: LimitExceeded,
    },
    /// The tool's code ended abnormally.
    #[error("`{tool}` crashed: {message}")]
    Trapped {
        /// The tool.
        tool: String,
        /// What is known of the reason.
        message: String,
    },
    /// The caller cancelled the call.
    #[error("the call of `{tool}` was cancelled")]
    Cancelled {
        /// The tool.
        tool: String,
    },
    /// The host or the tool cannot take the call now.
    #[error("`{tool}` is not available: {reason}")]
    Unavailable {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
        /// When to try again.
        retry_after: Option<Duration>,
    },
    /// The tool needs a login or a credential.
    #[error("`{tool}` needs a login: {message}")]
    AuthRequired {
        /// The tool.
        tool: String,
        /// In the tool's words.
        message: String,
    },
    /// The tool says that it did not succeed.
    #[error("`{tool}` failed: {message}")]
    Failed {
        /// The tool.
        tool: String,
        /// The tool's own code.
        code: String,
        /// In the tool's words.
        message: String,
        /// When to try again.
        retry_after: Option<Duration>,
    },
}

impl CallError {
    /// The stable code.
    pub fn code(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::NotFound { .. } => "not_found",
            Self::NotOffered { .. } => "not_offered",
            Self::Stopped { .. } => "stopped",
            Self::InvalidParams { .. } => "invalid_params",
            Self::Denied { .. } => "denied",
            Self::NeedsApproval { .. } => "needs_approval",
            Self::ApprovalTimeout { .. } => "approval_timeout",
            Self::RateLimited { .. } => "rate_limited",
            Self::LimitExceeded { exceeded, .. } => return Cow::Owned(format!("limit.{}", exceeded.limit)),
            Self::Trapped { .. } => "trapped",
            Self::Cancelled { .. } => "cancelled",
            Self::Unavailable { .. } => "unavailable",
            Self::AuthRequired { .. } => "auth_required",
            Self::Failed { .. } => "failed",
        })
    }

    /// The tool's own word for what went wrong. It is the tool's claim, so it never stands in place of the [code](Self::code).
    pub fn tool_code(&self) -> Option<&str> {
        match self {
            Self::Failed { code, .. } => Some(code),
            _ => None,
        }
    }

    /// What may repeat the words of a caller or a tool. The rest is the host's own.
    pub(crate) fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::NotFound { name, .. } | Self::NotOffered { name, .. } => vec![name],
            Self::Stopped { tool, reason, .. } => vec![tool, reason],
            Self::InvalidParams { problems, .. } => problems.iter_mut().collect(),
            Self::Unavailable { reason, .. } => vec![reason],
            Self::Trapped { message, .. } | Self::AuthRequired { message, .. } => vec![message],
            Self::Failed { code, message, .. } => vec![code, message],
            Self::Denied { .. }
            | Self::NeedsApproval { .. }
            | Self::ApprovalTimeout { .. }
            | Self::RateLimited { .. }
            | Self::LimitExceeded { .. }
            | Self::Cancelled { .. } => Vec::new(),
        }
    }

    /// When a retry makes sense.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } => Some(*retry_after),
            Self::Unavailable { retry_after, .. } | Self::Failed { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The same in milliseconds, as programs are told.
    pub fn retry_after_ms(&self) -> Option<u64> {
        self.retry_after().map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
    }

    /// The text for the model: what happened, in words that hold nothing of the host.
    pub fn for_model(&self) -> String {
        self.to_string()
    }

    /// The text for the operator: what happened, and what to do about it.
    pub fn for_operator(&self) -> String {
        let message = self.message_for_operator();
        match self.hint("config.toml") {
            Some(hint) => format!("{message}\n  hint: {hint}"),
            None => message,
        }
    }

    /// What happened, with the reason where that is not for the model.
    pub fn message_for_operator(&self) -> String {
        match self {
            Self::Stopped { tool, source_name, reason } => {
                format!("`{tool}` is not available: `{source_name}` is stopped: {reason}")
            }
            other => other.to_string(),
        }
    }

    /// What the operator can do about it. `config` is how they know the file of the configuration.
    pub fn hint(&self, config: &str) -> Option<String> {
        Some(match self {
            Self::NotFound { .. } | Self::NotOffered { .. } => "`ringfence tools` lists the tools".into(),
            Self::InvalidParams { tool, .. } => format!("`ringfence tools {tool}` shows the parameters"),
            Self::Denied { rule, .. } => format!("{rule} decided, under [policy] in {config}"),
            Self::NeedsApproval { .. } => "this host has nobody whom it could ask, so the call stays refused".into(),
            Self::RateLimited { tool, period, set_by, .. } => match set_by {
                SetBy::Manifest => {
                    format!("the tool's own manifest sets this rate: its author can raise `per_{period}`")
                }
                SetBy::Grant => format!(
                    "the operator can raise `per_{period}` under [rate] in the grant of its source, which `ringfence grants` \
                     names"
                ),
                set_by => {
                    let section = set_by.section(tool, "rate");
                    format!("the operator can raise `per_{period}` under {section} in {config}")
                }
            },
            Self::LimitExceeded { tool, exceeded } => exceeded.remedy(tool, config),
            Self::Trapped { .. } => "report it to the tool's author".into(),
            _ => return None,
        })
    }
}

fn invalid(tool: &str, said_by_tool: bool) -> String {
    match said_by_tool {
        true => format!("`{tool}` says that its parameters are not valid"),
        false => format!("the parameters of `{tool}` are not valid"),
    }
}

/// A wait, rounded up to what a person would say.
fn wait(time: Duration) -> String {
    match time.as_millis().div_ceil(1000) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!(": did you mean {}?", names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{LimitKind, Limits};

    #[test]
    fn a_limit_has_its_own_code_and_remedy() {
        let exceeded = Limits::default().exceeded(LimitKind::Memory, None);
        let error = CallError::LimitExceeded { tool: "text__count".into(), exceeded };
        assert_eq!(error.code(), "limit.memory");
        assert!(error.hint("config.toml").unwrap().contains("`memory_bytes` under [tools.\"text__count\".limits]"));
    }

    #[test]
    fn why_a_source_was_stopped_is_for_the_operator() {
        let reason = "/home/ada/grants/lim.toml:1:1: unknown field".to_owned();
        let error = CallError::Stopped { tool: "lim__nap".into(), source_name: "lim".into(), reason };
        assert!(
            error.for_operator().contains("`lim` is stopped: /home/ada") && !error.for_model().contains("/home/ada")
        );
        assert!(error.for_model().contains("`lim` is stopped"));
    }

    #[test]
    fn the_hint_of_a_rate_names_who_set_it_and_where() {
        for (set_by, place) in [
            (SetBy::Default, "[tools.\"calc__add\".rate] in c.toml"),
            (SetBy::Operator, "[rate] in c.toml"),
            (SetBy::OperatorForSource, "[tools.\"calc\".rate] in c.toml"),
            (SetBy::OperatorForTool, "[tools.\"calc__add\".rate] in c.toml"),
            (SetBy::Grant, "[rate] in the grant of its source"),
            (SetBy::Manifest, "its author can raise `per_minute`"),
        ] {
            let (tool, period, retry_after) = ("calc__add".into(), "minute".into(), Duration::from_secs(1));
            let hint = CallError::RateLimited { tool, allowed: 1, period, set_by, retry_after }.hint("c.toml").unwrap();
            assert!(hint.contains(place) && hint.contains("`per_minute`"), "{hint}");
        }
    }

    #[test]
    fn a_hint_names_the_file_by_its_path() {
        let exceeded = Limits::default().exceeded(LimitKind::Memory, None);
        let limited = CallError::LimitExceeded { tool: "t".into(), exceeded };
        let denied = CallError::Denied { tool: "t".into(), rule: "the entry `t` of `deny`".into() };
        for error in [limited, denied] {
            assert!(error.hint("/etc/rf.toml").unwrap().ends_with(" in /etc/rf.toml"), "{error:?}");
        }
    }

    #[test]
    fn it_is_told_who_finds_the_parameters_wrong() {
        let error =
            |said_by_tool| CallError::InvalidParams { tool: "t".into(), said_by_tool, problems: vec!["no".into()] };
        assert_eq!(error(false).to_string(), "the parameters of `t` are not valid: no");
        assert_eq!(error(true).to_string(), "`t` says that its parameters are not valid: no");
    }

    #[test]
    fn suggestions_are_part_of_the_text() {
        let error = CallError::NotFound { name: "ech".into(), nearest: vec!["echo".into()] };
        assert_eq!(error.to_string(), "there is no tool `ech`: did you mean `echo`?");
    }
}
