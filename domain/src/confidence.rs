//! Evidence about memories and the confidence that follows from it.
//!
//! Stored are signals, append-only, each with an id of its own; everything else (counts, usage, last use, confidence)
//! is folded from them. In log-odds the fold is a sum: bounded, monotone, independent of order, and the union of what
//! several processes wrote needs no lock.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Builder;

use crate::ids::{MemoryId, SignalId, TraceId, derived};
use crate::memory::{Facts, SourceType};
use crate::trace::Outcome;
use crate::workspace::WorkspaceId;

/// One piece of evidence about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    /// It was put into a prompt of the solver: counts as usage, not as evidence.
    Injected,
    Helpful,
    NotHelpful,
    TaskSucceeded,
    TaskFailed,
    /// What came of it stood seven days without a revert.
    Stable,
    Reverted,
    /// The same lesson was learned again.
    Confirmed,
    /// Evidence says that a task which was thought a success failed: takes one `TaskSucceeded` back.
    SuccessOverruled,
    /// The other way round: takes one `TaskFailed` back.
    FailureOverruled,
    /// It was shared with a wider scope: remembered so that a copy which somebody deletes is not made again by itself. No
    /// evidence.
    Promoted,
    /// A client was given it in an answer: counts as usage, not as evidence.
    Shown,
    /// A newer memory took its place, and by whose word. No evidence.
    Superseded,
    /// That was undone. No evidence.
    Reinstated,
}

impl SignalKind {
    pub const ALL: [Self; 14] = [
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
        }
    }

    /// Where one such signal takes a confidence of exactly 0.5; none for what takes another one back.
    fn even_odds_become(self) -> Option<f64> {
        Some(match self {
            Self::Injected | Self::Shown | Self::Promoted | Self::Superseded | Self::Reinstated => 0.5,
            Self::Helpful => 0.8,
            Self::NotHelpful | Self::Reverted => 0.3,
            Self::TaskSucceeded | Self::Confirmed => 0.6,
            Self::TaskFailed => 0.4,
            Self::Stable => 0.7,
            Self::SuccessOverruled | Self::FailureOverruled => return None,
        })
    }

    /// What it takes back.
    fn overrules(self) -> Option<Self> {
        match self {
            Self::SuccessOverruled => Some(Self::TaskSucceeded),
            Self::FailureOverruled => Some(Self::TaskFailed),
            _ => None,
        }
    }

    /// What it adds to the log-odds.
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
    /// Which session of a client reported it: reports of one session count as one source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Why, in the reporter's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// The id of a signal about a memory's part in a trace, the same (a UUIDv8) however often the same one says it: the
/// solve itself (no session), whose judge is one witness, or a session that reports, which is another.
pub fn id_within_trace(trace: TraceId, memory: MemoryId, kind: SignalKind, session: Option<&str>) -> SignalId {
    let hash = Sha256::new()
        .chain_update(trace.uuid())
        .chain_update(memory.uuid())
        .chain_update([kind as u8, u8::from(session.is_some())])
        .chain_update(session.unwrap_or_default())
        .finalize();
    hashed(&hash)
}

/// The id of a vote of a reported trace about a memory, the same however often its session says so. Once the outcome was
/// turned round, which is counted, the next vote has an id of its own.
pub fn id_of_own_vote(trace: TraceId, turns: u32, memory: MemoryId, kind: SignalKind) -> SignalId {
    let (trace, memory) = (trace.uuid(), memory.uuid());
    let kind = kind.as_str().as_bytes();
    derived(&["own vote".as_bytes(), trace.as_bytes(), memory.as_bytes(), kind, &turns.to_be_bytes()]).into()
}

/// The id of a vote that a client's session gives outside of any trace, the same (a UUIDv8) however often it says so.
pub fn id_of_vote(session: &str, memory: MemoryId, kind: SignalKind) -> SignalId {
    let (memory, kind) = (memory.uuid(), kind.as_str().as_bytes());
    derived(&["vote".as_bytes(), session.as_bytes(), memory.as_bytes(), kind]).into()
}

/// The id of the signal that says what became of a commit that a session named, the same for all tasks it was named for.
pub fn id_of_commit(session: &str, commit: &str, memory: MemoryId, kind: SignalKind) -> SignalId {
    let (memory, kind) = (memory.uuid(), kind.as_str().as_bytes());
    derived(&["commit".as_bytes(), session.as_bytes(), commit.as_bytes(), memory.as_bytes(), kind]).into()
}

