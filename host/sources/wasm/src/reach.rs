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
            Self::Operator => {
                "`ringfence grants` shows what it asks for, and `ringfence grant` grants it; where it does not ask, its author \
                 has to add that to its ringfence.toml"
            }
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

/// What a component needs and does not have.
#[derive(Clone, Copy)]
pub(crate) enum Lacking {
    /// Nothing was granted of what it would do.
    Grant(&'static str),
    /// Files were granted, and the operator has named no folder that they could be in.
    Folder,
}

impl Reach {
    /// What the first of `imports` needs that is not there: an interface is there only for who was granted something of
    /// it.
    pub(crate) fn lacks<'a>(&self, mut imports: impl Iterator<Item = &'a str>) -> Option<Lacking> {
        let of_grant = |given: bool, ability| (!given).then_some(Lacking::Grant(ability));
        let network = || of_grant(self.network.is_some(), "send requests");
        let files = match (self.grant.uses_workspace(), &self.workspace) {
            (true, None) => Some(Lacking::Folder),
            (granted, _) => of_grant(granted, "use files"),
        };
        let lacking = [
            ("ringfence:tool/http@", network()),
            ("wasi:http/outgoing-handler@", network()),
            ("ringfence:tool/secrets@", of_grant(self.grant.uses_secrets() && self.vault.is_some(), "use secrets")),
            ("ringfence:tool/workspace@", files),
            ("ringfence:tool/tools@", of_grant(self.grant.calls_tools(), "call other tools")),
            (
                "ringfence:tool/state@",
                of_grant(self.grant.keeps_state() && self.state.is_some(), "keep values between calls"),
            ),
        ];
        imports.find_map(|import| lacking.iter().find(|(name, _)| import.starts_with(name))?.1)
    }
}
