//! A comparison whose work grows with the size of the texts, not with how different they are.
//!
//! Lines that each text has just once are tied together, as far as both have them in one order, and equal lines beside
//! them are taken along. What lies between is replaced as a whole: the way from the old text to the new one is right, but
//! it can be longer than it needs to be.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use similar::DiffOp;

/// The steps from `old` to `new`.
pub(crate) fn steps(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let same = |old: &&str, new: &&str| old == new;
    let start = old.iter().zip(new).take_while(|(old, new)| same(old, new)).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| same(old, new)).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);

    let mut steps = Steps::default();
    steps.equal(start);
    for (tied_old, tied_new) in ties(&old[start..old_end], &new[start..new_end]) {
        let (tied_old, tied_new) = (tied_old + start, tied_new + start);
        if tied_old < steps.old || tied_new < steps.new {
            continue; // an earlier one has taken it along
        }
        let between = old[steps.old..tied_old].iter().rev().zip(new[steps.new..tied_new].iter().rev());
        let before = between.take_while(|(old, new)| same(old, new)).count();
        let behind = old[tied_old..old_end].iter().zip(&new[tied_new..new_end]);
        let behind = behind.take_while(|(old, new)| same(old, new)).count();
        steps.replace(tied_old - before, tied_new - before);
        steps.equal(before + behind);
    }
    steps.replace(old_end, new_end);
    steps.equal(end);
    steps.done
}

/// Steps that were taken, and how far they have come in both texts.
#[derive(Default)]
struct Steps {
    done: Vec<DiffOp>,
    old: usize,
    new: usize,
}

impl Steps {
    /// The next `count` lines stay.
    fn equal(&mut self, count: usize) {
        if let Some(DiffOp::Equal { len, .. }) = self.done.last_mut() {
            *len += count;
        } else if count > 0 {
            self.done.push(DiffOp::Equal { old_index: self.old, new_index: self.new, len: count });
        }
        self.old += count;
        self.new += count;
    }

    /// What lies before these places is replaced.
    fn replace(&mut self, old_end: usize, new_end: usize) {
        let (old_index, old_len) = (self.old, old_end - self.old);
        let (new_index, new_len) = (self.new, new_end - self.new);
        self.done.extend(match (old_len, new_len) {
            (0, 0) => None,
            (0, _) => Some(DiffOp::Insert { old_index, new_index, new_len }),
            (_, 0) => Some(DiffOp::Delete { old_index, old_len, new_index }),
            _ => Some(DiffOp::Replace { old_index, old_len, new_index, new_len }),
        });
        (self.old, self.new) = (old_end, new_end);
    }
}

/// Where a text has a line.
#[derive(Clone, Copy, Default)]
enum Place {
    #[default]
    Nowhere,
    Once(usize),
    Often,
}

impl Place {
    fn and(self, place: usize) -> Self {
        if matches!(self, Self::Nowhere) { Self::Once(place) } else { Self::Often }
    }
}

/// The places, in both texts, of lines that each has once: the most that are in one order in both.
fn ties(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut lines: HashMap<&str, (Place, Place), BuildHasherDefault<LineHasher>> = HashMap::default();
    for (place, line) in old.iter().enumerate() {
        let (old, _) = lines.entry(line).or_default();
        *old = old.and(place);
    }
    for (place, line) in new.iter().enumerate() {
        if let Some((_, new)) = lines.get_mut(line) {
            *new = new.and(place);
        }
    }
    let mut tied: Vec<(usize, usize)> = lines
        .into_values()
        .filter_map(|places| match places {
            (Place::Once(old), Place::Once(new)) => Some((old, new)),
            _ => None,
        })
        .collect();
    tied.sort_unstable();
    longest_rise(&tied)
}

/// The most of `pairs`, which rise in their first number, that rise in their second one as well.
fn longest_rise(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Of each length, the rise that ends lowest: the pair at its end. `before` has the one in front of each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (place, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut rise: Vec<_> =
        std::iter::successors(ends.last().copied(), |place| before[*place]).map(|place| pairs[place]).collect();
    rise.reverse();
    rise
}

/// FNV-1a. A text that was made to have lines of equal hashes takes longer, which the host's limits bound.
struct LineHasher(u64);

impl Default for LineHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for LineHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The new text by the steps from the old one. Each step goes on where the one before it ended.
    fn apply<'a>(steps: &[DiffOp], old: &[&'a str], new: &[&'a str]) -> Vec<&'a str> {
        let (mut made, mut at) = (Vec::new(), (0, 0));
        for step in steps {
            let (was, is) = (step.old_range(), step.new_range());
            assert_eq!((was.start, is.start), at, "{steps:?}");
            match step {
                DiffOp::Equal { .. } => made.extend(&old[was.clone()]),
                _ => made.extend(&new[is.clone()]),
            }
            at = (was.end, is.end);
        }
        assert_eq!(at, (old.len(), new.len()), "{steps:?}");
        made
    }

    fn lines(text: &str) -> Vec<&str> {
        text.split_inclusive('\n').collect()
    }

    #[test]
    fn lines_that_both_have_once_stay() {
        let (old, new) = (lines("x\na\nb\nx\nc\nd\nx\n"), lines("y\na\nb\ny\ny\nc\nd\nz\n"));
        let stay = steps(&old, &new)
            .iter()
            .filter(|step| matches!(step, DiffOp::Equal { .. }))
            .map(|s| s.old_range())
            .collect::<Vec<_>>();
        assert_eq!(stay, [1..3, 4..6]);
        assert_eq!(longest_rise(&[(0, 5), (1, 1), (2, 2), (3, 9), (4, 3), (5, 0)]), [(1, 1), (2, 2), (4, 3)]);
    }

    proptest! {
        #[test]
        fn the_steps_lead_from_old_to_new(old in "([a-h]\n){0,20}", new in "([a-h]\n){0,20}") {
            let (old, new) = (lines(&old), lines(&new));
            prop_assert_eq!(apply(&steps(&old, &new), &old, &new), new);
        }
    }
}
