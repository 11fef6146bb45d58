//! Many rules, found by their host.

use std::collections::HashMap;
use std::fmt;

use url::Host;

use super::host_pattern::{HostPattern, parents};
use super::http_rule::HttpRule;
use super::http_target::HttpTarget;

/// Rules, indexed by host: a decision looks at those for the host asked for, however many others there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    rules: Vec<HttpRule>,
    exact: HashMap<Host, Vec<usize>>,
    one_label: HashMap<String, Vec<usize>>,
    any_depth: HashMap<String, Vec<usize>>,
}

/// Why a request may not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRefusal {
    /// The method.
    pub method: String,
    /// Where it was to go.
    pub target: HttpTarget,
    /// What kept the nearest rule from letting it pass.
    pub mismatch: Mismatch,
    /// The nearest rule; none when no rule is for the host.
    pub nearest: Option<NearestRule>,
}

/// The rule that a refused request came closest to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestRule {
    /// Its place among the rules, from 0.
    pub index: usize,
    /// The rule.
    pub rule: HttpRule,
}

/// What a rule and a request differ in, the farthest apart first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// No rule is for the host.
    Host,
    /// The scheme.
    Scheme,
    /// The port.
    Port,
    /// The path.
    Path,
    /// Only the method.
    Method,
}

impl RuleSet {
    /// The set of `rules`.
    pub fn new(rules: Vec<HttpRule>) -> Self {
        let mut set = Self { rules: Vec::new(), ..Self::default() };
        for (index, rule) in rules.iter().enumerate() {
            let indices = match &rule.url.host {
                HostPattern::Exact(host) => set.exact.entry(host.clone()).or_default(),
                HostPattern::OneLabel(domain) => set.one_label.entry(domain.clone()).or_default(),
                HostPattern::AnyDepth(domain) => set.any_depth.entry(domain.clone()).or_default(),
            };
            indices.push(index);
        }
        Self { rules, ..set }
    }

    /// The rules, in their order.
    pub fn rules(&self) -> &[HttpRule] {
        &self.rules
    }

    /// Whether nothing may pass.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The place of the first rule that lets a request with `method` to `target` pass.
    ///
    /// # Errors
    /// When none does, with the nearest.
    pub fn decide(&self, target: &HttpTarget, method: &str) -> Result<usize, Box<HttpRefusal>> {
        let candidates = self.candidates(target.host());
        let judged = candidates.map(|index| (Mismatch::between(&self.rules[index], target, method), index));
        // The smallest: no mismatch at all before the closest, and the first rule among equals.
        let best = judged.min_by_key(|(mismatch, index)| (mismatch.map(std::cmp::Reverse), *index));
        let (mismatch, index) = match best {
            Some((None, index)) => return Ok(index),
            Some((Some(mismatch), index)) => (mismatch, Some(index)),
            None => (Mismatch::Host, None),
        };
        let nearest = index.map(|index| NearestRule { index, rule: self.rules[index].clone() });
        Err(Box::new(HttpRefusal { method: method.to_owned(), target: target.clone(), mismatch, nearest }))
    }

    /// The places of the rules for `host`.
    fn candidates(&self, host: &Host) -> impl Iterator<Item = usize> {
        let name = match host {
            Host::Domain(name) => name.as_str(),
            Host::Ipv4(_) | Host::Ipv6(_) => "",
        };
        let exact = self.exact.get(host);
        let one_label = parents(name).next().and_then(|domain| self.one_label.get(domain));
        let any_depth = parents(name).filter_map(|domain| self.any_depth.get(domain));
        exact.into_iter().chain(one_label).chain(any_depth).flatten().copied()
    }
}

impl Mismatch {
    /// The first in which `rule`, which is for the host, and the request differ.
    fn between(rule: &HttpRule, target: &HttpTarget, method: &str) -> Option<Self> {
        if rule.url.scheme != target.scheme() {
            Some(Self::Scheme)
        } else if rule.url.port != target.port() {
            Some(Self::Port)
        } else if !rule.url.path.matches(target.path()) {
            Some(Self::Path)
        } else if !rule.methods.contains(method) {
            Some(Self::Method)
        } else {
            None
        }
    }
}

impl HttpRefusal {
    /// The rule that would let the request pass and nothing else, as it is written in TOML.
    pub fn remedy(&self) -> String {
        format!("{{ url = \"{}\", methods = [\"{}\"] }}", self.target, self.method)
    }

