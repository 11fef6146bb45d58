//! The fuzz targets on inputs near their seeds. `tests/run --long` gives them to cargo-fuzz, which looks farther.
//!
//! What it found to break something is a seed as well, so that it stays found.

#[path = "fuzz/bodies/leak_scan.rs"]
mod leak_scan;
#[path = "fuzz/bodies/manifests.rs"]
mod manifests;
#[path = "fuzz/bodies/url_rules.rs"]
mod url_rules;
#[path = "fuzz/bodies/wit_schema.rs"]
mod wit_schema;

use crate::repository;

/// Runs `body` on each seed of `target`, and on `changed` inputs that are made of each.
fn run(target: &str, body: fn(&[u8]), changed: usize) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    for entry in std::fs::read_dir(repository().join("tests/fuzz/seeds").join(target)).unwrap() {
        let seed = std::fs::read(entry.unwrap().path()).unwrap();
        body(&seed);
        for _ in 0..changed {
            let mut input = seed.clone();
            for _ in 0..=below(4) {
                let (from, to) = (below(input.len()), below(input.len()));
                match below(4) {
                    0 => input[to] = seed[below(seed.len())],
                    1 => input[to] ^= 1 << below(7),
                    2 => input.insert(to, input[from]),
                    _ => input.extend_from_within(from.min(to)..from.max(to).min(from.min(to) + 40)),
                }
            }
            body(&input);
        }
    }
}

#[test]
fn url_rules() {
    run("url_rules", url_rules::run, 2000);
}

#[test]
fn manifests() {
    run("manifests", manifests::run, 500);
}

#[test]
fn leak_scan() {
    run("leak_scan", leak_scan::run, 2000);
}

#[test]
fn wit_schema() {
    run("wit_schema", wit_schema::run, 100);
}
