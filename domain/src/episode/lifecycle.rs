//! What changes of an episode after it was stored. The body never changes. Its state is a record of its own: who looked at
//! it and when, whether it was archived by hand, and whether it was deleted. An episode without such a record has the
//! default one. Age counts from the last access.

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
const REFERENCES_MAX: usize = 100;

/// How old an episode is to those who search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Under 30 days.
    Active,
    /// Under 180 days.
    Mature,
    /// Found only where it is very like what is asked.
    Aged,
    /// Found only where archived episodes are asked for.
    Archived,
}

impl Phase {
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

/// Whether an episode is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    Active,
    Archived,
    Deleted,
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
    pub fn phase(self, rules: LifecycleRules, now: Timestamp) -> Phase {
        let days = |days: i64| DAY.saturating_mul(i32::try_from(days).unwrap_or(i32::MAX));
        let last = self.last_accessed.map_or(self.created_at, |accessed| accessed.max(self.created_at));
        let age = now.duration_since(last);
        let archive = i64::from(rules.archive_after_days);
        if self.archived_at.is_some() || archive > 0 && age >= days(archive) {
            Phase::Archived
        } else if age >= days(AGED_DAYS) {
            Phase::Aged
        } else if age >= days(MATURE_DAYS) {
            Phase::Mature
        } else {
            Phase::Active
        }
    }

    /// Tells who is shown the episode at this time.
    pub fn visibility(self, rules: LifecycleRules, now: Timestamp) -> Visibility {
        if self.deleted_at.is_some() {
            Visibility::Deleted
        } else if self.phase(rules, now) == Phase::Archived {
            Visibility::Archived
        } else {
            Visibility::Active
        }
    }
}

/// What changes of an episode.
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
    pub fn phase(&self, rules: LifecycleRules, now: Timestamp) -> Phase {
        self.times().phase(rules, now)
    }

    /// Tells who is shown the episode at this time.
    pub fn visibility(&self, rules: LifecycleRules, now: Timestamp) -> Visibility {
        self.times().visibility(rules, now)
    }

    /// Returns the state after so many accesses, the last of them at this time.
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

    /// Returns the deleted state. None where it is deleted already.
    pub fn deleted(&self, now: Timestamp) -> Option<Self> {
        (!self.is_deleted()).then(|| Self { deleted_at: Some(now), ..self.next() })
    }

    /// Returns the state in which the episode is found again: neither deleted nor archived. It counts as an access, so that
    /// its age begins anew.
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
        Ok(Self { deleted_at: None, archived_at: None, last_accessed: Some(now), ..self.next() })
    }

    /// Tells whether the episode was deleted so long ago that it is to be purged.
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
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::memory::samples::{days_ago, now, strategy, trace};

    const RULES: LifecycleRules = LifecycleRules { archive_after_days: 365, retention_days: 30 };

    fn made(days: f64) -> EpisodeState {
        EpisodeState {
            created_at: days_ago(days),
            ..EpisodeState::of(&Trace::reported(trace(1), strategy(1).workspace_id, "s", None, now()))
        }
    }

    #[rstest]
    #[case(29.9, None, Phase::Active)]
    #[case(30.0, None, Phase::Mature)]
    #[case(179.9, None, Phase::Mature)]
    #[case(180.0, None, Phase::Aged)]
    #[case(364.9, None, Phase::Aged)]
    #[case(365.0, None, Phase::Archived)]
    #[case(500.0, Some(3.0), Phase::Active)]
    fn age_counts_from_the_last_access(#[case] days: f64, #[case] accessed: Option<f64>, #[case] phase: Phase) {
        let state = EpisodeState { last_accessed: accessed.map(days_ago), ..made(days) };
        assert_eq!(state.phase(RULES, now()), phase);
    }

    #[test]
    fn nothing_is_archived_by_age_where_the_setting_is_zero() {
        let rules = LifecycleRules { archive_after_days: 0, ..RULES };
        assert_eq!(made(5_000.0).phase(rules, now()), Phase::Aged);
        assert_eq!(made(1.0).archived(now()).unwrap().unwrap().phase(rules, now()), Phase::Archived);
    }

    #[test]
    fn a_deleted_episode_is_restored_in_its_time_and_purged_after_it() {
        let deleted = made(1.0).deleted(days_ago(29.0)).unwrap();
        assert_eq!((deleted.deleted(now()), deleted.archived(now())), (None, Err(LifecycleProblem::Deleted)));
        assert!(!deleted.is_due(RULES, now()));
        let restored = deleted.restored(RULES, now()).unwrap();
        assert_eq!((restored.visibility(RULES, now()), restored.revision), (Visibility::Active, 2));
        assert_eq!(restored.restored(RULES, now()), Err(LifecycleProblem::NothingToRestore));
        let late = made(1.0).deleted(days_ago(30.0)).unwrap();
        assert!(late.is_due(RULES, now()));
        assert_eq!(late.restored(RULES, now()), Err(LifecycleProblem::TooLate));
    }

    #[test]
    fn an_archived_episode_is_restored_as_a_fresh_one() {
        let old = made(400.0);
        assert_eq!(old.visibility(RULES, now()), Visibility::Archived);
        assert_eq!(old.restored(RULES, now()).unwrap().phase(RULES, now()), Phase::Active);
    }

    #[derive(Debug, Clone)]
    enum Change {
        Access(u64),
        Archive,
        Delete,
        Restore,
        Reference(u128),
    }

    fn change() -> impl Strategy<Value = Change> {
        prop_oneof![
            (1..9_u64).prop_map(Change::Access),
            Just(Change::Archive),
            Just(Change::Delete),
            Just(Change::Restore),
            (0..5_u128).prop_map(Change::Reference),
        ]
    }

    proptest! {
        /// Whatever happens: each change is the next revision, the count never falls, the phase never gets younger with
        /// time, and a deleted episode is shown to nobody.
        #[test]
        fn every_way_through_the_states_keeps_its_rules(
            changes in prop::collection::vec(change(), 0..30),
            days in 0.0..900.0_f64,
        ) {
            let mut state = made(days);
            for change in changes {
                let next = match change {
                    Change::Access(count) => Some(state.accessed(count, now())),
                    Change::Archive => state.archived(now()).ok().flatten(),
                    Change::Delete => state.deleted(now()),
                    Change::Restore => state.restored(RULES, now()).ok(),
                    Change::Reference(n) => state.referenced(trace(n)),
                };
                let Some(next) = next else { continue };
                prop_assert!(next.follows(Some(&state)) && next.access_count >= state.access_count);
                prop_assert!(!next.referenced_by.contains(&next.episode_id));
                prop_assert_eq!(next.is_deleted(), next.visibility(RULES, now()) == Visibility::Deleted);
                let later = now() + SignedDuration::from_hours(24 * 50);
                prop_assert!(next.phase(RULES, now()) <= next.phase(RULES, later));
                state = next;
            }
        }
    }
}
