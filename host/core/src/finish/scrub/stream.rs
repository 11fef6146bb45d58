//! Credentials of a known form, in bytes that arrive in pieces.

use std::borrow::Cow;
use std::ops::Range;

use super::spans::{Label, Marks};
use super::tokens::{self, Found};

/// What may have to be looked at before a place: the number of a Telegram bot, an escape, part of an anchor.
const BEFORE: usize = tokens::BEFORE;

/// What is undecided after so many bytes is decided by what there is. Private keys have a fifth of it.
const MAX_HELD: usize = 64 << 10;

/// So little is looked at again with each piece.
const LITTLE: usize = 64;

/// Takes credentials of a known form out of a stream, across the borders of its pieces. Equal values get equal marks.
///
/// The bytes need not be text: one that is no ASCII character ends every form. What it holds back is the
/// end of a piece in which a form may have begun, until a space, a quote or a line break says that it has not, or
/// nothing comes for a while: [`idle`](Self::idle).
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
    tokens::found(&readable(bytes), 0).next().map(|found| found.kind)
}

impl FormsInStream {
    /// Takes the next bytes, and gives those that are certain.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<u8> {
        let dropped = self.dropping.map_or(0, |more| piece.iter().take_while(|byte| more(**byte)).count());
        let piece = &piece[dropped..];
        if piece.is_empty() {
            return Vec::new();
        }
        self.dropping = None;
        self.has_begun = false;
        self.held.extend_from_slice(piece);
        let closed = !self.in_key && piece.iter().any(|byte| tokens::breaks(*byte));
        if self.held.len() < self.look_at && !closed {
            return Vec::new();
        }
        let held = std::mem::take(&mut self.held);
        let text = readable(&held);
        let full = held.len() - self.given > MAX_HELD;
        let certain = if full { text.len() } else { tokens::certain(&text).max(self.given) };
        let clean = self.give(&held, &text, certain, full);
        self.keep(&held, &text);
        clean
    }

    /// Whether bytes wait that [`idle`](Self::idle) may give.
    pub fn is_waiting(&self) -> bool {
        !self.has_begun && self.held.len() > self.given
    }

    /// Gives what waits, because nothing has come for a while and somebody may wait for an answer: all but a credential
    /// that has begun. One of which only the very beginning was there is found when the rest comes, and loses that.
    pub fn idle(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let text = readable(&held);
        let clean = self.give(&held, &text, tokens::begun(&text).max(self.given), false);
        self.keep(&held, &text);
        self.has_begun = true;
        clean
    }

    /// Keeps of `held` what waits and what says what it is.
    fn keep(&mut self, held: &[u8], text: &str) {
        let waiting = held.len() - self.given;
        self.look_at = if waiting <= LITTLE { 0 } else { (2 * held.len()).min(self.given + MAX_HELD + 1) };
        self.in_key = waiting > LITTLE && tokens::ends_in_key(text);
        let old = self.given.saturating_sub(BEFORE);
        self.held = held[old..].to_vec();
        self.given -= old;
        self.look_at = self.look_at.saturating_sub(old);
    }

    /// Gives the rest. The stream is at its end.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let text = readable(&held);
        self.give(&held, &text, text.len(), false)
    }

    /// The kind of the first credential that was taken out so far.
    pub fn first(&self) -> Option<&'static str> {
        self.first
    }

    /// Gives what lies before `certain`, and before a credential that reaches beyond it.
    fn give(&mut self, held: &[u8], text: &str, certain: usize, goes_on: bool) -> Vec<u8> {
        let from = self.given.saturating_sub(BEFORE);
        let mut found: Vec<Found> = tokens::found(text, from).filter(|found| found.range.end > self.given).collect();
        found.sort_by_key(|found| found.range.start);
        let reaching =
            |certain: usize, range: &Range<usize>| if range.end > certain { certain.min(range.start) } else { certain };
        // From the last on: what reaches into one that waits has to wait with it.
        let certain = found.iter().rev().fold(certain, |certain, found| reaching(certain, &found.range));
        let mut clean = Vec::with_capacity(certain - self.given);
        for Found { range, kind, .. } in found.iter().filter(|found| found.range.end <= certain) {
            self.first.get_or_insert(kind);
            // One may lie in another, as a token in the password of a URL; of one, the beginning may be gone already.
            if range.start >= self.given {
                clean.extend_from_slice(&held[self.given..range.start]);
                clean.extend_from_slice(self.marks.mark(Label::Kind(kind), &text[range.clone()]).as_bytes());
            }
            self.given = self.given.max(range.end);
        }
        clean.extend_from_slice(&held[self.given..certain]);
        self.given = certain;
        if goes_on {
            self.dropping = found.iter().find(|found| found.range.end == held.len()).map(|found| found.more);
        }
        clean
    }
}