    /// Why, without the rules: they are the operator's.
    pub fn reason(&self) -> String {
        match self.mismatch {
            Mismatch::Host => "no rule for this host".into(),
            Mismatch::Scheme => format!("no rule for {} to this host", self.target.scheme()),
            Mismatch::Port => format!("no rule for port {} of this host", self.target.port()),
            Mismatch::Path => "no rule for this path".into(),
            Mismatch::Method => format!("no rule for {} on this path", self.method),
        }
    }

    /// What the operator reads: which tool, what was refused, why, and the rule that would allow it.
    pub fn for_operator(&self, tool: &str) -> String {
        let nearest = match &self.nearest {
            Some(NearestRule { index, rule }) => format!(" (the nearest is number {}: `{rule}`)", index + 1),
            None => String::new(),
        };
        format!("`{tool}` may not reach {self}{nearest}; to allow it add {} to its HTTP rules", self.remedy())
    }
}

/// Without the rules: they are the operator's.
impl fmt::Display for HttpRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.method, self.target, self.reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grant::{Methods, Scheme, normal_host};

    fn rule(url: &str) -> HttpRule {
        HttpRule::new(url.parse().unwrap(), Methods::default())
    }

    fn target(scheme: Scheme, host: &str, port: u16, path: &str) -> HttpTarget {
        HttpTarget::new(scheme, normal_host(host).unwrap(), port, path).unwrap()
    }

    #[test]
    fn the_first_rule_that_matches_decides_whatever_its_kind() {
        let rules = ["https://**.x.com/b", "https://a.x.com/a", "https://*.x.com/**", "https://a.x.com/b"];
        let set = RuleSet::new(rules.map(rule).into());
        for (path, index) in [("/a", 1), ("/b", 0), ("/c", 2)] {
            assert_eq!(set.decide(&target(Scheme::Https, "a.x.com", 443, path), "GET"), Ok(index), "{path}");
        }
    }

    #[test]
    fn a_refusal_names_the_nearest_reason_and_rule() {
        let rules = ["http://a.com/**", "https://a.com:444/**", "https://a.com/v1/**", "https://a.com/v1/*"];
        let set = RuleSet::new(rules.map(rule).into());
        for (scheme, host, port, path, method, mismatch, nearest) in [
            (Scheme::Https, "b.com", 443, "/", "GET", Mismatch::Host, None),
            (Scheme::Https, "a.com", 443, "/v2", "GET", Mismatch::Path, Some(2)),
            (Scheme::Https, "a.com", 443, "/v1/x", "POST", Mismatch::Method, Some(2)),
            (Scheme::Https, "a.com", 445, "/v1", "GET", Mismatch::Port, Some(1)),
            (Scheme::Http, "a.com", 81, "/v1", "GET", Mismatch::Port, Some(0)),
        ] {
            let refusal = set.decide(&target(scheme, host, port, path), method).unwrap_err();
            let index = refusal.nearest.as_ref().map(|near| near.index);
            assert_eq!((refusal.mismatch, index), (mismatch, nearest), "{refusal}");
        }
        let https_only = RuleSet::new(vec![rule("https://a.com/**")]);
        let refusal = https_only.decide(&target(Scheme::Http, "a.com", 80, "/"), "GET").unwrap_err();
        assert_eq!(refusal.mismatch, Mismatch::Scheme);
    }

    #[test]
    fn the_remedy_is_a_rule_that_lets_it_pass() {
        let target = target(Scheme::Https, "a.com", 8443, "/a%20b/*");
        let refusal = RuleSet::default().decide(&target, "POST").unwrap_err();
        assert_eq!(
            refusal.for_operator("weather"),
            "`weather` may not reach POST https://a.com:8443/a%20b/%2A: no rule for this host; to allow it add \
             { url = \"https://a.com:8443/a%20b/%2A\", methods = [\"POST\"] } to its HTTP rules"
        );
        let rules: toml::Table = toml::from_str(&format!("rule = {}", refusal.remedy())).unwrap();
        let rule: HttpRule = rules["rule"].clone().try_into().unwrap();
        assert!(rule.matches(&target, "POST") && !rule.matches(&target, "GET"));
    }

    #[test]
    fn a_decision_looks_only_at_the_rules_for_the_host() {
        let many = (0..1000).map(|i| rule(&format!("https://*.h{i}.com/**"))).collect();
        let set = RuleSet::new(many);
        assert_eq!(set.candidates(&normal_host("a.h7.com").unwrap()).collect::<Vec<_>>(), [7]);
        assert_eq!(set.candidates(&normal_host("h7.com").unwrap()).count(), 0);
    }
}
