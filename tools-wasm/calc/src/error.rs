//! What can be wrong with an expression.

use ringfence_sdk::prelude::Failure;

/// A mistake in an expression, and where it is.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{mistake}, at character {at}.")]
pub(crate) struct Error {
    pub(crate) mistake: Mistake,
    /// Counted in characters from 1.
    pub(crate) at: usize,
}

/// A mistake and the byte where it is. Counting characters takes long enough to be done once, at the end.
#[derive(Debug)]
pub(crate) struct Located {
    mistake: Mistake,
    byte: usize,
}

impl Located {
    /// The mistake in the text where it was found.
    pub(crate) fn within(self, text: &str) -> Error {
        Error { mistake: self.mistake, at: text[..self.byte].chars().count() + 1 }
    }
}

/// What is wrong.
#[derive(Debug, thiserror::Error, PartialEq)]
pub(crate) enum Mistake {
    #[error("The expression has {0} bytes, more than {max}", max = crate::parse::MAX_BYTES)]
    TooLong(usize),
    #[error("Parentheses are nested more than {} deep", crate::parse::MAX_DEPTH)]
    TooDeep,
    #[error("The expression is empty")]
    Empty,
    #[error("The expression ends too early")]
    UnexpectedEnd,
    #[error("`{0}` does not fit here")]
    Unexpected(char),
    #[error("The number `{0}` has more than 28 digits or is too large")]
    NumberTooLong(String),
    #[error("There is no function `{0}`. There are {list}", list = crate::functions::NAMES)]
    NoSuchFunction(String),
    #[error("`{name}` takes {takes}, not {given}")]
    WrongArguments { name: &'static str, takes: &'static str, given: usize },
    #[error("The second argument of `round` is a whole number from 0 to 28, not {0}")]
    BadPlaces(String),
    #[error("Division by zero")]
    DivisionByZero,
    #[error("The exponent {0} is no whole number within 64 bits")]
    BadExponent(String),
    #[error("A negative number has no square root")]
    NegativeRoot,
    #[error("The value is larger than 28 digits can hold")]
    Overflow,
}

impl Mistake {
    pub(crate) fn at(self, byte: usize) -> Located {
        Located { mistake: self, byte }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::TooLong(_) => "too_long",
            Self::TooDeep => "too_deep",
            Self::Empty => "empty",
            Self::UnexpectedEnd => "unexpected_end",
            Self::Unexpected(_) => "unexpected",
            Self::NumberTooLong(_) => "number_too_long",
            Self::NoSuchFunction(_) => "no_such_function",
            Self::WrongArguments { .. } => "wrong_arguments",
            Self::BadPlaces(_) => "bad_places",
            Self::DivisionByZero => "division_by_zero",
            Self::BadExponent(_) => "bad_exponent",
            Self::NegativeRoot => "negative_root",
            Self::Overflow => "overflow",
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::invalid_params(&error).with_code(error.mistake.code())
    }
}
