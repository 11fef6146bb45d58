//! The forms that are longer than their stems, compared byte by byte behind these.

use std::ops::Range;

use super::forms::Found;

/// The long forms, those with the same stem beside each other.
pub(super) struct LongForms {
    forms: Vec<LongForm>,
    /// The forms with each stem.
    stems: Vec<Range<usize>>,
    /// How long a stem is.
    stem: usize,
}

struct LongForm {
    text: Box<[u8]>,
    /// Its secret.
    owner: usize,
    /// For each length from that of the stem on: how much of a beginning of that length ends with a shorter one, that is no
    /// shorter than the stem. So a byte that does not go on with the longest beginning is not compared with all others that
    /// may have begun since, of which there are many where a value repeats itself. Empty where the stem is in the form once,
    /// as nearly always.
    borders: Box<[u32]>,
}

/// The long forms that have begun with at least their stems, in their order.
#[derive(Clone, Default)]
pub(super) struct Begun(Vec<One>);

#[derive(Clone, Copy)]
struct One {
    form: usize,
    /// How much of it the last bytes are, at most.
    length: usize,
}

impl Begun {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How long the longest beginning is.
    pub(super) fn longest(&self) -> usize {
        self.0.iter().map(|one| one.length).max().unwrap_or(0)
    }
}

impl LongForms {
    /// `forms` with their secrets, all of them longer than `stem`.
    pub(super) fn new(mut forms: Vec<(Vec<u8>, usize)>, stem: usize) -> Self {
        forms.sort_unstable();
        let mut stems: Vec<Range<usize>> = Vec::new();
        for (i, (form, _)) in forms.iter().enumerate() {
            match stems.last_mut() {
                Some(last) if forms[last.start].0[..stem] == form[..stem] => last.end = i + 1,
                _ => stems.push(i..i + 1),
            }
        }
        let forms = forms.into_iter().map(|(text, owner)| LongForm::new(text.into(), owner, stem)).collect();
        Self { forms, stems, stem }
    }

    pub(super) fn stems(&self) -> impl Iterator<Item = &[u8]> {
        self.stems.iter().map(|forms| &self.forms[forms.start].text[..self.stem])
    }

    /// The stem with this number ends at the current byte: its forms have begun, unless they did earlier.
    pub(super) fn begin(&self, stem: usize, begun: &mut Begun) {
        let forms = self.stems[stem].clone();
        let from = begun.0.partition_point(|one| one.form < forms.start);
        let to = begun.0.partition_point(|one| one.form < forms.end);
        if to - from < forms.len() {
            let mut earlier = begun.0[from..to].iter().copied().peekable();
            let one = |form| earlier.next_if(|one| one.form == form).unwrap_or(One { form, length: self.stem });
            let all: Vec<One> = forms.map(one).collect();
            begun.0.splice(from..to, all);
        }
    }

    /// Takes the next byte. The longest form that ends there.
    pub(super) fn go_on(&self, begun: &mut Begun, byte: u8) -> Option<Found> {
        let mut longest: Option<Found> = None;
        begun.0.retain_mut(|one| {
            let form = &self.forms[one.form];
            one.length = form.after(one.length, byte, self.stem);
            if one.length == form.text.len() {
                longest = Some(Found { length: one.length, owner: form.owner }.or_longer(longest));
            }
            one.length > 0
        });
        longest
    }
}

impl LongForm {
    fn new(text: Box<[u8]>, owner: usize, stem: usize) -> Self {
        let repeats = text[1..].windows(stem).any(|window| *window == text[..stem]);
        let borders = if repeats { borders(&text, stem) } else { Box::default() };
        Self { text, owner, borders }
    }

    /// How much of it has begun after `byte`, where `length` of it had before; 0 where that is less than the stem, which is
    /// the automaton's then. Going back is paid for by the bytes that led there (Knuth, Morris and Pratt).
    fn after(&self, mut length: usize, byte: u8, stem: usize) -> usize {
        while length > 0 && self.text.get(length) != Some(&byte) {
            length = self.borders.get(length - stem).map_or(0, |border| *border as usize);
        }
        if length > 0 { length + 1 } else { 0 }
    }
}

/// The borders of the beginnings of `text`, from that of the length `stem` on; 0 for those shorter than `stem`.
fn borders(text: &[u8], stem: usize) -> Box<[u32]> {
    let mut all = vec![0; text.len() + 1];
    let mut border = 0;
    for length in 2..=text.len() {
        let byte = text[length - 1];
        while border > 0 && text[border] != byte {
            border = all[border] as usize;
        }
        border += usize::from(text[border] == byte);
        // No value is so long that this would be too little.
        all[length] = u32::try_from(border).unwrap_or(0);
    }
    all[stem..].iter().map(|border| if *border as usize >= stem { *border } else { 0 }).collect()
}
