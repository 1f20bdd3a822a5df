//! A notice tells a client what happened to a bank since its last call.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One entry of `previous_errors` in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankNotice {
    pub timestamp: Timestamp,
    pub description: String,
    pub severity: NoticeSeverity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeSeverity {
    Info,
    Warning,
    Error,
}

/// Whoever an answer is for. Each is told of a notice once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeReader {
    /// A session, which has an active bank as well.
    Session(String),
    /// A caller without a session: the user of this machine, or the holder of a token.
    Caller(String),
    /// The answer is shown to nobody.
    Nobody,
}

impl NoticeReader {
    /// Returns the reader of commands.
    pub fn user() -> Self {
        Self::Caller("user".to_owned())
    }

    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::Session(session) => Some(session),
            Self::Caller(_) | Self::Nobody => None,
        }
    }
}
