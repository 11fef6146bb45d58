//! The JSON Schema (2020-12) of a type: it accepts just what [`super::from_json`] reads, a test holds it so.

use serde_json::{Map, Value, json};

use super::val_type::{Int, ValType};

/// The largest integer up to which a double tells all integers apart (RFC 7493, section 2.2).
pub(super) const MAX_SAFE: i128 = (1 << 53) - 1;

/// The values of floats that JSON has no numbers for.
pub(super) const NOT_NUMBERS: [(&str, f64); 3] =
    [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];

/// Base64 in the one spelling that each byte string has: padded, and zero in the bits that are left over.
const BASE64: &str = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

/// The schema of a record, and so of a function's parameters.
pub(super) fn record(fields: &[(String, ValType)]) -> Value {
    let properties: Map<_, _> = fields.iter().map(|(name, ty)| (name.clone(), schema(ty))).collect();
    let is_required = |(name, ty): &(String, ValType)| (!matches!(ty, ValType::Option(_))).then(|| name.clone());
    let required: Vec<_> = fields.iter().filter_map(is_required).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The schema of what a function gives back: an object with the `result`, or an empty one.
pub(super) fn output(result: Option<&ValType>) -> Value {
    match result {
        Some(ty) => only("result", schema(ty)),
        None => record(&[]),
    }
}

fn schema(ty: &ValType) -> Value {
    match ty {
        ValType::Bool => json!({"type": "boolean"}),
        ValType::Int(int) => integer(*int),
        ValType::F32 => {
            float(json!({"type": "number", "minimum": f64::from(f32::MIN), "maximum": f64::from(f32::MAX)}))
        }
        ValType::F64 => float(json!({"type": "number"})),
        ValType::Char => json!({"type": "string", "minLength": 1, "maxLength": 1}),
        ValType::String => json!({"type": "string"}),
        ValType::Bytes => json!({"type": "string", "contentEncoding": "base64", "pattern": BASE64}),
        ValType::List(element) => json!({"type": "array", "items": schema(element)}),
        ValType::Record(fields) => record(fields),
        ValType::Tuple(types) => {
            let items: Vec<_> = types.iter().map(schema).collect();
            json!({"type": "array", "prefixItems": items, "items": false, "minItems": types.len()})
        }
        ValType::Variant(cases) => variant(cases),
        ValType::Enum(names) => json!({"type": "string", "enum": names}),
        ValType::Flags(names) => {
            json!({"type": "array", "items": {"type": "string", "enum": names}, "uniqueItems": true})
        }
        ValType::Option(some) => {
            let value = if matches!(**some, ValType::Option(_)) { only("some", schema(some)) } else { schema(some) };
            json!({"anyOf": [value, {"type": "null"}]})
        }
        ValType::Result(ok, err) => {
            let side = |name, ty: &Option<Box<ValType>>| {
                only(name, ty.as_ref().map_or_else(|| json!({"type": "null"}), |ty| schema(ty)))
            };
            json!({"anyOf": [side("ok", ok), side("err", err)]})
        }
    }
}

/// An object with one property.
fn only(name: &str, value: Value) -> Value {
    json!({"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": false})
}

fn variant(cases: &[(String, Option<ValType>)]) -> Value {
    let bare: Vec<_> = cases.iter().filter(|(_, ty)| ty.is_none()).map(|(name, _)| name).collect();
    let with_value = cases.iter().filter_map(|(name, ty)| Some(only(name, schema(ty.as_ref()?))));
    let mut forms: Vec<_> = with_value.collect();
    if !bare.is_empty() {
        forms.push(json!({"type": "string", "enum": bare}));
    }
    json!({"anyOf": forms})
}

fn float(number: Value) -> Value {
    json!({"anyOf": [number, {"type": "string", "enum": NOT_NUMBERS.map(|(name, _)| name)}]})
}

fn integer(int: Int) -> Value {
    let (min, max) = int.range().into_inner();
    // All bounds fit: those of `u64` and `s64` are the widest.
    let bound = |bound: i128| i64::try_from(bound).map_or_else(|_| json!(bound as u64), |bound| json!(bound));
    let number = json!({"type": "integer", "minimum": bound(min), "maximum": bound(max)});
    if !int.is_wide() {
        return number;
    }
    let decimal = json!({"type": "string", "pattern": decimals(min, max)});
    let description = format!("Beyond ±{MAX_SAFE} write it as a decimal string, since many readers round the number.");
    json!({"anyOf": [number, decimal], "description": description})
}

/// A pattern for the integers from `min` to `max`, without leading zeros. `max` is over 9, `min` is 0 or `-max - 1`.
fn decimals(min: i128, max: i128) -> String {
    let positive = up_to(&max.to_string());
    if min == 0 { format!("^(?:0|{positive})$") } else { format!("^(?:0|-?(?:{positive})|{min})$") }
}

/// A pattern for the integers from 1 to `max`.
fn up_to(max: &str) -> String {
    let (first, rest) = max.split_at(1);
    let shorter = format!("[1-9][0-9]{{0,{}}}", rest.len().saturating_sub(1));
    let lower = match first {
        "1" => String::new(),
        digit => format!("|[1-{}][0-9]{{{}}}", below(digit), rest.len()),
    };
    format!("{shorter}{lower}|{first}{}", digits_up_to(rest))
}

/// A pattern for as many digits as `max` has, up to `max`.
fn digits_up_to(max: &str) -> String {
    let (first, rest) = max.split_at(max.len().min(1));
    match (first, rest) {
        ("", _) => String::new(),
        (digit, "") => format!("[0-{digit}]"),
        ("0", rest) => format!("0{}", digits_up_to(rest)),
        (digit, rest) => {
            format!("(?:[0-{}][0-9]{{{}}}|{digit}{})", below(digit), rest.len(), digits_up_to(rest))
        }
    }
}

fn below(digit: &str) -> u8 {
    digit.parse::<u8>().unwrap_or(0).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ty: &ValType, accepted: &[Value], refused: &[Value]) {
        let validator = jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(1 << 20))
            .build(&schema(ty))
            .unwrap();
        for value in accepted {
            assert!(validator.is_valid(value), "{ty} {value}");
        }
        for value in refused {
            assert!(!validator.is_valid(value), "{ty} {value}");
        }
    }

    #[test]
    fn the_ends_of_wide_integers_are_exact() {
        check(
            &ValType::Int(Int::U64),
            &[json!(u64::MAX), json!("18446744073709551615"), json!("0"), json!("9999999999999999999")],
            &[json!("18446744073709551616"), json!("01"), json!("-1"), json!(-1), json!(1.5), json!("٣"), json!("1\n")],
        );
        check(
            &ValType::Int(Int::S64),
            &[json!(i64::MIN), json!("-9223372036854775808"), json!("9223372036854775807")],
            &[json!("9223372036854775808"), json!("-9223372036854775809"), json!("-0"), json!("+1"), json!("")],
        );
    }

    #[test]
    fn base64_has_one_spelling() {
        check(
            &ValType::Bytes,
            &[json!(""), json!("AA=="), json!("AAA="), json!("+/+/")],
            &[json!("AB=="), json!("AA"), json!("AAB="), json!("A==="), json!("AA==AA=="), json!("-_-_")],
        );
    }

    #[test]
    fn nested_options_keep_their_levels_apart() {
        let inner = ValType::Option(Box::new(ValType::Bool));
        check(
            &ValType::Option(Box::new(inner)),
            &[json!(null), json!({"some": null}), json!({"some": true})],
            &[json!(true), json!({}), json!({"some": {"some": true}})],
        );
    }

    #[test]
    fn the_schemas_keep_to_the_rules_of_registration() {
        let fields = vec![
            ("t".to_owned(), ValType::Tuple(vec![ValType::Bool, ValType::Record(vec![("x".into(), ValType::F32)])])),
            ("o".to_owned(), ValType::Option(Box::new(ValType::Flags(vec!["a".into()])))),
            ("v".to_owned(), ValType::Variant(vec![("a".into(), None), ("b".into(), Some(ValType::Bytes))])),
        ];
        let parameters = record(&fields);
        assert_eq!(parameters["required"], json!(["t", "v"]));
        assert!(ringfence_core::schema_rules::check(&parameters).is_empty());
        assert!(ringfence_core::schema_rules::check(&output(None)).is_empty());
    }
}