/// The id of the signal that a session was shown a memory: the same (a UUIDv8) for all answers of one day (UTC).
pub fn id_of_shown(memory: MemoryId, session: &str, at: Timestamp) -> SignalId {
    let day = at.as_second().div_euclid(86_400).to_be_bytes();
    derived(&["shown".as_bytes(), memory.uuid().as_bytes(), session.as_bytes(), &day]).into()
}

/// The id of a signal that follows from a change of a trace's verdict, the same however often that is tried.
pub fn id_of_verdict(trace: TraceId, revision: u64, memory: MemoryId, kind: SignalKind) -> SignalId {
    // Revisions had 32 bits when the first of these ids were stored, and those ids stay what they are.
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

/// What the signals of one memory add up to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    counts: [u64; SignalKind::ALL.len()],
    /// When its use was last reported helpful or the task it was used in succeeded. A success that was overruled counts:
    /// somebody had a use for it then, however that ended.
    pub last_used_at: Option<Timestamp>,
}

impl Evidence {
    pub fn add(&mut self, kind: SignalKind, at: Timestamp) {
        self.counts[kind as usize] += 1;
        if matches!(kind, SignalKind::Helpful | SignalKind::TaskSucceeded) {
            self.last_used_at = self.last_used_at.max(Some(at));
        }
    }

    pub fn of<'a>(signals: impl IntoIterator<Item = &'a Signal>) -> Self {
        let mut evidence = Self::default();
        for signal in signals {
            evidence.add(signal.kind, signal.at);
        }
        evidence
    }

    pub fn count(&self, kind: SignalKind) -> u64 {
        self.counts[kind as usize]
    }

    /// From when on it stands idle. Never before it was made: a clock that is behind must not turn a vote into age.
    pub fn idle_since(&self, created_at: Timestamp) -> Timestamp {
        self.last_used_at.map_or(created_at, |used| used.max(created_at))
    }

    /// Tasks that succeeded with it, without those that were overruled.
    pub fn successes(&self) -> u64 {
        self.count(SignalKind::TaskSucceeded).saturating_sub(self.count(SignalKind::SuccessOverruled))
    }

    /// How often it was injected into a prompt or shown to a client, whatever came of it. What one session is shown on
    /// one day counts once.
    pub fn usage_count(&self) -> u64 {
        self.count(SignalKind::Injected) + self.count(SignalKind::Shown)
    }
}

/// The confidence that a memory starts with. `None` stands for the outcome of no solve. Of what a file brings nobody here
/// has seen anything succeed.
pub fn prior(source: SourceType, solve_outcome: Option<Outcome>) -> f64 {
    match (source, solve_outcome) {
        (SourceType::Explicit, _) => 0.8,
        (SourceType::Solve, Some(Outcome::Success)) => 0.7,
        (SourceType::Solve, Some(Outcome::Failure)) => 0.6,
        (SourceType::Distilled, _) => 0.6,
        (SourceType::PassiveLearning | SourceType::Imported, _) => 0.4,
        _ => 0.5,
    }
}

const DECAY_STARTS_AFTER_DAYS: f64 = 30.0;
const DECAY_UNIT_DAYS: f64 = 30.0;
/// One idle unit takes 0.5 to exactly 0.45.
const DECAY_FROM_EVEN_ODDS: f64 = 0.45;
/// Where idleness alone ends; evidence may go below.
const DECAY_FLOOR: f64 = 0.05;

/// `σ(logit(prior) + Σ nₛ·wₛ − decay)`, in 0..1.
pub fn confidence(memory: &Facts, evidence: &Evidence, now: Timestamp) -> f64 {
    let votes: f64 = SignalKind::ALL.iter().map(|kind| evidence.count(*kind) as f64 * kind.weight()).sum();
    let fresh = logit(memory.prior) + votes;
    if memory.pinned {
        return sigmoid(fresh);
    }
    let idle_days = days_between(evidence.idle_since(memory.created_at), now);
    let units = (idle_days - DECAY_STARTS_AFTER_DAYS).max(0.0) / DECAY_UNIT_DAYS;
    let decayed = fresh + units * logit(DECAY_FROM_EVEN_ODDS);
    sigmoid(decayed.max(fresh.min(logit(DECAY_FLOOR))))
}

/// Zero when `to` is earlier: clocks of several machines disagree.
pub fn days_between(from: Timestamp, to: Timestamp) -> f64 {
    ((to.as_millisecond() - from.as_millisecond()) as f64 / 86_400_000.0).max(0.0)
}

fn logit(p: f64) -> f64 {
    let p = p.clamp(1e-6, 1.0 - 1e-6);
    (p / (1.0 - p)).ln()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests;
