//! Tests of episodes: they are found by their labels, times and meanings, changed beside their bodies, and erased with
//! all that is theirs.

use std::slice::from_ref;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::ports::{EpisodeRow, EpisodeSearch};
use reasoning_bank_domain::episode::{
    EpisodeFilter, EpisodeState, EpisodeVectors, LifecycleRules, QuantizedVector, Visibility,
};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::memory::trace::{
    ConsolidatedParts, EpisodeMetadata, EpisodeParts, FailureAnalysis, Outcome, Reflection, Trace, Variation,
};
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::*;

const RULES: LifecycleRules = LifecycleRules { archive_after_days: 365, retention_days: 30 };

fn days_ago(days: i64) -> Timestamp {
    now() - SignedDuration::from_hours(24 * days)
}

fn episode(workspace: &WorkspaceId, task: &str, days: i64) -> Trace {
    Trace { created_at: days_ago(days), ..trace(workspace, task) }
}

fn labelled(trace: Trace, domain: &str, tools: &[&str], tags: &[&str], errors: &[&str]) -> Trace {
    let owned = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect();
    let failure = |error: &&str| FailureAnalysis { error: (*error).to_owned(), ..FailureAnalysis::default() };
    let parts = EpisodeParts {
        metadata: EpisodeMetadata {
            domain: Some(domain.into()),
            tools_used: owned(tools),
            tags: owned(tags),
            ..EpisodeMetadata::default()
        },
        reflection: Reflection { failures_analyzed: errors.iter().map(failure).collect(), ..Reflection::default() },
        ..EpisodeParts::default()
    };
    Trace { episode: Some(Box::new(parts)), ..trace }
}

/// Makes an episode one that stands for others, of these sessions.
fn standing_for(mut trace: Trace, sessions: &[&str]) -> Trace {
    let variation = |session: &&str| Variation {
        episode_id: trace.trace_id,
        session_id: Some((*session).to_owned()),
        further_tools: Vec::new(),
    };
    let variations = sessions.iter().map(variation).collect();
    let told = ConsolidatedParts { variations, ..ConsolidatedParts::default() };
    trace.episode.get_or_insert_with(Default::default).consolidated = Some(told);
    trace
}

fn all_of(workspace: &WorkspaceId) -> EpisodeFilter {
    EpisodeFilter::of(workspace.clone(), RULES, now())
}

fn stored_vectors(trace: &Trace, task: [f32; 4], outcome: [f32; 4]) -> EpisodeVectors {
    EpisodeVectors {
        episode_id: trace.trace_id,
        workspace_id: trace.metadata.workspace_id.clone(),
        created_at: trace.created_at,
        revision: 0,
        embedder: "a".into(),
        task: QuantizedVector::of(&task),
        outcome: QuantizedVector::of(&outcome),
        whole: None,
    }
}

async fn listed(store: &Arc<dyn MemoryStore>, filter: EpisodeFilter) -> Vec<TraceId> {
    let count = store.reads().count_episodes(filter.clone(), soon()).await.unwrap();
    let rows = store.reads().episodes(filter, None, 100, soon()).await.unwrap();
    assert_eq!(rows.len() as u64, count.values().sum::<u64>());
    rows.into_iter().map(|row| row.trace.trace_id).collect()
}

async fn row(store: &Arc<dyn MemoryStore>, id: TraceId) -> Option<EpisodeRow> {
    store.reads().episode(id, None, soon()).await.unwrap()
}

