//! The contract between the host and a tool component: the WIT text and the names that are derived from it.
//!
//! Host and guest SDK both take them from here, so that they cannot drift apart.

/// The text of `tool.wit`.
pub const TOOL_WIT: &str = include_str!("../tool.wit");

/// The package that holds the contract, without its version.
pub const PACKAGE: &str = "ringfence:tool";

/// The version of the contract that this host speaks.
pub const VERSION: &str = "0.1.0";

/// The world that a tool component targets.
pub const WORLD: &str = "tool";

/// The interface that a tool component exports.
pub const GUEST_INTERFACE: &str = "ringfence:tool/guest@0.1.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_agree_with_the_text() {
        assert!(TOOL_WIT.contains(&format!("package {PACKAGE}@{VERSION};")));
        assert!(TOOL_WIT.contains(&format!("world {WORLD} {{")));
        assert_eq!(GUEST_INTERFACE, format!("{PACKAGE}/guest@{VERSION}"));
    }
}
