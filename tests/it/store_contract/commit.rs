//! Tests of commits: they are whole, done once, and without exact duplicates.

use std::collections::BTreeMap;

use reasoning_bank_domain::memory::SourceType;

use super::*;

#[rstest]
#[tokio::test]
async fn what_was_committed_is_read_back_whole(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let mut kept = warning(memory(&here, "Quote \"it\" 'all'", "line one\nline two\t\u{1f980} NUL-free"));
    kept.pattern_tags = vec!["a,b".into(), "c\"d".into()];
    kept.domain_category = Some("Parsing".into());
    let passages = vec![
        passage(PassageKind::Task, 0, "the task", [0.1, 0.2, 0.3, 0.4]),
        passage(PassageKind::Content, 0, "first", [0.5, 0.25, 0.125, 1.0 / 3.0]),
        passage(PassageKind::Content, 1, "second", [1.0, 0.0, 0.0, 0.0]),
    ];
    let helped = signal(&kept, SignalKind::Helpful, now());
    let tried = trace(&here, "the task");
    let batch = vec![
        workspace_record("/here"),
        Record::Trace(tried.clone()),
        record_with(&kept, passages.clone()),
        Record::Signal(helped.clone()),
    ];
    assert_eq!(commit(store, batch).await.memories, [MemoryCommit::Created(kept.id)]);

    let rows = store.reads().get(vec![kept.id], soon()).await.unwrap();
    assert_eq!(rows[0].memory, kept);
    assert_eq!(rows[0].evidence.count(SignalKind::Helpful), 1);
    let reads = store.reads();
    assert_eq!(reads.traces(Some(here.clone()), everything(), soon()).await.unwrap(), std::slice::from_ref(&tried));
    assert_eq!(reads.trace(tried.trace_id, None, soon()).await.unwrap(), Some(tried));
    assert_eq!(reads.signals(None, everything(), soon()).await.unwrap(), [helped]);
    assert_eq!(reads.passages(vec![kept.id], soon()).await.unwrap(), BTreeMap::from([(kept.id, passages)]));
    let workspaces = reads.workspaces(soon()).await.unwrap();
    assert_eq!(workspaces.iter().map(|w| w.id.clone()).collect::<Vec<_>>(), [here]);
}

#[rstest]
#[tokio::test]
async fn a_retried_batch_changes_nothing(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let kept = memory(&here, "Bounds", "use an exclusive upper bound");
    let batch = vec![
        workspace_record("/here"),
        Record::Trace(trace(&here, "task")),
        record(&kept, Some([1.0, 0.0, 0.0, 0.0])),
        Record::Signal(signal(&kept, SignalKind::Injected, now())),
    ];
    let first = commit(store, batch.clone()).await;
    assert_eq!(commit(store, batch.clone()).await, first);
    let twice = [batch.clone(), batch].concat();
    assert_eq!(commit(store, twice).await.memories, [first.memories[0], first.memories[0]]);

    assert_eq!(all_memories(store).await, [kept.id]);
    let row = &store.reads().get(vec![kept.id], soon()).await.unwrap()[0];
    assert_eq!((row.evidence.usage_count(), row.evidence.count(SignalKind::Confirmed)), (1, 0));
    assert_eq!(store.reads().passages(vec![kept.id], soon()).await.unwrap()[&kept.id].len(), 1);
}

#[rstest]
#[tokio::test]
async fn what_says_the_same_to_the_same_readers_confirms_what_is_there(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let first = memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds");
    let same = memory(&here, "  Retry with  backoff ", "wait 1, 2,\n 4 seconds");
    let again = record(&same, None);
    assert_eq!(commit(store, vec![record(&first, None)]).await.memories, [MemoryCommit::Created(first.id)]);
    for _ in 0..2 {
        let committed = commit(store, vec![again.clone()]).await;
        assert_eq!(committed.memories, [MemoryCommit::Reinforced(first.id)]);
    }
    let row = &store.reads().get(vec![first.id], soon()).await.unwrap()[0];
    assert_eq!(row.evidence.count(SignalKind::Confirmed), 1, "a retry confirms once");
    assert!(store.reads().get(vec![same.id], soon()).await.unwrap().is_empty());

    let mut team = memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds");
    (team.scope, team.team) = (Scope::Team, Some("red".into()));
    let elsewhere = memory(&workspace("/elsewhere"), "Retry with backoff", "wait 1, 2, 4 seconds");
    let mut retired = memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds");
    retired.status = Status::Archived;
    let in_capitals = memory(&here, "Retry WITH backoff", "wait 1, 2, 4 seconds");
    let others = [team, elsewhere, retired, in_capitals];
    let committed = commit(store, others.iter().map(|m| record(m, None)).collect()).await;
    assert_eq!(committed.memories, others.map(|m| MemoryCommit::Created(m.id)));
}

