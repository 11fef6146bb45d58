//! All spellings of all known values, as one automaton that takes a byte at a time, and a fast search for the places
//! where it is worth starting.
//!
//! The automaton knows the first bytes of a long form only, its stem, since it needs some fifty times the memory of what
//! it knows. Where a stem is found, the bytes behind it are compared with the rest of its forms; see [`LongForm`].

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::ControlFlow;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind};
use ringfence_core::finish::scrub::mark;

use super::heads::Heads;
use super::long_forms::{Begun, LongForms};

/// How long a stem is: long enough that what is no secret hardly ever has one, the first line of a key included.
const STEM: usize = 128;

/// What is searched for. A [`State`] remembers all that matters of the bytes before, so none has to be kept, however
/// small the chunks are.
pub(super) struct Forms {
    automaton: NFA,
    heads: Heads,
    /// How many bytes at the end of the input each node of the automaton stands for: so many may be the beginning of a
    /// form.
    depths: HashMap<StateID, usize>,
    /// What each pattern of the automaton is.
    patterns: Vec<Pattern>,
    long: LongForms,
    names: Vec<String>,
    marks: Vec<String>,
}

enum Pattern {
    /// A whole form, and its secret.
    Form(usize),
    /// The stem with this number.
    Stem(usize),
}

/// Where the search stands.
#[derive(Clone)]
pub(super) struct State {
    node: StateID,
    /// The long forms that have begun with more than their stems.
    begun: Begun,
}

/// A form that ends at the current byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) length: usize,
    /// Its secret.
    pub(super) owner: usize,
}

impl Found {
    /// The longer one. Of two secrets with one form, the last one gets it.
    pub(super) fn or_longer(self, other: Option<Self>) -> Self {
        other.filter(|other| (other.length, other.owner) > (self.length, self.owner)).unwrap_or(self)
    }
}

