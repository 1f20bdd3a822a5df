//! One application of a pattern: the evidence that it is judged by.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::{MemoryId, SignalId, TraceId, derived};
use crate::memory::workspace::WorkspaceId;

/// The use of a pattern in an episode. There is one for each pattern and episode. It is stored as a signal about the
/// pattern, and its episode is a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatternApplication {
    /// See [`application_id`].
    pub id: SignalId,
    pub pattern_id: MemoryId,
    /// The version of the pattern that was applied.
    pub version: u32,
    pub episode_id: TraceId,
    pub workspace_id: WorkspaceId,
    /// The session of the episode, or the owner of the token that reported it.
    pub session: String,
    pub kind: ApplicationKind,
    #[serde(default)]
    pub result: ApplicationResult,
    /// True where its episode had succeeded when this was noted, and false where it had failed. It counts once the
    /// episode is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode_succeeded: Option<bool>,
    /// The time of the episode.
    pub at: Timestamp,
}

/// The part of an application that only its signal has, beside pattern, episode, session and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalledApplication {
    /// The version of the pattern.
    pub version: u32,
    pub kind: ApplicationKind,
    #[serde(default)]
    pub result: ApplicationResult,
    /// True where its episode had succeeded when this was noted, and false where it had failed. It counts once the
    /// episode is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode_succeeded: Option<bool>,
}

/// The one who says that a pattern was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationKind {
    /// The one who did the work.
    Reported,
    /// A rule, which compared the episode with the pattern.
    Observed,
}

/// The result of an application, or the place to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationResult {
    /// The outcome of the episode, as it is when it is asked for, or as it was last known.
    #[default]
    Episode,
    /// The pattern was seen to reach its aim, such as an error that did not come back.
    Succeeded,
    Failed,
}

/// Returns the id of the application of a pattern in an episode. It is the same however often and by whomever it is
/// told.
pub fn application_id(pattern: MemoryId, episode: TraceId) -> SignalId {
    derived(&[b"application", pattern.uuid().as_bytes(), episode.uuid().as_bytes()]).into()
}
