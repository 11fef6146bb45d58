//! All spellings of all known values, as one automaton that takes a byte at a time.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind};
use ringfence_core::finish::scrub::mark;

/// What is searched for. A [`State`] remembers all that matters of the bytes before, so no byte is looked at twice,
/// however small the chunks are.
pub(super) struct Forms {
    automaton: NFA,
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
        let mut new = Self { automaton, depths: HashMap::new(), owners, names, marks };
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

    pub(super) fn start(&self) -> State {
        self.automaton.start_state(Anchored::No).expect("this automaton has both kinds of start")
    }

    pub(super) fn step(&self, state: State, byte: u8) -> State {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// The longest form that ends here.
    pub(super) fn found(&self, state: State) -> Option<Found> {
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

    /// The name of the secret that is first seen whole in `bytes`.
    pub(super) fn first_in(&self, bytes: &[u8]) -> Option<&str> {
        let mut state = self.start();
        bytes.iter().find_map(|byte| {
            state = self.step(state, *byte);
            self.found(state).map(|found| self.names[found.owner].as_str())
        })
    }
}

/// Shows names only.
impl fmt::Debug for Forms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.names).finish()
    }
}