impl Forms {
    pub(super) fn new<'a>(secrets: impl Iterator<Item = (&'a str, BTreeSet<String>)>) -> Result<Self, BuildError> {
        Self::with_stems(secrets, STEM)
    }

    /// With stems of `length` bytes.
    fn with_stems<'a>(
        secrets: impl Iterator<Item = (&'a str, BTreeSet<String>)>,
        length: usize,
    ) -> Result<Self, BuildError> {
        let (mut names, mut texts, mut patterns, mut long) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (name, spellings) in secrets {
            let owner = names.len();
            for form in spellings {
                match form.len() > length {
                    true => long.push((form.into_bytes(), owner)),
                    false => {
                        texts.push(form.into_bytes());
                        patterns.push(Pattern::Form(owner));
                    }
                }
            }
            names.push(name.to_owned());
        }
        let long = LongForms::new(long, length);
        texts.extend(long.stems().map(<[u8]>::to_vec));
        patterns.extend(long.stems().enumerate().map(|(stem, _)| Pattern::Stem(stem)));
        let automaton = NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(&texts)?;
        let marks = names.iter().map(|name| mark(name)).collect();
        let heads = Heads::new(&texts);
        let mut new = Self { automaton, heads, depths: HashMap::new(), patterns, long, names, marks };
        new.depths = new.depths(&texts);
        Ok(new)
    }

    /// Every node is reached by a beginning of a pattern, and by no longer one.
    fn depths(&self, patterns: &[Vec<u8>]) -> HashMap<StateID, usize> {
        let mut depths = HashMap::from([(self.root(), 0)]);
        for pattern in patterns {
            let mut node = self.root();
            for (i, byte) in pattern.iter().enumerate() {
                node = self.step(node, *byte);
                depths.insert(node, i + 1);
            }
        }
        depths
    }

    /// Whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    pub(super) fn start(&self) -> State {
        State { node: self.root(), begun: Begun::default() }
    }

    fn root(&self) -> StateID {
        self.automaton.start_state(Anchored::No).expect("this automaton has both kinds of start")
    }

    fn step(&self, node: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, node, byte)
    }

    /// The state after `bytes`, which follow those that led to `state`. `each` is given the longest form that ends at a
    /// place, and that place, until it breaks off.
    pub(super) fn search(
        &self,
        mut state: State,
        bytes: &[u8],
        mut each: impl FnMut(usize, Found) -> ControlFlow<()>,
    ) -> State {
        let mut at = if self.patterns.is_empty() { bytes.len() } else { 0 };
        while at < bytes.len() {
            let found = match state.begun.is_empty() {
                true => self.next_pattern(&mut state, bytes, &mut at),
                false => self.next_byte(&mut state, bytes[at], &mut at),
            };
            if let Some(found) = found
                && each(at, found).is_break()
            {
                break;
            }
        }
        state
    }

    /// Goes on to the end of the next pattern, or of `bytes`, while no long form has begun, as nearly always. The longest
    /// form that ends there.
    fn next_pattern(&self, state: &mut State, bytes: &[u8], at: &mut usize) -> Option<Found> {
        let head = self.heads.length();
        while *at < bytes.len() {
            let begun = self.depths_of(state.node);
            // Where less than a head has begun, the next one is looked for, from that beginning on.
            let sure = if begun < head && begun <= *at {
                let from = *at - begun;
                state.node = self.root();
                *at = match self.heads.first_in(&bytes[from..]) {
                    Some(begin) => from + begin,
                    // Only in the last bytes one may begin, with less than a head.
                    None => from.max((bytes.len() + 1).saturating_sub(head)),
                };
                head
            } else {
                1
            };
            for byte in bytes[*at..].iter().take(sure) {
                *at += 1;
                state.node = self.step(state.node, *byte);
                if self.automaton.is_match(state.node) {
                    return self.ended(state);
                }
            }
        }
        None
    }

    /// Takes one byte, while long forms have begun. The longest form that ends there.
    fn next_byte(&self, state: &mut State, byte: u8, at: &mut usize) -> Option<Found> {
        *at += 1;
        state.node = self.step(state.node, byte);
        let long = self.long.go_on(&mut state.begun, byte);
        let short = if self.automaton.is_match(state.node) { self.ended(state) } else { None };
        long.map(|long| long.or_longer(short)).or(short)
    }

    /// The longest form that is a pattern which ends here. The forms of a stem that ends here begin.
    fn ended(&self, state: &mut State) -> Option<Found> {
        let matches = 0..self.automaton.match_len(state.node);
        let mut longest: Option<Found> = None;
        for pattern in matches.map(|i| self.automaton.match_pattern(state.node, i)) {
            match self.patterns[pattern.as_usize()] {
                Pattern::Form(owner) => {
                    let found = Found { length: self.automaton.pattern_len(pattern), owner };
                    longest = Some(found.or_longer(longest));
                }
                Pattern::Stem(stem) => self.long.begin(stem, &mut state.begun),
            }
        }
        longest
    }

    /// How many of the last bytes may be the beginning of a form.
    pub(super) fn depth(&self, state: &State) -> usize {
        self.depths_of(state.node).max(state.begun.longest())
    }

    fn depths_of(&self, node: StateID) -> usize {
        self.depths.get(&node).copied().unwrap_or(0)
    }

    pub(super) fn mark(&self, owner: usize) -> &str {
        &self.marks[owner]
    }

    /// The state after `bytes`, which follow those that led to `state`, and the name of the secret that is first seen
    /// whole at their end.
    pub(super) fn first_after(&self, state: State, bytes: &[u8]) -> (State, Option<&str>) {
        let mut first = None;
        let state = self.search(state, bytes, |_, found| {
            first = Some(self.names[found.owner].as_str());
            ControlFlow::Break(())
        });
        (state, first)
    }

    /// The name of the secret that is first seen whole in `bytes`.
    pub(super) fn first_in(&self, bytes: &[u8]) -> Option<&str> {
        self.first_after(self.start(), bytes).1
    }
}

