//! The state of an episode, which changes after the episode was stored. The body never changes. The state is a record
//! of its own: who looked at it and when, whether it was archived by hand, and whether it was deleted. An episode
//! without such a record has the default one. Age counts from the last access.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::TraceId;
use crate::memory::trace::Trace;
use crate::memory::workspace::WorkspaceId;

const DAY: SignedDuration = SignedDuration::from_hours(24);
/// The age from which an episode is mature, in days.
const MATURE_DAYS: i64 = 30;
/// The age from which an episode is aged, in days.
const AGED_DAYS: i64 = 180;
/// The most episodes that are named as referring to one.
pub const REFERENCES_MAX: usize = 100;

/// The age of an episode, as searches weigh it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EpisodePhase {
    /// Under 30 days.
    Active,
    /// Under 180 days.
    Mature,
    /// Found only where it is very like what is asked.
    Aged,
    /// Found only where archived episodes are asked for.
    Archived,
}

impl EpisodePhase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Mature => "mature",
            Self::Aged => "aged",
            Self::Archived => "archived",
        }
    }
}

/// The settings of the lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifecycleRules {
    /// The age at which an episode is archived by itself, in days; 0 archives none.
    pub archive_after_days: u32,
    /// The number of days for which a deleted episode can be restored. 0 purges it with the next upkeep.
    pub retention_days: u32,
}

impl Default for LifecycleRules {
    fn default() -> Self {
        Self { archive_after_days: 365, retention_days: 30 }
    }
}

/// The visibility of an episode in searches and lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    Active,
    Archived,
    Deleted,
}

impl Visibility {
    pub const ALL: [Self; 3] = [Self::Active, Self::Archived, Self::Deleted];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Deleted => "deleted",
        }
    }
}

/// The reason why a change of an episode's state is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LifecycleProblem {
    #[error("it was deleted; restore it first")]
    Deleted,
    #[error("it is neither deleted nor archived, so there is nothing to restore")]
    NothingToRestore,
    #[error("it was deleted too long ago and is about to be purged")]
    TooLate,
}

/// The times of an episode that decide whether and how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodeTimes {
    pub created_at: Timestamp,
    pub last_accessed: Option<Timestamp>,
    pub archived_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
}

impl EpisodeTimes {
    /// Returns the times of an episode that nothing has happened to since it was made.
    pub fn untouched(created_at: Timestamp) -> Self {
        Self { created_at, last_accessed: None, archived_at: None, deleted_at: None }
    }

    /// Returns the phase of the episode at this time.
    pub fn phase(self, rules: LifecycleRules, now: Timestamp) -> EpisodePhase {
        let days = |days: i64| DAY.saturating_mul(i32::try_from(days).unwrap_or(i32::MAX));
        let last = self.last_accessed.map_or(self.created_at, |accessed| accessed.max(self.created_at));
        let age = now.duration_since(last);
        let archive = i64::from(rules.archive_after_days);
        if self.archived_at.is_some() || archive > 0 && age >= days(archive) {
            EpisodePhase::Archived
        } else if age >= days(AGED_DAYS) {
            EpisodePhase::Aged
        } else if age >= days(MATURE_DAYS) {
            EpisodePhase::Mature
        } else {
            EpisodePhase::Active
        }
    }

    /// Tells who is shown the episode at this time.
    pub fn visibility(self, rules: LifecycleRules, now: Timestamp) -> Visibility {
        if self.deleted_at.is_some() {
            Visibility::Deleted
        } else if self.phase(rules, now) == EpisodePhase::Archived {
            Visibility::Archived
        } else {
            Visibility::Active
        }
    }
}

/// The state of an episode: the part that changes after the episode was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeState {
    pub episode_id: TraceId,
    pub workspace_id: WorkspaceId,
    /// The number of changes. The state of an episode that has no record has 0.
    pub revision: u64,
    /// The time at which the episode was made.
    pub created_at: Timestamp,
    #[serde(default)]
    pub access_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// The episodes that name this one, as what resolved their failure or as what they go on from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub referenced_by: Vec<TraceId>,
}

impl EpisodeState {
    /// Makes the state of an episode that nothing has happened to.
    pub fn of(trace: &Trace) -> Self {
        Self {
            episode_id: trace.trace_id,
            workspace_id: trace.metadata.workspace_id.clone(),
            revision: 0,
            created_at: trace.created_at,
            access_count: 0,
            last_accessed: None,
            archived_at: None,
            deleted_at: None,
            referenced_by: Vec::new(),
        }
    }

