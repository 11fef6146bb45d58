//! What the tools of one source reach beyond their instances, and the request that a guest makes of it.

use std::sync::Arc;

use ringfence_core::name::SourceName;
use ringfence_core::tool_state::ToolState;
use ringfence_egress::{Access, Egress};
use ringfence_package::Effective;
use ringfence_vault::Vault;

use crate::workspace::Workspace;

/// What the tools of one source reach. Nothing in it is theirs: the host sends, signs, reads and writes for them.
#[derive(Clone, Default)]
pub struct Reach {
    /// What was asked for and granted.
    pub grant: Arc<Effective>,
    /// The door to the network, and how far it opens; `None` where it stays shut.
    pub network: Option<Network>,
    /// Where secrets are that are used without being seen.
    pub vault: Option<Arc<Vault>>,
    /// The files; `None` where the operator named no folder.
    pub workspace: Option<Workspace>,
    /// Where they keep something between calls; `None` where they cannot.
    pub state: Option<StatePlace>,
    /// Who grants them anything.
    pub granter: Granter,
}

/// Who grants a source what it reaches, and so who can grant it more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granter {
    /// The operator, with commands and files.
    #[default]
    Operator,
    /// The program that embeds this host.
    Program,
}

impl Granter {
    /// How more is granted.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Operator => "`ringfence grants` shows what it asks for, and `ringfence grant` grants it",
            Self::Program => "the program that embeds ringfence grants it where it registers the component",
        }
    }
}

/// The door to the network, as one source may use it.
#[derive(Clone)]
pub struct Network {
    /// The door.
    pub door: Arc<Egress>,
    /// How far it opens.
    pub access: Arc<Access>,
}

/// Where one source keeps something between calls.
#[derive(Clone)]
pub struct StatePlace {
    /// The store.
    pub store: Arc<dyn ToolState>,
    /// The source.
    pub source: SourceName,
    /// Who signed its package.
    pub signer: String,
    /// What its package calls itself.
    pub package: SourceName,
}

impl Reach {
    /// What the first of `imports` is for of which nothing was granted: an interface is there only for who was granted
    /// something of it.
    pub(crate) fn lacks<'a>(&self, mut imports: impl Iterator<Item = &'a str>) -> Option<&'static str> {
        let network = self.network.is_some();
        let abilities = [
            ("ringfence:tool/http@", "send requests", network),
            ("wasi:http/outgoing-handler@", "send requests", network),
            ("ringfence:tool/secrets@", "use secrets", self.grant.uses_secrets() && self.vault.is_some()),
            ("ringfence:tool/workspace@", "use files", self.grant.uses_workspace() && self.workspace.is_some()),
            ("ringfence:tool/tools@", "call other tools", self.grant.calls_tools()),
            ("ringfence:tool/state@", "keep values between calls", self.grant.keeps_state() && self.state.is_some()),
        ];
        let lacking =
            |import: &str| abilities.iter().find(|(name, _, given)| import.starts_with(name) && !given).map(|it| it.1);
        imports.find_map(lacking)
    }
}
