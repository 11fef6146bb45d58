//! From pairs to a value.

use pest::iterators::Pair;
use rust_decimal::Decimal;

use crate::error::{Error, Located, Mistake};
use crate::functions;
use crate::parse::{Rule, parse};
use crate::power;

/// The value of an expression, without trailing zeros.
pub(crate) fn value(text: &str) -> Result<Decimal, Error> {
    let value = parse(text).and_then(expression).map_err(|mistake| mistake.within(text))?;
    // Zero has a sign in `Decimal`, and `-0` would only puzzle.
    Ok(if value.is_zero() { Decimal::ZERO } else { value.normalize() })
}

fn expression(pair: Pair<Rule>) -> Result<Decimal, Located> {
    chain(pair, term)
}

fn term(pair: Pair<Rule>) -> Result<Decimal, Located> {
    chain(pair, powers)
}

/// Operands with operators of one rank between them, from left to right.
fn chain(pair: Pair<Rule>, operand: fn(Pair<Rule>) -> Result<Decimal, Located>) -> Result<Decimal, Located> {
    let mut parts = pair.into_inner();
    let mut value = operand(part(&mut parts))?;
    while let Some(operator) = parts.next() {
        let right = operand(part(&mut parts))?;
        value = apply(operator.as_rule(), value, right).map_err(|mistake| mistake.at(start(&operator)))?;
    }
    Ok(value)
}

fn apply(operator: Rule, left: Decimal, right: Decimal) -> Result<Decimal, Mistake> {
    let value = match operator {
        Rule::plus => left.checked_add(right),
        Rule::minus => left.checked_sub(right),
        Rule::times => left.checked_mul(right),
        _ if right.is_zero() => return Err(Mistake::DivisionByZero),
        Rule::over => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    value.ok_or(Mistake::Overflow)
}

/// Powers, from right to left: `2^3^2` is `2^(3^2)`. A sign binds less than the power behind it: `-2^2` is `-(2^2)`.
fn powers(pair: Pair<Rule>) -> Result<Decimal, Located> {
    let mut exponent = None;
    for signed in pair.into_inner().rev() {
        let at = start(&signed);
        let (negative, base) = split_sign(signed)?;
        let magnitude = match exponent {
            Some(exponent) => power::power(base, exponent).map_err(|mistake| mistake.at(at))?,
            None => base,
        };
        exponent = Some(if negative { -magnitude } else { magnitude });
    }
    Ok(exponent.expect("the rule `power` begins with an operand"))
}

/// Whether the operand has an odd number of minus signs, and its value without them.
fn split_sign(pair: Pair<Rule>) -> Result<(bool, Decimal), Located> {
    let mut parts = pair.into_inner().rev();
    let operand = part(&mut parts);
    let negative = parts.count() % 2 == 1;
    let value = match operand.as_rule() {
        Rule::number => number(&operand),
        Rule::call => call(operand),
        _ => expression(operand),
    }?;
    Ok((negative, value))
}

fn number(pair: &Pair<Rule>) -> Result<Decimal, Located> {
    let digits = pair.as_str();
    let value = match digits.contains(['e', 'E']) {
        true => Decimal::from_scientific(digits),
        false => Decimal::from_str_exact(digits),
    };
    value.map_err(|_| Mistake::NumberTooLong(digits.to_owned()).at(start(pair)))
}

fn call(pair: Pair<Rule>) -> Result<Decimal, Located> {
    let at = start(&pair);
    let mut parts = pair.into_inner();
    let name = part(&mut parts);
    let arguments = parts.map(expression).collect::<Result<Vec<_>, _>>()?;
    functions::call(name.as_str(), &arguments).map_err(|mistake| mistake.at(at))
}

/// The next part of a pair that the grammar says is there.
fn part<'a>(parts: &mut impl Iterator<Item = Pair<'a, Rule>>) -> Pair<'a, Rule> {
    parts.next().expect("the grammar puts an operand here")
}

/// The byte where a pair begins.
fn start(pair: &Pair<Rule>) -> usize {
    pair.as_span().start()
}

#[cfg(test)]
mod tests;
