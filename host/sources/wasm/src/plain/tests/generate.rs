//! Random types, random values of them, and JSON that is almost right.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use wasmtime::component::Val;

use crate::plain::schema::MAX_SAFE;
use crate::plain::val_type::{Int, ValType};

pub(super) const INTS: [Int; 8] = [Int::S8, Int::U8, Int::S16, Int::U16, Int::S32, Int::U32, Int::S64, Int::U64];

/// A type of up to four levels.
pub(super) fn val_type() -> impl Strategy<Value = ValType> {
    let leaf = prop_oneof![
        Just(ValType::Bool),
        select(INTS.to_vec()).prop_map(ValType::Int),
        Just(ValType::F32),
        Just(ValType::F64),
        Just(ValType::Char),
        Just(ValType::String),
        Just(ValType::Bytes),
        (1..5_usize).prop_map(|count| ValType::Enum(names(count))),
        (1..9_usize).prop_map(|count| ValType::Flags(names(count))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let maybe = proptest::option::of(inner.clone().prop_map(Box::new));
        prop_oneof![
            inner.clone().prop_map(list),
            inner.clone().prop_map(|ty| ValType::Option(Box::new(ty))),
            (maybe.clone(), maybe).prop_map(|(ok, err)| ValType::Result(ok, err)),
            prop::collection::vec(inner.clone(), 1..4).prop_map(ValType::Tuple),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|types| ValType::Record(named(types))),
            prop::collection::vec(proptest::option::of(inner), 1..4).prop_map(|types| ValType::Variant(named(types))),
        ]
    })
}

/// A list of bytes is no list.
fn list(element: ValType) -> ValType {
    match element {
        ValType::Int(Int::U8) => ValType::Bytes,
        element => ValType::List(Box::new(element)),
    }
}

fn names(count: usize) -> Vec<String> {
    // The names of wrappers are names like any other.
    ["some", "ok", "err", "result", "a-b", "x1", "y", "z"].map(str::to_owned).into_iter().take(count).collect()
}

fn named<T>(types: Vec<T>) -> Vec<(String, T)> {
    names(types.len()).into_iter().zip(types).collect()
}

/// A value of the type.
pub(super) fn val(ty: &ValType) -> BoxedStrategy<Val> {
    match ty {
        ValType::Bool => any::<bool>().prop_map(Val::Bool).boxed(),
        ValType::Int(int) => integer(*int),
        ValType::F32 => {
            prop_oneof![any::<f32>(), any::<u32>().prop_map(f32::from_bits), select(vec![f32::NAN, -0.0, 0.1])]
                .prop_map(Val::Float32)
                .boxed()
        }
        ValType::F64 => {
            prop_oneof![any::<f64>(), any::<u64>().prop_map(f64::from_bits), select(vec![f64::INFINITY, -0.0, 1e19])]
                .prop_map(Val::Float64)
                .boxed()
        }
        ValType::Char => any::<char>().prop_map(Val::Char).boxed(),
        ValType::String => any::<String>().prop_map(Val::String).boxed(),
        ValType::Bytes => prop::collection::vec(any::<u8>().prop_map(Val::U8), 0..9).prop_map(Val::List).boxed(),
        ValType::List(element) => prop::collection::vec(val(element), 0..4).prop_map(Val::List).boxed(),
        ValType::Tuple(types) => types.iter().map(val).collect::<Vec<_>>().prop_map(Val::Tuple).boxed(),
        ValType::Record(fields) => {
            let names: Vec<_> = fields.iter().map(|(name, _)| name.clone()).collect();
            let values: Vec<_> = fields.iter().map(|(_, ty)| val(ty)).collect();
            values.prop_map(move |values| Val::Record(names.iter().cloned().zip(values).collect())).boxed()
        }
        ValType::Variant(cases) => {
            let cases = cases.iter().map(|(name, ty)| {
                let name = name.clone();
                boxed(ty.as_ref()).prop_map(move |value| Val::Variant(name.clone(), value)).boxed()
            });
            proptest::strategy::Union::new(cases).boxed()
        }
        ValType::Enum(names) => select(names.clone()).prop_map(Val::Enum).boxed(),
        ValType::Flags(names) => prop::sample::subsequence(names.clone(), 0..=names.len()).prop_map(Val::Flags).boxed(),
        ValType::Option(some) => {
            prop_oneof![Just(Val::Option(None)), val(some).prop_map(|value| Val::Option(Some(Box::new(value))))].boxed()
        }
        ValType::Result(ok, err) => prop_oneof![
            boxed(ok.as_deref()).prop_map(|value| Val::Result(Ok(value))),
            boxed(err.as_deref()).prop_map(|value| Val::Result(Err(value)))
        ]
        .boxed(),
    }
}

