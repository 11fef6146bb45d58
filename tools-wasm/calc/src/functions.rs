//! The functions of an expression.

use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};

use crate::error::Mistake;
use crate::power::square_root;

/// For people who look for a function.
pub(crate) const NAMES: &str = "abs, avg, ceil, floor, max, min, round, sqrt, sum";

/// The value of a call. The grammar sees to it that there is at least one argument.
pub(crate) fn call(name: &str, arguments: &[Decimal]) -> Result<Decimal, Mistake> {
    match name {
        "abs" => Ok(one("abs", arguments)?.abs()),
        "ceil" => Ok(one("ceil", arguments)?.ceil()),
        "floor" => Ok(one("floor", arguments)?.floor()),
        "sqrt" => square_root(one("sqrt", arguments)?),
        "round" => round(arguments),
        "max" => Ok(arguments.iter().copied().max().unwrap_or_default()),
        "min" => Ok(arguments.iter().copied().min().unwrap_or_default()),
        "sum" => sum(arguments),
        "avg" => sum(arguments)?.checked_div(Decimal::from(arguments.len())).ok_or(Mistake::DivisionByZero),
        _ => Err(Mistake::NoSuchFunction(name.to_owned())),
    }
}

fn one(name: &'static str, arguments: &[Decimal]) -> Result<Decimal, Mistake> {
    match arguments {
        [argument] => Ok(*argument),
        _ => Err(Mistake::WrongArguments { name, takes: "one argument", given: arguments.len() }),
    }
}

fn round(arguments: &[Decimal]) -> Result<Decimal, Mistake> {
    let (value, places) = match arguments {
        [value] => (*value, Decimal::ZERO),
        [value, places] => (*value, *places),
        _ => {
            let takes = "one or two arguments";
            return Err(Mistake::WrongArguments { name: "round", takes, given: arguments.len() });
        }
    };
    let whole = places.to_u32().filter(|whole| *whole <= 28 && places.is_integer());
    let whole = whole.ok_or_else(|| Mistake::BadPlaces(places.to_string()))?;
    Ok(value.round_dp_with_strategy(whole, RoundingStrategy::MidpointAwayFromZero))
}

fn sum(values: &[Decimal]) -> Result<Decimal, Mistake> {
    values.iter().try_fold(Decimal::ZERO, |sum, value| sum.checked_add(*value)).ok_or(Mistake::Overflow)
}
