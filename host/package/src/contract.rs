//! What a component speaks, as a manifest names it.

/// What a component speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// `ringfence:tool`, in our version.
    Tool,
    /// No contract: each plain function that the component exports is a tool.
    Plain,
}

impl Contract {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Tool, Self::Plain];

    /// As it stands in a manifest: the version of our contract, or else a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => ringfence_wit::VERSION,
            Self::Plain => "plain",
        }
    }
}
