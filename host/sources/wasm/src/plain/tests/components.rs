//! Real components, called through the pipeline.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::echo;
use super::generate::{INTS, val, val_type};
use super::host::{Host, definitions};
use crate::plain::to_json::Json;
use crate::plain::val_type::ValType;

/// `docs:adder/add`, a function that fails, one that gives nothing back, and one with a name of ours.
const SMALL: &str = r#"(component
  (core module $module
    (memory (export "memory") 1)
    (data (i32.const 16) "too small")
    (data (i32.const 36) "\10\00\00\00\09\00\00\00")
    (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    ;; ok(x) for x from 10, else err("too small").
    (func (export "check") (param $x i32) (result i32)
      (if (result i32) (i32.lt_u (local.get $x) (i32.const 10))
        (then (i32.store8 (i32.const 32) (i32.const 1)) (i32.const 32))
        (else (i32.store (i32.const 68) (local.get $x)) (i32.const 64))))
    (func (export "nothing"))
    (func (export "crash") unreachable)
    (func (export "status") (param $ok i32) (result i32) (local.get $ok)))
  (core instance $i (instantiate $module))
  (func $add (param "a" u32) (param "b" u32) (result u32) (canon lift (core func $i "add")))
  (instance $adder (export "add" (func $add)))
  (export "docs:adder/add@0.1.0" (instance $adder))
  (func (export "check") (param "x" u32) (result (result u32 (error string)))
    (canon lift (core func $i "check") (memory (core memory $i "memory"))))
  (func (export "status") (param "ok" bool) (result (result)) (canon lift (core func $i "status")))
  (func (export "crash") (canon lift (core func $i "crash")))
  (func (export "wait") (canon lift (core func $i "nothing"))))"#;

#[tokio::test]
async fn functions_of_a_component_are_tools_without_our_contract() {
    let host = Host::new(SMALL).await;
    let names: Vec<_> = host.specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["add_add", "check", "status", "crash", "wait_fn"]);
    assert_eq!(
        host.specs[0].description,
        "Calls the function `add: func(a: u32, b: u32) -> u32` of the interface `docs:adder/add@0.1.0`."
    );
    let output = host.call("add_add", json!({"a": 2, "b": 40})).await.unwrap();
    assert_eq!(output.structured, Some(json!({"result": 42})));
    assert!(output.usage.fuel.is_some_and(|fuel| fuel > 0) && output.usage.peak_memory == Some(65536));
    let nothing = host.call("wait_fn", json!({})).await.unwrap();
    assert_eq!(nothing.structured, Some(json!({})));
    assert_eq!(host.fault("crash", json!({})).await, "trapped");
    assert_eq!(host.fault("add_add", json!({"a": 2, "b": -1})).await, "invalid_params");
    assert_eq!(host.fault("add_add", json!({"a": 2})).await, "invalid_params");
}

#[tokio::test]
async fn the_error_of_a_function_is_a_failure_of_the_tool() {
    let host = Host::new(SMALL).await;
    assert_eq!(host.call("check", json!({"x": 10})).await.unwrap().structured, Some(json!({"result": 10})));
    let error = host.call("check", json!({"x": 9})).await.unwrap_err();
    assert_eq!(error.to_string(), "`guest__check` failed: too small");
    // The discriminant of `ok` is 0, and so is `false`.
    assert_eq!(host.call("status", json!({"ok": false})).await.unwrap().structured, Some(json!({})));
    assert_eq!(host.fault("status", json!({"ok": true})).await, "failed");
}

/// Each type of WIT once, with the values at its edges.
fn every_type() -> Vec<(ValType, Vec<Value>)> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let floats = vec![json!(0.0), json!(-0.0), json!(1.5), json!("NaN"), json!("Infinity"), json!("-Infinity")];
    let integers = INTS.map(|int| {
        let ends =
            [*int.range().start(), 0, *int.range().end()].map(|end| match int.is_wide() && end.abs() > 1 << 53 {
                true => json!(end.to_string()),
                false => json!(end as i64),
            });
        (ValType::Int(int), ends.to_vec())
    });
    let option = |ty| ValType::Option(Box::new(ty));
    let others = [
        (ValType::Bool, vec![json!(true), json!(false)]),
        (ValType::F32, floats.clone()),
        (ValType::F64, floats),
        (ValType::Char, vec![json!("a"), json!("\u{0}"), json!("😀")]),
        (ValType::String, vec![json!(""), json!("naïve 😀 \u{0}")]),
        (ValType::Bytes, vec![json!(""), json!("AP8="), json!("AAECAwQF")]),
        (ValType::List(Box::new(ValType::String)), vec![json!([]), json!(["a", "", "b"])]),
        (ValType::Tuple(vec![ValType::Bool, ValType::String]), vec![json!([true, "x"])]),
        (
            ValType::Record(vec![("a".into(), ValType::F64), ("b-c".into(), option(ValType::Char))]),
            vec![json!({"a": 1.0, "b-c": null}), json!({"a": "NaN", "b-c": "x"})],
        ),
        (
            ValType::Variant(vec![("none".into(), None), ("some".into(), Some(ValType::String))]),
            vec![json!("none"), json!({"some": "x"})],
        ),
        (ValType::Enum(names(&["red", "green"])), vec![json!("red"), json!("green")]),
        (ValType::Flags(names(&["r", "w", "x"])), vec![json!([]), json!(["r", "x"])]),
        (option(ValType::Bytes), vec![json!(null), json!("")]),
        (option(option(ValType::Bool)), vec![json!(null), json!({"some": null}), json!({"some": false})]),
        (
            ValType::Result(Some(Box::new(ValType::Bool)), Some(Box::new(ValType::String))),
            vec![json!({"ok": true}), json!({"err": "x"})],
        ),
        (ValType::Result(None, None), vec![json!({"ok": null}), json!({"err": null})]),
    ];
    integers.into_iter().chain(others).collect()
}

