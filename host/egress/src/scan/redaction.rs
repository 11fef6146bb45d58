//! The redaction of one stream: what is let through, what is replaced, what has to wait for the next chunk.

use std::collections::VecDeque;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::{Buf, BytesMut};

use super::forms::{Forms, Found, State};

/// Positions count the bytes of the stream from its beginning.
pub(super) struct Redaction {
    forms: Arc<Forms>,
    state: State,
    /// Bytes that are neither let through nor dropped yet.
    held: BytesMut,
    /// The position of the first of them.
    at: u64,
    /// What is replaced, in order; they neither overlap nor touch. The first may lie before `at`: its bytes are dropped
    /// already, and it waits for what may join it.
    spans: VecDeque<Span>,
}

struct Span {
    start: u64,
    end: u64,
    /// The longest value in it gives it the name.
    found: Found,
}

impl Redaction {
    pub(super) fn new(forms: Arc<Forms>) -> Self {
        let state = forms.start();
        Self { forms, state, held: BytesMut::new(), at: 0, spans: VecDeque::new() }
    }

    /// Takes the next bytes, and appends to `clean` those that are certain.
    pub(super) fn feed(&mut self, chunk: &[u8], clean: &mut Vec<u8>) {
        self.search(chunk);
        let waiting = self.forms.depth(&self.state);
        match chunk.len().checked_sub(waiting) {
            // As nearly always: there is nothing to replace, and what waited before waits no longer.
            Some(certain) if self.spans.is_empty() => {
                let (certain, rest) = chunk.split_at(certain);
                self.pass(self.end(), clean);
                clean.extend_from_slice(certain);
                self.at += certain.len() as u64;
                self.held.extend_from_slice(rest);
            }
            _ => {
                self.held.extend_from_slice(chunk);
                self.release(self.end() - waiting as u64, clean);
            }
        }
    }

    /// Appends the rest to `clean`. The stream is at its end.
    pub(super) fn finish(&mut self, clean: &mut Vec<u8>) {
        self.release(self.end() + 1, clean);
    }

    fn end(&self) -> u64 {
        self.at + self.held.len() as u64
    }

    fn search(&mut self, chunk: &[u8]) {
        let (before, forms) = (self.end(), self.forms.clone());
        let state = mem::replace(&mut self.state, forms.start());
        self.state = forms.search(state, chunk, |place, found| {
            let end = before + place as u64;
            self.add(Span { start: end - found.length as u64, end, found });
            ControlFlow::Continue(())
        });
    }

    /// Joins `span` with those that it overlaps or touches. None ends behind it.
    fn add(&mut self, mut span: Span) {
        while let Some(last) = self.spans.pop_back_if(|last| last.end >= span.start) {
            span.start = span.start.min(last.start);
            if last.found.length > span.found.length {
                span.found = last.found;
            }
        }
        self.spans.push_back(span);
    }

    /// Appends to `clean` what lies before `safe`, where no value that is still to be found can begin earlier.
    fn release(&mut self, safe: u64, clean: &mut Vec<u8>) {
        while let Some(span) = self.spans.pop_front_if(|span| span.start <= safe) {
            self.pass(span.start, clean);
            self.skip(span.end);
            if span.end >= safe {
                self.spans.push_front(span);
                return;
            }
            clean.extend_from_slice(self.forms.mark(span.found.owner).as_bytes());
        }
        self.pass(safe.min(self.end()), clean);
    }

    fn pass(&mut self, to: u64, clean: &mut Vec<u8>) {
        clean.extend_from_slice(&self.held.split_to(self.length_to(to)));
        self.at = self.at.max(to);
    }

    fn skip(&mut self, to: u64) {
        self.held.advance(self.length_to(to));
        self.at = self.at.max(to);
    }

    fn length_to(&self, position: u64) -> usize {
        (position.saturating_sub(self.at) as usize).min(self.held.len())
    }
}