/// Shows names only.
impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.names).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    /// The places where forms end, each with the longest of them.
    type Places = Vec<(usize, Found)>;

    /// Each secret has one form.
    fn forms(values: &[String], stem: usize) -> Forms {
        let secrets = values.iter().map(|value| (value.as_str(), BTreeSet::from([value.clone()])));
        Forms::with_stems(secrets, stem).unwrap()
    }

    /// What is found in `pieces`, one after the other, and the depth after each.
    fn searched<'a>(forms: &Forms, pieces: impl Iterator<Item = &'a [u8]>) -> (Places, Vec<usize>) {
        let (mut state, mut before, mut places, mut depths) = (forms.start(), 0, Vec::new(), Vec::new());
        for piece in pieces {
            state = forms.search(state, piece, |at, found| {
                places.push((before + at, found));
                ControlFlow::Continue(())
            });
            before += piece.len();
            depths.push(forms.depth(&state));
        }
        (places, depths)
    }

    /// The same, in the simplest way there is.
    fn naive<'a>(values: &[String], pieces: impl Iterator<Item = &'a [u8]>) -> (Places, Vec<usize>) {
        let (mut text, mut places, mut depths) = (Vec::new(), Vec::new(), Vec::new());
        for piece in pieces {
            for byte in piece {
                text.push(*byte);
                let ends = |(_, value): &(usize, &String)| text.ends_with(value.as_bytes());
                let found = values.iter().enumerate().filter(ends).max_by_key(|(owner, value)| (value.len(), *owner));
                places.extend(found.map(|(owner, value)| (text.len(), Found { length: value.len(), owner })));
            }
            let begins =
                |length: &usize| values.iter().any(|value| value.as_bytes().starts_with(&text[text.len() - length..]));
            depths.push((0..=text.len()).rev().find(begins).unwrap_or(0));
        }
        (places, depths)
    }

    /// Few letters, and words that repeat: values that hold themselves and each other, and begin alike.
    fn values() -> impl Strategy<Value = Vec<String>> {
        let word = ("[ab]{1,5}", 1usize..12).prop_map(|(word, times)| word.repeat(times));
        let value = proptest::collection::vec(word, 1..4).prop_map(|words| words.concat());
        let alike = ("[ab]{8,20}", proptest::collection::vec(value, 1..5));
        alike.prop_map(|(start, values)| values.into_iter().map(|value| start.clone() + &value).collect())
    }

    /// A value, or a part of one, or something else.
    fn part(values: &[String], (which, from, to, other): &(Index, Index, Index, String)) -> String {
        let value = which.get(values);
        let (from, to) = (from.index(value.len()), to.index(value.len() + 1));
        match other.len() {
            0 => value.clone(),
            1 => value[..to].to_owned(),
            2 => value[from..].to_owned(),
            _ => other.clone(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn what_is_longer_than_a_stem_is_found_as_if_it_were_not(
            values in values(),
            parts in proptest::collection::vec((any::<Index>(), any::<Index>(), any::<Index>(), "[ab]{0,4}"), 0..12),
            cuts in proptest::collection::vec(1usize..60, 1..20),
            stem in 8usize..24,
        ) {
            let text: String = parts.iter().map(|of| part(&values, of)).collect();
            let pieces = || {
                let (mut rest, mut cuts) = (text.as_bytes(), cuts.iter().cycle());
                std::iter::from_fn(move || {
                    let (piece, after) = rest.split_at((*cuts.next()?).min(rest.len()));
                    rest = after;
                    (!piece.is_empty()).then_some(piece)
                })
            };
            let expected = naive(&values, pieces());
            prop_assert_eq!(searched(&forms(&values, stem), pieces()), expected.clone());
            prop_assert_eq!(searched(&forms(&values, usize::MAX), pieces()), expected, "without stems");
        }
    }

    #[test]
    fn a_long_value_costs_the_automaton_no_more_than_its_stems() {
        let value: String =
            (0..64 << 10u32).map(|i: u32| char::from(b'!' + (i.wrapping_mul(i) / 7 % 90) as u8)).collect();
        let forms = Forms::new([("long", BTreeSet::from([value.clone(), value.to_lowercase()]))].into_iter()).unwrap();
        assert!(forms.automaton.memory_usage() < 100 << 10, "{}", forms.automaton.memory_usage());
    }

    /// A value that holds itself at each of its places, in a text that never goes on with it.
    #[test]
    fn a_value_that_repeats_itself_takes_linear_time() {
        let forms = forms(&["a".repeat(1 << 16) + "b"], STEM);
        let text = "a".repeat(1 << 22);
        let (places, depths) = searched(&forms, text.as_bytes().chunks(1000));
        assert!(places.is_empty() && depths.last() == Some(&(1 << 16)));
    }
}
