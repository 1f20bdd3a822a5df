//! The session of a client: whose evidence it gives, and which conversation of theirs it is.

/// The session of a client. Its source and its conversation are two things over the network, where one person has many
/// agents at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSession {
    /// The source of the evidence that the session gives. What comes from one source counts once. Over the network this
    /// is the owner of the token; on this machine it is the session itself.
    pub source: String,
    /// The conversation, which goes on from the traces that it left before. None for a request that stands alone.
    pub conversation: Option<String>,
}

/// The source of what a person says by the command line, however often and in however many terminals.
const BY_HAND: &str = "by hand";

impl ClientSession {
    /// Makes the session of the person at this machine.
    pub fn by_hand() -> Self {
        Self { source: BY_HAND.to_owned(), conversation: None }
    }

    /// Tells whether the source has no other conversations. What it reports without a task is then one piece of
    /// evidence, however often it says so.
    pub fn is_whole_source(&self) -> bool {
        self.conversation.as_ref() == Some(&self.source)
    }
}

/// Makes the session of a source that has no other conversations.
impl From<&str> for ClientSession {
    fn from(session: &str) -> Self {
        Self { source: session.to_owned(), conversation: Some(session.to_owned()) }
    }
}
