//! For every type: values come back as they were, and the schema accepts just what can be read.

use proptest::prelude::*;
use ringfence_core::schema_rules;
use ringfence_core::tool::ToolSpec;
use serde_json::{Value, json};
use wasmtime::component::Val;

use super::generate::{almost, val, val_type};
use crate::plain::from_json::{self, FromJsonError};
use crate::plain::schema;
use crate::plain::to_json::{self, Json};
use crate::plain::val_type::{Int, ValType};

fn write(ty: &ValType, val: &Val) -> Value {
    serde_json::to_value(Json { ty, val }).unwrap()
}

fn read(ty: &ValType, json: &Value) -> Result<Val, FromJsonError> {
    let params = [("x".to_owned(), ty.clone())];
    from_json::parameters(&params, &json!({"x": json}), 1 << 20).map(|mut values| values.remove(0))
}

fn validator(ty: &ValType) -> jsonschema::Validator {
    let pattern = jsonschema::PatternOptions::regex().size_limit(1 << 20);
    jsonschema::options().with_pattern_options(pattern).build(&schema::output(Some(ty))).unwrap()
}

/// A type with a value of it.
fn typed() -> impl Strategy<Value = (ValType, Val)> {
    val_type().prop_flat_map(|ty| (Just(ty.clone()), val(&ty)))
}

/// A type with JSON that may or may not be of it.
fn typed_json() -> impl Strategy<Value = (ValType, Value)> {
    typed().prop_flat_map(|(ty, val)| (Just(ty.clone()), almost(write(&ty, &val))))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_value_comes_back_from_json_as_it_was((ty, val) in typed()) {
        let json = write(&ty, &val);
        prop_assert_eq!(&read(&ty, &json).unwrap(), &val);
        // Through text as well, as it goes over the wire.
        let text = json.to_string();
        prop_assert_eq!(to_json::size(&Json { ty: &ty, val: &val }).unwrap(), text.len() as u64);
        let again = read(&ty, &serde_json::from_str(&text).unwrap()).unwrap();
        prop_assert_eq!(write(&ty, &again).to_string(), text);
        prop_assert_eq!(again, val);
    }

    #[test]
    fn the_schema_accepts_every_value((ty, val) in typed()) {
        let json = json!({"result": write(&ty, &val)});
        prop_assert!(validator(&ty).is_valid(&json), "{} {}", ty, json);
    }

    #[test]
    fn the_schema_accepts_just_what_can_be_read((ty, json) in typed_json()) {
        let accepted = validator(&ty).is_valid(&json!({"result": json}));
        let read_back = read(&ty, &json);
        prop_assert_eq!(accepted, read_back.is_ok(), "{} {} {:?}", ty, json, read_back);
        if let Ok(val) = read_back {
            prop_assert_eq!(read(&ty, &write(&ty, &val)).unwrap(), val);
        }
    }

    #[test]
    fn every_schema_can_be_registered(types in prop::collection::vec(val_type(), 0..4)) {
        let params: Vec<_> = types.iter().enumerate().map(|(i, ty)| (format!("p{i}"), ty.clone())).collect();
        let output_schema = Some(schema::output(types.first()));
        let spec = ToolSpec { parameters: schema::record(&params), output_schema, ..ToolSpec::default() };
        let problems = schema_rules::inspect(&spec);
        prop_assert!(problems.is_empty(), "{:?}", problems);
    }
}

#[test]
fn special_values_have_the_forms_that_the_table_says() {
    let check = |ty: ValType, val: Val, text: &str| assert_eq!(write(&ty, &val).to_string(), text);
    check(ValType::Int(Int::U64), Val::U64(u64::MAX), r#""18446744073709551615""#);
    check(ValType::Int(Int::U64), Val::U64((1 << 53) - 1), "9007199254740991");
    check(ValType::Int(Int::S64), Val::S64(i64::MIN), r#""-9223372036854775808""#);
    check(ValType::F64, Val::Float64(f64::NAN), r#""NaN""#);
    check(ValType::F32, Val::Float32(f32::NEG_INFINITY), r#""-Infinity""#);
    check(ValType::F64, Val::Float64(-0.0), "-0.0");
    check(ValType::Bytes, Val::List(vec![Val::U8(0), Val::U8(255)]), r#""AP8=""#);
    let option = ValType::Option(Box::new(ValType::Option(Box::new(ValType::Bool))));
    check(option.clone(), Val::Option(None), "null");
    check(option, Val::Option(Some(Box::new(Val::Option(None)))), r#"{"some":null}"#);
    check(ValType::Result(None, None), Val::Result(Ok(None)), r#"{"ok":null}"#);
}

#[test]
fn a_fault_is_named_by_its_place() {
    let point = ValType::Record(vec![
        ("a/b".into(), ValType::Int(Int::U8)),
        ("o".into(), ValType::Option(Box::new(ValType::Char))),
    ]);
    let points = ValType::List(Box::new(point));
    let error = |json: Value| read(&points, &json).unwrap_err().to_string();
    assert_eq!(error(json!([{"a/b": 1}, {"a/b": 256}])), "/x/1/a~1b: expected an integer from 0 to 255");
    assert_eq!(error(json!([{}])), "/x/0: the field `a/b` is missing");
    assert_eq!(error(json!([{"a/b": 1, "c": 1}])), "/x/0/c: there is no such field");
    assert!(read(&points, &json!([{"a/b": 1}])).is_ok());
}

#[test]
fn what_would_take_too_much_memory_is_refused() {
    let params = [("x".to_owned(), ValType::Bytes)];
    let arguments = json!({"x": "AAAA".repeat(100)});
    assert_eq!(from_json::parameters(&params, &arguments, 1000).unwrap_err(), FromJsonError::TooLarge);
    assert!(from_json::parameters(&params, &arguments, 100_000).is_ok());
}
