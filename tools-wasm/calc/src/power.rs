//! Powers and roots.

use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

use crate::error::Mistake;

/// `base` to the power of a whole number.
pub(crate) fn power(base: Decimal, exponent: Decimal) -> Result<Decimal, Mistake> {
    if !exponent.is_integer() {
        return Err(Mistake::BadExponent(exponent.to_string()));
    }
    let whole = exponent.to_i64().ok_or_else(|| Mistake::BadExponent(exponent.to_string()))?;
    let magnitude = positive_power(base, whole.unsigned_abs())?;
    if whole >= 0 {
        return Ok(magnitude);
    }
    if base.is_zero() {
        return Err(Mistake::DivisionByZero);
    }
    Decimal::ONE.checked_div(magnitude).ok_or(Mistake::Overflow)
}

/// By squaring: at most 64 rounds, whatever the exponent.
fn positive_power(base: Decimal, exponent: u64) -> Result<Decimal, Mistake> {
    let (mut result, mut square, mut rest) = (Decimal::ONE, base, exponent);
    while rest > 0 {
        if rest % 2 == 1 {
            result = result.checked_mul(square).ok_or(Mistake::Overflow)?;
        }
        rest /= 2;
        if rest > 0 {
            square = square.checked_mul(square).ok_or(Mistake::Overflow)?;
        }
    }
    Ok(result)
}

/// The square root, exact where it has at most 15 digits.
pub(crate) fn square_root(value: Decimal) -> Result<Decimal, Mistake> {
    if value.is_zero() {
        return Ok(Decimal::ZERO);
    }
    if value.is_sign_negative() {
        return Err(Mistake::NegativeRoot);
    }
    let mut root = value.to_f64().map(f64::sqrt).and_then(Decimal::from_f64).ok_or(Mistake::Overflow)?;
    // Each round of Newton's method doubles the 15 right digits.
    for _ in 0..2 {
        root = (root + value / root) / Decimal::TWO;
    }
    let short = root.round_sf(15).unwrap_or(root);
    Ok(if short.checked_mul(short) == Some(value) { short } else { root })
}
