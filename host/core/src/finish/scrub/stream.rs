//! Credentials of a known form, in bytes that arrive in pieces.

use std::ops::Range;

use bytes::Bytes;

use super::chars::breaks;
use super::spans::{Label, Marks};
use super::tokens::{self, Found};

/// What may have to be looked at before a place: the number of a Telegram bot, an escape, part of an anchor.
const BEFORE: usize = tokens::BEFORE;

/// No more than this waits: it is decided by what there is. Private keys have a fifth of it.
const MAX_HELD: usize = 64 << 10;

/// So little is looked at again with each piece.
const LITTLE: usize = 64;

/// Takes credentials of a known form out of a stream, across the borders of its pieces. Equal values get equal marks.
///
/// The bytes need not be text: one that is no ASCII character ends every form but a password in a URL. What it holds
/// back is the end of a piece in which a form may have begun, until a space, a quote or a line break says that it has
/// not, or nothing comes for a while: [`idle`](Self::idle).
#[derive(Default)]
pub struct FormsInStream {
    /// Bytes that were given already and still say what the next ones are, and behind them those that wait.
    held: Vec<u8>,
    given: usize,
    /// With fewer bytes than this another look would find nothing new.
    look_at: usize,
    in_key: bool,
    /// A form that was longer than everything that is held: the rest of it goes as well.
    dropping: Option<fn(u8) -> bool>,
    /// Whether what waits is a credential that has begun.
    has_begun: bool,
    /// The kind of the first that was found.
    first: Option<&'static str>,
    marks: Marks,
}

/// The kind of the first credential of a known form in `bytes`.
pub fn known_form(bytes: &[u8]) -> Option<&'static str> {
    tokens::found(bytes).next().map(|found| found.kind)
}

impl FormsInStream {
    /// Takes the next bytes, which `add` appends, and gives those that are certain.
    pub fn feed(&mut self, add: impl FnOnce(&mut Vec<u8>)) -> Bytes {
        let old = self.held.len();
        add(&mut self.held);
        if let Some(more) = self.dropping {
            let dropped = self.held[old..].iter().take_while(|byte| more(**byte)).count();
            self.held.drain(old..old + dropped);
        }
        let piece = &self.held[old..];
        if piece.is_empty() {
            return Bytes::new();
        }
        let closed = !self.in_key && piece.iter().any(|byte| breaks(*byte));
        self.dropping = None;
        self.has_begun = false;
        if self.held.len() < self.look_at && !closed {
            return Bytes::new();
        }
        let seen = tokens::seen(&self.held);
        self.give(seen.found, seen.certain, seen.in_key)
    }

    /// Whether bytes wait that [`idle`](Self::idle) may give.
    pub fn is_waiting(&self) -> bool {
        !self.has_begun && self.held.len() > self.given
    }

    /// Gives what waits, because nothing has come for a while and somebody may wait for an answer: all but a credential
    /// that has begun. One of which only the very beginning was there is found when the rest comes, and loses that.
    pub fn idle(&mut self) -> Bytes {
        self.has_begun = true;
        let seen = tokens::seen(&self.held);
        self.give(seen.found, seen.begun, seen.in_key)
    }

    /// Gives the rest. The stream is at its end.
    pub fn finish(&mut self) -> Bytes {
        self.give(tokens::found(&self.held).collect(), self.held.len(), false)
    }

