use proptest::prelude::*;

use super::*;
use crate::memory::ids::MemoryId;
use crate::memory::samples::{id, now, strategy, trace};
use crate::memory::trace::Outcome;
use crate::memory::workspace::{SharedWorkspace, WorkspaceId};
use crate::memory::{MemoryOutcome, Status};

fn home(team: Option<&str>, org: Option<&str>) -> Workspace {
    let of_root = Workspace::of_root("/home/ann/project", Timestamp::UNIX_EPOCH);
    Workspace { team: team.map(Into::into), org: org.map(Into::into), ..of_root }
}

fn stranger() -> Source {
    Source::Stranger { now: now() }
}

/// Makes memories with everything that a file can forge.
fn forged() -> impl Strategy<Value = Memory> {
    let name = || prop::option::of(prop::sample::select(vec!["platform", "web", "acme"]).prop_map(String::from));
    let scopes = prop::sample::select(vec![Scope::Project, Scope::Team, Scope::Org]);
    let trusts = prop::sample::select(vec![Trust::Model, Trust::Tool, Trust::Agent, Trust::User]);
    let statuses =
        prop::sample::select(vec![Status::Active, Status::Archived, Status::Superseded, Status::Quarantined]);
    let sources = prop::sample::select(vec![SourceType::Solve, SourceType::Explicit, SourceType::Consolidated]);
    let numbers = (any::<u64>(), any::<u32>(), 0.000_001..0.999_999_f64, any::<bool>(), any::<bool>());
    (scopes, trusts, statuses, sources, name(), name(), numbers).prop_map(
        |(scope, trust, status, source_type, team, org, (revision, evolution_stage, prior, pinned, linked))| Memory {
            scope,
            trust,
            status,
            source_type,
            team,
            org,
            revision,
            evolution_stage,
            prior,
            pinned,
            outcome: MemoryOutcome::Success,
            quarantined_for: linked.then(|| id(7)).into_iter().collect(),
            trace_id: linked.then(|| trace(8)),
            trace_outcome: linked.then_some(Outcome::Success),
            source_session: linked.then(|| "another".into()),
            ..strategy(1)
        },
    )
}

proptest! {
    #[test]
    fn whatever_a_file_claims_nothing_of_it_exceeds_the_bounds(
        memory in forged(),
        team in prop::option::of(Just("platform")),
        org in prop::option::of(Just("acme")),
        is_known in any::<bool>(),
    ) {
        let home = home(team, org);
        let claimed = memory.clone();
        match untrusted(memory, is_known.then_some(&home)) {
            Ok(taken) => {
                prop_assert_eq!(taken.trust, Trust::Model);
                prop_assert_eq!(taken.source_type, SourceType::Imported);
                prop_assert!(taken.prior <= prior(SourceType::Imported, None) && taken.prior <= claimed.prior);
                prop_assert!(!taken.pinned && taken.quarantined_for.is_empty());
                prop_assert!(taken.revision == 1 && taken.evolution_stage <= STAGE_MAX);
                prop_assert_eq!((taken.trace_id, taken.trace_outcome, taken.source_session.as_ref()), (None, None, None));
                prop_assert_eq!((taken.scope, taken.status), (claimed.scope, claimed.status));
                let readers = (taken.team.as_deref(), taken.org.as_deref());
                match taken.scope {
                    Scope::Project => prop_assert_eq!(readers, (None, None)),
                    Scope::Team => prop_assert!(is_known && team.is_some() && readers == (team, None)),
                    Scope::Org => prop_assert!(is_known && org.is_some() && readers == (None, org)),
                }
                let words = |memory: &Memory| (memory.title.clone(), memory.description.clone(), memory.content.clone());
                prop_assert_eq!(words(&taken), words(&claimed));
                prop_assert_eq!(taken.id, claimed.id);
            }
            Err(left_out) => {
                prop_assert!(claimed.scope != Scope::Project && left_out.scope == claimed.scope);
                let agreed = if claimed.scope == Scope::Team { team } else { org }.filter(|_| is_known);
                let named = if claimed.scope == Scope::Team { &claimed.team } else { &claimed.org };
                prop_assert!(named.as_deref() != agreed || named.is_none());
            }
        }
    }

    #[test]
    fn any_memory_that_was_ever_stored_has_a_next_revision_and_a_next_stage(revision in any::<u32>(), stage in any::<u32>()) {
        let stored = Memory { revision: u64::from(revision), evolution_stage: stage, ..strategy(1) };
        let next = stored.clone().revised(now());
        prop_assert!(next.follows(&stored) && next.revision > stored.revision);
        prop_assert!(stored.next_stage() >= stage);
    }

    #[test]
    fn times_within_reach_are_taken_and_no_others(seconds in -200_000_000_000_i64..200_000_000_000) {
        let at = Timestamp::from_second(seconds).unwrap();
        let within = seconds >= 0 && seconds <= now().as_second() + 86_400;
        let memory = Memory { created_at: at, ..strategy(1) };
        prop_assert_eq!(problems_of_memory(&memory, stranger()).is_empty(), within);
        prop_assert!(problems_of_memory(&memory, Source::Backup).is_empty());
    }
}

#[test]
fn a_memory_at_the_last_revision_of_earlier_versions_can_be_changed() {
    let stored = Memory { revision: u64::from(u32::MAX), evolution_stage: u32::MAX, ..strategy(1) };
    let next = stored.clone().revised(now());
    assert_eq!((next.revision, next.updated_at), (4_294_967_296, now()));
    assert!(next.follows(&stored));
    assert_eq!(stored.next_stage(), u32::MAX);
}

