//! A signal: one observation about a memory, append-only. This file says what each kind of signal is called, what it
//! weighs, and which id it has, so that saying the same again says nothing new.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Builder;

use super::ids::{MemoryId, SignalId, TraceId, derived};
use super::pattern::{PatternApplication, SignalledApplication};
use super::workspace::WorkspaceId;

/// The kind of an observation about a memory. New kinds go to the end, because [`id_within_trace`] hashes the position
/// of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    /// It was put into a prompt of the solver. This counts as usage, not as evidence.
    Injected,
    Helpful,
    NotHelpful,
    TaskSucceeded,
    TaskFailed,
    /// The work that came of it stood seven days without a revert.
    Stable,
    Reverted,
    /// The same lesson was learned again, or a command that had failed succeeded after the memory was shown.
    Confirmed,
    /// Evidence says that a task failed which was thought a success. This takes one `TaskSucceeded` back.
    SuccessOverruled,
    /// Evidence says that a task succeeded which was thought a failure. This takes one `TaskFailed` back.
    FailureOverruled,
    /// It was shared with a wider scope. This is remembered so that a copy which somebody deletes is not made again by
    /// itself. It is no evidence.
    Promoted,
    /// A client was given it in an answer. This counts as usage, not as evidence.
    Shown,
    /// A newer memory took its place; the signal says by whose word. It is no evidence.
    Superseded,
    /// A newer memory no longer takes its place. This is no evidence.
    Reinstated,
    /// A pattern was applied in a trace. It counts for the stage of the pattern, and not for the memory's confidence.
    Applied,
}

