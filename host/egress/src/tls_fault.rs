//! Why a server was not trusted, in words that say what to do about it.

use std::error::Error as StdError;
use std::io;

use rustls::{CertificateError, Error as RustlsError, InvalidMessage};
use thiserror::Error;

/// How many of a certificate's names are shown.
const NAMES: usize = 5;

/// Why there is no TLS with a server.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TlsFault {
    /// Nobody who is trusted vouches for it.
    #[error(
        "its certificate is of an authority that is not trusted: where you know that authority, name the file with its \
         certificate under `authorities` in [network] of the configuration"
    )]
    UnknownAuthority,
    /// Its time is over.
    #[error(
        "its certificate has expired: whoever runs the server has to renew it, unless the clock of this machine is wrong"
    )]
    Expired,
    /// Its time has not come.
    #[error("its certificate is not valid yet: see that the clock of this machine is right")]
    NotYet,
    /// It is somebody else's.
    #[error(
        "its certificate is for {}, and not for the name it was asked by: use a name that the certificate has, or have \
         one made for this name",
        list(.0)
    )]
    OtherName(Vec<String>),
    /// What answers there speaks something else.
    #[error(
        "what answers there does not speak TLS: check host and port; what speaks plain HTTP has an http:// address"
    )]
    NotTls,
    /// Something else.
    #[error("{0}: whoever runs the server has to correct its TLS")]
    Other(RustlsError),
}

impl TlsFault {
    /// The fault that `error` is, if it is one.
    pub(crate) fn of(error: &(dyn StdError + 'static)) -> Option<Self> {
        rustls_error(error).map(Self::of_rustls)
    }

    fn of_rustls(error: &RustlsError) -> Self {
        use CertificateError as C;
        match error {
            // The second: of an authority that has the name of a trusted one, and another key.
            RustlsError::InvalidCertificate(C::UnknownIssuer | C::BadSignature) => Self::UnknownAuthority,
            RustlsError::InvalidCertificate(C::Expired | C::ExpiredContext { .. }) => Self::Expired,
            RustlsError::InvalidCertificate(C::NotValidYet | C::NotValidYetContext { .. }) => Self::NotYet,
            RustlsError::InvalidCertificate(C::NotValidForName) => Self::OtherName(Vec::new()),
            RustlsError::InvalidCertificate(C::NotValidForNameContext { presented, .. }) => {
                Self::OtherName(presented.iter().map(|name| plain(name)).collect())
            }
            RustlsError::InvalidMessage(InvalidMessage::InvalidContentType) => Self::NotTls,
            other => Self::Other(other.clone()),
        }
    }
}

/// The library's own error, which may stand inside I/O errors. Their causes leave out what they are made of.
fn rustls_error<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a RustlsError> {
    let inside = || error.downcast_ref::<io::Error>()?.get_ref().and_then(|inner| rustls_error(inner));
    error.downcast_ref().or_else(inside)
}

/// A name as the library writes it, such as `DnsName("a.test")`, without what is around it. It is the server's.
fn plain(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    inner.trim_matches('"').chars().filter(|c| !c.is_control()).take(100).collect()
}

fn list(names: &[String]) -> String {
    match names {
        [] => "other names".into(),
        names => names.iter().take(NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_certificate_are_shown_as_names() {
        assert_eq!(plain("DnsName(\"a.test\")"), "a.test");
        assert_eq!(plain("IpAddress(127.0.0.1)"), "127.0.0.1");
        assert_eq!(plain("a\u{1b}[2J"), "a[2J");
        let names: Vec<String> = (0..9).map(|i| format!("{i}.test")).collect();
        assert_eq!(list(&names[..2]), "`0.test`, `1.test`");
        assert_eq!(list(&names).matches(".test").count(), NAMES);
        assert!(TlsFault::OtherName(Vec::new()).to_string().contains("is for other names"));
    }
}
