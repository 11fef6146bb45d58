//! The decision against a model that is written from the documentation, over host spellings × rules × redirects.
//!
//! The model never sees a URL: it is asked about the parts that the URL was made of.

use http::{HeaderMap, HeaderValue, Method, StatusCode};
use proptest::prelude::*;
use proptest::sample::select;
use ringfence_core::grant::{HttpRule, Methods};
use ringfence_egress::{Access, Request, Target, follow};

use super::support::door::access_with;

/// Where a request goes, in parts.
#[derive(Clone, Debug)]
struct Place {
    scheme: &'static str,
    labels: Vec<&'static str>,
    port: u16,
    path: Vec<&'static str>,
}

/// A rule, in parts.
#[derive(Clone, Debug)]
struct Rule {
    scheme: &'static str,
    wildcard: &'static str,
    labels: Vec<&'static str>,
    port: u16,
    path: Vec<&'static str>,
    open: bool,
    methods: Option<Vec<&'static str>>,
}

impl Rule {
    fn allows(&self, place: &Place, method: &str) -> bool {
        let in_front = place.labels.len().checked_sub(self.labels.len());
        let host = match (self.wildcard, in_front) {
            ("", Some(0)) | ("*.", Some(1)) => true,
            ("**.", Some(count)) => count > 0,
            _ => false,
        };
        let any = |own: &str, other: &str| own == "*" && !other.is_empty() && !other.contains('/');
        let segments = self.path.iter().zip(&place.path).all(|(own, other)| own == other || any(own, other));
        let length = if self.open { self.path.len() <= place.path.len() } else { self.path.len() == place.path.len() };
        host && place.labels.ends_with(&self.labels)
            && (self.scheme, self.port) == (place.scheme, place.port)
            && segments
            && length
            && self.methods.as_ref().map_or(matches!(method, "GET" | "HEAD"), |names| names.contains(&method))
    }

    fn lowered(&self) -> HttpRule {
        let open = if self.open { "/**" } else { "" };
        let path: String = self.path.iter().map(|segment| format!("/{segment}")).collect();
        let url = format!("{}://{}{}:{}{path}{open}", self.scheme, self.wildcard, self.labels.join("."), self.port);
        let methods = self.methods.clone().map_or_else(Methods::default, |names| {
            Methods::try_from(names.into_iter().map(String::from).collect::<Vec<_>>()).unwrap()
        });
        HttpRule::new(url.parse().unwrap(), methods)
    }
}

/// How the parts are spelled; `None` where the spelling has to be refused.
#[derive(Clone, Copy, Debug)]
enum Spelling {
    Plain,
    Capitals,
    Dot,
    FullWidth,
    EncodedHost,
    EncodedPath,
    DotSegments,
    Fragment,
    UserInfo,
    Tab,
    Backslash,
    EncodedSlash,
    EncodedDots,
    DoublyEncodedDots,
    DotsWithParameters,
}

const SPELLINGS: [Spelling; 15] = {
    use Spelling::*;
    [
        Plain,
        Capitals,
        Dot,
        FullWidth,
        EncodedHost,
        EncodedPath,
        DotSegments,
        Fragment,
        UserInfo,
        Tab,
        Backslash,
        EncodedSlash,
        EncodedDots,
        DoublyEncodedDots,
        DotsWithParameters,
    ]
};

impl Spelling {
    fn is_refused(self, place: &Place) -> bool {
        use Spelling::*;
        match self {
            UserInfo | Tab | Backslash | EncodedDots | DoublyEncodedDots | DotsWithParameters => true,
            // It has to stand between two names.
            EncodedSlash => place.path.last() == Some(&""),
            _ => false,
        }
    }

    /// The place as rules have to see it.
    fn seen(self, place: &Place) -> Place {
        let mut place = place.clone();
        if let (Self::EncodedSlash, Some(last)) = (self, place.path.last_mut()) {
            *last = match *last {
                "api" => "api/a",
                "apikeys" => "apikeys/a",
                _ => "b/a",
            };
        }
        place
    }

    fn write(self, place: &Place) -> String {
        let mut host = place.labels.join(".");
        let mut path: String = place.path.iter().map(|segment| format!("/{segment}")).collect();
        let first = host.remove(0);
        let (mut before, mut after) = (String::new(), String::new());
        match self {
            Self::Capitals => host = host.to_uppercase(),
            Self::Dot => host.push('.'),
            Self::UserInfo => before = "api.test@".into(),
            Self::EncodedPath => path = path.replace('a', "%61"),
            Self::DotSegments => path = format!("/x/../.{path}"),
            Self::Fragment => after = "#/../a".into(),
            Self::Tab => path.push('\t'),
            Self::Backslash => path = path.replacen('/', "\\", 1),
            Self::EncodedSlash => path.push_str("%2Fa"),
            Self::EncodedDots => path.push_str("/%2e%2E"),
            Self::DoublyEncodedDots => path.push_str("/%252e%252e/a"),
            Self::DotsWithParameters => path.push_str("/..;a/a"),
            Self::Plain | Self::FullWidth | Self::EncodedHost => {}
        }
        let first = match self {
            Self::FullWidth => char::from_u32(u32::from(first) - u32::from('a') + u32::from('ａ')).unwrap().to_string(),
            Self::EncodedHost => format!("%{:02x}", u32::from(first)),
            _ => first.to_string(),
        };
        format!("{}://{before}{first}{host}:{}{path}{after}", place.scheme, place.port)
    }
}

