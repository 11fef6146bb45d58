//! URL rules: what they say of the URLs that are sent.

#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target has one of them")]
mod bodies;

libfuzzer_sys::fuzz_target!(|input: &[u8]| bodies::url_rules(input));
