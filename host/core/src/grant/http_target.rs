//! Where a request goes, as rules see it: parsed, normalised, decoded.

use std::fmt;
use std::str::FromStr;

use url::Host;

use super::segment::{SegmentError, decode_segment, encode_segment};
use super::url_pattern::PatternError;

/// How a request travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// The port where none is named.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl FromStr for Scheme {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        match text {
            "http" => Ok(Self::Http),
            "https" => Ok(Self::Https),
            _ => Err(PatternError::Scheme(text.to_owned())),
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a request goes. It has no query: rules do not see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpTarget {
    scheme: Scheme,
    host: Host,
    port: u16,
    path: Vec<String>,
}

impl HttpTarget {
    /// A target from the parts of a parsed URL. `host` is one that [`normal_host`] made, `path` is percent-encoded and
    /// begins with `/`.
    ///
    /// # Errors
    /// When a segment of the path could be read differently by different servers.
    pub fn new(scheme: Scheme, host: Host, port: u16, path: &str) -> Result<Self, SegmentError> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.split('/').map(decode_segment).collect::<Result<_, _>>()?;
        Ok(Self { scheme, host, port, path })
    }

    /// How it travels.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// To which host: an address, or a name in ASCII and lower case without a dot at its end.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// To which port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The decoded segments. `/` is one empty segment; a `/` at the end adds one.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Scheme, host, and the port where it is not the scheme's own.
    pub fn origin(&self) -> String {
        match self.port == self.scheme.default_port() {
            true => format!("{}://{}", self.scheme, self.host),
            false => format!("{}://{}:{}", self.scheme, self.host, self.port),
        }
    }

    /// Whether both belong to one origin (RFC 6454): scheme, host and port are the same.
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }
}

impl fmt::Display for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin())?;
        self.path.iter().try_for_each(|segment| write!(f, "/{}", encode_segment(segment)))
    }
}

/// Reads a host as browsers do (WHATWG URL): names become ASCII and lower case, all spellings of an IPv4 address that
/// address. One dot at the end is taken away. `None` for what is no host: browsers would also take a `*` or a quote in a
/// name, which no name has and which rules read otherwise.
pub fn normal_host(text: &str) -> Option<Host> {
    usable_host(Host::parse(text).ok()?)
}

/// The same for a host that was read so already.
pub fn usable_host(host: Host) -> Option<Host> {
    let Host::Domain(mut name) = host else { return Some(host) };
    if name.ends_with('.') {
        name.pop();
    }
    // RFC 1035, 2.3.1 and 2.3.4; and the underscore, which many names have.
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(usual);
    let good = name.len() <= 253 && name.split('.').all(is_label);
    good.then_some(Host::Domain(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_one_spelling() {
        for (text, expected) in [
            ("API.Example.com", Some("api.example.com")),
            ("a_b-c.example.com", Some("a_b-c.example.com")),
            ("*.example.com", None),
            ("a\"b.example.com", None),
            ("api.example.com.", Some("api.example.com")),
            ("ａpi.example.com", Some("api.example.com")),
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("api%2eexample.com", Some("api.example.com")),
            ("0x7f.1", Some("127.0.0.1")),
            ("2130706433", Some("127.0.0.1")),
            ("017700000001", Some("127.0.0.1")),
            ("127.0.0.1.", Some("127.0.0.1")),
            ("[::FFFF:127.0.0.1]", Some("[::ffff:7f00:1]")),
            ("api.example.com..", None),
            ("a..b", None),
            (".a", None),
            (".", None),
            ("", None),
            ("[fe80::1%25eth0]", None),
            ("[::1", None),
            ("a b", None),
            ("a:b", None),
            ("1.2.3.256", None),
        ] {
            assert_eq!(normal_host(text).map(|host| host.to_string()).as_deref(), expected, "{text}");
        }
        assert_eq!(normal_host(&format!("{}.com", "x".repeat(64))), None);
    }

    #[test]
    fn a_target_reads_like_its_url() {
        let host = normal_host("x.com").unwrap();
        let target = HttpTarget::new(Scheme::Https, host, 8443, "/a%20b/%2A/").unwrap();
        assert_eq!(target.path(), ["a b", "*", ""]);
        assert_eq!(target.to_string(), "https://x.com:8443/a%20b/%2A/");
    }
}
