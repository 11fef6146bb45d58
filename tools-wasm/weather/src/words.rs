//! What is known of the weather, in a sentence.

/// The values that are known, in words, one after the other.
pub(crate) fn joined<const N: usize>(values: [Option<String>; N]) -> String {
    let known: Vec<String> = values.into_iter().flatten().collect();
    if known.is_empty() { "nothing is known".to_owned() } else { known.join(", ") }
}