#[rstest]
#[tokio::test]
async fn episodes_are_found_by_their_labels_and_times_as_the_filter_says(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let plain = episode(&here, "Fix the pager", 1);
    let rust = labelled(episode(&here, "Add a flag", 5), "Rust", &["cargo test", "Edit"], &["CLI"], &[]);
    let rust = Trace { outcome: Outcome::Partial, ..rust };
    let web =
        labelled(episode(&here, "Fix the form", 3), "web", &["npm build"], &[], &["KeyError: 'x'", "quote \" in it"]);
    let web = Trace { outcome: Outcome::Failure, ..standing_for(web, &["monday", "it's \"Tuesday\""]) };
    let old = labelled(episode(&here, "Fix the pager of old", 400), "rust", &["edit"], &["cli"], &[]);
    let foreign = labelled(episode(&there, "Fix the pager", 2), "rust", &["edit"], &["cli"], &["KeyError: 'x'"]);
    let all = [&plain, &rust, &web, &old, &foreign];
    commit(store, all.map(|trace| Record::Trace(trace.clone())).to_vec()).await;

    assert_eq!(listed(store, all_of(&here)).await, [plain.trace_id, web.trace_id, rust.trace_id]);
    let with = |change: fn(&mut EpisodeFilter)| {
        let mut filter = all_of(&here);
        change(&mut filter);
        filter
    };
    let filters = [
        with(|f| f.domain = Some("RUST".into())),
        with(|f| f.task_type = Some("debugging".into())),
        with(|f| f.status = Some(Outcome::Partial)),
        with(|f| f.tools = vec!["edit".into(), "Cargo Test".into()]),
        with(|f| f.tools = vec!["cargo".into()]),
        with(|f| f.tags = vec!["cli".into()]),
        with(|f| f.since = Some(days_ago(3))),
        with(|f| f.until = Some(days_ago(3))),
        with(|f| f.signature = Some(Signature::of("KeyError", Some("anything")))),
        with(|f| f.signature = Some(Signature::of("Key", None))),
        with(|f| f.with_failures = true),
        with(|f| f.session = Some("nobody".into())),
        with(|f| f.session = Some("monday".into())),
        with(|f| f.session = Some("it's \"Tuesday\"".into())),
        with(|f| f.visible = vec![Visibility::Archived]),
        with(|f| f.visible = vec![Visibility::Active, Visibility::Archived]),
        EpisodeFilter::of_all(RULES, now()),
    ];
    let mut counts = Vec::new();
    for filter in filters {
        let mut expected: Vec<&Trace> =
            all.into_iter().filter(|trace| filter.holds(trace, &EpisodeState::of(trace))).collect();
        expected.sort_by_key(|trace| std::cmp::Reverse(trace.created_at));
        let expected: Vec<TraceId> = expected.into_iter().map(|trace| trace.trace_id).collect();
        assert_eq!(listed(store, filter.clone()).await, expected, "{filter:?}");
        counts.push(expected.len());
    }
    assert_eq!(counts, [1, 2, 1, 1, 0, 1, 2, 1, 1, 0, 1, 0, 1, 1, 1, 4, 4]);

    let page = |after| store.reads().episodes(all_of(&here), after, 2, soon());
    let first = page(None).await.unwrap();
    let second = page(Some(first[1].trace.trace_id)).await.unwrap();
    assert_eq!((first.len(), second.len(), second[0].trace.trace_id), (2, 1, rust.trace_id));
    assert_eq!(page(Some(uuid::Uuid::now_v7().into())).await.unwrap(), []);
    assert_eq!(store.reads().episode(plain.trace_id, Some(there), soon()).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn the_state_of_an_episode_changes_beside_its_body(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let [one, other] = [episode(&here, "one", 1), episode(&here, "other", 2)];
    let fresh = EpisodeState::of(&one);
    let seen = fresh.accessed(3, now());
    // a state may come with its trace, and one of a trace that nobody stored is left out
    let none = EpisodeState::of(&episode(&here, "none", 1)).accessed(1, now());
    let both = vec![Record::EpisodeState(seen.clone()), Record::Trace(one.clone()), Record::Trace(other.clone())];
    commit(store, [both, vec![Record::EpisodeState(none.clone())]].concat()).await;
    assert_eq!(row(store, none.episode_id).await, None);
    assert_eq!(row(store, one.trace_id).await, Some(EpisodeRow { trace: one.clone(), state: seen.clone() }));
    commit(store, vec![Record::EpisodeState(seen.clone())]).await;

    let conflict = Err(StoreError::TraceChanged(one.trace_id));
    for stale in [fresh.deleted(now()).unwrap(), seen.accessed(1, now()).accessed(1, now())] {
        assert_eq!(store.commit(vec![Record::EpisodeState(stale)], soon()).await, conflict);
    }
    let deleted = seen.deleted(now()).unwrap();
    commit(store, vec![Record::EpisodeState(deleted.clone())]).await;
    assert_eq!(row(store, one.trace_id).await.unwrap().state, deleted);
    let states = store.reads().episode_states(vec![one.trace_id, other.trace_id], soon()).await.unwrap();
    assert_eq!(states, from_ref(&deleted), "nothing has happened to the other one");
    assert_eq!(listed(store, all_of(&here)).await, [other.trace_id], "a deleted episode is hidden at once");
    let only_deleted = EpisodeFilter { visible: vec![Visibility::Deleted], ..all_of(&here) };
    assert_eq!(listed(store, only_deleted).await, [one.trace_id]);
    commit(store, vec![Record::EpisodeState(deleted.restored(RULES, now()).unwrap())]).await;
    assert_eq!(listed(store, all_of(&here)).await, [one.trace_id, other.trace_id]);
    assert_eq!(store.reads().trace(one.trace_id, None, soon()).await.unwrap(), Some(one));
}

#[rstest]
#[tokio::test]
async fn of_changes_at_the_same_time_one_is_stored(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let one = episode(&workspace("/here"), "one", 1);
    commit(&opened.store, vec![Record::Trace(one.clone())]).await;
    let change = |n| Record::EpisodeState(EpisodeState::of(&one).accessed(n, now()));
    let answers = (1..=6).map(|n| opened.store.commit(vec![change(n)], soon()));
    let answers = futures::future::join_all(answers).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
    assert_eq!(row(&opened.store, one.trace_id).await.unwrap().state.revision, 1);
}

#[rstest]
#[tokio::test]
async fn the_most_alike_come_first_among_those_that_the_filter_lets_through(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let [near, far, bare] = [episode(&here, "near", 1), episode(&here, "far", 2), episode(&here, "bare", 3)];
    let foreign = episode(&there, "foreign", 1);
    commit(store, [&near, &far, &bare, &foreign].map(|trace| Record::Trace(trace.clone())).to_vec()).await;
    let (x, y) = ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]);
    let vectors = [
        stored_vectors(&near, x, y),
        EpisodeVectors { whole: QuantizedVector::of(&[1.0, 1.0, 0.0, 0.0]), ..stored_vectors(&far, y, x) },
        stored_vectors(&foreign, x, x),
    ];
    commit(store, vectors.iter().cloned().map(Record::EpisodeVectors).collect()).await;
    let search = |of_outcome| EpisodeSearch {
        filter: all_of(&here),
        vector: QuantizedVector::of(&x).unwrap(),
        embedder: "a".into(),
        of_outcome,
        limit: 10,
    };
    let found = async |search| {
        let found = store.reads().nearest_episodes(search, soon()).await.unwrap();
        found.into_iter().map(|(inputs, cosine)| (inputs.id, (cosine * 100.0).round())).collect::<Vec<_>>()
    };
    assert_eq!(found(search(false)).await, [(near.trace_id, 100.0), (far.trace_id, 71.0)]);
    assert_eq!(found(search(true)).await, [(far.trace_id, 100.0), (near.trace_id, 0.0)]);
    assert_eq!(found(EpisodeSearch { limit: 1, ..search(false) }).await.len(), 1);
    assert_eq!(found(EpisodeSearch { embedder: "b".into(), ..search(false) }).await, []);

    let lacking = async |embedder: &str, limit| {
        let found =
            store.reads().episodes_without_vectors(all_of(&here), embedder.into(), limit, soon()).await.unwrap();
        found.into_iter().map(|(trace, revision)| (trace.trace_id, revision)).collect::<Vec<_>>()
    };
    assert_eq!(lacking("a", 9).await, [(bare.trace_id, 0)]);
    assert_eq!(lacking("b", 2).await, [(near.trace_id, 1), (far.trace_id, 1)]);
    let again = EpisodeVectors { revision: 1, embedder: "b".into(), ..vectors[0].clone() };
    for record in [&again, &vectors[0], &again] {
        commit(store, vec![Record::EpisodeVectors(record.clone())]).await;
    }
    assert_eq!(found(EpisodeSearch { embedder: "b".into(), ..search(false) }).await, [(near.trace_id, 100.0)]);
    assert_eq!(lacking("b", 9).await, [(far.trace_id, 1), (bare.trace_id, 0)]);
}

