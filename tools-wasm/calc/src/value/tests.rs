use proptest::prelude::*;

use super::*;
use crate::parse::{MAX_BYTES, MAX_DEPTH};

fn shown(text: &str) -> String {
    match value(text) {
        Ok(value) => value.to_string(),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shown(text), *expected, "{text}");
    }
}

#[track_caller]
fn check_mistake(text: &str, mistake: Mistake, at: usize) {
    assert_eq!(value(text), Err(Error { mistake, at }), "{text}");
}

#[test]
fn decimal_fractions_are_exact() {
    check(&[
        ("0.1 + 0.2", "0.3"),
        ("1.10 * 1.10", "1.21"),
        ("0.3 - 0.1 - 0.2", "0"),
        ("1 / 8", "0.125"),
        ("1 / 3", "0.3333333333333333333333333333"),
        (".5", "0.5"),
        ("1e3 + 1.5E-2", "1000.015"),
        ("79228162514264337593543950335", "79228162514264337593543950335"),
    ]);
}

#[test]
fn operators_bind_as_usual() {
    check(&[
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("10 - 4 - 3", "3"),
        ("100 / 10 / 5", "2"),
        ("7 % 4", "3"),
        ("-7 % 4", "-3"),
        ("5.5 % 2", "1.5"),
        ("2 * -3", "-6"),
        ("2 - -3", "5"),
        ("--3", "3"),
        ("---3", "-3"),
        ("6 ÷ 3 × 2 − 1", "3"),
    ]);
}

#[test]
fn powers_go_from_right_to_left() {
    check(&[
        ("2^10", "1024"),
        ("2^3^2", "512"),
        ("-2^2", "-4"),
        ("(-2)^2", "4"),
        ("2^-2", "0.25"),
        ("2^-1^2", "0.5"),
        ("0^0", "1"),
        ("1.1^2", "1.21"),
        ("1^9223372036854775807", "1"),
        ("(-1)^9223372036854775807", "-1"),
    ]);
}

#[test]
fn functions_do_what_they_say() {
    check(&[
        ("abs(-3.5)", "3.5"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.345, 2)", "2.35"),
        ("floor(-1.5)", "-2"),
        ("ceil(-1.5)", "-1"),
        ("min(3, 1, 2)", "1"),
        ("max(3, 1, 2)", "3"),
        ("sum(0.1, 0.2, 0.3)", "0.6"),
        ("avg(1, 2)", "1.5"),
        ("sqrt(2.25)", "1.5"),
        ("sqrt(0)", "0"),
        ("sqrt(2)", "1.4142135623730950488016887242"),
        ("sqrt(1e-28)", "0.00000000000001"),
        ("sqrt(79228162514264337593543950335)", "281474976710656"),
        ("max(sqrt(16), 2 ^ (1 + 1)) - 4", "0"),
    ]);
}

#[test]
fn a_mistake_says_where_it_is() {
    check_mistake("", Mistake::Empty, 1);
    check_mistake(" \n", Mistake::Empty, 1);
    check_mistake("1 +", Mistake::UnexpectedEnd, 4);
    check_mistake("(1", Mistake::UnexpectedEnd, 3);
    check_mistake("1 + x", Mistake::Unexpected('x'), 5);
    check_mistake("1 )", Mistake::Unexpected(')'), 3);
    check_mistake("1 2", Mistake::Unexpected('2'), 3);
    check_mistake("é", Mistake::Unexpected('é'), 1);
    check_mistake("1 × é", Mistake::Unexpected('é'), 5);
    check_mistake("1 × 2 / 0", Mistake::DivisionByZero, 7);
    check_mistake("3 % (1 - 1)", Mistake::DivisionByZero, 3);
    check_mistake("2 * 0^-1", Mistake::DivisionByZero, 5);
    check_mistake("1e28 * 10", Mistake::Overflow, 6);
    check_mistake("10^99", Mistake::Overflow, 1);
    check_mistake("2^0.5", Mistake::BadExponent("0.5".into()), 1);
    check_mistake("1^9223372036854775808", Mistake::BadExponent("9223372036854775808".into()), 1);
    check_mistake("1 + sqrt(0-1)", Mistake::NegativeRoot, 5);
    check_mistake("sinh(1)", Mistake::NoSuchFunction("sinh".into()), 1);
    check_mistake("round(1, 29)", Mistake::BadPlaces("29".into()), 1);
    check_mistake("round(1, 0.5)", Mistake::BadPlaces("0.5".into()), 1);
    let long = "1".repeat(40);
    check_mistake(&format!("1 + {long}"), Mistake::NumberTooLong(long), 5);
    check_mistake("abs(1, 2)", Mistake::WrongArguments { name: "abs", takes: "one argument", given: 2 }, 1);
}