fn scheme() -> impl Strategy<Value = &'static str> {
    select(vec!["https", "https", "http"])
}

fn port() -> impl Strategy<Value = u16> {
    select(vec![443, 443, 80, 8443])
}

fn labels() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(select(vec!["api", "b", "xapi"]), 0..3).prop_map(|mut labels| {
        labels.extend(["x", "test"]);
        labels
    })
}

fn path() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(select(vec!["api", "apikeys", "b"]), 1..3)
}

fn place() -> impl Strategy<Value = Place> {
    // An empty segment somewhere, or at the end, makes `//` or a slash at the end.
    let path = (path(), prop::option::weighted(0.3, 0usize..3)).prop_map(|(mut path, empty)| {
        if let Some(at) = empty {
            path.insert(at.min(path.len()), "");
        }
        path
    });
    (scheme(), labels(), port(), path).prop_map(|(scheme, labels, port, path)| Place { scheme, labels, port, path })
}

fn rule() -> impl Strategy<Value = Rule> {
    let path = prop::collection::vec(select(vec!["api", "b", "*"]), 0..3);
    let methods = prop::option::of(select(vec![vec!["GET"], vec!["POST"], vec!["GET", "POST"]]));
    (scheme(), select(vec!["", "*.", "**."]), labels(), port(), path, any::<bool>(), methods).prop_map(
        |(scheme, wildcard, labels, port, path, open, methods)| {
            let open = open || path.is_empty();
            Rule { scheme, wildcard, labels, port, path, open, methods }
        },
    )
}

/// The method that a redirect makes of `method`.
fn next_method(status: u16, method: &'static str) -> &'static str {
    match (status, method) {
        (301..=303, "POST") | (303, "PUT") => "GET",
        _ => method,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decisions_agree_with_the_model(
        rules in prop::collection::vec(rule(), 0..6),
        place in place(),
        spelling in select(&SPELLINGS[..]),
        method in select(vec!["GET", "HEAD", "POST"]),
    ) {
        let access = access(&rules);
        let url = spelling.write(&place);
        let target = Target::parse(&url);
        prop_assert_eq!(target.is_err(), spelling.is_refused(&place), "{}", url);
        let Ok(target) = target else { return Ok(()) };
        let decided = access.decide(&target, &method.parse::<Method>().unwrap()).ok().map(|decision| decision.rules[0].0);
        let expected = rules.iter().position(|rule| rule.allows(&spelling.seen(&place), method));
        prop_assert_eq!(decided, expected, "{} {}", method, url);
    }

    #[test]
    fn redirects_agree_with_the_model(
        rules in prop::collection::vec(rule(), 1..6),
        from in place(),
        to in place(),
        spelling in select(&SPELLINGS[..]),
        relative in any::<bool>(),
        status in select(vec![200, 300, 301, 302, 303, 304, 307, 308]),
        method in select(vec!["GET", "HEAD", "POST", "PUT"]),
    ) {
        let secret: [(&str, &[u8]); 2] = [("x-secret", b"1"), ("accept", b"*/*")];
        let request = Request::new(method, &Spelling::Plain.write(&from), secret, "body").unwrap();
        // Without its scheme the location takes that of the request.
        let location = spelling.write(&to);
        let (location, to) = match relative {
            true => (location.split_once(':').unwrap().1.to_owned(), Place { scheme: from.scheme, ..to }),
            false => (location, to),
        };
        let Ok(value) = HeaderValue::from_bytes(location.as_bytes()) else { return Ok(()) };
        let headers = HeaderMap::from_iter([(http::header::LOCATION, value)]);
        let next = follow(&request, StatusCode::from_u16(status).unwrap(), &headers);
        if matches!(status, 200 | 300 | 304) {
            prop_assert!(next.unwrap().is_none());
            return Ok(());
        }
        let downgrade = from.scheme == "https" && to.scheme == "http";
        prop_assert_eq!(next.is_err(), spelling.is_refused(&to) || downgrade, "{}", location);
        let Ok(next) = next else { return Ok(()) };
        let next = next.unwrap();
        let method = next_method(status, method);
        prop_assert_eq!(next.method().as_str(), method);
        let same = (from.scheme, &from.labels, from.port) == (to.scheme, &to.labels, to.port);
        prop_assert_eq!(next.headers().contains_key("x-secret"), same);
        prop_assert!(next.headers().contains_key("accept"));
        let decided = access(&rules).decide(next.target(), next.method()).ok().map(|decision| decision.rules[0].0);
        let to = spelling.seen(&to);
        prop_assert_eq!(decided, rules.iter().position(|rule| rule.allows(&to, method)), "{}", location);
    }
}

fn access(rules: &[Rule]) -> Access {
    access_with(rules.iter().map(Rule::lowered).collect(), &[], Vec::new())
}