    /// Tells whether this is the next revision of what is stored. An episode without a record has revision 0.
    pub fn follows(&self, stored: Option<&Self>) -> bool {
        let stored = stored.map_or(0, |stored| stored.revision);
        stored.checked_add(1) == Some(self.revision)
    }

    fn next(&self) -> Self {
        Self { revision: self.revision.saturating_add(1), ..self.clone() }
    }

    pub fn is_deleted(&self) -> bool {
        self.deleted_at.is_some()
    }

    pub fn times(&self) -> EpisodeTimes {
        let Self { created_at, last_accessed, archived_at, deleted_at, .. } = *self;
        EpisodeTimes { created_at, last_accessed, archived_at, deleted_at }
    }

    /// Returns the phase of the episode at this time.
    pub fn phase(&self, rules: LifecycleRules, now: Timestamp) -> EpisodePhase {
        self.times().phase(rules, now)
    }

    /// Tells who is shown the episode at this time.
    pub fn visibility(&self, rules: LifecycleRules, now: Timestamp) -> Visibility {
        self.times().visibility(rules, now)
    }

    /// Returns the state after `count` accesses, the last of them at this time.
    #[must_use]
    pub fn accessed(&self, count: u64, at: Timestamp) -> Self {
        let last_accessed = Some(self.last_accessed.map_or(at, |before| before.max(at)));
        Self { access_count: self.access_count.saturating_add(count), last_accessed, ..self.next() }
    }

    /// Returns the state after another episode named this one. None where nothing changes.
    pub fn referenced(&self, by: TraceId) -> Option<Self> {
        if by == self.episode_id || self.referenced_by.contains(&by) || self.referenced_by.len() >= REFERENCES_MAX {
            return None;
        }
        let mut next = self.next();
        next.referenced_by.push(by);
        Some(next)
    }

    /// Returns the archived state. None where it is archived by hand already.
    ///
    /// # Errors
    ///
    /// It was deleted.
    pub fn archived(&self, now: Timestamp) -> Result<Option<Self>, LifecycleProblem> {
        if self.is_deleted() {
            return Err(LifecycleProblem::Deleted);
        }
        Ok(self.archived_at.is_none().then(|| Self { archived_at: Some(now), ..self.next() }))
    }

    /// Returns the state of an episode that another one stands for from now on: archived, and named by that one. None
    /// where it is archived or deleted already, or named by too many.
    pub fn archived_for(&self, other: TraceId, now: Timestamp) -> Option<Self> {
        let archived = self.archived(now).ok().flatten()?;
        let named = archived.referenced(other)?;
        Some(Self { revision: archived.revision, ..named })
    }

    /// Returns the state before [`Self::archived_for`]. None where the episode is no longer archived, or was deleted
    /// since.
    pub fn unarchived_from(&self, other: TraceId) -> Option<Self> {
        if self.archived_at.is_none() || self.is_deleted() {
            return None;
        }
        let mut state = Self { archived_at: None, ..self.next() };
        state.referenced_by.retain(|id| *id != other);
        Some(state)
    }

    /// Returns the deleted state. None where it is deleted already.
    pub fn deleted(&self, now: Timestamp) -> Option<Self> {
        (!self.is_deleted()).then(|| Self { deleted_at: Some(now), ..self.next() })
    }

    /// Returns the state before the episode was deleted, or the one in which an archived episode is found again. It
    /// counts as an access, so that its age begins anew.
    ///
    /// # Errors
    ///
    /// There is nothing to restore, or its time is over.
    pub fn restored(&self, rules: LifecycleRules, now: Timestamp) -> Result<Self, LifecycleProblem> {
        if self.is_due(rules, now) {
            return Err(LifecycleProblem::TooLate);
        }
        if self.visibility(rules, now) == Visibility::Active {
            return Err(LifecycleProblem::NothingToRestore);
        }
        let archived_at = self.archived_at.filter(|_| self.is_deleted());
        Ok(Self { deleted_at: None, archived_at, last_accessed: Some(now), ..self.next() })
    }

    /// Tells whether the episode was deleted long enough ago to be purged.
    pub fn is_due(&self, rules: LifecycleRules, now: Timestamp) -> bool {
        self.deleted_at.is_some_and(|deleted| deleted <= rules.purged_before(now))
    }
}

impl LifecycleRules {
    /// Returns the time up to which deleted episodes are purged.
    pub fn purged_before(self, now: Timestamp) -> Timestamp {
        let retention = DAY.saturating_mul(i32::try_from(self.retention_days).unwrap_or(i32::MAX));
        now.checked_sub(retention).unwrap_or(Timestamp::MIN)
    }
}

#[cfg(test)]
mod tests;
