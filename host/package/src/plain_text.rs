//! Text by strangers and operators that people will see: a terminal must not take it for a command, nor a reader for
//! something else.

/// The longest text, in bytes: what fits on a few lines of a terminal.
const MAX: usize = 1000;

/// What is wrong with `text`, if anything.
pub(crate) fn problem(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        Some("is empty")
    } else if text.len() > MAX {
        Some("is longer than 1,000 bytes")
    } else if text.chars().any(char::is_control) {
        Some("has a line break or another control character")
    } else if text.chars().any(hides) {
        Some("has an invisible character, such as one that turns the direction of writing")
    } else {
        None
    }
}

/// Whether `c` shows nothing, or changes what is read around it: letters that are blank as well. Joiners are left out:
/// scripts and emoji need them.
pub fn hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_would_not_see_is_named() {
        for good in ["acme", "Zoë's tools, 東京", "\u{6cc}\u{200c}\u{627}", "x".repeat(MAX).as_str()] {
            assert_eq!(problem(good), None, "{good}");
        }
        for (bad, part) in [
            ("", "empty"),
            (" \u{a0}", "empty"),
            ("a\nFAKE", "line break"),
            ("a\u{1b}[2J", "control"),
            ("a\u{9b}2J", "control"),
            ("acme\u{202e}", "invisible"),
            ("a\u{2028}b", "invisible"),
            ("ac\u{200b}me", "invisible"),
            ("ac\u{3164}me", "invisible"),
            ("x".repeat(MAX + 1).as_str(), "longer"),
        ] {
            assert!(problem(bad).unwrap().contains(part), "{bad:?}");
        }
    }
}
