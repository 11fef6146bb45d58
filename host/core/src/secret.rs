//! A value that must not be seen.

use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret text. Its `Debug` form hides it, it has no `Display` and no serialised form, and its memory is wiped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret(String);

impl Secret {
    /// Takes over `value`.
    pub fn new(value: String) -> Self {
        Self(value)
    }

    /// The value itself. Only the scrubber, egress and signing open a secret.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_value() {
        assert_eq!(format!("{:?}", Secret::new("hunter2".into())), "Secret(…)");
    }
}