#[test]
fn size_is_bounded_and_depth_too() {
    let parenthesised = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(shown(&parenthesised(MAX_DEPTH)), "1");
    check_mistake(&parenthesised(MAX_DEPTH + 1), Mistake::TooDeep, MAX_DEPTH + 1);
    check_mistake(&"(".repeat(MAX_BYTES), Mistake::TooDeep, MAX_DEPTH + 1);
    check_mistake(&parenthesised(100_000), Mistake::TooLong(200_001), 1);

    assert_eq!(shown(&format!("{}1", "-".repeat(MAX_BYTES - 2))), "1");
    assert_eq!(shown(&vec!["1"; MAX_BYTES / 2].join("^")), "1");
    assert_eq!(shown(&vec!["1"; MAX_BYTES / 2].join("+")), (MAX_BYTES / 2).to_string());
}

/// An expression with its value, by ordinary integer arithmetic.
fn integer_expression() -> impl Strategy<Value = (String, i128)> {
    let leaf = (0_i128..1000).prop_map(|number| (number.to_string(), number));
    leaf.prop_recursive(6, 40, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(|((a, x), (b, y))| (format!("({a}) + {b}"), x.saturating_add(y))),
            pair.clone().prop_map(|((a, x), (b, y))| (format!("({a} - ({b}))"), x.saturating_sub(y))),
            pair.clone().prop_map(|((a, x), (b, y))| (format!("({a})*({b})"), x.saturating_mul(y))),
            pair.clone().prop_map(|((a, x), (b, y))| (format!("max({a}, {b})"), x.max(y))),
            pair.prop_map(|((a, x), (b, y))| (format!("(({a}) % (({b})^2 + 1))"), remainder(x, y))),
            inner.clone().prop_map(|(a, x)| (format!("-({a})"), x.saturating_neg())),
            inner.prop_map(|(a, x)| (format!("abs({a})"), x.saturating_abs())),
        ]
    })
}

fn remainder(x: i128, y: i128) -> i128 {
    x % y.saturating_mul(y).saturating_add(1)
}

proptest! {
    /// An integer is never rounded: every step is the one of integer arithmetic, or an overflow.
    #[test]
    fn agrees_with_integer_arithmetic((text, expected) in integer_expression()) {
        match value(&text) {
            Ok(value) => prop_assert_eq!(value.to_string(), expected.to_string()),
            Err(error) => prop_assert_eq!(error.mistake, Mistake::Overflow),
        }
    }

    /// Whatever the text, there is a value or a mistake at one of its characters or right behind it.
    #[test]
    fn never_panics(text in r"([0-9.e()+*/%^, −-]|abs|sqrt|round|é){0,60}") {
        if let Err(error) = value(&text) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.at));
        }
    }

    #[test]
    fn never_panics_on_any_text(text in ".{0,80}") {
        let _ = value(&text);
    }

    #[test]
    fn a_square_has_its_root(digits in 1_u64..1_000_000_000_000_000, scale in 0_u32..14) {
        let root = Decimal::new(i64::try_from(digits).unwrap(), scale);
        prop_assume!(root.checked_mul(root).is_some_and(|square| square.scale() == scale * 2));
        let text = format!("sqrt({})", root * root);
        prop_assert_eq!(value(&text), Ok(root.normalize()));
    }

    #[test]
    fn a_value_evaluates_to_itself(digits in any::<i64>(), scale in 0_u32..19) {
        let number = Decimal::new(digits, scale);
        prop_assert_eq!(value(&number.to_string()), Ok(number.normalize()));
    }
}
