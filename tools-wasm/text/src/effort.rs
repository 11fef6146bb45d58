//! How hard two texts are to compare, found out before comparing them.
//!
//! A comparison takes time that grows with the square of the difference, and a component has no clock by which it could
//! give up. So the difference is measured first, by the same algorithm but without keeping the way, in a bounded number
//! of steps.

use std::collections::HashMap;

/// The most lines of both texts together: each takes some thousand instructions to be told from others.
const MAX_LINES: usize = 100_000;

/// The most steps of measuring. The comparison that follows takes some ten times as much fuel.
const MAX_STEPS: usize = 500_000;

/// Whether finding the shortest way from `old` to `new` takes an amount of work that there is.
pub(crate) fn is_small(old: &[&str], new: &[&str]) -> bool {
    let (old, new) = without_common_ends(old, new);
    if old.len() + new.len() > MAX_LINES {
        return false;
    }
    let (old, new) = common_lines(old, new);
    distance(&old, &new, MAX_STEPS).is_some()
}

fn without_common_ends<'a, 'b>(old: &'a [&'b str], new: &'a [&'b str]) -> (&'a [&'b str], &'a [&'b str]) {
    let same_start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same_start..], &new[same_start..]);
    let same_end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    (&old[..old.len() - same_end], &new[..new.len() - same_end])
}

/// The lines that both texts have, as numbers. A line that only one of them has costs a comparison next to nothing.
fn common_lines(old: &[&str], new: &[&str]) -> (Vec<usize>, Vec<usize>) {
    let mut numbers = HashMap::new();
    let old: Vec<usize> = old.iter().enumerate().map(|(place, line)| *numbers.entry(*line).or_insert(place)).collect();
    let new: Vec<usize> = new.iter().filter_map(|line| numbers.get(line).copied()).collect();
    let mut is_common = vec![false; old.len()];
    for line in &new {
        is_common[*line] = true;
    }
    (old.into_iter().filter(|line| is_common[*line]).collect(), new)
}

/// The smallest number of insertions and deletions that leads from `old` to `new`; `None` where finding it takes more
/// than `max_steps`.
///
/// This is the greedy algorithm of Myers (1986). `reach` says for each diagonal how far in `old` one comes with so many
/// changes; a diagonal is the number of deletions less that of insertions, counted from `origin`.
fn distance(old: &[usize], new: &[usize], max_steps: usize) -> Option<usize> {
    // Rounds up to a distance d look at d²/2 diagonals.
    let most = (old.len() + new.len()).min((2 * max_steps).isqrt());
    let origin = most + 1;
    let mut reach = vec![0; 2 * most + 3];
    let mut steps = 0;
    for distance in 0..=most {
        for diagonal in (origin - distance..=origin + distance).step_by(2) {
            let is_lowest = diagonal == origin - distance;
            let is_highest = diagonal == origin + distance;
            let inserts = is_lowest || (!is_highest && reach[diagonal - 1] < reach[diagonal + 1]);
            let start = if inserts { reach[diagonal + 1] } else { reach[diagonal - 1] + 1 };
            let equal = common_prefix(old, start, new, start + origin - diagonal);
            let end = start + equal;
            reach[diagonal] = end;
            steps += 1 + equal;
            if end >= old.len() && end + origin - diagonal >= new.len() {
                return Some(distance);
            }
            if steps > max_steps {
                return None;
            }
        }
    }
    None
}

/// How many lines are equal from these places on. A place may lie behind the end.
fn common_prefix(old: &[usize], from_old: usize, new: &[usize], from_new: usize) -> usize {
    let old = old.get(from_old..).unwrap_or_default();
    let new = new.get(from_new..).unwrap_or_default();
    old.iter().zip(new).take_while(|(old, new)| old == new).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The distance by the textbook: from the longest common subsequence.
    fn slow_distance(old: &[usize], new: &[usize]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for a in old {
            let mut diagonal = 0;
            for (j, b) in new.iter().enumerate() {
                let above = row[j + 1];
                row[j + 1] = if a == b { diagonal + 1 } else { above.max(row[j]) };
                diagonal = above;
            }
        }
        old.len() + new.len() - 2 * row[new.len()]
    }

    proptest! {
        #[test]
        fn distance_is_the_smallest(
            old in prop::collection::vec(0_usize..4, 0..30),
            new in prop::collection::vec(0_usize..4, 0..30),
        ) {
            prop_assert_eq!(distance(&old, &new, usize::MAX / 4), Some(slow_distance(&old, &new)));
        }

        /// With too few steps there is no answer rather than a wrong one.
        #[test]
        fn too_few_steps_give_no_answer(
            old in prop::collection::vec(0_usize..4, 0..30),
            new in prop::collection::vec(0_usize..4, 0..30),
            max_steps in 0_usize..60,
        ) {
            if let Some(found) = distance(&old, &new, max_steps) {
                prop_assert_eq!(found, slow_distance(&old, &new));
            }
        }
    }

    #[test]
    fn lines_of_one_text_and_common_ends_cost_nothing() {
        let numbers: Vec<String> = (0..MAX_LINES / 2).map(|line| line.to_string()).collect();
        let old: Vec<&str> = numbers.iter().map(String::as_str).collect();
        let mut new = old.clone();
        assert!(is_small(&old, &new));
        for line in new.iter_mut().step_by(2) {
            *line = "changed";
        }
        assert!(is_small(&old, &new));
        new.reverse();
        assert!(!is_small(&old, &new));
    }
}
