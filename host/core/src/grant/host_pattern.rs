//! Which hosts a rule is for.

use std::fmt;

use url::Host;

use super::http_target::normal_host;
use super::url_pattern::PatternError;

/// A host, or all names below a domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HostPattern {
    /// `api.x.com`, `127.0.0.1`, `[::1]`: this name or address.
    Exact(Host),
    /// `*.x.com`: one label in front of the domain.
    OneLabel(String),
    /// `**.x.com`: one or more labels in front of the domain.
    AnyDepth(String),
}

impl HostPattern {
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        if let Some(domain) = text.strip_prefix("**.") {
            return Ok(Self::AnyDepth(wildcard_domain(text, domain)?));
        }
        if let Some(domain) = text.strip_prefix("*.") {
            return Ok(Self::OneLabel(wildcard_domain(text, domain)?));
        }
        if text.contains('*') {
            return Err(PatternError::HostWildcard(text.to_owned()));
        }
        normal_host(text).map(Self::Exact).ok_or_else(|| PatternError::Host(text.to_owned()))
    }

    /// Whether `host` is one of these.
    pub fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Exact(own), _) => own == host,
            (Self::OneLabel(domain), Host::Domain(name)) => {
                name.split_once('.').is_some_and(|(_, above)| above == domain)
            }
            (Self::AnyDepth(domain), Host::Domain(name)) => parents(name).any(|above| above == domain),
            (_, Host::Ipv4(_) | Host::Ipv6(_)) => false,
        }
    }

    /// Whether any host is one of these and one of `other`.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let below = |domain: &str, above: &str| parents(domain).any(|parent| parent == above);
        match (self, other) {
            (Self::Exact(host), pattern) | (pattern, Self::Exact(host)) => pattern.matches(host),
            (Self::OneLabel(own), Self::OneLabel(other)) => own == other,
            (Self::OneLabel(one), Self::AnyDepth(any)) | (Self::AnyDepth(any), Self::OneLabel(one)) => {
                one == any || below(one, any)
            }
            (Self::AnyDepth(own), Self::AnyDepth(other)) => own == other || below(own, other) || below(other, own),
        }
    }
}

/// The domains above `name`, the nearest first: `a.b.c` has `b.c` and `c`.
pub(super) fn parents(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(name.split_once('.'), |(_, above)| above.split_once('.')).map(|(_, above)| above)
}

/// What stands behind the wildcard. Below `com` and `co.uk` anybody can have a name: no tool has business with them all.
/// Suffixes that a company gives to its customers, such as `github.io`, are not refused: many (`googleapis.com`) have names
/// of the company itself below them.
fn wildcard_domain(text: &str, domain: &str) -> Result<String, PatternError> {
    if domain.contains('*') {
        return Err(PatternError::HostWildcard(text.to_owned()));
    }
    match normal_host(domain) {
        Some(Host::Domain(domain)) if !is_everybodys(&domain) => Ok(domain),
        Some(Host::Domain(_)) => Err(PatternError::HostTooWide(text.to_owned())),
        _ => Err(PatternError::Host(text.to_owned())),
    }
}

/// Whether `domain` is a suffix below which registries give names to whoever asks.
fn is_everybodys(domain: &str) -> bool {
    let listed = psl::suffix(domain.as_bytes());
    let is_suffix =
        listed.is_some_and(|suffix| suffix.as_bytes() == domain.as_bytes() && suffix.typ() == Some(psl::Type::Icann));
    is_suffix || !domain.contains('.')
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(host) => host.fmt(f),
            Self::OneLabel(domain) => write!(f, "*.{domain}"),
            Self::AnyDepth(domain) => write!(f, "**.{domain}"),
        }
    }
}
