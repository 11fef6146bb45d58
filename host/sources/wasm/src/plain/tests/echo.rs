//! Components whose functions give back what they are given.
//!
//! A type that is one number for the canonical ABI comes and goes in a register. All others are put into a tuple behind
//! 17 integers, one more than fit into registers: such a tuple comes and goes as an address, so that returning the
//! address returns the value.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::plain::val_type::ValType;

const MODULE: &str = r#"
  (core module $module
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 1024))
    (func (export "realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and
        (i32.add (global.get $free) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $free (i32.add (local.get $at) (local.get $size)))
      (if (i32.gt_u (global.get $free) (i32.mul (memory.size) (i32.const 65536)))
        (then (drop (memory.grow (i32.add (i32.shr_u (local.get $size) (i32.const 16)) (i32.const 1))))))
      (local.get $at))
    (func (export "i32") (param i32) (result i32) (local.get 0))
    (func (export "i64") (param i64) (result i64) (local.get 0))
    (func (export "f32") (param f32) (result f32) (local.get 0))
    (func (export "f64") (param f64) (result f64) (local.get 0)))
  (core instance $i (instantiate $module))
"#;

/// A component with one function for each type, called `echo0`, `echo1`, ….
pub(super) fn component(types: &[ValType]) -> String {
    let mut wat = format!("(component {MODULE}");
    let mut definitions = 0;
    for (i, ty) in types.iter().enumerate() {
        let written = write_type(ty, &mut wat, &mut definitions);
        let (core, written) = match register(ty) {
            Some(core) => (core, written),
            None => ("i32", format!("(tuple {} {written})", "u8 ".repeat(17))),
        };
        writeln!(
            wat,
            "(func (export \"echo{i}\") (param \"x\" {written}) (result {written})
               (canon lift (core func $i \"{core}\") (memory (core memory $i \"memory\")) (realloc (core func $i \"realloc\"))))"
        )
        .unwrap();
    }
    wat + ")"
}

/// The arguments that give `value` to the function of a type.
pub(super) fn arguments(ty: &ValType, value: &Value) -> Value {
    if register(ty).is_some() {
        return json!({"x": value});
    }
    let padding = (0..17).map(Value::from);
    json!({"x": padding.chain([value.clone()]).collect::<Vec<_>>()})
}

/// The value in the result of the function of a type.
pub(super) fn result(ty: &ValType, output: &Value) -> Value {
    let result = &output["result"];
    if register(ty).is_some() { result.clone() } else { result[17].clone() }
}

/// The core type of what comes in a register.
fn register(ty: &ValType) -> Option<&'static str> {
    match ty {
        ValType::Bool | ValType::Char | ValType::Enum(_) | ValType::Flags(_) => Some("i32"),
        ValType::Int(int) => Some(if int.is_wide() { "i64" } else { "i32" }),
        ValType::F32 => Some("f32"),
        ValType::F64 => Some("f64"),
        _ => None,
    }
}

/// The type as text. Types that need a name get one, in definitions that stand before.
fn write_type(ty: &ValType, wat: &mut String, count: &mut usize) -> String {
    let mut inner = |ty: &ValType| write_type(ty, wat, count);
    let names = |names: &[String]| names.iter().map(|name| format!(" \"{name}\"")).collect::<String>();
    let definition = match ty {
        ValType::Bytes => return "(list u8)".into(),
        ValType::List(element) => return format!("(list {})", inner(element)),
        ValType::Option(some) => return format!("(option {})", inner(some)),
        ValType::Tuple(types) => return format!("(tuple {})", types.iter().map(inner).collect::<Vec<_>>().join(" ")),
        ValType::Result(ok, err) => {
            let ok = ok.as_deref().map(&mut inner).unwrap_or_default();
            let err = err.as_deref().map(|ty| format!("(error {})", inner(ty))).unwrap_or_default();
            return format!("(result {ok} {err})");
        }
        ValType::Record(fields) => {
            let fields = fields.iter().map(|(name, ty)| format!(" (field \"{name}\" {})", inner(ty)));
            format!("(record{})", fields.collect::<String>())
        }
        ValType::Variant(cases) => {
            let cases = cases
                .iter()
                .map(|(name, ty)| format!(" (case \"{name}\" {})", ty.as_ref().map(&mut inner).unwrap_or_default()));
            format!("(variant{})", cases.collect::<String>())
        }
        ValType::Enum(cases) => format!("(enum{})", names(cases)),
        ValType::Flags(flags) => format!("(flags{})", names(flags)),
        simple => return simple.to_string(),
    };
    *count += 1;
    writeln!(wat, "(type $d{count} {definition}) (export $t{count} \"t{count}\" (type $d{count}))").unwrap();
    format!("$t{count}")
}
