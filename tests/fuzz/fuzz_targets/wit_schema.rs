#![no_main]

#[path = "../bodies/wit_schema.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::run(input));
