//! Components that ask for more than there is.

use ringfence_core::limit::LimitKind;
use serde_json::json;

use super::host::{Host, definitions};

/// Functions that never return, grow without end, and give back far more than they have.
const GREEDY: &str = r#"(component
  (core module $module
    (memory (export "memory") 1)
    (func (export "spin") (loop $again (br $again)))
    (func (export "grow") (loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable)
    ;; A list of 1,000,000 strings that are all the same 1 MiB.
    (func (export "alias") (result i32) (local $item i32) (local $left i32)
      (drop (memory.grow (i32.const 300)))
      (local.set $item (i32.const 2097152))
      (local.set $left (i32.const 1000000))
      (loop $each
        (i32.store offset=0 (local.get $item) (i32.const 1048576))
        (i32.store offset=4 (local.get $item) (i32.const 1048576))
        (local.set $item (i32.add (local.get $item) (i32.const 8)))
        (br_if $each (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
      (i32.store (i32.const 16) (i32.const 2097152))
      (i32.store (i32.const 20) (i32.const 1000000))
      (i32.const 16))
    ;; A string of 60,000 zero bytes, which take six times as much in JSON.
    (func (export "long") (result i32)
      (i32.store (i32.const 16) (i32.const 32))
      (i32.store (i32.const 20) (i32.const 60000))
      (i32.const 16))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "take") (param i32 i32)))
  (core instance $i (instantiate $module))
  (func (export "spin") (canon lift (core func $i "spin")))
  (func (export "grow") (canon lift (core func $i "grow")))
  (func (export "alias") (result (list string)) (canon lift (core func $i "alias") (memory (core memory $i "memory"))))
  (func (export "long") (result string) (canon lift (core func $i "long") (memory (core memory $i "memory"))))
  (func (export "take") (param "x" (list u8))
    (canon lift (core func $i "take") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))"#;

#[tokio::test]
async fn each_limit_stops_a_plain_function_with_its_own_error() {
    let host = Host::new(GREEDY).await;
    assert_eq!(host.fault("spin", json!({})).await, "limit.fuel");
    assert_eq!(host.fault("grow", json!({})).await, "limit.memory");
    assert_eq!(host.fault("alias", json!({})).await, "limit.host_call");
}

#[tokio::test]
async fn a_result_is_measured_before_it_becomes_json() {
    let host = Host::limited(GREEDY, &[(LimitKind::Result, 360_012)]).await;
    let error = host.call("long", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "limit.result");
    // {"result":"…"}
    assert!(error.to_string().contains("360013"), "{error}");
    assert!(Host::limited(GREEDY, &[(LimitKind::Result, 360_013)]).await.call("long", json!({})).await.is_ok());
}

#[tokio::test]
async fn parameters_are_held_to_what_one_call_may_carry() {
    let host = Host::limited(GREEDY, &[(LimitKind::HostCall, 100_000)]).await;
    assert!(host.call("take", json!({"x": "AAAA"})).await.is_ok());
    assert_eq!(host.fault("take", json!({"x": "AAAA".repeat(5000)})).await, "limit.host_call");
}

/// A type that holds another one twice, 15 times over.
#[tokio::test]
async fn a_type_that_is_small_only_while_it_is_shared_is_refused() {
    let doubled: String = (1..16).map(|i| format!("(type $t{i} (tuple $t{0} $t{0}))", i - 1)).collect();
    let error = definitions(&deep(&doubled, 15)).await.unwrap_err().to_string();
    assert!(error.contains("written out they do not fit into the 262144 bytes of a manifest"), "{error}");
}

#[tokio::test]
async fn a_type_that_nests_too_deeply_is_refused_and_one_level_less_is_not() {
    let nested = |levels: usize| (1..=levels).map(|i| format!("(type $t{i} (option $t{}))", i - 1)).collect::<String>();
    let error = definitions(&deep(&nested(23), 23)).await.unwrap_err().to_string();
    assert_eq!(error, "`f` has types that nest deeper than 24 levels: flatten them");
    let specs = definitions(&deep(&nested(22), 22)).await.unwrap();
    // What is written into a manifest can be read again.
    let text = serde_json::to_string(&json!({"tools": specs})).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
}

/// A component with a function that takes a list of the type `$t{last}`, which ends in a list of strings.
fn deep(types: &str, last: usize) -> String {
    format!(
        r#"(component
          (core module $module (memory (export "memory") 1) (func (export "f") (param i32 i32))
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable))
          (core instance $i (instantiate $module))
          (type $t0 (list string)) {types}
          (func (export "f") (param "x" (list $t{last}))
            (canon lift (core func $i "f") (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))"#
    )
}
