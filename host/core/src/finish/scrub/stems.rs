//! What an automaton has to know of the forms: of a long one, its stem.
//!
//! An automaton needs some fifty times the memory of what it knows. So it finds the first bytes of long forms, and what
//! follows is compared with the rest of each.

use std::collections::HashMap;

/// How long a stem is: long enough that what is no secret hardly ever has one, the first line of a key included.
const STEM: usize = 128;

/// What an automaton knows.
pub(super) enum Pattern {
    /// A whole form, shorter than a stem.
    Form(Form),
    /// The stem of these forms, which are in order.
    Stem(Vec<Form>),
}

/// One spelling of a value.
pub(super) struct Form {
    pub(super) text: String,
    /// The name of its secret.
    pub(super) owner: String,
    /// How many bytes it begins with like the one before it.
    shared: usize,
}

/// The patterns for `forms` with the names of their secrets.
pub(super) fn patterns(forms: Vec<(String, String)>) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    let mut stems: HashMap<Vec<u8>, usize> = HashMap::new();
    for (text, owner) in forms {
        let form = Form { text, owner, shared: 0 };
        let Some(stem) = form.text.as_bytes().get(..STEM) else {
            patterns.push(Pattern::Form(form));
            continue;
        };
        match stems.get(stem).and_then(|place| patterns.get_mut(*place)) {
            Some(Pattern::Stem(forms)) => forms.push(form),
            _ => {
                stems.insert(stem.to_vec(), patterns.len());
                patterns.push(Pattern::Stem(vec![form]));
            }
        }
    }
    patterns.iter_mut().for_each(Pattern::sort);
    patterns
}

impl Pattern {
    /// What is to be found.
    pub(super) fn text(&self) -> &[u8] {
        match self {
            Self::Form(form) => form.text.as_bytes(),
            Self::Stem(forms) => forms.first().map_or(&[], |form| &form.text.as_bytes()[..STEM]),
        }
    }

    fn sort(&mut self) {
        let Self::Stem(forms) = self else { return };
        forms.sort_by(|a, b| a.text.cmp(&b.text));
        for i in 1..forms.len() {
            forms[i].shared = common(forms[i - 1].text.as_bytes(), forms[i].text.as_bytes());
        }
    }
}

/// The longest of `forms`, which are those of one stem, with which `text` begins. No byte of `text` is looked at for each
/// of them: a form begins like the one before it.
pub(super) fn longest<'a>(forms: &'a [Form], text: &[u8]) -> Option<&'a Form> {
    let (mut longest, mut begun): (Option<&Form>, usize) = (None, 0);
    for form in forms {
        if form.shared < begun {
            begun = form.shared;
        } else if form.shared == begun {
            begun += common(&form.text.as_bytes()[begun..], &text[begun..]);
        }
        if begun == form.text.len() && longest.is_none_or(|longest| longest.text.len() < begun) {
            longest = Some(form);
        }
    }
    longest
}

/// How many bytes `a` and `b` both begin with.
fn common(a: &[u8], b: &[u8]) -> usize {
    // Many at once, as long as they are the same.
    const BLOCK: usize = 32;
    let blocks = a.as_chunks::<BLOCK>().0.iter().zip(b.as_chunks().0);
    let same = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    same + a[same..].iter().zip(&b[same..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::known::KnownValues;
    use super::super::spans::{Label, Span};
    use super::super::spellings::spellings;
    use crate::secret::Secret;

    fn known(values: &[String]) -> KnownValues {
        let secrets = values.iter().enumerate().map(|(i, value)| (i.to_string(), Secret::new(value.clone())));
        KnownValues::new(secrets.collect()).unwrap()
    }

    /// The longest form that begins at each place of `text`, in the simplest way there is.
    fn naive(values: &[String], text: &str) -> Vec<(usize, usize)> {
        let forms: Vec<String> = values.iter().flat_map(|value| spellings(&Secret::new(value.clone()))).collect();
        let longest = |start: usize| {
            let begins = forms.iter().filter(|form| text[start..].starts_with(form.as_str()));
            begins.map(|form| (start, start + form.len())).max()
        };
        (0..text.len()).filter_map(longest).collect()
    }

    /// Words that repeat: values that hold themselves and each other, and begin alike.
    fn values() -> impl Strategy<Value = Vec<String>> {
        let word = ("[ab]{1,5}", 1usize..20).prop_map(|(word, times)| word.repeat(times));
        let value = proptest::collection::vec(word, 1..6).prop_map(|words| words.concat());
        let alike = ("[ab]{1,3}", 1usize..60, proptest::collection::vec(value, 1..4));
        alike.prop_map(|(word, times, values)| {
            values.into_iter().map(|value| word.repeat(times) + "bbaabab" + &value).collect()
        })
    }

    proptest! {
        #[test]
        fn what_is_longer_than_a_stem_is_found_as_if_it_were_not(
            values in values(),
            parts in proptest::collection::vec((any::<Index>(), any::<Index>(), any::<bool>()), 0..8),
        ) {
            let part = |(which, to, whole): &(Index, Index, bool)| {
                let value: &String = which.get(&values);
                value[..if *whole { value.len() } else { to.index(value.len()) }].to_owned()
            };
            let text: String = parts.iter().map(part).collect();
            let known = known(&values);
            let mut found: Vec<(usize, usize)> = known.find(&text).map(|Span { range, .. }| (range.start, range.end)).collect();
            found.sort_unstable();
            prop_assert_eq!(&found, &naive(&values, &text));
            prop_assert_eq!(known.is_in(&text), !found.is_empty());
        }
    }

    #[test]
    fn of_values_that_begin_alike_the_longest_is_named() {
        let values = [200, 150, 400].map(|length| "ab".repeat(length / 2));
        let known = known(&values);
        let first = |text: String| {
            let found = known.find(&text).next()?;
            let Label::Secret(owner) = found.label else { return None };
            Some((found.range.len(), owner.to_owned()))
        };
        assert_eq!(first("ab".repeat(74)), None);
        assert_eq!(first("ab".repeat(99)), Some((150, "1".to_owned())));
        assert_eq!(first("ab".repeat(199)), Some((200, "0".to_owned())));
        assert_eq!(first("ab".repeat(250)), Some((400, "2".to_owned())));
    }
}