fn boxed(ty: Option<&ValType>) -> BoxedStrategy<Option<Box<Val>>> {
    match ty {
        Some(ty) => val(ty).prop_map(|value| Some(Box::new(value))).boxed(),
        None => Just(None).boxed(),
    }
}

fn integer(int: Int) -> BoxedStrategy<Val> {
    let (min, max) = int.range().into_inner();
    let anywhere = any::<u64>().prop_map(move |bits| min + i128::from(bits) % (max - min + 1));
    let ends = [min, max, MAX_SAFE, MAX_SAFE + 1, -MAX_SAFE, -MAX_SAFE - 1];
    prop_oneof![anywhere, select(ends.to_vec())]
        .prop_map(move |number| int.val(number.clamp(min, max)).unwrap())
        .boxed()
}

/// JSON in which something is likely to be wrong: `right` with a piece of something else somewhere in it.
pub(super) fn almost(right: Value) -> impl Strategy<Value = Value> {
    (any::<prop::sample::Index>(), piece(), any::<bool>()).prop_map(move |(place, piece, remove)| {
        let mut json = right.clone();
        let count = nodes(&json);
        change(&mut json, &mut place.index(count), &piece, remove);
        json
    })
}

fn piece() -> impl Strategy<Value = Value> {
    let numbers = [
        json!(0),
        json!(-1),
        json!(1.0),
        json!(-0.0),
        json!(255),
        json!(256),
        json!(1.5),
        json!(1e19),
        json!(1e39),
        json!(i64::MIN),
    ];
    let wide =
        [json!(u64::MAX), json!(18446744073709551616.0), json!(9223372036854775808.0), json!(-9223372036854775808.0)];
    let texts = [
        "",
        "a",
        "ab",
        "NaN",
        "nan",
        "Infinity",
        "-0",
        "007",
        "18446744073709551616",
        "AA==",
        "AB==",
        "some",
        "ok",
        "y",
    ]
    .map(Value::from);
    let shapes = [
        json!(null),
        json!(true),
        json!([]),
        json!({}),
        json!({"some": null}),
        json!({"ok": null}),
        json!({"ok": 1, "err": 1}),
        json!(["ok", "ok"]),
    ];
    let known = numbers.into_iter().chain(wide).chain(texts).chain(shapes).collect::<Vec<_>>();
    prop_oneof![4 => select(known), 1 => "[0-9]{1,21}|-[0-9]{1,20}|[A-Za-z0-9+/=]{4}".prop_map(Value::from)]
}

fn nodes(json: &Value) -> usize {
    1 + match json {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(members) => members.values().map(nodes).sum(),
        _ => 0,
    }
}

/// Puts `piece` in the place of the node number `place`, or beside what the node has; or takes something out of it.
fn change(json: &mut Value, place: &mut usize, piece: &Value, remove: bool) -> bool {
    if *place == 0 {
        match (json, remove) {
            (Value::Array(items), true) => drop(items.pop()),
            (Value::Object(members), true) => drop(members.shift_remove("some").or_else(|| members.shift_remove("ok"))),
            (Value::Array(items), false) if !items.is_empty() => items.push(piece.clone()),
            (json, _) => *json = piece.clone(),
        }
        return true;
    }
    *place -= 1;
    match json {
        Value::Array(items) => items.iter_mut().any(|item| change(item, place, piece, remove)),
        Value::Object(members) => members.values_mut().any(|item| change(item, place, piece, remove)),
        _ => false,
    }
}
