//! Where a request goes: a URL, parsed once. That parse is what rules see and what is sent.

use ringfence_core::grant::{HttpTarget, Scheme, SegmentError, check_segment, usable_host};
use thiserror::Error;
use url::Url;

/// The longest URL, in bytes. Servers take 8,000 at least (RFC 9110, 4.1).
pub const MAX_URL: usize = 8 << 10;

/// A URL that can be sent: http or https, without userinfo and fragment, its host normalised, its path one that all
/// servers read alike.
///
/// `//` and `;` stay as they are, since some servers mean something by them; see
/// [`PathPattern`](ringfence_core::grant::PathPattern) for why no rule is passed with them. `/../` is resolved before
/// rules see the path, and in disguise (`%2e%2e`, `..;`) refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    seen: HttpTarget,
}

/// Why a text is not taken as a URL. Shows nothing of the text but its scheme and port: a password may be in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TargetError {
    /// Too long.
    #[error("the URL has more than {MAX_URL} bytes: shorten it, or send data in a body")]
    TooLong,
    /// A line break, another control character, or white space around it.
    #[error("the URL contains a control character, or white space around it: percent-encode it or leave it out")]
    Control,
    /// A backslash, which some parsers take for a slash.
    #[error("the URL contains a backslash: write `/`")]
    Backslash,
    /// A part of the path that servers read differently.
    #[error("the path of the URL cannot be used: {0}")]
    Segment(SegmentError),
    /// Nothing that can be parsed.
    #[error("this is not a URL: {0}")]
    NotUrl(url::ParseError),
    /// No `scheme://host`.
    #[error("this is not an absolute URL: begin with https:// or http:// and a host")]
    NotAbsolute,
    /// Another scheme.
    #[error("the scheme `{0}` cannot be used: only https and http can")]
    Scheme(String),
    /// `user:password@`.
    #[error("the URL contains a user name or password: leave it out, credentials are the host's to place")]
    UserInfo,
    /// Not a host.
    #[error("the URL has no usable host name")]
    Host,
    /// Port 0.
    #[error("port 0 cannot be connected to")]
    Port,
}

impl Target {
    /// Parses `text`, which has to be an absolute URL.
    ///
    /// # Errors
    /// When it is not one, or one that could be read in more than one way.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        check_spelling(text)?;
        // The parser would also take `https:host`, `https:/host` and `https:////host`.
        let (scheme, rest) = text.split_once("://").ok_or(TargetError::NotAbsolute)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(TargetError::UserInfo);
        }
        match Url::parse(text) {
            Ok(url) if authority.is_empty() && is_http(url.scheme()) => Err(TargetError::NotAbsolute),
            Ok(url) => Self::of(url),
            Err(_) if !is_http(&scheme.to_ascii_lowercase()) => Err(TargetError::Scheme(shortened(scheme))),
            Err(error) => Err(TargetError::NotUrl(error)),
        }
    }

    /// Where a `Location` of this target leads (RFC 9110, 10.2.2). Its fragment is dropped.
    ///
    /// # Errors
    /// As [`Target::parse`].
    pub fn join(&self, location: &str) -> Result<Self, TargetError> {
        check_spelling(location)?;
        Self::of(self.url.join(location).map_err(TargetError::NotUrl)?)
    }

    /// The URL as it is sent.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The URL as rules see it.
    pub fn seen(&self) -> &HttpTarget {
        &self.seen
    }

    fn of(mut url: Url) -> Result<Self, TargetError> {
        let scheme: Scheme = url.scheme().parse().map_err(|_| TargetError::Scheme(shortened(url.scheme())))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError::UserInfo);
        }
        url.set_fragment(None);
        let host = url.host().map(|host| host.to_owned()).and_then(usable_host).ok_or(TargetError::Host)?;
        // Without the dot at its end: the name that is judged is the name that is sent.
        let name = host.to_string();
        if url.host_str() != Some(name.as_str()) {
            url.set_host(Some(&name)).map_err(TargetError::NotUrl)?;
        }
        let port = match url.port_or_known_default() {
            Some(port @ 1..) => port,
            _ => return Err(TargetError::Port),
        };
        if url.as_str().len() > MAX_URL {
            return Err(TargetError::TooLong);
        }
        let seen = HttpTarget::new(scheme, host, port, url.path()).map_err(TargetError::Segment)?;
        Ok(Self { url, seen })
    }
}

fn is_http(scheme: &str) -> bool {
    scheme.parse::<Scheme>().is_ok()
}

/// What is repeated of a text of unknown length.
fn shortened(text: &str) -> String {
    text.chars().take(20).collect()
}

/// Checks what is gone once the text is parsed: the parser drops tabs and line breaks, turns backslashes, and resolves
/// `%2e%2e` as if it were `..`.
fn check_spelling(text: &str) -> Result<(), TargetError> {
    if text.len() > MAX_URL {
        return Err(TargetError::TooLong);
    }
    if text.chars().any(char::is_control) || text.trim() != text {
        return Err(TargetError::Control);
    }
    let (before, query) = text.split_at(text.find(['?', '#']).unwrap_or(text.len()));
    if before.contains('\\') {
        return Err(TargetError::Backslash);
    }
    check_percent(query)?;
    // Dot segments that are written as such are resolved, and rules see where they lead.
    let mut segments = before.split('/').filter(|segment| !matches!(*segment, "." | ".."));
    segments.try_for_each(check_segment).map_err(TargetError::Segment)
}

