//! Names that may have been meant.

/// The `limit` names of `known` that are most like `wanted`, best first, for "did you mean".
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<String> {
    /// Below this Jaro-Winkler similarity a suggestion confuses more than it helps.
    const ALIKE: f64 = 0.7;
    let mut scored: Vec<(f64, &str)> =
        known.into_iter().map(|name| (likeness(wanted, name), name)).filter(|(score, _)| *score >= ALIKE).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(limit).map(|(_, name)| name.to_owned()).collect()
}

/// Compares with the whole wire name and with the part behind the source, since people leave the source out.
fn likeness(wanted: &str, name: &str) -> f64 {
    let bare = name.split_once("__").map_or(name, |(_, bare)| bare);
    strsim::jaro_winkler(wanted, name).max(strsim::jaro_winkler(wanted, bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_slips_and_missing_sources() {
        let known = ["calc__evaluate", "text__count", "echo"];
        assert_eq!(nearest("evalute", known, 1), ["calc__evaluate"]);
        assert_eq!(nearest("text__cuont", known, 1), ["text__count"]);
        assert!(nearest("zzzzzz", known, 3).is_empty());
    }
}
