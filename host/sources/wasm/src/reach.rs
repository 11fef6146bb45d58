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
    /// Why a grant that there is gives nothing now.
    pub suspended: Option<String>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// Nothing was granted of what it would do, in words.
    Grant(String),
    /// Files were granted, and the operator has named no folder that they could be in.
    Folder,
}

/// What a grant gives, by the interfaces that it is used through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ability {
    Network,
    Secrets,
    Files,
    Tools,
    State,
}

/// The interfaces of which something has to be granted.
const GRANTED: [(&str, Ability); 6] = [
    ("ringfence:tool/http@", Ability::Network),
    ("wasi:http/outgoing-handler@", Ability::Network),
    ("ringfence:tool/secrets@", Ability::Secrets),
    ("ringfence:tool/workspace@", Ability::Files),
    ("ringfence:tool/tools@", Ability::Tools),
    ("ringfence:tool/state@", Ability::State),
];

impl Ability {
    fn in_words(self) -> &'static str {
        match self {
            Self::Network => "send requests",
            Self::Secrets => "use secrets",
            Self::Files => "use files",
            Self::Tools => "call other tools",
            Self::State => "keep values between calls",
        }
    }
}

impl Reach {
    /// What of all that `imports` need is not there: an interface is there only for who was granted something of it.
    pub(crate) fn lacks<'a>(&self, imports: impl Iterator<Item = &'a str>) -> Option<Lacking> {
        let needed = needed(imports);
        let lacking = in_words(needed.iter().filter(|ability| !self.is_granted(**ability)));
        match lacking {
            Some(lacking) => Some(Lacking::Grant(lacking)),
            None if needed.contains(&Ability::Files) && self.workspace.is_none() => Some(Lacking::Folder),
            None => None,
        }
    }

    fn is_granted(&self, ability: Ability) -> bool {
        match ability {
            Ability::Network => self.network.is_some(),
            Ability::Secrets => self.grant.uses_secrets() && self.vault.is_some(),
            Ability::Files => self.grant.uses_workspace(),
            Ability::Tools => self.grant.calls_tools(),
            Ability::State => self.grant.keeps_state() && self.state.is_some(),
        }
    }
}

/// What a component with these imports does of what has to be granted, in words.
pub(crate) fn abilities<'a>(imports: impl Iterator<Item = &'a str>) -> Option<String> {
    in_words(needed(imports).iter())
}

fn needed<'a>(imports: impl Iterator<Item = &'a str>) -> Vec<Ability> {
    let mut needed = Vec::new();
    for import in imports {
        let ability = GRANTED.iter().find(|(name, _)| import.starts_with(name)).map(|(_, ability)| *ability);
        needed.extend(ability.filter(|ability| !needed.contains(ability)));
    }
    needed
}

/// Such as "send requests, use files and call other tools".
fn in_words<'a>(abilities: impl Iterator<Item = &'a Ability>) -> Option<String> {
    let words: Vec<&str> = abilities.map(|ability| ability.in_words()).collect();
    match words.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}
