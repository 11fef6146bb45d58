//! Who calls.

use serde::{Deserialize, Serialize};

/// Who a call is made for. The door sets it from what it has verified, never from what a client merely claims.
///
/// An absent field means "not said". All state that belongs to a caller keys on [`Caller::key`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Caller {
    /// The person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The agent that acts for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The person's role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where the conversation takes place, such as `telegram`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The chat in that channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// Whether the chat is a direct one or a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_kind: Option<String>,
    /// The provider of the model that the agent runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

impl Caller {
    /// Whom limits and quotas count: the same person, agent and session.
    pub fn key(&self) -> CallerKey {
        CallerKey { user: self.user.clone(), agent: self.agent.clone(), session: self.session.clone() }
    }

    /// All that is said of the caller.
    pub(crate) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let Self { user, agent, role, session, channel, chat, peer_kind, provider } = self;
        [user, agent, role, session, channel, chat, peer_kind, provider].into_iter().flatten()
    }
}

/// The part of a [`Caller`] that limits count by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallerKey {
    /// The person.
    pub user: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The conversation.
    pub session: Option<String>,
}
