//! Which URLs a rule is for.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::host_pattern::HostPattern;
use super::http_target::{HttpTarget, Scheme};
use super::path_pattern::PathPattern;
use super::segment::SegmentError;

/// A set of URLs: `https://api.x.com/v1/**`, `http://*.x.com:8080/health`.
///
/// Scheme and port are exact; without a port it is the scheme's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^https?://"))]
pub struct UrlPattern {
    /// How requests travel.
    pub scheme: Scheme,
    /// To which hosts.
    pub host: HostPattern,
    /// To which port.
    pub port: u16,
    /// To which paths.
    pub path: PathPattern,
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// No scheme, or one that nothing can be sent with.
    #[error("`{0}` is not a scheme for rules: begin with https:// or http://")]
    Scheme(String),
    /// Something that rules do not see.
    #[error("`{0}` has no place in a rule: rules are for scheme, host, port and path; write `%3F` or `%23` in a path")]
    Part(char),
    /// Not a host.
    #[error("`{0}` is not a host: write a name, an IPv4 address, or an IPv6 address in brackets")]
    Host(String),
    /// A wildcard in the wrong place.
    #[error("`{0}` is not a host pattern: `*.` (one label) or `**.` (any depth) may stand once, before a domain")]
    HostWildcard(String),
    /// All below a suffix where anybody can have a name, such as `com` or `co.uk`.
    #[error(
        "`{0}` is too wide: anybody can have a name below that suffix; write the domain of one owner behind the wildcard, \
         as in `*.example.com`, or a rule for each host"
    )]
    HostTooWide(String),
    /// Not a port.
    #[error("`{0}` is not a port: write a number from 1 to 65535")]
    Port(String),
    /// Nothing is said of the path.
    #[error("the rule names no path: end it with `/**` for all paths, or with `/` for the root alone")]
    NoPath,
    /// `//` in the path.
    #[error(
        "the path has an empty segment: write one `/` between segments; what is asked for with `//` only `/**` in front of \
         it lets pass"
    )]
    EmptySegment,
    /// A wildcard in the wrong place.
    #[error(
        "`{0}` is not a path segment: `*` stands for a whole segment, `**` only at the end; write `%2A` for the \
         character itself"
    )]
    PathWildcard(String),
    /// A segment that could mean different things.
    #[error("the path segment `{segment}` cannot be used: {error}")]
    Segment {
        /// The segment.
        segment: String,
        /// Why.
        error: SegmentError,
    },
}

impl UrlPattern {
    /// Whether `target` is one of these.
    pub fn matches(&self, target: &HttpTarget) -> bool {
        self.host.matches(target.host())
            && self.scheme == target.scheme()
            && self.port == target.port()
            && self.path.matches(target.path())
    }

    /// Whether any URL is one of these and one of `other`.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.host.meets(&other.host)
            && self.scheme == other.scheme
            && self.port == other.port
            && self.path.meets(&other.path)
    }
}

impl FromStr for UrlPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| PatternError::Scheme(text.to_owned()))?;
        let scheme: Scheme = scheme.parse()?;
        if let Some(part) = rest.chars().find(|c| "?#@\\".contains(*c) || c.is_control() || c.is_whitespace()) {
            return Err(PatternError::Part(part));
        }
        let (authority, path) = rest.split_at(rest.find('/').ok_or(PatternError::NoPath)?);
        let (host, port) = host_and_port(authority, scheme)?;
        Ok(Self { scheme, host: HostPattern::parse(host)?, port, path: PathPattern::parse(path)? })
    }
}

fn host_and_port(authority: &str, scheme: Scheme) -> Result<(&str, u16), PatternError> {
    let (host, port) = match authority.rsplit_once(':') {
        // A colon inside the brackets of an IPv6 address.
        Some((_, tail)) if tail.contains(']') => return Ok((authority, scheme.default_port())),
        Some(parts) => parts,
        None => return Ok((authority, scheme.default_port())),
    };
    let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse() {
        Ok(number @ 1..) if digits => Ok((host, number)),
        _ => Err(PatternError::Port(port.to_owned())),
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        self.path.fmt(f)
    }
}

impl TryFrom<String> for UrlPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<UrlPattern> for String {
    fn from(pattern: UrlPattern) -> Self {
        pattern.to_string()
    }
}