impl SignalKind {
    pub const ALL: [Self; 15] = [
        Self::Injected,
        Self::Helpful,
        Self::NotHelpful,
        Self::TaskSucceeded,
        Self::TaskFailed,
        Self::Stable,
        Self::Reverted,
        Self::Confirmed,
        Self::SuccessOverruled,
        Self::FailureOverruled,
        Self::Promoted,
        Self::Shown,
        Self::Superseded,
        Self::Reinstated,
        Self::Applied,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Injected => "injected",
            Self::Helpful => "helpful",
            Self::NotHelpful => "not_helpful",
            Self::TaskSucceeded => "task_succeeded",
            Self::TaskFailed => "task_failed",
            Self::Stable => "stable",
            Self::Reverted => "reverted",
            Self::Confirmed => "confirmed",
            Self::SuccessOverruled => "success_overruled",
            Self::FailureOverruled => "failure_overruled",
            Self::Promoted => "promoted",
            Self::Shown => "shown",
            Self::Superseded => "superseded",
            Self::Reinstated => "reinstated",
            Self::Applied => "applied",
        }
    }

    /// Returns the confidence to which one such signal takes a confidence of exactly 0.5. None for a signal that takes
    /// another one back.
    fn even_odds_become(self) -> Option<f64> {
        Some(match self {
            Self::Injected | Self::Shown | Self::Promoted | Self::Superseded | Self::Reinstated | Self::Applied => 0.5,
            Self::Helpful => 0.8,
            Self::NotHelpful | Self::Reverted => 0.3,
            Self::TaskSucceeded | Self::Confirmed => 0.6,
            Self::TaskFailed => 0.4,
            Self::Stable => 0.7,
            Self::SuccessOverruled | Self::FailureOverruled => return None,
        })
    }

    /// Returns the kind of signal that this kind takes back. None for a kind that takes nothing back.
    fn overrules(self) -> Option<Self> {
        match self {
            Self::SuccessOverruled => Some(Self::TaskSucceeded),
            Self::FailureOverruled => Some(Self::TaskFailed),
            _ => None,
        }
    }

    /// Returns what one such signal adds to the log-odds of a confidence.
    pub fn weight(self) -> f64 {
        let own = self.even_odds_become().map_or(0.0, logit);
        own - self.overrules().map_or(0.0, Self::weight)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Signal {
    pub id: SignalId,
    pub memory_id: MemoryId,
    pub workspace_id: WorkspaceId,
    pub kind: SignalKind,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// The session of the client that reported it or asked for the solve, or the owner of its token. Reports of one
    /// session count as one source. Signals of solves that earlier versions stored name no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The reason, in the reporter's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The version, kind and result of the application, where the signal is about the application of a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<SignalledApplication>,
}

impl From<PatternApplication> for Signal {
    fn from(one: PatternApplication) -> Self {
        let PatternApplication { version, kind, result, episode_succeeded, .. } = one;
        let application = SignalledApplication { version, kind, result, episode_succeeded };
        Self {
            trace_id: Some(one.episode_id),
            session: Some(one.session),
            application: Some(application),
            ..Self::new(one.id, one.pattern_id, one.workspace_id, SignalKind::Applied, one.at)
        }
    }
}

impl Signal {
    /// Returns the application of a pattern that the signal is. None where it is about something else.
    pub fn as_application(&self) -> Option<PatternApplication> {
        let SignalledApplication { version, kind, result, episode_succeeded } = self.application?;
        Some(PatternApplication {
            id: self.id,
            pattern_id: self.memory_id,
            version,
            episode_id: self.trace_id?,
            workspace_id: self.workspace_id.clone(),
            session: self.session.clone().unwrap_or_default(),
            kind,
            result,
            episode_succeeded,
            at: self.at,
        })
    }

    /// Makes a signal that names no trace, no session and no reason. Whoever makes it adds what is known of these:
    /// `Signal { session, ..Signal::new(…) }`.
    pub fn new(id: SignalId, memory_id: MemoryId, workspace_id: WorkspaceId, kind: SignalKind, at: Timestamp) -> Self {
        Self { id, memory_id, workspace_id, kind, at, trace_id: None, session: None, comment: None, application: None }
    }
}

/// Returns the id (a UUIDv8) of a signal about a memory's part in a trace. It is the same however often the same
/// witness says it. The solve itself (no session) with its judge is one witness. A session that reports is another.
pub fn id_within_trace(trace: TraceId, memory: MemoryId, kind: SignalKind, session: Option<&str>) -> SignalId {
    let hash = Sha256::new()
        .chain_update(trace.uuid())
        .chain_update(memory.uuid())
        .chain_update([kind as u8, u8::from(session.is_some())])
        .chain_update(session.unwrap_or_default())
        .finalize();
    hashed(&hash)
}

/// Returns the id of a vote of a reported trace about a memory, which is the same however often its session says so.
/// `turns` counts how often the outcome changed, so the next vote after a change has an id of its own.
pub fn id_of_trace_vote(trace: TraceId, turns: u32, memory: MemoryId, kind: SignalKind) -> SignalId {
    let (trace, memory) = (trace.uuid(), memory.uuid());
    let kind = kind.as_str().as_bytes();
    derived(&["own vote".as_bytes(), trace.as_bytes(), memory.as_bytes(), kind, &turns.to_be_bytes()]).into()
}

/// Returns the id (a UUIDv8) of a vote that a client's session gives outside of any trace. It is the same however often
/// the session says so.
pub fn id_of_vote(session: &str, memory: MemoryId, kind: SignalKind) -> SignalId {
    let (memory, kind) = (memory.uuid(), kind.as_str().as_bytes());
    derived(&["vote".as_bytes(), session.as_bytes(), memory.as_bytes(), kind]).into()
}

/// Returns the id of the signal that says what became of a commit that a session named. It is the same for all tasks
/// the commit was named for.
pub fn id_of_commit(session: &str, commit: &str, memory: MemoryId, kind: SignalKind) -> SignalId {
    let (memory, kind) = (memory.uuid(), kind.as_str().as_bytes());
    derived(&["commit".as_bytes(), session.as_bytes(), commit.as_bytes(), memory.as_bytes(), kind]).into()
}

/// Returns the id (a UUIDv8) of the signal that a session was shown a memory. It is the same for all answers of one day
/// (UTC).
pub fn id_of_shown(memory: MemoryId, session: &str, at: Timestamp) -> SignalId {
    let day = at.as_second().div_euclid(86_400).to_be_bytes();
    derived(&["shown".as_bytes(), memory.uuid().as_bytes(), session.as_bytes(), &day]).into()
}

/// Returns the id of a signal that follows from a change of a trace's verdict. It is the same however often that is
/// tried.
pub fn id_of_verdict(trace: TraceId, revision: u64, memory: MemoryId, kind: SignalKind) -> SignalId {
    // Revisions had 32 bits when the first of these ids were stored, and those ids stay as they are.
    let number = match u32::try_from(revision) {
        Ok(number) => number.to_be_bytes().to_vec(),
        Err(_) => revision.to_be_bytes().to_vec(),
    };
    let hash = Sha256::new()
        .chain_update("verdict")
        .chain_update(trace.uuid())
        .chain_update(number)
        .chain_update(memory.uuid())
        .chain_update(kind.as_str())
        .finalize();
    hashed(&hash)
}

fn hashed(hash: &[u8]) -> SignalId {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    Builder::from_custom_bytes(bytes).into_uuid().into()
}

/// Returns the log-odds of a probability, which is first kept a millionth away from 0 and 1.
pub(crate) fn logit(p: f64) -> f64 {
    let p = p.clamp(1e-6, 1.0 - 1e-6);
    (p / (1.0 - p)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_kind_which_is_in_stored_ids_never_changes() {
        let words: Vec<&str> = SignalKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(
            words[..14],
            [
                "injected",
                "helpful",
                "not_helpful",
                "task_succeeded",
                "task_failed",
                "stable",
                "reverted",
                "confirmed",
                "success_overruled",
                "failure_overruled",
                "promoted",
                "shown",
                "superseded",
                "reinstated",
            ]
        );
        for (number, kind) in SignalKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number, "{kind:?}");
        }
    }
}
