//! One event as a line: `{"seq":…,"time":…,"event":{…},"mac":"…"}`.
//!
//! The MAC covers the line up to itself and the MAC of the line before, so no line can be changed, moved, left out or
//! put in by anybody who does not have the host key.

use std::io::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::digest::{from_hex, to_hex};
use crate::host_key::HostKey;

/// The longest line, in bytes. Events hold names and digests, never arguments or results.
pub(super) const MAX_LINE: usize = 64 << 10;

/// What stands between the body of a line and its MAC.
const MAC_KEY: &str = ",\"mac\":\"";
const LINE_END: &str = "\"}";
/// Bytes behind the body: key, 64 digits, end.
const TAIL: usize = MAC_KEY.len() + 64 + LINE_END.len();

/// The end of the chain: the place of the last event, and its MAC. Place 0 is before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) mac: [u8; 32],
}

/// A line taken apart.
pub(super) struct Line<'a> {
    body: &'a [u8],
    pub(super) link: Link,
    pub(super) time: u64,
    pub(super) event: &'a RawValue,
}

#[derive(Deserialize)]
struct Fields<'a> {
    seq: u64,
    time: u64,
    #[serde(borrow)]
    event: &'a RawValue,
    #[serde(rename = "mac")]
    _mac: &'a str,
}

/// Writes the line of `event` at place `seq` into `line`, newline included, and returns the new end of the chain.
pub(super) fn encode(
    line: &mut Vec<u8>,
    key: &HostKey,
    before: &[u8; 32],
    seq: u64,
    time: u64,
    event: &impl Serialize,
) -> std::io::Result<Link> {
    line.clear();
    write!(line, "{{\"seq\":{seq},\"time\":{time},\"event\":")?;
    serde_json::to_writer(&mut *line, event)?;
    let mac = chain(key, before, line);
    writeln!(line, "{MAC_KEY}{}{LINE_END}", to_hex(&mac))?;
    Ok(Link { seq, mac })
}

impl<'a> Line<'a> {
    /// Takes a line, without its newline, apart; `None` when it has not the form of one. Proves nothing yet.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let mac = stated_mac(text)?;
        let body = &text[..text.len() - TAIL];
        let fields: Fields<'_> = serde_json::from_slice(text).ok()?;
        Some(Self { body, link: Link { seq: fields.seq, mac }, time: fields.time, event: fields.event })
    }

    /// Whether this host wrote the line, behind the one whose MAC is `before`.
    pub(super) fn follows(&self, key: &HostKey, before: &[u8; 32]) -> bool {
        chain(key, before, self.body) == self.link.mac
    }
}

/// The MAC that stands at the end of a line, whatever is in front of it.
pub(super) fn stated_mac(text: &[u8]) -> Option<[u8; 32]> {
    let tail = &text[text.len().checked_sub(TAIL)?..];
    let mac = tail.strip_prefix(MAC_KEY.as_bytes())?.strip_suffix(LINE_END.as_bytes())?;
    from_hex(std::str::from_utf8(mac).ok()?)
}

fn chain(key: &HostKey, before: &[u8; 32], body: &[u8]) -> [u8; 32] {
    key.mac("audit event", &[before, body])
}