#[test]
fn what_is_out_of_bounds_in_any_file_is_named() {
    let fields = |problems: Vec<FieldProblem>| problems.into_iter().map(|problem| problem.field).collect::<Vec<_>>();
    assert_eq!(fields(problems_of_memory(&strategy(1), stranger())), [""; 0]);
    let many: Vec<MemoryId> = (2..20_000).map(id).collect();
    let memory = Memory {
        revision: u64::MAX,
        team: Some("a\nb".into()),
        org: Some(" ".into()),
        source_session: Some("x".repeat(500)),
        embedder: Some("x".repeat(500)),
        derived_from: many.clone(),
        quarantined_for: many,
        task: "x".repeat(TASK_MAX_CHARS + 1),
        ..strategy(1)
    };
    let named = ["team", "org", "embedder", "source_session", "revision", "derived_from", "quarantined_for", "task"];
    assert_eq!(fields(problems_of_memory(&memory, Source::Backup)), named[..7]);
    assert_eq!(fields(problems_of_memory(&memory, stranger())), named);
    assert_eq!(fields(problems_of_memory(&Memory { scope: Scope::Team, ..strategy(1) }, Source::Backup)), ["team"]);
    assert_eq!(fields(problems_of_memory(&Memory { scope: Scope::Org, ..strategy(1) }, Source::Backup)), ["org"]);
}

#[test]
fn a_workspace_of_a_file_is_trusted_with_nothing_and_takes_no_directory_that_is_not_its_own() {
    let claimed = Workspace { revision: 9, ..home(Some("platform"), Some("acme")) };
    assert_eq!(untrusted_workspace(claimed.clone()), home(None, None));
    let elsewhere = Workspace { root: "/home/ann/other".into(), ..claimed };
    assert_eq!(untrusted_workspace(elsewhere).root, "");
}

#[test]
fn a_trace_of_a_file_is_evidence_about_nothing() {
    let text = serde_json::json!({"trace_id": trace(1), "revision": 4_294_967_295_u64, "task": "t", "trajectory": [],
        "outcome": "success", "final_score": 1.0, "verdict_source": "evidence", "evidence": "all tests passed",
        "evidence_reported": true, "memory_items": [id(2)], "memories_used": [id(3)],
        "metadata": {"model": "m", "reasoning_effort": "low", "matts_enabled": true, "matts_k": 3,
            "matts_mode": "parallel", "total_iterations": 1, "total_tokens": 9,
            "workspace_id": WorkspaceId::of_root("/p")}, "created_at": now()});
    let claimed: Trace = serde_json::from_value(text).unwrap();
    assert_eq!(problems_of_trace(&claimed, stranger()), []);
    let taken = untrusted_trace(claimed.clone());
    assert_eq!((taken.revision, taken.verdict_source, &taken.evidence), (0, VerdictSource::None, &None));
    assert!(taken.memories_used.is_empty() && taken.memory_items.is_empty() && !taken.evidence_reported);
    let wrong = Trace { final_score: Some(1e300), revision: REVISION_MAX + 1, ..claimed };
    let fields: Vec<&str> = problems_of_trace(&wrong, Source::Backup).iter().map(|problem| problem.field).collect();
    assert_eq!(fields, ["revision", "final_score"]);
}

#[test]
fn an_episode_of_a_file_stays_hidden_and_claims_no_accesses() {
    let ahead = now() + SignedDuration::from_hours(48);
    let made = Trace::reported(trace(1), WorkspaceId::of_root("/p"), "session", None, now());
    let claimed = EpisodeState {
        access_count: 1_000,
        last_accessed: Some(ahead),
        archived_at: Some(ahead),
        referenced_by: vec![trace(2)],
        ..EpisodeState::of(&made)
    };
    assert_eq!(problem_of_episode_state(&claimed), None);
    let taken = untrusted_episode_state(claimed.clone(), now());
    let expected = EpisodeState { access_count: 0, last_accessed: None, archived_at: Some(now()), ..claimed.clone() };
    assert_eq!(taken, expected);
    let many = EpisodeState { referenced_by: vec![trace(2); REFERENCES_MAX + 1], ..claimed };
    assert_eq!(problem_of_episode_state(&many).unwrap().field, "episode_state.referenced_by");
}

#[test]
fn a_workspace_of_a_file_keeps_a_key_that_its_id_follows_from_and_loses_the_key_of_a_team() {
    let of = |team: Option<&str>| {
        let shared = SharedWorkspace { key: "shop".parse().unwrap(), team: team.map(Into::into), org: None };
        Workspace::of_key(&shared, now())
    };
    assert_eq!(untrusted_workspace(of(None)), of(None));
    let of_a_team = untrusted_workspace(of(Some("web")));
    assert_eq!((&of_a_team.key, &of_a_team.team, of_a_team.place()), (&None, &None, ""));
    let claimed = Workspace { id: of(Some("web")).id, ..of(None) };
    assert_eq!(untrusted_workspace(claimed).key, None, "the key of another id");
    let both = Workspace { root: "/home/ann/shop".into(), ..of(None) };
    let fields: Vec<&str> = problems_of_workspace(&both, Source::Backup).iter().map(|problem| problem.field).collect();
    assert_eq!(fields, ["workspace.root"]);
}
