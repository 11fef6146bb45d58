//! Where a form may begin, found by a look at every fifth or eighth byte, however many forms there are.
//!
//! The first bytes of a form are its head. Wherever a head lies in a text, one look falls on a word of four bytes that
//! lies in it whole. So it is enough to know the words of all heads, and to know them by their hashes.

use crate::MIN_CREDENTIAL;

type Word = [u8; WORD];

const WORD: usize = 4;

/// From one look to the next, where the shortest forms allow it. With more, there are more words, and more of them are
/// found by chance.
const LONG_STEP: usize = 8;

/// What they allow in any case, since no form is shorter than a value may be.
const SHORT_STEP: usize = MIN_CREDENTIAL - WORD + 1;

/// Looks before it is asked whether one of them found something: a branch costs more than a look.
const LOOKS: usize = 8;

/// So many bits that, by chance, few words have the hash of another one, and so few bytes that they stay near.
const HASHES: usize = 1 << 20;

const BEGIN: usize = 1 << 10;

/// Finds the places where forms may begin.
pub(super) struct Heads {
    step: usize,
    /// By the hash of a word, whether it is in a head: a bit for each.
    words: Box<[u8; HASHES / 8]>,
    /// By the upper bits of that hash, where in a head the word stands: a bit for each place.
    places: Box<[u8; HASHES / 8]>,
    /// By the hash of the first bytes of a form, that there is one: a bit for each, so that all of them lie near.
    begin: [u64; BEGIN],
}

impl Heads {
    /// The heads of `forms`, none of which is shorter than [`MIN_CREDENTIAL`].
    pub(super) fn new(forms: &[String]) -> Self {
        let shortest = forms.iter().map(String::len).min().unwrap_or_default();
        let step = if shortest < length(LONG_STEP) { SHORT_STEP } else { LONG_STEP };
        let table = || vec![0; HASHES / 8].into_boxed_slice().try_into().expect("it has as many");
        let mut new = Self { step, words: table(), places: table(), begin: [0; BEGIN] };
        for form in forms {
            for (place, word) in form.as_bytes().array_windows().take(step).enumerate() {
                let (upper, bit) = hash(word);
                new.words[upper] |= 1 << bit;
                new.places[upper] |= 1 << place;
            }
            if let Some((place, bit)) = form.as_bytes().first_chunk().map(begin) {
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
            _ => self.first_by::<SHORT_STEP>(text),
        }
    }

    fn first_by<const STEP: usize>(&self, text: &[u8]) -> Option<usize> {
        let (blocks, _) = text.as_chunks::<STEP>().0.as_chunks();
        let block = |i: usize| i * LOOKS * STEP..(i + 1) * LOOKS * STEP;
        let suspect = blocks.iter().enumerate().filter(|(_, block)| self.has_word(block)).map(|(i, _)| block(i));
        let rest = blocks.len() * LOOKS * STEP..text.len();
        suspect.chain([rest]).find_map(|block| self.first_with_word_in(block.step_by(STEP), text))
    }

    /// Whether one of the looks into `block` finds a word of a head.
    fn has_word<const STEP: usize>(&self, block: &[[u8; STEP]; LOOKS]) -> bool {
        let words = block.iter().filter_map(|part| part.first_chunk());
        words.fold(0, |found, word| found | self.finds(word)) & 1 == 1
    }

    /// The lowest bit says whether a head has `word` in it. The others mean nothing.
    fn finds(&self, word: &Word) -> u8 {
        let (upper, bit) = hash(word);
        self.words[upper] >> bit
    }

    /// Where the first form may begin that has a word at one of these places.
    fn first_with_word_in(&self, mut looks: impl Iterator<Item = usize>, text: &[u8]) -> Option<usize> {
        looks.find_map(|at| {
            let word = text[at..].first_chunk()?;
            if self.finds(word) & 1 == 0 {
                return None;
            }
            let places = self.places[hash(word).0];
            // A word at a later place belongs to a form that begins earlier.
            let begin = (0..self.step).rev().filter(|place| places >> place & 1 == 1);
            begin.filter_map(|place| at.checked_sub(place)).find(|at| self.may_begin(&text[*at..]))
        })
    }

    fn may_begin(&self, text: &[u8]) -> bool {
        text.first_chunk().map(begin).is_some_and(|(place, bit)| self.begin[place] & bit != 0)
    }
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
        for form in ["s3cret-v", "s3cret-value"] {
            let heads = heads(&[form.into()]);
            let length = heads.length();
            for size in 0..3 * LOOKS * LONG_STEP {
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
        for (shortest, step) in [(8, SHORT_STEP), (10, SHORT_STEP), (11, LONG_STEP), (40, LONG_STEP)] {
            let forms = ["a value that is long".to_owned(), "x".repeat(shortest)];
            assert_eq!(heads(&forms).step, step, "{shortest}");
        }
        assert_eq!(heads(&[]).first_in(b"anything at all, however long it is, and then some more of it"), None);
    }

    proptest! {
        /// With letters so few that heads, their beginnings and their overlaps are everywhere.
        #[test]
        fn no_head_is_missed(text in "[ab]{0,300}", forms in proptest::collection::vec("[ab]{8,14}", 0..4)) {
            let (heads, text) = (heads(&forms), text.as_bytes());
            let first = first_whole(&heads, &forms, text);
            prop_assert!(first.is_none_or(|first| heads.first_in(text).is_some_and(|found| found <= first)));
        }

        /// In a text of any characters, with forms that are cut from it.
        #[test]
        fn no_head_is_missed_in_any_text(
            text in "\\PC{20,300}", starts in proptest::collection::vec(any::<Index>(), 0..20), length in 8usize..20,
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
