//! What a component speaks, as a manifest names it.

use ringfence_wit::near_agent;

/// What a component speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// `ringfence:tool`, in our version.
    Tool,
    /// No contract: each plain function that the component exports is a tool.
    Plain,
    /// `near:agent` 0.3.0, IronClaw's first contract.
    NearAgent030,
    /// `near:agent` 0.4.1, IronClaw's later one.
    NearAgent041,
}

impl Contract {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Plain, Self::NearAgent030, Self::NearAgent041];

    /// As it stands in a manifest: the version of our contract, the name and version of another one, or else a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => ringfence_wit::VERSION,
            Self::Plain => "plain",
            Self::NearAgent030 => "near:agent@0.3.0",
            Self::NearAgent041 => "near:agent@0.4.1",
        }
    }

    /// Whether a component says itself which tools it has. One of `near:agent` describes itself as one tool; where it holds
    /// several, it is told by name which is meant, and whoever packs it says which there are.
    pub fn lists_tools(self) -> bool {
        matches!(self, Self::Tool | Self::Plain)
    }

    /// The contract of this [name](Self::name).
    pub(crate) fn called(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|contract| contract.name() == name)
    }

    /// The contract, whatever its version, that a component with an export of this name is held to.
    pub fn named_by(export: &str) -> Option<Self> {
        Package::of(export).map(|(package, version)| match (package.name, version) {
            (near_agent::PACKAGE, "0.3.0") => Self::NearAgent030,
            (near_agent::PACKAGE, _) => Self::NearAgent041,
            _ => Self::Tool,
        })
    }

    /// The packages that are contracts and the versions that this host speaks, for people.
    pub fn packages() -> String {
        let text = |package: &Package| format!("{} {}", package.name, package.versions.join(" and "));
        PACKAGES.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// The contract by the interface that a component of it has to export.
    pub(crate) fn by_export(name: &str) -> Option<Self> {
        match name {
            ringfence_wit::GUEST_INTERFACE => Some(Self::Tool),
            "near:agent/tool@0.3.0" => Some(Self::NearAgent030),
            "near:agent/tool@0.4.1" => Some(Self::NearAgent041),
            _ => None,
        }
    }
}

/// A package of interfaces that is a contract, and the versions of it that this host speaks.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) versions: &'static [&'static str],
}

/// The packages that are contracts: whoever names one, in any version, is held to it.
static PACKAGES: [Package; 2] = [
    Package { name: ringfence_wit::PACKAGE, versions: &[ringfence_wit::VERSION] },
    Package { name: near_agent::PACKAGE, versions: &[near_agent::VERSIONS[0].0, near_agent::VERSIONS[1].0] },
];

impl Package {
    /// The contract that the interface `name` belongs to, and its version there.
    pub(crate) fn of(name: &str) -> Option<(&'static Self, &str)> {
        PACKAGES.iter().find_map(|package| {
            let interface = name.strip_prefix(package.name)?.strip_prefix('/')?;
            Some((package, interface.rsplit_once('@').map_or("none", |(_, version)| version)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_the_contract_that_it_names() {
        let of = |name| Package::of(name).map(|(package, version)| (package.name, version));
        assert_eq!(of("near:agent/host@0.3.0"), Some(("near:agent", "0.3.0")));
        assert_eq!(of("ringfence:tool/log"), Some(("ringfence:tool", "none")));
        assert_eq!(of("near:agents/host@0.3.0"), None);
        for (version, _) in near_agent::VERSIONS {
            let spoken = Contract::by_export(&format!("near:agent/tool@{version}")).unwrap();
            assert_eq!(spoken.name(), format!("near:agent@{version}"));
        }
    }
}
