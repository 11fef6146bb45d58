//! Bodies in every coding, whole and broken.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_compression::Level;
use async_compression::tokio::write::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use async_compression::zstd::CParameter;
use futures::FutureExt;
use futures::channel::mpsc;
use futures::executor::block_on;
use http::HeaderValue;
use proptest::prelude::*;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::*;

/// How a test names the codings; a server says `deflate` for both forms of it.
pub(crate) const CODINGS: [&str; 5] = ["gzip", "deflate", "raw-deflate", "br", "zstd"];

/// `body` as a server sends it.
pub(crate) fn encoded(coding: &str, body: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => written(GzipEncoder::with_quality(Vec::new(), Level::Fastest), body, GzipEncoder::into_inner),
        "deflate" => written(ZlibEncoder::with_quality(Vec::new(), Level::Fastest), body, ZlibEncoder::into_inner),
        "raw-deflate" => written(DeflateEncoder::new(Vec::new()), body, DeflateEncoder::into_inner),
        "br" => written(BrotliEncoder::with_quality(Vec::new(), Level::Fastest), body, BrotliEncoder::into_inner),
        "zstd" => written(ZstdEncoder::with_quality(Vec::new(), Level::Fastest), body, ZstdEncoder::into_inner),
        _ => body.to_vec(),
    }
}

fn written<W: AsyncWrite + Unpin>(mut encoder: W, body: &[u8], inner: impl Fn(W) -> Vec<u8>) -> Vec<u8> {
    block_on(async {
        encoder.write_all(body).await.unwrap();
        encoder.shutdown().await.unwrap();
    });
    inner(encoder)
}

pub(crate) fn headers(codings: &[&str]) -> HeaderMap {
    let values = codings.iter().map(|coding| {
        HeaderValue::from_static(match *coding {
            "raw-deflate" => "deflate",
            "gzip" => "gzip",
            "deflate" => "deflate",
            "br" => "br",
            _ => "zstd",
        })
    });
    values.map(|value| (CONTENT_ENCODING, value)).collect()
}

pub(crate) fn chunks(body: &[u8], length: usize) -> impl Stream<Item = Result<Bytes, Infallible>> + use<> {
    stream::iter(body.chunks(length).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect::<Vec<_>>())
}

fn collected(decoded: Result<Decoded, DecodeError>) -> Result<Vec<u8>, DecodeError> {
    block_on(async {
        decoded?
            .try_fold(Vec::new(), async |all, chunk| {
                assert!(chunk.len() <= CHUNK);
                Ok([all, chunk.to_vec()].concat())
            })
            .await
    })
}

fn decoded(codings: &[&str], body: &[u8], length: usize) -> Result<Vec<u8>, DecodeError> {
    collected(decode(&mut headers(codings), chunks(body, length)))
}

fn decoded_as(value: &'static str, body: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(value))]);
    collected(decode(&mut headers, chunks(body, 7)))
}

#[track_caller]
fn check_broken(result: &Result<Vec<u8>, DecodeError>) {
    assert!(matches!(result, Err(DecodeError::Broken { .. })), "{result:?}");
}

/// Something that no coding makes much smaller.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn every_coding_is_undone_in_chunks_of_any_length() {
    let body = [noise(200_000), vec![0; 200_000]].concat();
    for coding in CODINGS {
        let sent = encoded(coding, &body);
        for length in [13, 4096, usize::MAX] {
            assert!(decoded(&[coding], &sent, length).unwrap() == body, "{coding} {length}");
        }
        assert!(decoded(&[coding], &encoded(coding, b"x"), 1).unwrap() == b"x", "{coding}");
        assert!(decoded(&[coding], &encoded(coding, b""), 1).unwrap().is_empty(), "{coding}");
    }
}

#[test]
fn lists_are_undone_from_the_end() {
    let inner = encoded("gzip", b"hello");
    let middle = encoded("br", &inner);
    let outer = encoded("zstd", &middle);
    assert_eq!(decoded(&["gzip", "br", "zstd"], &outer, 3).unwrap(), b"hello");
    assert_eq!(decoded_as("GZIP , identity,, Br", &middle).unwrap(), b"hello");
    assert_eq!(decoded_as("x-gzip", &inner).unwrap(), b"hello");
    check_broken(&decoded(&["br", "gzip"], &middle, 3));
}

#[test]
fn without_coding_the_body_stays() {
    for value in ["identity", "", " , identity"] {
        assert_eq!(decoded_as(value, b"\0hello\xff").unwrap(), b"\0hello\xff");
    }
    assert_eq!(collected(decode(&mut HeaderMap::new(), chunks(b"hello", 2))).unwrap(), b"hello");
}

#[test]
fn headers_that_no_longer_hold_are_taken_out() {
    let mut headers = headers(&["gzip"]);
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("25"));
    headers.insert("etag", HeaderValue::from_static("\"x\""));
    decode(&mut headers, chunks(b"", 1)).map(drop).unwrap();
    assert_eq!(headers.into_iter().map(|(name, _)| name.unwrap()).collect::<Vec<_>>(), ["etag"]);
}

#[test]
fn a_response_without_a_body_is_none_that_is_broken() {
    for coding in CODINGS {
        assert!(decoded(&[coding, "gzip"], b"", 1).unwrap().is_empty());
    }
}