#[rstest]
#[tokio::test]
async fn a_session_confirms_a_memory_once_and_not_by_what_is_learned_of_it(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let of = |session: &str| {
        let source_session = Some(session.to_owned());
        Memory { source_session, ..memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds") }
    };
    let learned_of = |session: &str| Memory { source_type: SourceType::Distilled, ..of(session) };
    let first = of("a");
    commit(store, vec![record(&first, None), record(&learned_of("a"), None)]).await;
    let row = &store.reads().get(vec![first.id], soon()).await.unwrap()[0];
    assert_eq!(row.evidence.count(SignalKind::Confirmed), 0, "nobody said it again");
    for _ in 0..2 {
        let committed = commit(store, vec![record(&of("a"), None), record(&of("b"), None)]).await;
        assert_eq!(committed.memories, [MemoryCommit::Reinforced(first.id); 2]);
        let row = &store.reads().get(vec![first.id], soon()).await.unwrap()[0];
        assert_eq!(row.evidence.count(SignalKind::Confirmed), 2, "each session is one witness");
    }
}

#[rstest]
#[tokio::test]
async fn a_trace_confirms_a_memory_once_and_another_error_is_no_duplicate(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let of = |trace: Option<u128>| {
        let trace_id = trace.map(|n| uuid::Uuid::from_u128(n).into());
        Memory { trace_id, ..memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds") }
    };
    let first = of(None);
    commit(store, vec![record(&first, None)]).await;
    // Two of one trace in one batch, a third later; another trace; two without any.
    commit(store, vec![record(&of(Some(1)), None), record(&of(Some(1)), None)]).await;
    let others = [of(Some(1)), of(Some(2)), of(None), of(None)];
    commit(store, others.iter().map(|memory| record(memory, None)).collect()).await;
    let row = &store.reads().get(vec![first.id], soon()).await.unwrap()[0];
    assert_eq!(row.evidence.count(SignalKind::Confirmed), 4);

    let warns = warning(of(None));
    let mut warns_of_another = Memory { id: of(None).id, ..warns.clone() };
    warns_of_another.error_context.as_mut().unwrap().error_type = "KeyError".into();
    let again = Memory { id: of(None).id, ..warns.clone() };
    let committed = commit(store, [&warns, &warns_of_another, &again].map(|memory| record(memory, None)).into()).await;
    let expected = [
        MemoryCommit::Created(warns.id),
        MemoryCommit::Created(warns_of_another.id),
        MemoryCommit::Reinforced(warns.id),
    ];
    assert_eq!(committed.memories, expected);
}

#[rstest]
#[tokio::test]
async fn duplicates_within_a_batch_are_found_and_retired_memories_take_no_confirmation(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let mut retired = memory(&here, "Same", "words");
    retired.status = Status::Superseded;
    let [a, b] = [memory(&here, "Same", "words"), memory(&here, "Same", "words")];
    let batch = [&retired, &a, &b].map(|m| record(m, None)).to_vec();
    let expected = [MemoryCommit::Created(retired.id), MemoryCommit::Created(a.id), MemoryCommit::Reinforced(a.id)];
    assert_eq!(commit(&opened.store, batch).await.memories, expected);
}

#[rstest]
#[tokio::test]
async fn a_call_whose_deadline_has_passed_does_nothing(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let late = || Deadline::after(Duration::ZERO);
    let kept = memory(&here, "late", "words");
    assert_eq!(opened.store.commit(vec![record(&kept, None)], late()).await, Err(StoreError::TimedOut));
    assert_eq!(opened.store.reads().get(vec![kept.id], late()).await, Err(StoreError::TimedOut));
    assert!(opened.store.reads().get(vec![kept.id], soon()).await.unwrap().is_empty());
}
