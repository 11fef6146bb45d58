//! The last place of the record, in a file of its own. Without it nobody could tell a record whose end was cut off
//! from one that ends there.

use std::io;
use std::path::Path;

use fs_err::File;
use fs_err::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use crate::digest::{from_hex, to_hex};
use crate::host_key::HostKey;

use super::line::Link;

pub(super) struct HeadFile(File);

impl HeadFile {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let mut options = fs_err::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.open(folder.join("head")).map(Self)
    }

    /// The head as it was written last; `None` when there is none that this host wrote.
    pub(super) fn read(&self, key: &HostKey) -> io::Result<Option<Link>> {
        let mut text = vec![0; encode(key, Link::default()).len()];
        match self.0.read_exact_at(&mut text, 0) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let link = decode(&text);
        Ok(link.filter(|link| encode(key, *link) == text))
    }

    /// Replaces the head. It is always of the same length, so this is one write into one block.
    pub(super) fn write(&self, key: &HostKey, link: Link) -> io::Result<()> {
        self.0.write_all_at(&encode(key, link), 0)
    }
}

/// `seq mac tag`, where the tag proves that this host wrote the other two.
fn encode(key: &HostKey, link: Link) -> Vec<u8> {
    let tag = key.mac("audit head", &[&link.seq.to_le_bytes(), &link.mac]);
    format!("{:020} {} {}\n", link.seq, to_hex(&link.mac), to_hex(&tag)).into_bytes()
}

fn decode(text: &[u8]) -> Option<Link> {
    let mut words = std::str::from_utf8(text).ok()?.split(' ');
    Some(Link { seq: words.next()?.parse().ok()?, mac: from_hex(words.next()?)? })
}
