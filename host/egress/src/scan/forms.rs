//! All spellings of all known values, as one automaton that takes a byte at a time, and a fast search for the places
//! where it is worth starting.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::ControlFlow;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind};
use ringfence_core::finish::scrub::mark;

use super::heads::Heads;

/// What is searched for. A [`State`] remembers all that matters of the bytes before, so no byte is looked at twice,
/// however small the chunks are.
pub(super) struct Forms {
    automaton: NFA,
    heads: Heads,
    /// How many bytes at the end of the input each state stands for: so many may be the beginning of a form.
    depths: HashMap<StateID, usize>,
    /// The secret of each form.
    owners: Vec<usize>,
    names: Vec<String>,
    marks: Vec<String>,
}

/// Where the search stands.
pub(super) type State = StateID;

/// A form that ends at the current byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) length: usize,
    /// Its secret.
    pub(super) owner: usize,
}

impl Forms {
    pub(super) fn new<'a>(secrets: impl Iterator<Item = (&'a str, BTreeSet<String>)>) -> Result<Self, BuildError> {
        let (mut names, mut owners, mut forms) = (Vec::new(), Vec::new(), Vec::new());
        for (name, spellings) in secrets {
            owners.extend(spellings.iter().map(|_| names.len()));
            forms.extend(spellings);
            names.push(name.to_owned());
        }
        let automaton = NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(&forms)?;
        let marks = names.iter().map(|name| mark(name)).collect();
        let heads = Heads::new(&forms);
        let mut new = Self { automaton, heads, depths: HashMap::new(), owners, names, marks };
        new.depths = new.depths(&forms);
        Ok(new)
    }

    /// Every state is reached by a beginning of a form, and by no longer one.
    fn depths(&self, forms: &[String]) -> HashMap<StateID, usize> {
        let mut depths = HashMap::from([(self.start(), 0)]);
        for form in forms {
            let mut state = self.start();
            for (i, byte) in form.bytes().enumerate() {
                state = self.step(state, byte);
                depths.insert(state, i + 1);
            }
        }
        depths
    }

    /// Whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    pub(super) fn start(&self) -> State {
        self.automaton.start_state(Anchored::No).expect("this automaton has both kinds of start")
    }

    fn step(&self, state: State, byte: u8) -> State {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// The state after `bytes`, which follow those that led to `state`. `each` is given the longest form that ends at a
    /// place, and that place, until it breaks off.
    pub(super) fn search(
        &self,
        mut state: State,
        bytes: &[u8],
        mut each: impl FnMut(usize, Found) -> ControlFlow<()>,
    ) -> State {
        let head = self.heads.length();
        let mut at = if self.owners.is_empty() { bytes.len() } else { 0 };
        while at < bytes.len() {
            let begun = self.depth(state);
            // Where less than a head has begun, the next one is looked for, from that beginning on.
            let sure = if begun < head && begun <= at {
                let from = at - begun;
                state = self.start();
                at = match self.heads.first_in(&bytes[from..]) {
                    Some(begin) => from + begin,
                    // Only in the last bytes one may begin, with less than a head.
                    None => from.max((bytes.len() + 1).saturating_sub(head)),
                };
                head
            } else {
                1
            };
            for byte in bytes[at..].iter().take(sure) {
                at += 1;
                state = self.step(state, *byte);
                if let Some(found) = self.found(state)
                    && each(at, found).is_break()
                {
                    return state;
                }
            }
        }
        state
    }

    /// The longest form that ends here.
    fn found(&self, state: State) -> Option<Found> {
        if !self.automaton.is_match(state) {
            return None;
        }
        let matches = (0..self.automaton.match_len(state)).map(|i| self.automaton.match_pattern(state, i));
        let found =
            matches.map(|form| Found { length: self.automaton.pattern_len(form), owner: self.owners[form.as_usize()] });
        found.max_by_key(|found| found.length)
    }

    /// How many of the last bytes may be the beginning of a form.
    pub(super) fn depth(&self, state: State) -> usize {
        self.depths.get(&state).copied().unwrap_or(0)
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
}

/// Shows names only.
impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.names).finish()
    }
}
