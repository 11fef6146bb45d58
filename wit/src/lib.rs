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

/// `near:agent`, a contract of others whose components run here as they are.
pub mod near_agent {
    /// The package that holds the contract, without its version.
    pub const PACKAGE: &str = "near:agent";

    /// The world that a component targets.
    pub const WORLD: &str = "sandboxed-tool";

    /// The versions that this host runs, each with its text.
    pub const VERSIONS: [(&str, &str); 2] =
        [("0.3.0", include_str!("../near-agent/0.3.0.wit")), ("0.4.1", include_str!("../near-agent/0.4.1.wit"))];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_agree_with_the_text() {
        assert!(TOOL_WIT.contains(&format!("package {PACKAGE}@{VERSION};")));
        assert!(TOOL_WIT.contains(&format!("world {WORLD} {{")));
        assert_eq!(GUEST_INTERFACE, format!("{PACKAGE}/guest@{VERSION}"));
        for (version, text) in near_agent::VERSIONS {
            assert!(text.contains(&format!("package {}@{version};", near_agent::PACKAGE)));
            assert!(text.contains(&format!("world {} {{", near_agent::WORLD)));
        }
    }
}
