#![no_main]

#[path = "../bodies/url_rules.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::run(input));
