//! What HTTP rules let pass, as tables.

use proptest::prelude::*;

use super::*;

fn target(url: &str) -> HttpTarget {
    let (scheme, rest) = url.split_once("://").unwrap();
    let scheme: Scheme = scheme.parse().unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap());
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, ""));
    let port = port.parse().unwrap_or(scheme.default_port());
    HttpTarget::new(scheme, normal_host(host).unwrap(), port, path).unwrap()
}

#[test]
fn what_a_rule_covers() {
    for (pattern, url, covered) in [
        // hosts
        ("https://api.x.com/**", "https://api.x.com/", true),
        ("https://API.X.com./**", "https://api.x.com/", true),
        ("https://bücher.example/**", "https://xn--bcher-kva.example/", true),
        ("https://api.x.com/**", "https://xapi.x.com/", false),
        ("https://api.x.com/**", "https://api.x.com.evil.test/", false),
        ("https://*.x.com/**", "https://a.x.com/", true),
        ("https://*.x.com/**", "https://x.com/", false),
        ("https://*.x.com/**", "https://a.b.x.com/", false),
        ("https://*.x.com/**", "https://evilx.com/", false),
        ("https://*.x.co.uk/**", "https://a.x.co.uk/", true),
        ("https://*.www.ck/**", "https://a.www.ck/", true),
        ("https://*.googleapis.com/**", "https://gmail.googleapis.com/", true),
        ("https://*.corp.internal/**", "https://a.corp.internal/", true),
        ("https://**.x.com/**", "https://a.x.com/", true),
        ("https://**.x.com/**", "https://a.b.c.x.com/", true),
        ("https://**.x.com/**", "https://x.com/", false),
        ("https://**.x.com/**", "https://a.x.com.evil.test/", false),
        ("http://127.0.0.1/**", "http://0x7f000001/", true),
        ("http://127.0.0.1/**", "http://127.0.0.2/", false),
        // scheme and port
        ("https://x.com/**", "http://x.com/", false),
        ("https://x.com/**", "https://x.com:443/", true),
        ("https://x.com/**", "https://x.com:444/", false),
        ("https://x.com:8443/**", "https://x.com:8443/", true),
        ("https://x.com:8443/**", "https://x.com/", false),
        ("https://x.com:80/**", "http://x.com/", false),
        // path
        ("https://x.com/", "https://x.com/", true),
        ("https://x.com/", "https://x.com/a", false),
        ("https://x.com/api", "https://x.com/api", true),
        ("https://x.com/api", "https://x.com/%61pi", true),
        ("https://x.com/api", "https://x.com/apikeys", false),
        ("https://x.com/api", "https://x.com/api/", false),
        ("https://x.com/api", "https://x.com/API", false),
        ("https://x.com/api", "https://x.com//api", false),
        ("https://x.com/api", "https://x.com/api;x", false),
        ("https://x.com/api/", "https://x.com/api/", true),
        ("https://x.com/api/**", "https://x.com/api", true),
        ("https://x.com/api/**", "https://x.com/api/", true),
        ("https://x.com/api/**", "https://x.com/api/a/b", true),
        ("https://x.com/api/**", "https://x.com/apikeys", false),
        ("https://x.com/api/**", "https://x.com//api/a", false),
        ("https://x.com/*/read", "https://x.com/a/read", true),
        ("https://x.com/*/read", "https://x.com/a/b/read", false),
        ("https://x.com/*/read", "https://x.com//read", false),
        ("https://x.com/a/*", "https://x.com/a/", false),
        ("https://x.com/a/*", "https://x.com/a/;x", false),
        ("https://x.com/a/*", "https://x.com/a/b;x", true),
        ("https://x.com/g%2Fp/read", "https://x.com/g%2fp/read", true),
        ("https://x.com/g%2Fp/read", "https://x.com/g/p/read", false),
        ("https://x.com/g/p/read", "https://x.com/g%2Fp/read", false),
        ("https://x.com/g%2Fp/read", "https://x.com/g%2Fq/read", false),
        ("https://x.com/g%2Fp/**", "https://x.com/g%2Fp/a%2Fb", true),
        ("https://x.com/**", "https://x.com/g%2Fp/read", true),
        ("https://x.com/*/read", "https://x.com/g%2Fp/read", false),
        ("https://x.com/g/**", "https://x.com/g%2Fp", false),
        ("https://x.com/g/**", "https://x.com/g//p", true),
        ("https://x.com/%2A", "https://x.com/*", true),
        ("https://x.com/%2A", "https://x.com/a", false),
        ("https://x.com/é", "https://x.com/%C3%A9", true),
    ] {
        let parsed: UrlPattern = pattern.parse().unwrap();
        assert_eq!(parsed.matches(&target(url)), covered, "{pattern} {url}");
        assert_eq!(parsed.to_string().parse::<UrlPattern>().unwrap(), parsed, "{parsed}");
    }
}