/// The bytes as text of the same length.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text.into(),
        _ => bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '"' }).collect::<String>().into(),
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

    /// `text` after it came in pieces of these lengths, over and over.
    fn in_pieces(bytes: &[u8], lengths: &[usize]) -> Vec<u8> {
        let mut stream = FormsInStream::default();
        let (mut clean, mut rest, mut lengths) = (Vec::new(), bytes, lengths.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
            clean.extend(stream.feed(piece));
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
        check("", "");
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut stream = FormsInStream::default();
        assert_eq!(stream.feed(b"first"), b"");
        assert!(stream.is_waiting());
        assert_eq!((stream.idle().as_slice(), stream.is_waiting()), (&b"first"[..], false));
        // A credential that has begun waits all the same.
        let (begun, rest) = TOKEN.split_at(8);
        let mut clean = stream.feed(format!(" x={begun}").as_bytes());
        clean.extend(stream.idle());
        assert_eq!(String::from_utf8(clean).unwrap(), " x=");
        let mut clean = stream.feed(format!("{rest} ").as_bytes());
        clean.extend(stream.idle());
        assert_eq!(String::from_utf8(clean).unwrap(), "[REDACTED:github#1] ");
        // One that had hardly begun loses what makes it one.
        let mut stream = FormsInStream::default();
        let (begun, rest) = TOKEN.split_at(2);
        let mut clean = stream.feed(begun.as_bytes());
        clean.extend(stream.idle());
        clean.extend(stream.feed(format!("{rest} after").as_bytes()));
        clean.extend(stream.finish());
        assert_eq!((String::from_utf8(clean).unwrap().as_str(), stream.first()), ("gh after", Some("github")));
    }

    #[test]
    fn what_is_endless_is_dropped_and_not_held() {
        let long = format!("{TOKEN}{} after {TOKEN}", "a".repeat(3 * MAX_HELD));
        let clean = in_pieces(long.as_bytes(), &[1000]);
        assert_eq!(String::from_utf8(clean).unwrap(), "[REDACTED:github#1] after [REDACTED:github#2]");
        let mut stream = FormsInStream::default();
        for _ in 0..1000 {
            stream.feed("eyJ".repeat(100).as_bytes());
            assert!(stream.held.len() <= MAX_HELD + 1000, "{}", stream.held.len());
        }
    }

    #[test]
    fn ordinary_bytes_pass_at_once() {
        let mut stream = FormsInStream::default();
        for piece in ["data: {\"a\": 1}\n\n", "event: x\n", "\u{e4}\u{f6}\u{fc} "] {
            assert_eq!(stream.feed(piece.as_bytes()), piece.as_bytes());
        }
        assert_eq!(stream.feed(b"\xff\xfe\x00 \n"), b"\xff\xfe\x00 \n");
        assert!(stream.finish().is_empty());
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            parts in proptest::collection::vec(prop_oneof![
                Just(TOKEN.to_owned()), Just("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln".to_owned()),
                Just("https://u:pass@h/".to_owned()), Just("123456789:AAaB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fGh".to_owned()),
                Just(key(100)), Just("-----BEGIN ".to_owned()), Just("-----".to_owned()), Just("AKIAIOSFODNN7EXAMPLE".to_owned()),
                Just("SG.".to_owned()), "[ -~\n]{0,9}", "[a-zA-Z0-9_.:-]{0,40}", "\\PC{0,3}",
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
