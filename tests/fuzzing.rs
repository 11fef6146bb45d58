//! The fuzz targets on inputs near their seeds. `tests/run --long` gives them to cargo-fuzz, which looks farther.

#[path = "fuzz/bodies.rs"]
mod bodies;

use crate::repository;

/// Inputs that are made of each seed.
const CHANGED: usize = 2000;

fn run(target: &str, body: fn(&[u8])) {
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
        for _ in 0..CHANGED {
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
    run("url_rules", bodies::url_rules);
}

#[test]
fn manifests() {
    run("manifests", bodies::manifests);
}

#[test]
fn leak_scan() {
    run("leak_scan", bodies::leak_scan);
}
