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
#[case(29.9, None, EpisodePhase::Active)]
#[case(30.0, None, EpisodePhase::Mature)]
#[case(179.9, None, EpisodePhase::Mature)]
#[case(180.0, None, EpisodePhase::Aged)]
#[case(364.9, None, EpisodePhase::Aged)]
#[case(365.0, None, EpisodePhase::Archived)]
#[case(500.0, Some(3.0), EpisodePhase::Active)]
fn age_counts_from_the_last_access(#[case] days: f64, #[case] accessed: Option<f64>, #[case] phase: EpisodePhase) {
    let state = EpisodeState { last_accessed: accessed.map(days_ago), ..made(days) };
    assert_eq!(state.phase(RULES, now()), phase);
}

#[test]
fn nothing_is_archived_by_age_where_the_setting_is_zero() {
    let rules = LifecycleRules { archive_after_days: 0, ..RULES };
    assert_eq!(made(5_000.0).phase(rules, now()), EpisodePhase::Aged);
    assert_eq!(made(1.0).archived(now()).unwrap().unwrap().phase(rules, now()), EpisodePhase::Archived);
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
    assert_eq!(old.restored(RULES, now()).unwrap().phase(RULES, now()), EpisodePhase::Active);
}

#[test]
fn an_episode_that_was_archived_before_it_was_deleted_is_archived_when_it_is_restored() {
    let deleted = made(1.0).archived(now()).unwrap().unwrap().deleted(now()).unwrap();
    let back = deleted.restored(RULES, now()).unwrap();
    assert_eq!(back.visibility(RULES, now()), Visibility::Archived);
    assert_eq!(back.restored(RULES, now()).unwrap().visibility(RULES, now()), Visibility::Active);
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
    /// The rules hold whatever happens: each change is the next revision, the count never falls, the phase never gets
    /// younger with time, and a deleted episode is shown to nobody.
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

#[test]
fn an_episode_that_another_one_stood_for_becomes_what_it_was() {
    let before = made(60.0).accessed(1, days_ago(3.0));
    let archived = before.archived_for(trace(9), now()).unwrap();
    assert!(archived.follows(Some(&before)));
    assert_eq!((archived.archived_at, &archived.referenced_by), (Some(now()), &vec![trace(9)]));
    assert_eq!(archived.archived_for(trace(8), now()), None, "it is archived already");
    let back = archived.unarchived_from(trace(9)).unwrap();
    assert_eq!(EpisodeState { revision: before.revision, ..back.clone() }, before);
    assert_eq!(back.unarchived_from(trace(9)), None);
    assert_eq!(archived.deleted(now()).unwrap().unarchived_from(trace(9)), None);
}
