//! The last place of the record, in a file of its own. Without it nobody could tell a record whose end was cut off, or
//! one behind whose end older lines were copied, from one that ends there.

use std::io;
use std::path::Path;

use fs_err::File;
use fs_err::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use crate::digest::{from_hex, to_hex};
use crate::host_key::HostKey;

use super::line::Link;

/// The end of the record, as it was written down last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) link: Link,
    /// Where in its segment the record ends, in bytes; `None` of a version that did not write that down.
    pub(super) length: Option<u64>,
}

pub(super) struct HeadFile(File);

impl HeadFile {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let mut options = fs_err::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.open(folder.join("head")).map(Self)
    }

    /// The head as it was written last; `None` when there is none that this host wrote.
    pub(super) fn read(&self, key: &HostKey) -> io::Result<Option<Head>> {
        let mut text = vec![0; MAX_LEN];
        let mut length = 0;
        while let more @ 1.. = self.0.read_at(&mut text[length..], length as u64)? {
            length += more;
        }
        let text = &text[..length];
        Ok(decode(text).filter(|head| encode(key, *head) == text))
    }

    /// Replaces the head. It is always of the same length, so this is one write into one block.
    pub(super) fn write(&self, key: &HostKey, head: Head) -> io::Result<()> {
        self.0.write_all_at(&encode(key, head), 0)
    }
}

/// More than a head has.
const MAX_LEN: usize = 256;

/// `seq mac length tag`, where the tag proves that this host wrote the others.
fn encode(key: &HostKey, Head { link, length }: Head) -> Vec<u8> {
    let seq = link.seq.to_le_bytes();
    match length {
        Some(length) => {
            let tag = key.mac("audit end", &[&seq, &link.mac, &length.to_le_bytes()]);
            format!("{:020} {} {length:020} {}\n", link.seq, to_hex(&link.mac), to_hex(&tag))
        }
        None => {
            let tag = key.mac("audit head", &[&seq, &link.mac]);
            format!("{:020} {} {}\n", link.seq, to_hex(&link.mac), to_hex(&tag))
        }
    }
    .into_bytes()
}

fn decode(text: &[u8]) -> Option<Head> {
    let words: Vec<&str> = std::str::from_utf8(text).ok()?.split(' ').collect();
    let (seq, mac, length) = match words.as_slice() {
        [seq, mac, length, _tag] => (seq, mac, Some(length.parse().ok()?)),
        [seq, mac, _tag] => (seq, mac, None),
        _ => return None,
    };
    Some(Head { link: Link { seq: seq.parse().ok()?, mac: from_hex(mac)? }, length })
}
