//! A request body that is sent as it is made: counted, held to its length, looked through for secrets.

use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use ringfence_core::limit::LimitExceeded;
use ringfence_core::{LimitKind, Limits};
use thiserror::Error;

use crate::budget::Clock;
use crate::error::EgressError;
use crate::scan::{Leak, Lookout, Scanner, next_or_idle};

/// A body that somebody is still making.
pub struct Upload {
    pieces: BoxStream<'static, Result<Bytes, UploadError>>,
    length: Option<u64>,
}

/// Why a body was not sent to its end. What was sent of it, the server sees as broken off.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UploadError {
    /// Whoever makes it stopped.
    #[error("the body of the request was given up before its end")]
    Unfinished,
    /// It is followed by trailers, which HTTP/1.1 sends only if they were announced before the body.
    #[error("the request has trailers, which cannot be sent: put them into its headers")]
    Trailers,
    /// It is not as long as its `Content-Length`.
    #[error("the body of the request is not as long as its `content-length` says: {said} bytes, {made} made")]
    Length {
        /// What the header says.
        said: u64,
        /// Bytes of the body so far.
        made: u64,
    },
    /// It holds a secret.
    #[error(transparent)]
    Leak(#[from] Leak),
    /// It is too large, or took too long.
    #[error("{0}")]
    Limit(#[from] LimitExceeded),
}

impl Upload {
    /// A body of `pieces`, which is `length` bytes long where that is known before.
    pub fn new(pieces: impl Stream<Item = Result<Bytes, UploadError>> + Send + 'static, length: Option<u64>) -> Self {
        Self { pieces: pieces.boxed(), length }
    }

    /// How long it is, where that is known before.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// The body as it may be sent. `head` is what of the request's size is not the body's. The first error is also told
    /// to `fate`, since the client drops it where the server answers before the end.
    pub(crate) fn checked(
        self,
        head: u64,
        limits: Limits,
        scanner: &Scanner,
        clock: Clock,
        fate: Fate,
    ) -> BoxStream<'static, Result<Bytes, UploadError>> {
        let sending = Sending { body: self, head, made: 0, limits, lookout: scanner.lookout(), clock };
        let next = async |sending: Option<Sending>| {
            let Some(mut sending) = sending else { return Ok(None) };
            if let Some(piece) = sending.next().await? {
                return Ok(Some((piece, Some(sending))));
            }
            let rest = sending.lookout.finish()?;
            Ok((!rest.is_empty()).then_some((rest, None)))
        };
        stream::try_unfold(Some(sending), next).inspect_err(move |error| fate.set(error)).boxed()
    }
}

struct Sending {
    body: Upload,
    head: u64,
    made: u64,
    limits: Limits,
    lookout: Lookout,
    clock: Clock,
}

impl Sending {
    /// The next piece that can be let go; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, UploadError> {
        loop {
            let next = next_or_idle(&mut self.body.pieces, self.lookout.is_waiting());
            let Some(piece) = self.clock.within(next).await? else {
                match self.lookout.idle()? {
                    certain if certain.is_empty() => continue,
                    certain => return Ok(Some(certain)),
                }
            };
            let piece = piece.transpose()?;
            self.count(piece.as_ref())?;
            let Some(piece) = piece else { return Ok(None) };
            let certain = self.lookout.pass(&piece)?;
            if !certain.is_empty() {
                return Ok(Some(certain));
            }
        }
    }

    fn count(&mut self, piece: Option<&Bytes>) -> Result<(), UploadError> {
        self.made = self.made.saturating_add(piece.map_or(0, Bytes::len) as u64);
        let all = self.made.saturating_add(self.head);
        if all > self.limits.get(LimitKind::HttpRequestBytes) {
            return Err(self.limits.exceeded(LimitKind::HttpRequestBytes, Some(all)).into());
        }
        let said = self.body.length.unwrap_or(self.made);
        let wrong = if piece.is_some() { self.made > said } else { self.made != said };
        if wrong { Err(UploadError::Length { said, made: self.made }) } else { Ok(()) }
    }
}

/// All of a checked body.
pub(crate) async fn collect(body: impl Stream<Item = Result<Bytes, UploadError>> + Send) -> Result<Bytes, UploadError> {
    let append = async |mut all: BytesMut, piece: Bytes| {
        all.extend_from_slice(&piece);
        Ok(all)
    };
    body.try_fold(BytesMut::new(), append).await.map(BytesMut::freeze)
}

/// What became of a body, if it was not sent to its end.
#[derive(Clone, Default)]
pub(crate) struct Fate(Arc<OnceLock<UploadError>>);

impl Fate {
    fn set(&self, error: &UploadError) {
        self.0.get_or_init(|| error.clone());
    }

    /// Why the exchange failed: the body's error, where it has one, or `other`.
    pub(crate) fn or(&self, other: EgressError) -> EgressError {
        self.0.get().cloned().map_or(other, EgressError::from)
    }
}
