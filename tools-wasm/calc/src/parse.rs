//! From text to pairs of the grammar in `calc.pest`.

use pest::Parser;
use pest::error::InputLocation;
use pest::iterators::Pair;

use crate::error::{Located, Mistake};

/// The longest expression, in bytes. Pairs take some sixty times their text.
pub(crate) const MAX_BYTES: usize = 65_536;

/// The deepest nesting. Parser and evaluator descend on the stack, which is 512 KiB in a component.
pub(crate) const MAX_DEPTH: usize = 100;

#[derive(pest_derive::Parser)]
#[grammar = "calc.pest"]
struct Grammar;

/// The whole expression, as a pair of [`Rule::expression`].
pub(crate) fn parse(text: &str) -> Result<Pair<'_, Rule>, Located> {
    check_size(text)?;
    let mut pairs = Grammar::parse(Rule::input, text).map_err(|error| unexpected(text, &error.location))?;
    Ok(pairs.next().expect("the rule `input` begins with an expression"))
}

fn check_size(text: &str) -> Result<(), Located> {
    if text.len() > MAX_BYTES {
        return Err(Mistake::TooLong(text.len()).at(0));
    }
    if text.trim().is_empty() {
        return Err(Mistake::Empty.at(0));
    }
    let mut depth = 0_usize;
    for (byte, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(Mistake::TooDeep.at(byte));
        }
    }
    Ok(())
}

fn unexpected(text: &str, location: &InputLocation) -> Located {
    let (InputLocation::Pos(byte) | InputLocation::Span((byte, _))) = *location;
    let mistake = text[byte..].chars().next().map_or(Mistake::UnexpectedEnd, Mistake::Unexpected);
    mistake.at(byte)
}
