//! Content codings (RFC 9110, 8.4). What cannot be decoded cannot be looked through, so it is refused.

#[cfg(test)]
pub(crate) mod tests;

use std::io;

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use thiserror::Error;
use tokio::io::AsyncRead;
use tokio_util::io::{ReaderStream, StreamReader};

/// What a server is told that it may send.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd, identity";

/// The most codings of one body. Real servers use one; every further one multiplies what a small body can grow to.
const MAX_CODINGS: usize = 3;

/// The largest piece of a decoded body, in bytes.
const CHUNK: usize = 64 << 10;

/// The window of zstd, 8 MiB, as RFC 9659 bounds it for HTTP: the decoder holds as much in memory.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Why there is no body.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// The server used a coding that it was not offered. Its name may be anything, a secret too, and is not shown.
    #[error(
        "the response is in an encoding that cannot be decoded, so it cannot be searched for secrets: ask the server \
         for one of {ACCEPTED}"
    )]
    Unknown,
    /// There are too many codings.
    #[error("the response is encoded more than {MAX_CODINGS} times over: ask the server for less")]
    TooMany,
    /// The body is not what its headers say.
    #[error("the response says that it is encoded as {coding} and is not, or is cut off: the server is at fault")]
    Broken {
        /// The coding.
        coding: &'static str,
        /// What the decoder says.
        #[source]
        source: io::Error,
    },
    /// The body did not arrive.
    #[error("the response broke off")]
    Transport(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl DecodeError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "decode.unknown_encoding",
            Self::TooMany => "decode.too_many_encodings",
            Self::Broken { .. } => "decode.broken",
            Self::Transport(_) => "decode.transport",
        }
    }
}

/// A decoded body.
pub type Decoded = BoxStream<'static, Result<Bytes, DecodeError>>;

/// Decodes `body` as `headers` say, and takes from them what is no longer true: `Content-Encoding`, and
/// `Content-Length`, which the scan may change as well. A response to `HEAD` has no body, so it stays as it is.
///
/// At most 64 KiB and the window of each coding (32 KiB; 8 MiB for zstd, 16 MiB for br) are in memory. How much comes
/// out is for the caller to count: a body may grow a thousandfold, with several codings far more.
///
/// # Errors
/// When the codings are unknown or too many. That the body does not agree with them shows in the stream, which ends
/// with that error.
pub fn decode<S, E>(headers: &mut HeaderMap, body: S) -> Result<Decoded, DecodeError>
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    let codings = codings(headers)?;
    headers.remove(CONTENT_ENCODING);
    headers.remove(CONTENT_LENGTH);
    let body = body.map_err(|error| DecodeError::Transport(Box::new(error))).boxed();
    // The list is in the order in which they were applied.
    Ok(codings.into_iter().rev().fold(body, |body, coding| coding.undo(body)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The codings of a body, without `identity`.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, DecodeError> {
    let mut codings = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        let value = value.to_str().map_err(|_| DecodeError::Unknown)?;
        let names = value.split(',').map(|name| name.trim().to_ascii_lowercase());
        for name in names.filter(|name| !name.is_empty() && name != "identity") {
            codings.push(Coding::named(&name).ok_or(DecodeError::Unknown)?);
        }
    }
    if codings.len() > MAX_CODINGS { Err(DecodeError::TooMany) } else { Ok(codings) }
}

impl Coding {
    fn named(name: &str) -> Option<Self> {
        match name {
            "gzip" | "x-gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            "br" => Some(Self::Brotli),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The body before this coding was applied. Where there is none, as with 304, there is nothing to decode.
    fn undo(self, mut body: Decoded) -> Decoded {
        let decoded = async move {
            let head = head(&mut body).await?;
            if head.is_empty() {
                return Ok(stream::empty().boxed());
            }
            if self == Self::Brotli && is_large_window(&head) {
                let source = io::Error::new(io::ErrorKind::InvalidData, "its window is larger than RFC 7932 allows");
                return Err(DecodeError::Broken { coding: self.name(), source });
            }
            let decoder = self.decoder(&head, stream::iter([Ok(head.clone())]).chain(body).boxed());
            let chunks = ReaderStream::with_capacity(decoder, CHUNK).map_err(move |error| self.error(error));
            // Memory is always ready: without this, a body that grows without end would keep a worker to itself.
            Ok(chunks
                .then(async |chunk| {
                    tokio::task::consume_budget().await;
                    chunk
                })
                .boxed())
        };
        stream::once(decoded).try_flatten().boxed()
    }

    fn decoder(self, head: &[u8], body: Decoded) -> Box<dyn AsyncRead + Send + Unpin> {
        let body = StreamReader::new(body.map_err(io::Error::other));
        match self {
            Self::Gzip => {
                let mut decoder = GzipDecoder::new(body);
                decoder.multiple_members(true); // RFC 1952, 2.2
                Box::new(decoder)
            }
            // `deflate` means zlib, and some servers send what is inside it.
            Self::Deflate if is_zlib(head) => Box::new(ZlibDecoder::new(body)),
            Self::Deflate => Box::new(DeflateDecoder::new(body)),
            Self::Brotli => Box::new(BrotliDecoder::new(body)),
            Self::Zstd => {
                let window = DParameter::window_log_max(ZSTD_WINDOW_LOG);
                let mut decoder = ZstdDecoder::with_params(body, &[window]);
                decoder.multiple_members(true); // RFC 8878, 3
                Box::new(decoder)
            }
        }
    }

    /// The error of the body itself, or of the coding inside this one, comes through the reader.
    fn error(self, error: io::Error) -> DecodeError {
        let broken = |source| DecodeError::Broken { coding: self.name(), source };
        error.downcast::<DecodeError>().unwrap_or_else(broken)
    }
}

/// The first bytes of `body`, two at least where it has as many.
async fn head(body: &mut Decoded) -> Result<Bytes, DecodeError> {
    let mut head = BytesMut::new();
    while head.len() < 2 {
        match body.try_next().await? {
            Some(chunk) => head.extend_from_slice(&chunk),
            None => break,
        }
    }
    Ok(head.freeze())
}

/// Whether a zlib header begins here (RFC 1950, 2.2): deflate, a window that there can be, the check. No compressor
/// writes bare deflate that begins so: it would be a stored block with set padding bits.
fn is_zlib(head: &[u8]) -> bool {
    let [cmf, flg, ..] = *head else { return false };
    cmf & 0x0f == 8 && cmf >> 4 <= 7 && u16::from_be_bytes([cmf, flg]) % 31 == 0
}

/// Whether "large window brotli" begins here, which is no `br` (RFC 7932, 9.1, leaves this pattern unused). Our decoder
/// would take it, and as much as 1 GiB for its window.
fn is_large_window(head: &[u8]) -> bool {
    head.first().is_some_and(|bits| bits & 0x7f == 0x11)
}
