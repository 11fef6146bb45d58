//! What the functions of a component are called as tools: 1 to 48 of `a-z`, `0-9`, `_` and `-`, the same in every run.
//!
//! A function at the top keeps its name; one of an interface has the interface's name before it, without package and
//! version: `docs:adder/add@0.1.0` and `sum` make `add_sum`. A name that belongs to one of ringfence's own tools gets
//! `_fn` behind it. What had to be cut or cleaned, or would be there twice, carries a digest of the full name; so does
//! what could be taken for such a one.

use std::collections::HashMap;

use ringfence_core::name::is_reserved;
use ringfence_package::manifest::MAX_TOOL_NAME;
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a digest in a name.
const DIGEST_DIGITS: usize = 8;

/// The names of the tools that the functions at `paths` become, in the same order. A path is the names of the
/// interfaces around a function, from the outside in, and its own name.
pub(super) fn tool_names(paths: &[Vec<String>]) -> Vec<String> {
    let wanted: Vec<_> = paths.iter().map(|path| wanted(path)).collect();
    let mut times = HashMap::new();
    for name in &wanted {
        *times.entry(name.as_str()).or_insert(0_usize) += 1;
    }
    let fits = |name: &str| is_tool_name(name) && !ends_like_digest(name) && times.get(name) == Some(&1);
    let choose =
        |(path, name): (&Vec<String>, &String)| if fits(name) { name.clone() } else { with_digest(name, path) };
    paths.iter().zip(&wanted).map(choose).collect()
}

/// The full name of a function, for people.
pub(super) fn full(path: &[String]) -> String {
    path.join("#")
}

/// The name that a function would have if there were no other. In names of the component model, case is not what
/// makes the difference.
fn wanted(path: &[String]) -> String {
    let name = path.iter().map(|part| bare(part).to_ascii_lowercase()).collect::<Vec<_>>().join("_");
    if is_reserved(&name) { format!("{name}_fn") } else { name }
}

/// `add` of `docs:adder/add@0.1.0`.
fn bare(name: &str) -> &str {
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    name.split_once('@').map_or(name, |(name, _)| name)
}

fn with_digest(name: &str, path: &[String]) -> String {
    let digest = Sha256::digest(full(path).as_bytes());
    let digits: String = digest.iter().take(DIGEST_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
    let clean: String = name.chars().map(|c| if is_name_char(c) { c } else { '_' }).collect();
    let clean = clean.trim_start_matches(|c: char| !c.is_ascii_lowercase());
    let clean = if clean.is_empty() { "fn" } else { clean };
    // All of it is ASCII by now.
    format!("{}_{digits}", &clean[..clean.len().min(MAX_TOOL_NAME - DIGEST_DIGITS - 1)])
}

fn is_tool_name(name: &str) -> bool {
    name.len() <= MAX_TOOL_NAME && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    matches!(c, 'a'..='z' | '0'..='9' | '_' | '-')
}

fn ends_like_digest(name: &str) -> bool {
    let last = name.rsplit_once('_').map(|(_, last)| last);
    last.is_some_and(|last| last.len() == DIGEST_DIGITS && last.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn names(paths: &[&[&str]]) -> Vec<String> {
        tool_names(&paths.iter().map(|path| path.iter().map(|&name| name.to_owned()).collect()).collect::<Vec<_>>())
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(
            names(&[&["add-up"], &["docs:adder/add@0.1.0", "sum"], &["a:b/HTTP-get", "x"], &["local", "f"]]),
            ["add-up", "add_sum", "http-get_x", "local_f"]
        );
    }

    #[test]
    fn names_of_our_own_tools_are_left_to_them() {
        assert_eq!(names(&[&["read"], &["a:list/job@1.0.0", "events"]]), ["read_fn", "job_events_fn"]);
    }

    #[test]
    fn two_versions_of_an_interface_both_carry_a_digest() {
        let both = names(&[&["a:b/c@1.0.0", "f"], &["a:b/c@2.0.0", "f"], &["c_f"]]);
        assert!(both.iter().all(|name| name.starts_with("c_f_") && name.len() == 12), "{both:?}");
        assert_eq!(both.iter().collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn what_has_to_be_cut_or_cleaned_carries_a_digest() {
        let long = "a".repeat(49);
        let all = names(&[&[&long], &["[static]file.open"], &["i", "deadbeef"], &["0"]]);
        assert!(all[0].starts_with(&"a".repeat(39)) && all[0].len() == 48, "{all:?}");
        assert!(all[1].starts_with("static_file_open_"), "{all:?}");
        assert!(all[2].starts_with("i_deadbeef_") && all[3].starts_with("fn_"), "{all:?}");
    }

    proptest! {
        #[test]
        fn every_function_has_a_name_of_its_own(
            paths in prop::collection::hash_set(prop::collection::vec("([a-c]:[a-c]/)?(read|[a-cA-C.-]{1,60}|deadbeef)(@1)?", 1..3), 1..20),
        ) {
            let paths: Vec<_> = paths.into_iter().collect();
            let names = tool_names(&paths);
            prop_assert!(names.iter().all(|name| is_tool_name(name) && !is_reserved(name)), "{names:?}");
            prop_assert_eq!(names.iter().collect::<HashSet<_>>().len(), paths.len());
            let reversed: Vec<_> = paths.iter().rev().cloned().collect();
            let mut again = tool_names(&reversed);
            again.reverse();
            prop_assert_eq!(again, names);
        }
    }
}
