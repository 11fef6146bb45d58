//! Components that know nothing of us: each plain function that one exports becomes a tool.
//!
//! The types of the functions say everything: [`function`] reads them once into [`ValType`]s and refuses what cannot
//! cross a call; from these come the schemas ([`schema`]), the names ([`names`]), and the way of a value from JSON
//! ([`from_json`]) and back ([`to_json`]). No guest code runs to find out what a component holds.
//!
//! | WIT | JSON |
//! |---|---|
//! | `bool`, `string` | the same |
//! | `s8` to `u32` | an integer |
//! | `s64`, `u64` | an integer, or the same as a decimal string; beyond ±(2⁵³−1) it is always written as a string |
//! | `f32`, `f64` | a number, or `"NaN"`, `"Infinity"`, `"-Infinity"`; −0 is the number `-0.0` |
//! | `char` | a string of one character |
//! | `list<u8>` | a base64 string (RFC 4648, section 4, with padding) |
//! | `list<t>` | an array |
//! | `tuple<…>` | an array of that length |
//! | `record` | an object; a field that is an `option` may be left out |
//! | `variant` | `{"case": value}`, or `"case"` where it has no value |
//! | `enum` | a string |
//! | `flags` | an array of strings, each once |
//! | `option<t>` | the value or `null`; `{"some": value}` or `null` where `t` is itself an option |
//! | `result<t, e>` | `{"ok": value}` or `{"err": value}`, with `null` for no value |

mod from_json;
mod function;
mod names;
mod plain_component;
mod schema;
#[cfg(test)]
mod tests;
mod to_json;
mod val_type;

pub use function::FunctionError;
pub(crate) use plain_component::{PlainComponent, Returned};
