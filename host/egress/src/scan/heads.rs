//! Where a form may begin, found by a look at few of the bytes, however many forms there are.
//!
//! The first bytes of a form are its head. Wherever a head lies in a text, one look falls on a word of four bytes that
//! lies in it whole. So it is enough to know the words of all heads, and to know them by their hashes.

use std::fmt::Debug;

use crate::MIN_CREDENTIAL;

type Word = [u8; WORD];

const WORD: usize = 4;

/// From one look to the next: the longest of these that the shortest form allows. With longer ones there are more words,
/// and more of them are found by chance.
const STEPS: [usize; 3] = [LONG_STEP, MIDDLE_STEP, SHORT_STEP];

const LONG_STEP: usize = 16;

const MIDDLE_STEP: usize = 8;

/// What is allowed in any case, since no form is shorter than a value may be.
const SHORT_STEP: usize = MIN_CREDENTIAL - WORD + 1;

/// Looks before it is asked whether one of them found something: a branch costs more than a look.
const LOOKS: usize = 16;

/// So many bits that, by chance, few words have the hash of another one, and so few bytes that they stay near.
const HASHES: usize = 1 << 20;

const BEGIN: usize = 1 << 10;

/// Finds the places where forms may begin.
pub(super) struct Heads {
    step: usize,
    /// By the hash of a word, whether it is in a head: a bit for each.
    words: Box<[u8; HASHES / 8]>,
    /// By the upper bits of that hash, where in a head the word stands: a bit for each place.
    places: Box<[u16; HASHES / 8]>,
    /// By the hash of the first bytes of a form, that there is one: a bit for each, so that all of them lie near.
    begin: [u64; BEGIN],
}

impl Heads {
    /// The heads of `forms`, none of which is shorter than [`MIN_CREDENTIAL`].
    pub(super) fn new<T: AsRef<[u8]>>(forms: &[T]) -> Self {
        let forms = || forms.iter().map(T::as_ref);
        let shortest = forms().map(<[u8]>::len).min().unwrap_or_default();
        let step = STEPS.into_iter().find(|step| length(*step) <= shortest).unwrap_or(SHORT_STEP);
        let mut new = Self { step, words: zeroes(), places: zeroes(), begin: [0; BEGIN] };
        for form in forms() {
            for (place, word) in form.array_windows().take(step).enumerate() {
                let (upper, bit) = hash(word);
                new.words[upper] |= 1 << bit;
                new.places[upper] |= 1 << place;
            }
            if let Some((place, bit)) = form.first_chunk().map(begin) {
                new.begin[place] |= bit;
            }
        }
        new
    }

    /// How long a head is.
    pub(super) fn length(&self) -> usize {
        length(self.step)
    }

    /// The first place in `text` where a form may begin. Before it, there is no whole head.
    pub(super) fn first_in(&self, text: &[u8]) -> Option<usize> {
        match self.step {
            LONG_STEP => self.first_by::<LONG_STEP>(text),
            MIDDLE_STEP => self.first_by::<MIDDLE_STEP>(text),
            _ => self.first_by::<SHORT_STEP>(text),
        }
    }

    fn first_by<const STEP: usize>(&self, text: &[u8]) -> Option<usize> {
        let (blocks, _) = text.as_chunks::<STEP>().0.as_chunks::<LOOKS>();
        for (i, block) in blocks.iter().enumerate() {
            let mut found = self.looks(block);
            while found != 0 {
                let at = (i * LOOKS + found.trailing_zeros() as usize) * STEP;
                if let Some(begin) = self.first_with(text, at) {
                    return Some(begin);
                }
                found &= found - 1;
            }
        }
        let rest = (blocks.len() * LOOKS * STEP..text.len()).step_by(STEP);
        let mut found = rest.filter(|at| text[*at..].first_chunk().is_some_and(|word| self.has(word)));
        found.find_map(|at| self.first_with(text, at))
    }

    /// Which of the looks into `block` find a word of a head: a bit for each, the first one the lowest.
    fn looks<const STEP: usize>(&self, block: &[[u8; STEP]; LOOKS]) -> u16 {
        let words = block.iter().filter_map(|part| part.first_chunk());
        words.enumerate().fold(0, |found, (i, word)| found | u16::from(self.has(word)) << i)
    }

    /// Whether a head has `word` in it.
    fn has(&self, word: &Word) -> bool {
        let (upper, bit) = hash(word);
        self.words[upper] >> bit & 1 == 1
    }

