#![no_main]

#[path = "../bodies/manifests.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::run(input));