    /// The kind of the first credential that was taken out so far.
    pub fn first(&self) -> Option<&'static str> {
        self.first
    }

    /// Gives what lies before `certain`, and before a credential that reaches beyond it. The rest waits, unless it is too
    /// much for that.
    fn give(&mut self, mut found: Vec<Found>, certain: usize, in_key: bool) -> Bytes {
        found.retain(|found| found.range.end > self.given);
        found.sort_by_key(|found| found.range.start);
        let reaching =
            |certain: usize, range: &Range<usize>| if range.end > certain { certain.min(range.start) } else { certain };
        // From the last on: what reaches into one that waits has to wait with it.
        let certain = found.iter().rev().fold(certain, |certain, found| reaching(certain, &found.range));
        // Of what waits, the beginning may be gone already.
        let mut certain = certain.max(self.given);
        if self.held.len() - certain > MAX_HELD {
            certain = self.held.len();
            self.dropping = found.iter().find(|found| found.range.end == certain).map(|found| found.more);
        }
        found.retain(|found| found.range.end <= certain);
        let given = self.given;
        let held = self.keep(certain, in_key);
        if found.is_empty() { Bytes::from(held).slice(given..) } else { self.marked(&held, given, &found).into() }
    }

    /// Keeps what waits behind `certain` and what says what it is. Returns what was held before that: most bytes, which
    /// so are not copied.
    fn keep(&mut self, certain: usize, in_key: bool) -> Vec<u8> {
        let old = certain.saturating_sub(BEFORE);
        let mut rest = Vec::with_capacity(self.held.len());
        rest.extend_from_slice(&self.held[old..]);
        let mut held = std::mem::replace(&mut self.held, rest);
        held.truncate(certain);
        self.given = certain - old;
        let waiting = self.held.len() - self.given;
        self.look_at = if waiting <= LITTLE { 0 } else { (2 * self.held.len()).min(self.given + MAX_HELD + 1) };
        self.in_key = waiting > LITTLE && in_key;
        held
    }

    /// `bytes` from `given` on, with marks in the place of what was `found` in them.
    fn marked(&mut self, bytes: &[u8], mut given: usize, found: &[Found]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        for Found { range, kind, .. } in found {
            self.first.get_or_insert(kind);
            // One may lie in another, as a token in the password of a URL; of one, the beginning may be gone already.
            if range.start >= given {
                clean.extend_from_slice(&bytes[given..range.start]);
                clean.extend_from_slice(self.marks.mark(Label::Kind(kind), &bytes[range.clone()]).as_bytes());
            }
            given = given.max(range.end);
        }
        clean.extend_from_slice(&bytes[given..]);
        clean
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: &str = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGhI";

    fn key(body: usize) -> String {
        let line = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumQMIIEpAIBAAKCAQEA1c7+9/\n";
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
            line.repeat(body.div_ceil(line.len()))
        )
    }

    fn feed(stream: &mut FormsInStream, piece: &str) -> String {
        String::from_utf8(stream.feed(|held| held.extend(piece.bytes())).to_vec()).unwrap()
    }

    fn idle(stream: &mut FormsInStream) -> String {
        String::from_utf8(stream.idle().to_vec()).unwrap()
    }

    /// `text` after it came in pieces of these lengths, over and over.
    fn in_pieces(bytes: &[u8], lengths: &[usize]) -> Vec<u8> {
        let mut stream = FormsInStream::default();
        let (mut clean, mut rest, mut lengths) = (Vec::new(), bytes, lengths.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
            clean.extend(stream.feed(|held| held.extend(piece)));
            rest = after;
        }
        clean.extend(stream.finish());
        clean
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        for lengths in [&[1][..], &[2], &[7], &[3, 50], &[usize::MAX]] {
            let clean = String::from_utf8(in_pieces(text.as_bytes(), lengths)).unwrap();
            assert_eq!(clean, expected, "in pieces of {lengths:?}");
        }
    }

    #[test]
    fn forms_are_found_wherever_a_piece_ends() {
        check(&format!("x={TOKEN}&y={TOKEN}"), "x=[REDACTED:github#1]&y=[REDACTED:github#1]");
        check(&format!("a {TOKEN}"), "a [REDACTED:github#1]");
        check("SK0123456789abcdef0123456789abcdef x", "[REDACTED:twilio#1] x");
        check("SK0123456789abcdef0123456789abcdef0 x", "SK0123456789abcdef0123456789abcdef0 x");
        check("bot123456789:AAaB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGh/", "bot[REDACTED:telegram#1]/");
        check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln, x", "[REDACTED:jwt#1], x");
        check(
            "redis://:hunter2@10.0.0.1/ redis://10.0.0.1/",
            "redis://:[REDACTED:url_password#1]@10.0.0.1/ redis://10.0.0.1/",
        );
        check(&format!("a\n{}\nb", key(500)), "a\n[REDACTED:private_key#1]\nb");
        check("-----BEGIN CERTIFICATE-----\nMIIE\n", "-----BEGIN CERTIFICATE-----\nMIIE\n");
        check("xghp_aB3dE6gH9jK2mN5pQ8sT1vW4 ghp_short", "xghp_aB3dE6gH9jK2mN5pQ8sT1vW4 ghp_short");
        check(&format!("\\n{TOKEN}"), "\\n[REDACTED:github#1]");
        check("Bearer aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG, x", "Bearer [REDACTED:bearer#1], x");
        check(
            "\"Authorization\": \"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\"",
            "\"Authorization\": \"Basic [REDACTED:basic#1]\"",
        );
        check("Bearer authentication and Basic authentication", "Bearer authentication and Basic authentication");
        check("", "");
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut stream = FormsInStream::default();
        assert_eq!(feed(&mut stream, "first"), "");
        assert!(stream.is_waiting());
        assert_eq!((stream.idle(), stream.is_waiting()), (Bytes::from("first"), false));
        // A credential that has begun waits all the same.
        let (begun, rest) = TOKEN.split_at(8);
        let clean = feed(&mut stream, &format!(" x={begun}")) + &idle(&mut stream);
        assert_eq!(clean, " x=");
        let clean = feed(&mut stream, &format!("{rest} ")) + &idle(&mut stream);
        assert_eq!(clean, "[REDACTED:github#1] ");
        // One that had hardly begun loses what makes it one, however the rest comes.
        for at in 3..TOKEN.len() {
            let mut stream = FormsInStream::default();
            let (begun, rest, end) = (&TOKEN[..2], &TOKEN[2..at], &TOKEN[at..]);
            let mut clean = feed(&mut stream, begun) + &idle(&mut stream);
            clean += &feed(&mut stream, rest);
            clean += &feed(&mut stream, &format!("{end} after"));
            clean += std::str::from_utf8(&stream.finish()).unwrap();
            assert_eq!((clean.as_str(), stream.first()), ("gh after", Some("github")), "{at}");
        }
    }

    #[test]
    fn the_borders_of_large_pieces_hide_nothing() {
        for size in [MAX_HELD - 1, MAX_HELD, 2 * MAX_HELD] {
            for before in 0..TOKEN.len() {
                let words = "an ordinary text ".repeat(size);
                let text = format!("{} {TOKEN} {}", &words[..3 * size - before - 1], &words[..size]);
                let clean = String::from_utf8(in_pieces(text.as_bytes(), &[size])).unwrap();
                assert!(clean == text.replace(TOKEN, "[REDACTED:github#1]"), "{size}, {before}");
            }
        }
    }

    #[test]
    fn what_is_endless_is_dropped_and_not_held() {
        let long = format!("{TOKEN}{} after {TOKEN}", "a".repeat(3 * MAX_HELD));
        let clean = in_pieces(long.as_bytes(), &[1000]);
        assert_eq!(String::from_utf8(clean).unwrap(), "[REDACTED:github#1] after [REDACTED:github#2]");
        let mut stream = FormsInStream::default();
        for _ in 0..1000 {
            feed(&mut stream, &"eyJ".repeat(100));
            assert!(stream.held.len() <= MAX_HELD + 1000, "{}", stream.held.len());
        }
    }

    #[test]
    fn ordinary_bytes_pass_at_once() {
        let mut stream = FormsInStream::default();
        for piece in ["data: {\"a\": 1}\n\n", "event: x\n", "\u{e4}\u{f6}\u{fc} "] {
            assert_eq!(feed(&mut stream, piece), piece);
        }
        assert_eq!(stream.feed(|held| held.extend(b"\xff\xfe\x00 \n")), &b"\xff\xfe\x00 \n"[..]);
        assert!(stream.finish().is_empty());
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            parts in proptest::collection::vec(prop_oneof![
                Just(TOKEN.to_owned()), Just("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln".to_owned()),
                Just("https://u:pass@h/".to_owned()), Just("123456789:AAaB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGh".to_owned()),
                Just(key(100)), Just("-----BEGIN ".to_owned()), Just("-----".to_owned()), Just("AKIAIOSFODNN7EXAMPLE".to_owned()),
                Just("Bearer aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b".to_owned()),
                Just("Bearer ".to_owned()), Just("basic dXNlcjpwYXNzd29yZA==".to_owned()), Just("Basic ".to_owned()),
                Just("SG.".to_owned()), Just("x://\u{fc}:p\u{e4}@".to_owned()), Just("://a:".to_owned()), "[ -~\n]{0,9}", "[a-zA-Z0-9_.:-]{0,40}", "\\PC{0,3}",
            ], 0..12),
            lengths in proptest::collection::vec(1usize..60, 1..5),
        ) {
            let text = parts.concat();
            let whole = in_pieces(text.as_bytes(), &[usize::MAX]);
            let pieces = in_pieces(text.as_bytes(), &lengths);
            prop_assert_eq!(String::from_utf8(pieces), String::from_utf8(whole));
        }

        #[test]
        fn other_bytes_stay(bytes in proptest::collection::vec(any::<u8>(), 0..300), length in 1usize..20) {
            // Random bytes hold no credential.
            prop_assert_eq!(in_pieces(&bytes, &[length]), bytes);
        }
    }
}