#[rstest]
#[tokio::test]
async fn an_erasure_takes_the_state_and_the_vectors_along(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let traces = [episode(&here, "a", 1), episode(&here, "b", 5), episode(&here, "c", 9), episode(&there, "d", 1)];
    for trace in &traces {
        let state = EpisodeState::of(trace).accessed(1, trace.created_at);
        let vectors = stored_vectors(trace, [1.0; 4], [1.0; 4]);
        let records = [Record::Trace(trace.clone()), Record::EpisodeState(state), Record::EpisodeVectors(vectors)];
        commit(store, records.to_vec()).await;
    }
    let rows = async || store.reads().summary(soon()).await.unwrap().rows;
    let erase = async |scope| store.erase(scope, soon()).await.unwrap().traces;
    assert_eq!(rows().await, 12);
    let unknown = uuid::Uuid::now_v7().into();
    assert_eq!(erase(EraseScope::Episodes(vec![unknown])).await, 0);
    assert_eq!(erase(EraseScope::Episodes(vec![traces[0].trace_id, unknown])).await, 1);
    assert_eq!((row(store, traces[0].trace_id).await, rows().await), (None, 9));
    assert_eq!(erase(EraseScope::Traces { workspace: None, before: days_ago(7) }).await, 1);
    assert_eq!(rows().await, 6);
    assert_eq!(erase(EraseScope::Workspace(here)).await, 1);
    assert_eq!((rows().await, row(store, traces[3].trace_id).await.unwrap().state.access_count), (3, 1));
}