#[tokio::test]
async fn values_of_every_type_go_through_a_component_and_back() {
    check_echo(&every_type()).await;
}

#[tokio::test]
async fn values_of_random_types_go_through_a_component_and_back() {
    let mut runner = TestRunner::deterministic();
    let mut pick = |ty: &ValType| val(ty).new_tree(&mut runner).unwrap().current();
    let mut types = TestRunner::deterministic();
    let types: Vec<_> = (0..150).map(|_| val_type().new_tree(&mut types).unwrap().current()).collect();
    let cases = types.into_iter().map(|ty| {
        let values: Vec<Value> =
            (0..8).map(|_| serde_json::to_value(Json { ty: &ty, val: &pick(&ty) }).unwrap()).collect();
        (ty, values)
    });
    for cases in cases.collect::<Vec<_>>().chunks(25) {
        check_echo(cases).await;
    }
}

async fn check_echo(cases: &[(ValType, Vec<Value>)]) {
    let types: Vec<_> = cases.iter().map(|(ty, _)| ty.clone()).collect();
    let host = Host::new(&echo::component(&types)).await;
    for (i, (ty, values)) in cases.iter().enumerate() {
        assert!(host.specs[i].description.contains(&ty.to_string()) || ty.to_string().len() > 100, "{ty}");
        for value in values {
            let output = host.call(&format!("echo{i}"), echo::arguments(ty, value)).await;
            let output = output.unwrap_or_else(|error| panic!("{ty} {value}: {error}")).structured.unwrap();
            // As text, to which 0 and -0 are not the same.
            assert_eq!(echo::result(ty, &output).to_string(), value.to_string(), "{ty}");
        }
    }
}

#[tokio::test]
async fn a_resource_is_refused_by_name() {
    let wat = r#"(component
      (core module $module (func (export "read") (param i32)) (func (export "all") (result i32) unreachable)
        (memory (export "memory") 1))
      (core instance $i (instantiate $module))
      (type $file (resource (rep i32)))
      (export $exported "file" (type $file))
      (func (export "TAKES")))"#;
    let direct = wat.replace(
        "(func (export \"TAKES\"))",
        r#"(func (export "read") (param "handle" (borrow $exported)) (canon lift (core func $i "read")))"#,
    );
    assert_eq!(
        definitions(&direct).await.unwrap_err().to_string(),
        "`read` takes `handle`, which is `borrow<file>`, a resource, which ends with the instance that made it: a plain \
         function takes and gives back data only. Export it without that, or write the tool with the SDK"
    );
    let inside = wat.replace(
        "(func (export \"TAKES\"))",
        r#"(func (export "all") (result (list (own $exported))) (canon lift (core func $i "all") (memory (core memory $i "memory"))))"#,
    );
    let error = definitions(&inside).await.unwrap_err().to_string();
    assert!(error.starts_with("`all` gives back a result, which has in it `own<file>`, a resource"), "{error}");
}

#[test]
fn streams_and_futures_are_refused_by_name() {
    let refused = |export: &str| {
        let wat = format!(
            r#"(component
              (core module $m (memory (export "memory") 1) (func (export "take") (param i32)) (func (export "give") (result i32) unreachable)
                (func (export "none")))
              (core instance $i (instantiate $m))
              {export})"#
        );
        let engine = crate::Engine::new(crate::EngineSettings::default()).unwrap();
        engine.compile(&wat::parse_str(wat).unwrap()).unwrap_err().to_string()
    };
    let rest =
        ": a plain function takes and gives back data only. Export it without that, or write the tool with the SDK";
    for (export, expected) in [
        (
            r#"(type $s (stream u8)) (func (export "read-all") (param "input" $s) (canon lift (core func $i "take")))"#,
            "`read-all` takes `input`, which is `stream`, which goes on after the call",
        ),
        (
            r#"(type $f (future string)) (type $l (list $f))
               (func (export "later") (result $l) (canon lift (core func $i "give") (memory (core memory $i "memory"))))"#,
            "`later` gives back a result, which has in it `future`, which comes after the call",
        ),
        (
            r#"(func (export "wait") async (canon lift (core func $i "none")))"#,
            "`wait` is `async func`, which goes on beside others",
        ),
    ] {
        assert_eq!(refused(export), format!("{expected}{rest}"));
    }
}

#[tokio::test]
async fn a_component_without_functions_has_no_tools() {
    assert_eq!(
        definitions("(component)").await.unwrap_err().to_string(),
        "it defines no tools; a tool component holds at least one"
    );
}

#[tokio::test]
async fn a_component_with_an_unknown_import_names_it() {
    let wat = r#"(component (import "a:b/c@1.0.0" (instance (export "f" (func)))))"#;
    let error = definitions(wat).await.unwrap_err().to_string();
    assert!(error.contains("a:b/c@1.0.0") && error.contains("this host does not have"), "{error}");
}

#[tokio::test]
async fn whoever_names_our_contract_is_held_to_it() {
    let wat = r#"(component (instance $i) (export "ringfence:tool/guest@99.0.0" (instance $i)))"#;
    let error = definitions(wat).await.unwrap_err().to_string();
    assert!(error.contains("ringfence:tool"), "{error}");
}
