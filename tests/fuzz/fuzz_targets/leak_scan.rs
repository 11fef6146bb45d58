#![no_main]

#[path = "../bodies/leak_scan.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::run(input));
