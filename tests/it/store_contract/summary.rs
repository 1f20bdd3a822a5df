//! The contract of what a store counts.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use reasoning_bank_actors::ports::Summary;
use reasoning_bank_domain::consolidation::{ConsolidationRun, HistoryEntry, RunTrigger};
use reasoning_bank_domain::memory::MemoryOutcome;
use reasoning_bank_domain::memory::pattern::PatternStage;
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use uuid::Uuid;

use super::*;

async fn summary(store: &Arc<dyn MemoryStore>) -> Summary {
    store.reads().summary(soon()).await.unwrap()
}

#[rstest]
#[tokio::test]
async fn everything_is_counted_over_all_workspaces_as_it_is_now(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let empty = summary(store).await;
    assert_eq!((empty.rows, empty.traces.len(), empty.memories_by_status.len()), (0, 0, 0));

    let [here, there] = [workspace("/here"), workspace("/there")];
    let plain = memory(&here, "plain", "words");
    let mut team = warning(memory(&there, "team", "words"));
    (team.scope, team.team) = (Scope::Team, Some("red".into()));
    let retired = memory(&there, "retired", "words");
    add(store, &[plain.clone(), team, retired.clone()]).await;
    let archived = next(&retired, |memory| (memory.status, memory.outcome) = (Status::Archived, MemoryOutcome::Mixed));
    commit(store, vec![change(&archived, None)]).await;
    let outcomes = [Outcome::Success, Outcome::Success, Outcome::Partial];
    let traces = outcomes.map(|outcome| Record::Trace(Trace { outcome, ..trace(&here, "task") }));
    commit(store, traces.to_vec()).await;
    commit(store, vec![workspace_record("/here"), Record::Signal(signal(&plain, SignalKind::Helpful, now()))]).await;

    let counted = summary(store).await;
    assert_eq!(counted.traces, BTreeMap::from([(Outcome::Success, 2), (Outcome::Partial, 1)]));
    let outcomes = [(MemoryOutcome::Success, 1), (MemoryOutcome::Failure, 1), (MemoryOutcome::Mixed, 1)];
    assert_eq!(counted.memories_by_outcome, BTreeMap::from(outcomes));
    assert_eq!(counted.memories_by_scope, BTreeMap::from([(Scope::Project, 2), (Scope::Team, 1)]));
    assert_eq!(counted.memories_by_status, BTreeMap::from([(Status::Active, 2), (Status::Archived, 1)]));
    assert_eq!(counted.rows, 3 + 3 + 3 + 1 + 1, "memories, passages, traces, a signal, a workspace");

    add(store, &[pattern(&here, "Pattern")]).await;
    let begun =
        |started_at| ConsolidationRun::begun(Uuid::now_v7().into(), here.clone(), RunTrigger::Person, true, started_at);
    let runs = [now(), now() - SignedDuration::from_hours(1)].map(|at| HistoryEntry::of_run(&begun(at), 0));
    let change = HistoryEntry::changed_memory(&begun(now()), &plain, &plain, now() + SignedDuration::from_hours(1));
    commit(store, runs.into_iter().chain([change]).map(Record::History).collect()).await;
    let counted = summary(store).await;
    assert_eq!(counted.patterns, BTreeMap::from([(PatternStage::Candidate, 1)]));
    assert_eq!(counted.last_consolidation, Some(now()), "a change is no run");
}