#[test]
fn two_rules_meet_where_a_request_passes_both() {
    let rule = |text: &str| {
        let (methods, url) = text.split_once(' ').unwrap();
        let methods: Vec<String> = methods.split(',').map(str::to_owned).collect();
        HttpRule::new(url.parse().unwrap(), methods.try_into().unwrap())
    };
    for (one, other, meet) in [
        ("GET https://a.x.com/**", "GET https://a.x.com/v1/**", true),
        ("GET https://a.x.com/**", "POST https://a.x.com/v1/**", false),
        ("GET,POST https://a.x.com/**", "POST https://a.x.com/v1/**", true),
        ("* https://a.x.com/**", "POST https://a.x.com/v1/**", true),
        ("GET https://a.x.com/**", "GET http://a.x.com/**", false),
        ("GET https://a.x.com/**", "GET https://a.x.com:8443/**", false),
        ("GET https://a.x.com/**", "GET https://b.x.com/**", false),
        ("GET https://*.x.com/**", "GET https://b.x.com/**", true),
        ("GET https://*.x.com/**", "GET https://a.b.x.com/**", false),
        ("GET https://*.x.com/**", "GET https://*.b.x.com/**", false),
        ("GET https://**.x.com/**", "GET https://*.b.x.com/**", true),
        ("GET https://**.x.com/**", "GET https://*.x.com/**", true),
        ("GET https://**.b.x.com/**", "GET https://*.x.com/**", false),
        ("GET https://**.b.x.com/**", "GET https://**.x.com/**", true),
        ("GET https://**.b.x.com/**", "GET https://**.c.x.com/**", false),
        ("GET https://a.x.com/v1/*", "GET https://a.x.com/v1/now", true),
        ("GET https://a.x.com/v1/*", "GET https://a.x.com/v1/*", true),
        ("GET https://a.x.com/v1/*", "GET https://a.x.com/v1", false),
        ("GET https://a.x.com/v1/*", "GET https://a.x.com/v1/", false),
        ("GET https://a.x.com/v1/**", "GET https://a.x.com/v2/**", false),
        ("GET https://a.x.com/v1/**", "GET https://a.x.com/*/now", true),
        ("GET https://a.x.com/v1/a/**", "GET https://a.x.com/v1", false),
        ("GET https://a.x.com/v1/*", "GET https://a.x.com/v1/g%2Fp", false),
        ("GET https://a.x.com/v1/**", "GET https://a.x.com/v1/g%2Fp", true),
    ] {
        assert_eq!(rule(one).meets(&rule(other)), meet, "{one} {other}");
        assert_eq!(rule(other).meets(&rule(one)), meet, "{other} {one}");
    }
}

