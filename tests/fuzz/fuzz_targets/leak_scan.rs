//! The leak scan: however a body is cut, no known value is left in it.

#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target has one of them")]
mod bodies;

libfuzzer_sys::fuzz_target!(|input: &[u8]| bodies::leak_scan(input));
