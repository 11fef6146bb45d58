//! Manifests: as an author writes them, and as they stand in a package.

#![no_main]

#[path = "../bodies.rs"]
#[allow(dead_code, reason = "each target has one of them")]
mod bodies;

libfuzzer_sys::fuzz_target!(|input: &[u8]| bodies::manifests(input));