#[test]
fn unknown_codings_are_refused_and_not_quoted() {
    for value in ["compress", "rf_live_secret", "gzip;q=1", "gzip br", "g\u{7a}ip, exi", "*"] {
        let error = decoded_as(value, b"x").unwrap_err();
        assert_eq!(error.code(), "decode.unknown_encoding");
        assert!(!format!("{error} {error:?}").contains(value), "{error}");
    }
    let mut headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_bytes(b"gz\xefp").unwrap())]);
    assert!(matches!(decode(&mut headers, chunks(b"", 1)).map(drop), Err(DecodeError::Unknown)));
    assert!(matches!(decoded_as("gzip, gzip, identity, gzip, gzip", b"x"), Err(DecodeError::TooMany)));
}

#[test]
fn what_is_cut_off_or_damaged_is_refused() {
    let body = noise(300);
    for coding in CODINGS {
        let sent = encoded(coding, &body);
        check_broken(&decoded(&[coding], b"<html>plain text, not encoded at all</html>", 5));
        for length in 1..sent.len() {
            check_broken(&decoded(&[coding], &sent[..length], 64));
        }
    }
    for (coding, from_end) in [("gzip", 8), ("gzip", 1), ("deflate", 1)] {
        let mut sent = encoded(coding, &body);
        let at = sent.len() - from_end;
        sent[at] ^= 1;
        check_broken(&decoded(&[coding], &sent, 64));
    }
    check_broken(&decoded(&["gzip"], &[encoded("gzip", &body), b"more".to_vec()].concat(), 64));
}

#[test]
fn members_follow_one_another() {
    for coding in ["gzip", "zstd"] {
        let sent = [encoded(coding, b"hello "), encoded(coding, b""), encoded(coding, b"world")].concat();
        for length in [1, 7, 1000] {
            assert_eq!(decoded(&[coding], &sent, length).unwrap(), b"hello world");
        }
    }
}

#[test]
fn a_window_that_is_too_large_is_refused() {
    let with_window = |log| {
        let params = [CParameter::window_log(log)];
        let encoder = ZstdEncoder::with_quality_and_params(Vec::new(), Level::Default, &params);
        written(encoder, &noise(1000), ZstdEncoder::into_inner)
    };
    assert!(decoded(&["zstd"], &with_window(ZSTD_WINDOW_LOG), 100).is_ok());
    check_broken(&decoded(&["zstd"], &with_window(ZSTD_WINDOW_LOG + 1), 100));
    // Nothing, with a window of 16 MiB and of 1 GiB.
    assert!(decoded(&["br"], &[0x3f], 1).unwrap().is_empty());
    check_broken(&decoded(&["br"], &[0x11, 0xde], 1));
}

/// A body that grows a thousandfold is given piece by piece, as it is asked for.
#[test]
fn what_is_not_asked_for_is_not_decoded() {
    for coding in CODINGS {
        let sent = encoded(coding, &vec![0; 16 << 20]);
        let taken = Arc::new(AtomicUsize::new(0));
        let count = taken.clone();
        let body = chunks(&sent, 16).inspect(move |_| _ = count.fetch_add(16, Ordering::Relaxed));
        let mut decoded = decode(&mut headers(&[coding]), body).unwrap();
        let first = block_on(decoded.next()).unwrap().unwrap();
        assert!(first.len() <= CHUNK && taken.load(Ordering::Relaxed) < sent.len() / 4 + 64, "{coding}");
        // Of the rest nothing is kept but the count.
        let rest = block_on(decoded.try_fold(0, async |sum, chunk| Ok(sum + chunk.len()))).unwrap();
        assert_eq!(first.len() + rest, 16 << 20);
    }
}

#[test]
fn what_has_arrived_is_given_before_the_rest_arrives() {
    let (server, body) = mpsc::unbounded::<Result<Bytes, Infallible>>();
    let mut decoded = decode(&mut headers(&["gzip"]), body).unwrap();
    let mut encoder = GzipEncoder::new(Vec::new());
    block_on(async {
        encoder.write_all(b"data: 1\n\n").await.unwrap();
        encoder.flush().await.unwrap();
    });
    server.unbounded_send(Ok(encoder.get_ref().clone().into())).unwrap();
    assert_eq!(decoded.next().now_or_never().unwrap().unwrap().unwrap(), "data: 1\n\n");
    assert!(decoded.next().now_or_never().is_none());
    drop(server);
    assert!(matches!(block_on(decoded.next()), Some(Err(DecodeError::Broken { coding: "gzip", .. }))));
}

#[test]
fn an_error_of_the_connection_stays_one() {
    let sent = encoded("br", &encoded("gzip", &noise(1000)));
    let body = stream::iter([Ok(Bytes::from(sent).slice(..500)), Err(io::Error::other("reset"))]);
    let error = collected(decode(&mut headers(&["gzip", "br"]), body)).unwrap_err();
    assert!(matches!(&error, DecodeError::Transport(source) if source.to_string() == "reset"), "{error:?}");
}

proptest! {
    #[test]
    fn any_bytes_are_decoded_or_refused(
        coding in proptest::sample::select(&CODINGS[..]),
        body in proptest::collection::vec(any::<u8>(), 0..200),
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let _ = decoded(&[coding], &body, 50);
        let mut sent = encoded(coding, &body);
        for (at, with) in flips {
            let at = at.index(sent.len());
            sent[at] ^= with;
        }
        let _ = decoded(&[coding], &sent, 50);
    }
}
