//! What the fuzz targets do with an input. They panic where something does not hold. `tests/fuzzing.rs` runs them too.

use std::convert::Infallible;

use bytes::Bytes;
use futures::executor::block_on;
use futures::{TryStreamExt as _, stream};
use ringfence_core::Secret;
use ringfence_core::grant::{HttpRule, Methods, RuleSet, UrlPattern};
use ringfence_egress::{Scanner, Target};
use ringfence_package::{Manifest, PackageInfo};

/// `input` is a rule, a line break, a URL.
pub fn url_rules(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (rule, url) = text.split_once('\n').unwrap_or(("https://x.com/**", text));
    let Ok(target) = Target::parse(url) else { return };
    let again = Target::parse(target.url().as_str()).expect("what is sent can be read");
    assert_eq!(again.seen(), target.seen(), "whoever reads it again sees the same");
    assert!(target.seen().path().iter().all(|part| part != ".." && !part.contains(['/', '\\'])), "{target:?}");

    let decide = |rule: HttpRule| RuleSet::new(vec![rule]).decide(target.seen(), "GET");
    if let Ok(pattern) = rule.parse::<UrlPattern>() {
        let written: UrlPattern = pattern.to_string().parse().expect("a rule that was written down can be read");
        assert_eq!(written, pattern);
        let rule = HttpRule::new(pattern, Methods::All);
        let matches = rule.matches(target.seen(), "GET");
        assert_eq!(decide(rule).is_ok(), matches, "the index finds what the rule lets pass, and nothing else");
    }
    let refusal = RuleSet::default().decide(target.seen(), "GET").expect_err("nothing is granted");
    let remedy: toml::Table = toml::from_str(&format!("rule = {}", refusal.remedy())).expect("the remedy is TOML");
    // No rule lets `//` in a path pass, so there is no remedy for it.
    if let Ok(remedy) = remedy["rule"].clone().try_into::<HttpRule>() {
        let passes = decide(remedy).is_ok();
        assert!(passes || target.url().path().contains(';'), "the remedy lets it pass: {refusal}");
    }
}

/// `input` is a manifest, in TOML or in JSON.
pub fn manifests(input: &[u8]) {
    if let Ok(info) = std::str::from_utf8(input).map_err(drop).and_then(|text| PackageInfo::parse(text).map_err(drop)) {
        let written = toml::to_string(&info).expect("what was read can be written");
        assert_eq!(PackageInfo::parse(&written).expect("and read again"), info);
    }
    if let Ok(manifest) = Manifest::parse(input) {
        let written = manifest.to_bytes().expect("what was read can be written");
        assert_eq!(Manifest::parse(&written).expect("and read again"), manifest);
    }
}

/// The first byte of `input` says how the rest is cut. What follows up to a line break is a secret, the rest a body.
pub fn leak_scan(input: &[u8]) {
    let Some((cut, rest)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let (secret, body) = text.split_once('\n').unwrap_or(("rf_live_9f+Zq/7Kp~2x=Vd_", text));
    let known = [("key".to_owned(), Secret::new(secret.to_owned()))];
    let Ok(scanner) = Scanner::new(&known) else { return };
    let whole = scanner.text(body);
    let pieces = body.as_bytes().chunks(usize::from(*cut).max(1));
    let pieces: Vec<_> = pieces.map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece))).collect();
    let append = async |mut all: Vec<u8>, piece: Bytes| {
        all.extend_from_slice(&piece);
        Ok(all)
    };
    let Ok(clean) = block_on(scanner.stream(stream::iter(pieces)).try_fold(Vec::new(), append));
    assert_eq!(String::from_utf8_lossy(&clean), whole, "the cut makes no difference");
    let value = secret.trim();
    if scanner.skipped().is_empty() && !"[REDACTED:key]".contains(value) && body.contains(value) {
        assert_ne!(whole, body, "the value itself is found");
    }
}
