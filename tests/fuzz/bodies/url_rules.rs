//! URL rules, against what their documentation says, done with texts and with nothing of their own.

use percent_encoding::percent_decode_str;
use ringfence_core::grant::{HttpRule, Methods, RuleSet, UrlPattern};
use ringfence_egress::Target;
use url::{Host, Url};

/// `input` is a line for each rule, and one for a URL.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (rules, url) = text.rsplit_once('\n').unwrap_or(("https://x.com/**", text));
    let Ok(target) = Target::parse(url) else { return };
    reads_the_same_again(&target);

    let rules: Vec<(&str, HttpRule)> =
        rules.lines().filter_map(|line| Some((line, HttpRule::new(pattern(line)?, Methods::All)))).collect();
    let allows: Vec<bool> = rules.iter().map(|(line, _)| allows(line, target.url())).collect();
    for ((line, rule), allows) in rules.iter().zip(&allows) {
        assert_eq!(rule.matches(target.seen(), "GET"), *allows, "`{line}` and {url}");
    }
    let passing: Vec<&HttpRule> =
        rules.iter().zip(&allows).filter(|(_, allows)| **allows).map(|((_, r), _)| r).collect();
    assert!(passing.iter().all(|rule| passing.iter().all(|other| rule.meets(other))), "{url} passes both");
    let set = RuleSet::new(rules.into_iter().map(|(_, rule)| rule).collect());
    let decided = set.decide(target.seen(), "GET").ok();
    assert_eq!(decided, allows.iter().position(|allows| *allows), "the first that lets it pass decides");
    has_a_remedy(&target);
}

/// A rule that was written down reads as what it was.
fn pattern(line: &str) -> Option<UrlPattern> {
    let pattern: UrlPattern = line.parse().ok()?;
    let written: UrlPattern = pattern.to_string().parse().expect("a rule that was written down can be read");
    assert_eq!(written, pattern);
    Some(pattern)
}

/// What is sent is what was judged, whoever reads it, and from wherever it was led to.
fn reads_the_same_again(target: &Target) {
    let again = Target::parse(target.url().as_str()).expect("what is sent can be read");
    assert_eq!(&again, target, "whoever reads it again sees the same");
    assert!(target.seen().path().iter().all(|part| part != ".." && !part.contains(['/', '\\'])), "{target:?}");
    let elsewhere = Target::parse("http://y.com:81/a/b?c").expect("a URL");
    // `http:a` is a URL of its own, and a path beside another `http:` URL: a redirect to what was written out is meant.
    assert_eq!(elsewhere.join(target.url().as_str()).as_ref(), Ok(target), "a redirect leads where the URL does");
}

/// The remedy of a refusal is a rule that lets the request pass.
fn has_a_remedy(target: &Target) {
    let refusal = RuleSet::default().decide(target.seen(), "GET").expect_err("nothing is granted");
    let remedy: toml::Table = toml::from_str(&format!("rule = {}", refusal.remedy())).expect("the remedy is TOML");
    // A path with `//` cannot be written in a rule, so there is no remedy for it.
    if let Ok(remedy) = remedy["rule"].clone().try_into::<HttpRule>() {
        let passes = RuleSet::new(vec![remedy]).decide(target.seen(), "GET").is_ok();
        assert!(passes || target.url().path().contains(';'), "the remedy lets it pass: {refusal}");
    }
}

/// Whether the rule that `line` holds lets `url` pass.
fn allows(line: &str, url: &Url) -> bool {
    let (scheme, rest) = line.split_once("://").expect("it is a rule");
    let (authority, path) = rest.split_at(rest.find('/').expect("it has a path"));
    let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some((host, port)) => (host, port.parse().ok()),
        None => (authority, if scheme == "https" { Some(443) } else { Some(80) }),
    };
    scheme == url.scheme() && port == url.port_or_known_default() && is_host(host, url) && is_path(path, url.path())
}

fn is_host(pattern: &str, url: &Url) -> bool {
    let host = url.host().expect("an http URL has a host").to_owned();
    let (any_depth, one_label) = (pattern.strip_prefix("**."), pattern.strip_prefix("*."));
    let Some(domain) = any_depth.or(one_label) else { return one_spelling(pattern) == host };
    let (Host::Domain(name), Host::Domain(domain)) = (host, one_spelling(domain)) else { return false };
    let before = name.strip_suffix(&domain).and_then(|before| before.strip_suffix('.'));
    before.is_some_and(|before| !before.is_empty() && (any_depth.is_some() || !before.contains('.')))
}

fn one_spelling(host: &str) -> Host {
    match Host::parse(host).expect("a rule has a host") {
        Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(&name).to_owned()),
        address => address,
    }
}

fn is_path(pattern: &str, path: &str) -> bool {
    let decoded = |segment| percent_decode_str(segment).decode_utf8().expect("it was checked").into_owned();
    let mut path = path[1..].split('/').map(decoded);
    for own in pattern[1..].split('/') {
        let matches = match (own, path.next()) {
            ("**", _) => return true,
            (_, None) => false,
            // What a server may fold away is no segment.
            ("*", Some(segment)) => !segment.is_empty() && !segment.starts_with(';'),
            (own, Some(segment)) => decoded(own) == segment,
        };
        if !matches {
            return false;
        }
    }
    path.next().is_none()
}