#[test]
fn what_is_no_pattern() {
    use PatternError::*;
    let text = String::from;
    for (pattern, expected) in [
        ("x.com/**", Scheme(text("x.com/**"))),
        ("ftp://x.com/**", Scheme(text("ftp"))),
        ("HTTPS://x.com/**", Scheme(text("HTTPS"))),
        ("https://x.com", NoPath),
        ("https://x.com/?a", Part('?')),
        ("https://x.com/#a", Part('#')),
        ("https://user@x.com/", Part('@')),
        ("https://x.com\\a/", Part('\\')),
        ("https://x.com/a b", Part(' ')),
        ("https:///a", Host(text(""))),
        ("https://a..b/", Host(text("a..b"))),
        ("https://::1/", Host(text(":"))),
        ("https://*/**", HostWildcard(text("*"))),
        ("https://**/**", HostWildcard(text("**"))),
        ("https://a*.x.com/", HostWildcard(text("a*.x.com"))),
        ("https://*.*.x.com/", HostWildcard(text("*.*.x.com"))),
        ("https://a.*.com/", HostWildcard(text("a.*.com"))),
        ("https://*.com/", HostTooWide(text("*.com"))),
        ("https://**.com./", HostTooWide(text("**.com."))),
        ("https://*.internal/", HostTooWide(text("*.internal"))),
        ("https://*.co.uk/", HostTooWide(text("*.co.uk"))),
        ("https://**.CO.uk./", HostTooWide(text("**.CO.uk."))),
        ("https://*.公司.cn/", HostTooWide(text("*.公司.cn"))),
        ("https://*.any.ck/", HostTooWide(text("*.any.ck"))),
        ("https://*.0.0.1/", Host(text("*.0.0.1"))),
        ("https://x.com:0/", Port(text("0"))),
        ("https://x.com:/", Port(text(""))),
        ("https://x.com:+1/", Port(text("+1"))),
        ("https://x.com:65536/", Port(text("65536"))),
        ("https://x.com:*/", Port(text("*"))),
        ("https://x.com/a//b", EmptySegment),
        ("https://x.com//**", EmptySegment),
        ("https://x.com/a*", PathWildcard(text("a*"))),
        ("https://x.com/**/a", PathWildcard(text("**"))),
        ("https://x.com/..", Segment { segment: text(".."), error: SegmentError::Dots }),
        ("https://x.com/a%2F", Segment { segment: text("a%2F"), error: SegmentError::Separator }),
        ("https://x.com/a%2F..%2Fb", Segment { segment: text("a%2F..%2Fb"), error: SegmentError::Dots }),
        ("https://x.com/a%252Fb", Segment { segment: text("a%252Fb"), error: SegmentError::Separator }),
    ] {
        assert_eq!(pattern.parse::<UrlPattern>(), Err(expected), "{pattern}");
    }
}

#[test]
fn rules_are_written_in_toml() {
    let rule: HttpRule = toml::from_str("url = \"https://x.com/v1/**\"").unwrap();
    assert!(rule.methods.contains("GET") && rule.methods.contains("HEAD") && !rule.methods.contains("POST"));
    let rule: HttpRule = toml::from_str(
        "url = \"https://x.com/\"\nmethods = [\"*\"]\nrequests = 1\nrequest_bytes = 2\nresponse_bytes = 3\ntime_ms = 4",
    )
    .unwrap();
    assert!(rule.methods.contains("DELETE"));
    let limits = [rule.requests, rule.request_bytes, rule.response_bytes, rule.time_ms];
    assert_eq!(limits.map(|limit| limit.unwrap().get()), [1, 2, 3, 4]);
    assert_eq!(toml::from_str::<HttpRule>(&toml::to_string(&rule).unwrap()).unwrap(), rule);
    assert_eq!(rule.to_string(), "* https://x.com/");
    for (bad, reason) in [
        ("url = \"https://x.com/\"\nmethod = [\"GET\"]", "unknown field `method`"),
        ("methods = [\"GET\"]", "missing field `url`"),
        ("url = \"https://x.com\"", "names no path"),
        ("url = \"https://x.com/\"\nmethods = []", "no methods"),
        ("url = \"https://x.com/\"\nmethods = [\"get\"]", "`get` is not a method"),
        ("url = \"https://x.com/\"\nmethods = [\"*\", \"GET\"]", "`*` is not a method"),
        ("url = \"https://x.com/\"\nrequests = 0", "nonzero"),
    ] {
        let error = toml::from_str::<HttpRule>(bad).unwrap_err().to_string();
        assert!(error.contains(reason), "{bad}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "(https?://)?[-a-z0-9.*:/%\\[\\]@?;é]{0,40}", wild in "\\PC{0,40}") {
        for text in [text, wild] {
            if let Ok(pattern) = text.parse::<UrlPattern>() {
                prop_assert_eq!(pattern.to_string().parse::<UrlPattern>().unwrap(), pattern);
            }
        }
    }
}
