//! What is inside the encrypted file: names and values, one behind the other, each with its length before it.
//!
//! Written by hand, because a general parser leaves copies of values in buffers that it does not wipe.

use std::collections::BTreeMap;

use ringfence_core::Secret;
use zeroize::Zeroizing;

use crate::name::SecretName;
use crate::value::check_value;

/// The bytes before each name (its length) and each value (its length, little-endian).
const NAME_HEAD: usize = 1;
const VALUE_HEAD: usize = 4;

/// All secrets of one file, in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Entries(BTreeMap<SecretName, Secret>);

impl Entries {
    pub(super) fn insert(&mut self, name: SecretName, value: Secret) {
        self.0.insert(name, value);
    }

    pub(super) fn take(&mut self, name: &SecretName) -> Option<Secret> {
        self.0.remove(name)
    }

    pub(super) fn into_names(self) -> Vec<SecretName> {
        self.0.into_keys().collect()
    }

    /// The entries as bytes, in a buffer that has room for `spare` bytes more and so never moves.
    pub(super) fn encode(&self, spare: usize) -> Zeroizing<Vec<u8>> {
        let length =
            |(name, value): (&SecretName, &Secret)| NAME_HEAD + name.as_str().len() + VALUE_HEAD + value.expose().len();
        let total: usize = self.0.iter().map(length).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(total + spare));
        for (name, value) in &self.0 {
            // Both fit: a name has at most 64 bytes, a value at most 64 KiB.
            bytes.push(name.as_str().len() as u8);
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(&(value.expose().len() as u32).to_le_bytes());
            bytes.extend_from_slice(value.expose().as_bytes());
        }
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote; `None` for anything else.
    pub(super) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut entries = BTreeMap::new();
        while let Some(name_length) = bytes.split_off_first() {
            let name = std::str::from_utf8(bytes.split_off(..usize::from(*name_length))?).ok()?;
            let head = bytes.split_off(..VALUE_HEAD)?.try_into().ok()?;
            let length = usize::try_from(u32::from_le_bytes(head)).ok()?;
            let value = std::str::from_utf8(bytes.split_off(..length)?).ok()?;
            check_value(value).ok()?;
            let before = entries.insert(name.parse().ok()?, Secret::new(value.to_owned()));
            if before.is_some() {
                return None;
            }
        }
        Some(Self(entries))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exposed(entries: &Entries) -> Vec<(&str, &str)> {
        entries.0.iter().map(|(name, value)| (name.as_str(), value.expose())).collect()
    }

    proptest! {
        #[test]
        fn entries_come_back_and_no_piece_of_them_does(
            secrets in proptest::collection::btree_map("[a-z][a-z0-9_.-]{0,63}", "[^\0]{1,90}", 0..8),
        ) {
            let mut entries = Entries::default();
            for (name, value) in &secrets {
                entries.insert(name.parse().unwrap(), Secret::new(value.clone()));
            }
            let bytes = entries.encode(7);
            prop_assert!(bytes.capacity() >= bytes.len() + 7);
            let decoded = Entries::decode(&bytes).unwrap();
            prop_assert_eq!(exposed(&decoded), exposed(&entries));
            if let Some(shorter) = bytes.len().checked_sub(1) {
                prop_assert!(Entries::decode(&bytes[..shorter]).is_none());
            }
        }

        #[test]
        fn no_bytes_are_a_panic(bytes in proptest::collection::vec(0u8..8, 0..60)) {
            if let Some(entries) = Entries::decode(&bytes) {
                prop_assert_eq!(Entries::decode(&entries.encode(0)).map(|again| exposed(&again).len()), Some(entries.0.len()));
            }
        }
    }

    #[test]
    fn a_name_comes_once() {
        let one = b"\x01a\x01\0\0\0x";
        assert!(Entries::decode(one).is_some());
        assert!(Entries::decode(&[&one[..], one].concat()).is_none());
    }
}