    /// Where the first form may begin that has the word at `at`.
    fn first_with(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut places = self.places[hash(text[at..].first_chunk()?).0];
        // A word at a later place belongs to a form that begins earlier.
        let begin = std::iter::from_fn(|| {
            let place = places.checked_ilog2()?;
            places ^= 1 << place;
            Some(place as usize)
        });
        begin.filter_map(|place| at.checked_sub(place)).find(|at| self.may_begin(&text[*at..]))
    }

    fn may_begin(&self, text: &[u8]) -> bool {
        text.first_chunk().map(begin).is_some_and(|(place, bit)| self.begin[place] & bit != 0)
    }
}

/// Not by way of an array on the stack, which is too small for it.
fn zeroes<T: Clone + Default + Debug>() -> Box<[T; HASHES / 8]> {
    vec![T::default(); HASHES / 8].into_boxed_slice().try_into().expect("it has as many")
}

/// In a head of this length, one of the looks with this step between them finds a whole word.
const fn length(step: usize) -> usize {
    step + WORD - 1
}

/// Where in a table of [`HASHES`] bits the one of `word` is: its byte, and its bit in that. The upper bits of a product
/// depend on all bits of the word. The factor is MurmurHash3's.
fn hash(word: &Word) -> (usize, u32) {
    let hash = u32::from_ne_bytes(*word).wrapping_mul(0xcc9e_2d51) >> (u32::BITS - HASHES.ilog2());
    ((hash / 8) as usize, hash % 8)
}

/// The same for the first bytes of a form: where there is a bit for them.
fn begin(bytes: &[u8; MIN_CREDENTIAL]) -> (usize, u64) {
    let hash = u64::from_ne_bytes(*bytes).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    ((hash >> 6) as usize % BEGIN, 1 << (hash & 63))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    fn heads(forms: &[String]) -> Heads {
        let heads = Heads::new(forms);
        assert!(forms.iter().all(|form| form.len() >= heads.length()));
        heads
    }

    /// The first whole head, found in the simplest way.
    fn first_whole(heads: &Heads, forms: &[String], text: &[u8]) -> Option<usize> {
        text.windows(heads.length()).position(|window| forms.iter().any(|form| form.as_bytes().starts_with(window)))
    }

    #[test]
    fn a_head_is_found_wherever_it_lies() {
        for form in ["s3cret-v", "s3cret-value", "s3cret-value-that-is-long"] {
            let heads = heads(&[form.into()]);
            let length = heads.length();
            for size in 0..2 * LOOKS * LONG_STEP {
                for at in 0..size {
                    let mut text = vec![b'-'; size];
                    let end = size.min(at + length);
                    text[at..end].copy_from_slice(&form.as_bytes()[..end - at]);
                    let found = heads.first_in(&text);
                    assert!(found.is_none_or(|found| found == at), "{form} at {at} of {size}: {found:?}");
                    assert!(found.is_some() || end - at < length, "{form} at {at} of {size}");
                }
            }
        }
    }

    #[test]
    fn short_forms_allow_short_steps_only() {
        for (shortest, step) in
            [(8, SHORT_STEP), (10, SHORT_STEP), (11, MIDDLE_STEP), (18, MIDDLE_STEP), (19, LONG_STEP), (40, LONG_STEP)]
        {
            let forms = ["a value that is long".to_owned(), "x".repeat(shortest)];
            assert_eq!(heads(&forms).step, step, "{shortest}");
        }
        assert_eq!(heads(&[]).first_in(b"anything at all, however long it is, and then some more of it"), None);
    }

    proptest! {
        /// With letters so few that heads, their beginnings and their overlaps are everywhere.
        #[test]
        fn no_head_is_missed(text in "[ab]{0,600}", forms in proptest::collection::vec("[ab]{8,24}", 0..4)) {
            let (heads, text) = (heads(&forms), text.as_bytes());
            let first = first_whole(&heads, &forms, text);
            prop_assert!(first.is_none_or(|first| heads.first_in(text).is_some_and(|found| found <= first)));
        }

        /// In a text of any characters, with forms that are cut from it.
        #[test]
        fn no_head_is_missed_in_any_text(
            text in "\\PC{30,600}", starts in proptest::collection::vec(any::<Index>(), 0..20), length in 8usize..30,
        ) {
            let cut = |start: &Index| {
                let start = text.floor_char_boundary(start.index(text.len()));
                text[start..text.ceil_char_boundary(text.len().min(start + length))].to_owned()
            };
            let forms: Vec<String> = starts.iter().map(cut).filter(|form| form.len() >= MIN_CREDENTIAL).collect();
            let heads = heads(&forms);
            let first = first_whole(&heads, &forms, text.as_bytes());
            prop_assert!(first.is_none_or(|first| heads.first_in(text.as_bytes()).is_some_and(|found| found <= first)));
        }
    }
}