fn check_percent(text: &str) -> Result<(), TargetError> {
    let digits = |tail: &str| tail.len() >= 2 && tail.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    let good = text.split('%').skip(1).all(digits);
    if good { Ok(()) } else { Err(TargetError::Segment(SegmentError::Percent)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_spelling_is_sent() {
        for (text, sent) in [
            ("https://API.EXAMPLE.COM/x", "https://api.example.com/x"),
            ("HTTPS://api.example.com:443/x", "https://api.example.com/x"),
            ("https://api.example.com./x", "https://api.example.com/x"),
            ("https://ａpi.example.com", "https://api.example.com/"),
            ("https://аpi.example.com/", "https://xn--pi-6kc.example.com/"),
            ("https://api.example.com%2eevil.test/", "https://api.example.com.evil.test/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://0x7f000001", "http://127.0.0.1/"),
            ("http://0177.1/", "http://127.0.0.1/"),
            ("http://169.254.169.254./", "http://169.254.169.254/"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
            ("https://x.com/a/../b/./c#d", "https://x.com/b/c"),
            ("https://x.com//a;b//?q=%2F..\\", "https://x.com//a;b//?q=%2F..\\"),
            ("https://x.com/g%2Fp/../a%2fb", "https://x.com/a%2fb"),
            ("https://x.com/é b", "https://x.com/%C3%A9%20b"),
            ("https://x.com?q", "https://x.com/?q"),
        ] {
            assert_eq!(Target::parse(text).unwrap().url().as_str(), sent, "{text}");
        }
    }

    #[test]
    fn what_could_be_read_twice_is_refused() {
        use TargetError::*;
        for (text, error) in [
            ("https://api.example.com@evil.test/", UserInfo),
            ("https://api.example.com:443@evil.test/", UserInfo),
            ("https://@evil.test/", UserInfo),
            ("https://evil.test\\@api.example.com/", Backslash),
            ("https://x.com\\a", Backslash),
            ("https://x.com/a\tb", Control),
            ("https://x.com/a\r\nX: 1", Control),
            (" https://x.com/", Control),
            ("https://x.com/\u{85}", Control),
            ("https://x.com/%2e%2e/a", Segment(SegmentError::Dots)),
            ("https://x.com/a/.%2E/b", Segment(SegmentError::Dots)),
            ("https://x.com/a/..;/b", Segment(SegmentError::Dots)),
            ("https://x.com/%252e%252e/a", Segment(SegmentError::Dots)),
            ("https://x.com/a%2F", Segment(SegmentError::Separator)),
            ("https://x.com/a%2F%2Fb", Segment(SegmentError::Separator)),
            ("https://x.com/a%2F..%2Fb", Segment(SegmentError::Dots)),
            ("https://x.com/a%252Fb", Segment(SegmentError::Separator)),
            ("https://x.com/a%5Cb", Segment(SegmentError::Separator)),
            ("https://x.com/a%00", Segment(SegmentError::Control)),
            ("https://x.com/%c0%ae%c0%ae/a", Segment(SegmentError::NotUtf8)),
            ("https://x.com/100%", Segment(SegmentError::Percent)),
            ("https://x.com/?q=100%", Segment(SegmentError::Percent)),
            ("https:x.com/", NotAbsolute),
            ("https:/x.com/", NotAbsolute),
            ("https:///x.com/", NotAbsolute),
            ("//x.com/", NotAbsolute),
            ("file:///etc/passwd", Scheme("file".into())),
            ("ftp://api.example.com/", Scheme("ftp".into())),
            ("gopher://x.com/", Scheme("gopher".into())),
            ("unix:///run/x", Scheme("unix".into())),
            ("http://x.com:0/", Port),
            ("http://a..b/", Host),
            ("http://[fe80::1%25eth0]/", NotUrl(url::ParseError::InvalidIpv6Address)),
        ] {
            assert_eq!(Target::parse(text), Err(error), "{text}");
        }
        assert_eq!(Target::parse(&format!("https://x.com/{}", "a".repeat(MAX_URL))), Err(TooLong));
    }

    #[test]
    fn locations_are_relative_or_not() {
        let base = Target::parse("https://x.com/a/b?c").unwrap();
        for (location, leads_to) in [
            ("d", "https://x.com/a/d"),
            ("/d#e", "https://x.com/d"),
            ("../d", "https://x.com/d"),
            ("?q", "https://x.com/a/b?q"),
            ("//y.com./d", "https://y.com/d"),
            ("http://y.com", "http://y.com/"),
            ("", "https://x.com/a/b?c"),
        ] {
            assert_eq!(base.join(location).unwrap().url().as_str(), leads_to, "{location}");
        }
        for location in ["/%2e%2e/d", "\\\\y.com", "//u:p@y.com", "javascript:1", "file:///etc/passwd", "/\n"] {
            assert!(base.join(location).is_err(), "{location}");
        }
    }

    proptest! {
        #[test]
        fn what_is_sent_is_what_was_judged(text in "https?://[-a-z0-9.%:@\\[\\]\\\\é/;?#]{1,40}", wild in "\\PC{0,60}") {
            for text in [text, wild] {
                let Ok(target) = Target::parse(&text) else { continue };
                // Another parse of what is sent sees the same, and nothing is left to interpret.
                let again = Target::parse(target.url().as_str()).unwrap();
                prop_assert_eq!(again.seen(), target.seen());
                prop_assert_eq!(target.url().host_str().unwrap(), target.seen().host().to_string());
                let names = |part: &String| part.split('/').all(|name| name != ".." && !name.contains('\\'));
                prop_assert!(target.seen().path().iter().all(names));
            }
        }
    }
}
