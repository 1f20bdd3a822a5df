//! What every adapter of the store port does. Sets and properties, never exact scores of text: those differ.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::ports::{
    Committed, Conditions, EraseScope, Filter, MemoryCommit, MemoryStore, Page, PassageKind, Recall, Record, Scanned,
    StoreError, Visible,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::confidence::SignalKind;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::{Memory, Scope, Status};
use rstest::rstest;

use crate::store_fixtures::Backend::{Lance, Memory as InMemory};
use crate::store_fixtures::*;

async fn commit(store: &Arc<dyn MemoryStore>, batch: Vec<Record>) -> Committed {
    store.commit(batch, soon()).await.unwrap()
}

async fn add(store: &Arc<dyn MemoryStore>, memories: &[Memory]) {
    let batch = memories.iter().map(|memory| record(memory, Some([1.0, 0.0, 0.0, 0.0]))).collect();
    commit(store, batch).await;
}

async fn found_by_text(store: &Arc<dyn MemoryStore>, recall: Recall) -> Vec<MemoryId> {
    ids(&store.candidates(recall, soon()).await.unwrap().text)
}

async fn memories(store: &Arc<dyn MemoryStore>, filter: Filter, page: Page) -> Vec<MemoryId> {
    match store.scan(filter, page, soon()).await.unwrap() {
        Scanned::Memories(rows) => rows.into_iter().map(|row| row.memory.id).collect(),
        other => panic!("not memories: {other:?}"),
    }
}

const ALL: Filter = Filter::Memories { workspace: None, status: None, scope: None };

#[rstest]
#[tokio::test]
async fn what_was_committed_is_read_back_whole(#[values(InMemory, Lance)] backend: Backend) {
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

    let rows = store.get(vec![kept.id], soon()).await.unwrap();
    assert_eq!(rows[0].memory, kept);
    assert_eq!(rows[0].evidence.count(SignalKind::Helpful), 1);
    let scan = async |filter| store.scan(filter, everything(), soon()).await.unwrap();
    assert_eq!(scan(Filter::Traces { workspace: Some(here.clone()) }).await, Scanned::Traces(vec![tried.clone()]));
    assert_eq!(scan(Filter::Trace(tried.trace_id)).await, Scanned::Traces(vec![tried]));
    assert_eq!(scan(Filter::Signals { workspace: None }).await, Scanned::Signals(vec![helped]));
    assert_eq!(scan(Filter::Passages(kept.id)).await, Scanned::Passages(passages));
    let Scanned::Workspaces(workspaces) = scan(Filter::Workspaces).await else { panic!("no workspaces") };
    assert_eq!(workspaces.iter().map(|w| w.id.clone()).collect::<Vec<_>>(), [here]);
}

#[rstest]
#[tokio::test]
async fn get_answers_in_the_order_asked_and_leaves_out_what_it_does_not_know(
    #[values(InMemory, Lance)] backend: Backend,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let stored: Vec<Memory> = (0..5).map(|n| memory(&here, &format!("Title {n}"), "content")).collect();
    add(&opened.store, &stored).await;
    let asked = vec![stored[3].id, uuid::Uuid::now_v7().into(), stored[0].id, stored[4].id];
    let rows = opened.store.get(asked, soon()).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.memory.id).collect::<Vec<_>>(), [stored[3].id, stored[0].id, stored[4].id]);
    assert!(opened.store.get(Vec::new(), soon()).await.unwrap().is_empty());
}

#[rstest]
#[tokio::test]
async fn a_retried_batch_changes_nothing(#[values(InMemory, Lance)] backend: Backend) {
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

    assert_eq!(memories(store, ALL, everything()).await, [kept.id]);
    let row = &store.get(vec![kept.id], soon()).await.unwrap()[0];
    assert_eq!((row.evidence.usage_count(), row.evidence.count(SignalKind::Confirmed)), (1, 0));
    let Scanned::Passages(passages) = store.scan(Filter::Passages(kept.id), everything(), soon()).await.unwrap() else {
        panic!("no passages")
    };
    assert_eq!(passages.len(), 1);
}

#[rstest]
#[tokio::test]
async fn what_says_the_same_to_the_same_readers_confirms_what_is_there(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let first = memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds");
    let same = memory(&here, "  retry WITH backoff ", "wait 1, 2,  4 seconds");
    let again = record(&same, None);
    assert_eq!(commit(store, vec![record(&first, None)]).await.memories, [MemoryCommit::Created(first.id)]);
    for _ in 0..2 {
        let committed = commit(store, vec![again.clone()]).await;
        assert_eq!(committed.memories, [MemoryCommit::Reinforced(first.id)]);
    }
    let row = &store.get(vec![first.id], soon()).await.unwrap()[0];
    assert_eq!(row.evidence.count(SignalKind::Confirmed), 1, "a retry confirms once");
    assert!(store.get(vec![same.id], soon()).await.unwrap().is_empty());

    let mut team = memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds");
    (team.scope, team.team) = (Scope::Team, Some("red".into()));
    let elsewhere = memory(&workspace("/elsewhere"), "Retry with backoff", "wait 1, 2, 4 seconds");
    let mut retired = memory(&here, "Retry with backoff", "wait 1, 2, 4 seconds");
    retired.status = Status::Archived;
    let others = [team, elsewhere, retired];
    let committed = commit(store, others.iter().map(|m| record(m, None)).collect()).await;
    assert_eq!(committed.memories, others.map(|m| MemoryCommit::Created(m.id)));
}

#[rstest]
#[tokio::test]
async fn duplicates_within_a_batch_are_found_and_retired_memories_take_no_confirmation(
    #[values(InMemory, Lance)] backend: Backend,
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
async fn vectors_rank_by_cosine_and_a_memory_counts_by_its_best_passage(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let [near, far, opposite, blind] =
        ["near", "far", "opposite", "blind"].map(|title| memory(&here, title, "some content"));
    let of = |m: &Memory, vectors: &[[f32; DIMS]]| {
        let passages = vectors.iter().zip(0..).map(|(v, n)| passage(PassageKind::Content, n, &m.content_text(), *v));
        record_with(m, passages.collect())
    };
    let batch = vec![
        of(&near, &[[0.0, 0.0, 1.0, 0.0], [0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),
        of(&far, &[[0.28, 0.96, 0.0, 0.0]]),
        of(&opposite, &[[-1.0, 0.0, 0.0, 0.0]]),
        record(&blind, None),
    ];
    commit(&opened.store, batch).await;
    let found = opened.store.candidates(by_vector(&here, [1.0, 0.0, 0.0, 0.0]), soon()).await.unwrap();
    let list = found.vector.clone().unwrap();
    assert_eq!(ids(&found.vector), [near.id, far.id, opposite.id]);
    for ((_, score), expected) in list.hits.iter().zip([0.6, 0.28, -1.0]) {
        assert!((score - expected).abs() < 1e-4, "{score} instead of {expected}");
    }
    assert!(!list.truncated && found.text.is_none());
    assert_eq!(found.facts.len(), 3);

    let two = Recall { limit: 2, ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
    let found = opened.store.candidates(two, soon()).await.unwrap();
    assert_eq!(ids(&found.vector), [near.id, far.id]);
    assert!(found.vector.unwrap().truncated);
}

#[rstest]
#[tokio::test]
async fn a_memory_of_many_passages_does_not_crowd_out_the_others(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let long = memory(&here, "Long", "gauge");
    let short = memory(&here, "Short", "gauge");
    let chunks = (0..60).map(|n| passage(PassageKind::Content, n, "gauge gauge", [1.0, 0.001 * n as f32, 0.0, 0.0]));
    let batch = vec![record_with(&long, chunks.collect()), record(&short, Some([0.5, 0.5, 0.0, 0.0]))];
    commit(&opened.store, batch).await;
    let both = Recall { limit: 2, text: Some("gauge".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
    let found = opened.store.candidates(both, soon()).await.unwrap();
    assert_eq!(ids(&found.vector), [long.id, short.id]);
    assert_eq!(sorted(ids(&found.text)), sorted(vec![long.id, short.id]));
}

#[rstest]
#[case("parseHttpHeader")]
#[case("parse http header")]
#[case("parse_http_header")]
#[tokio::test]
async fn identifiers_are_found_by_their_parts_however_they_are_written(
    #[values(InMemory, Lance)] backend: Backend,
    #[case] query: &str,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let stored = [
        memory(&here, "Camel", "call parseHttpHeader first"),
        memory(&here, "Snake", "call parse_http_header first"),
        memory(&here, "Words", "parse the http header first"),
    ];
    add(&opened.store, &stored).await;
    add(&opened.store, &[memory(&here, "Other", "nothing of the kind")]).await;
    let found = found_by_text(&opened.store, by_text(&here, query)).await;
    assert_eq!(sorted(found), sorted(stored.iter().map(|m| m.id).collect()));
}

#[rstest]
#[tokio::test]
async fn any_text_is_a_query_and_none_is_syntax(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let kept = memory(&here, "Bounds", "use an exclusive upper bound");
    add(&opened.store, std::slice::from_ref(&kept)).await;
    for nothing in ["?!", "\"", "'", "( AND", "\u{0}", "*", "%_%", "\u{1f980}", "-", "zzz"] {
        let found = opened.store.candidates(by_text(&here, nothing), soon()).await.unwrap();
        assert_eq!(found.text.map(|list| list.hits.len()), Some(0), "{nothing:?}");
    }
    for blank in ["", " \n\t"] {
        assert!(opened.store.candidates(by_text(&here, blank), soon()).await.unwrap().text.is_none());
    }
    let long = "bound ".to_owned() + &(0..40_000).map(|n| format!("word{n} ")).collect::<String>();
    for query in ["bound'; DROP TABLE memories; --", "\"exclusive AND (bound", "bound^9 +upper -bound~2", &long] {
        assert_eq!(found_by_text(&opened.store, by_text(&here, query)).await, [kept.id], "{:.40}", query);
    }
}

#[rstest]
#[tokio::test]
async fn nobody_reads_what_is_not_theirs(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let scoped = |workspace, scope, team: Option<&str>, org: Option<&str>| {
        let mut memory = memory(workspace, &format!("{scope:?} {team:?} {org:?}"), "shared wisdom");
        (memory.scope, memory.team, memory.org) = (scope, team.map(Into::into), org.map(Into::into));
        memory
    };
    let mine = scoped(&here, Scope::Project, Some("red"), Some("acme"));
    let theirs = scoped(&there, Scope::Project, Some("red"), Some("acme"));
    let red = scoped(&there, Scope::Team, Some("red"), Some("acme"));
    let blue = scoped(&here, Scope::Team, Some("blue"), Some("acme"));
    let acme = scoped(&there, Scope::Org, Some("red"), Some("acme"));
    let hostile = scoped(&there, Scope::Team, Some("' OR '1'='1"), None);
    let all = [&mine, &theirs, &red, &blue, &acme, &hostile];
    add(&opened.store, &all.map(Memory::clone)).await;

    let reads = async |workspace: Option<_>, team: Option<&str>, org: Option<&str>| {
        let visible = Visible { workspace, team: team.map(Into::into), org: org.map(Into::into) };
        let recall = Recall { visible, text: Some("wisdom".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
        let found = opened.store.candidates(recall, soon()).await.unwrap();
        let (text, vector) = (sorted(ids(&found.text)), sorted(ids(&found.vector)));
        assert_eq!(text, vector);
        assert_eq!(text, sorted(found.facts.iter().map(|(facts, _)| facts.id).collect()));
        text
    };
    let expected = |memories: &[&Memory]| sorted(memories.iter().map(|m| m.id).collect());
    assert_eq!(reads(Some(here.clone()), None, None).await, expected(&[&mine]));
    assert_eq!(reads(Some(there.clone()), Some("red"), None).await, expected(&[&theirs, &red]));
    assert_eq!(reads(Some(here.clone()), Some("red"), Some("acme")).await, expected(&[&mine, &red, &acme]));
    assert_eq!(reads(None, Some("blue"), None).await, expected(&[&blue]));
    assert_eq!(reads(None, Some("' OR '1'='1"), None).await, expected(&[&hostile]));
    assert_eq!(reads(None, None, None).await, expected(&[]));
    assert_eq!(reads(Some(workspace("/nowhere")), Some("red' --"), Some("x\" OR true")).await, expected(&[]));
}

#[rstest]
#[tokio::test]
async fn conditions_hold_before_the_lists_are_cut(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    let tagged = |title: &str, domain: Option<&str>, with: &[&str]| {
        let mut memory = memory(&here, title, "common words");
        (memory.domain_category, memory.pattern_tags) = (domain.map(Into::into), tags(with));
        memory
    };
    let parsing = tagged("1", Some("Parsing"), &["io", "x' OR 'a'='a"]);
    let network = warning(tagged("2", Some("network"), &["io", "retry"]));
    let odd = tagged("3", Some("it's"), &["a,b", "\",\"", "%"]);
    let plain = tagged("4", None, &["x,", ",y"]);
    add(&opened.store, &[&parsing, &network, &odd, &plain].map(Memory::clone)).await;
    add(&opened.store, &(5..70).map(|n| tagged(&n.to_string(), None, &[])).collect::<Vec<_>>()).await;

    let found = async |conditions: Conditions| {
        let recall =
            Recall { conditions, limit: 4, text: Some("words".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
        let found = opened.store.candidates(recall, soon()).await.unwrap();
        assert_eq!(sorted(ids(&found.text)), sorted(ids(&found.vector)));
        sorted(ids(&found.text))
    };
    let domain = |domain: &str| Conditions { domain: Some(domain.into()), ..Conditions::default() };
    let with = |with: &[&str]| Conditions { tags: tags(with), ..Conditions::default() };
    assert_eq!(found(domain(" PARSING")).await, [parsing.id]);
    assert_eq!(found(domain("it's")).await, [odd.id]);
    assert_eq!(found(domain("' OR 1=1 --")).await, []);
    assert_eq!(found(with(&["io"])).await, sorted(vec![parsing.id, network.id]));
    assert_eq!(found(with(&["io", "retry"])).await, [network.id]);
    assert_eq!(found(with(&["x' OR 'a'='a"])).await, [parsing.id]);
    assert_eq!(found(with(&["\",\""])).await, [odd.id]);
    assert_eq!(found(with(&["a,b", "%"])).await, [odd.id]);
    for absent in ["i", "I", "a", ",", "_", "", "b\",\"c"] {
        assert_eq!(found(with(&[absent])).await, [], "{absent:?}");
    }
    assert_eq!(found(Conditions { warnings_only: true, ..Conditions::default() }).await, [network.id]);
    let no_warnings = Conditions { without_warnings: true, ..with(&["io"]) };
    assert_eq!(found(no_warnings).await, [parsing.id]);
}

#[rstest]
#[tokio::test]
async fn only_active_memories_are_candidates(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let active = memory(&here, "active", "common words");
    let mut all = vec![active.clone()];
    for status in [Status::Archived, Status::Superseded, Status::Quarantined] {
        all.push(Memory { status, ..memory(&here, status.as_str(), "common words") });
    }
    add(&opened.store, &all).await;
    let both = Recall { text: Some("words".into()), ..by_vector(&here, [1.0, 0.0, 0.0, 0.0]) };
    let found = opened.store.candidates(both, soon()).await.unwrap();
    assert_eq!((ids(&found.vector), ids(&found.text)), (vec![active.id], vec![active.id]));
    assert_eq!(opened.store.get(all.iter().map(|m| m.id).collect(), soon()).await.unwrap().len(), 4);
}

#[rstest]
#[tokio::test]
async fn evidence_is_the_fold_of_all_signals_wherever_it_is_read(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let [used, idle] = ["used", "idle"].map(|title| memory(&here, title, "common words"));
    add(store, &[used.clone(), idle.clone()]).await;
    let later = now() + Duration::from_secs(3600);
    let signals = [
        signal(&used, SignalKind::Helpful, later),
        signal(&used, SignalKind::Helpful, now()),
        signal(&used, SignalKind::NotHelpful, later + Duration::from_secs(60)),
        signal(&used, SignalKind::Injected, later + Duration::from_secs(90)),
    ];
    for signal in &signals {
        commit(store, vec![Record::Signal(signal.clone())]).await;
    }
    commit(store, signals.iter().cloned().map(Record::Signal).collect()).await;

    let candidates = store.candidates(by_text(&here, "words"), soon()).await.unwrap();
    let got = store.get(vec![used.id, idle.id], soon()).await.unwrap();
    let Scanned::Memories(scanned) = store.scan(ALL, everything(), soon()).await.unwrap() else { panic!() };
    let of = |id| candidates.facts.iter().find(|(facts, _)| facts.id == id).unwrap().1.clone();
    for evidence in [of(used.id), got[0].evidence.clone(), scanned[0].evidence.clone()] {
        assert_eq!(evidence.count(SignalKind::Helpful), 2);
        assert_eq!(evidence.count(SignalKind::NotHelpful), 1);
        assert_eq!(evidence.usage_count(), 1);
        assert_eq!(evidence.last_used_at, Some(later));
    }
    assert_eq!(of(idle.id), Default::default());
}

#[rstest]
#[tokio::test]
async fn pages_cover_everything_once_and_in_order(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let stored: Vec<Memory> =
        (0..25).map(|n| memory(if n % 5 == 0 { &there } else { &here }, &format!("Title {n}"), "content")).collect();
    add(&opened.store, &stored).await;
    let filter = Filter::Memories { workspace: Some(here.clone()), status: Some(Status::Active), scope: None };
    let mut seen = Vec::new();
    loop {
        let page = Page { after: seen.last().map(|id: &MemoryId| id.uuid()), ..Page::first(6) };
        let page = memories(&opened.store, filter.clone(), page).await;
        assert!(page.len() <= 6);
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    let expected = sorted(stored.iter().filter(|m| m.workspace_id == here).map(|m| m.id).collect());
    assert_eq!(seen, expected);
    let teams = Filter::Memories { workspace: None, status: None, scope: Some(Scope::Team) };
    assert_eq!(memories(&opened.store, teams, everything()).await, []);
}

#[rstest]
#[tokio::test]
async fn descendants_are_found_by_parent_and_by_source(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let [root, mut child, mut mixed, other] =
        ["root", "child", "mixed", "other"].map(|title| memory(&here, title, "content"));
    child.parent_memory_id = Some(root.id);
    mixed.derived_from = vec![other.id, root.id];
    add(&opened.store, &[&root, &child, &mixed, &other].map(Memory::clone)).await;
    let descendants = async |id| memories(&opened.store, Filter::DerivedFrom(vec![id]), everything()).await;
    assert_eq!(descendants(root.id).await, sorted(vec![child.id, mixed.id]));
    assert_eq!(descendants(other.id).await, [mixed.id]);
    assert_eq!(descendants(child.id).await, []);
}

#[rstest]
#[tokio::test]
async fn an_erased_memory_is_gone_with_passages_and_signals_and_can_be_stored_again(
    #[values(InMemory, Lance)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let [doomed, spared] = ["doomed", "spared"].map(|title| memory(&here, title, "common words"));
    add(store, &[doomed.clone(), spared.clone()]).await;
    let signals = [&doomed, &doomed, &spared].map(|m| Record::Signal(signal(m, SignalKind::Helpful, now())));
    commit(store, signals.to_vec()).await;

    let erased = store.erase(EraseScope::Memory(doomed.id), soon()).await.unwrap();
    assert_eq!((erased.memories, erased.passages, erased.signals, erased.traces), (1, 1, 2, 0));
    assert_eq!(memories(store, ALL, everything()).await, [spared.id]);
    assert_eq!(found_by_text(store, by_text(&here, "words doomed")).await, [spared.id]);
    assert_eq!(store.get(vec![spared.id], soon()).await.unwrap()[0].evidence.count(SignalKind::Helpful), 1);
    assert_eq!(store.erase(EraseScope::Memory(doomed.id), soon()).await.unwrap(), Default::default());

    add(store, std::slice::from_ref(&doomed)).await;
    assert_eq!(found_by_text(store, by_text(&here, "doomed")).await, [doomed.id]);
    assert_eq!(store.get(vec![doomed.id], soon()).await.unwrap()[0].evidence, Default::default());
}

#[rstest]
#[tokio::test]
async fn an_erased_workspace_leaves_only_what_it_shares(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let own: Vec<Memory> = (0..3).map(|n| memory(&here, &format!("own {n}"), "common words")).collect();
    let mut shared = memory(&here, "shared", "common words");
    (shared.scope, shared.team) = (Scope::Team, Some("red".into()));
    let foreign = memory(&there, "foreign", "common words");
    add(store, &own).await;
    add(store, &[shared.clone(), foreign.clone()]).await;
    let kept_trace = trace(&there, "task");
    let batch = vec![
        workspace_record("/here"),
        workspace_record("/there"),
        Record::Trace(trace(&here, "task")),
        Record::Trace(kept_trace.clone()),
        Record::Signal(signal(&own[0], SignalKind::Helpful, now())),
        Record::Signal(signal(&foreign, SignalKind::Helpful, now())),
    ];
    commit(store, batch).await;

    let erased = store.erase(EraseScope::Workspace(here.clone()), soon()).await.unwrap();
    assert_eq!((erased.memories, erased.passages, erased.traces, erased.signals), (3, 3, 1, 1));
    let left: BTreeSet<MemoryId> = memories(store, ALL, everything()).await.into_iter().collect();
    assert_eq!(left, BTreeSet::from([shared.id, foreign.id]));
    assert_eq!(found_by_text(store, by_text(&here, "words")).await, []);
    let scan = async |filter| store.scan(filter, everything(), soon()).await.unwrap();
    assert_eq!(scan(Filter::Traces { workspace: None }).await, Scanned::Traces(vec![kept_trace]));
    let Scanned::Workspaces(workspaces) = scan(Filter::Workspaces).await else { panic!("no workspaces") };
    assert_eq!(workspaces.iter().map(|w| w.id.clone()).collect::<Vec<_>>(), [there]);
}

#[rstest]
#[tokio::test]
async fn upkeep_changes_nothing_that_can_be_read(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let stored: Vec<Memory> = (0..12).map(|n| memory(&here, &format!("Title {n}"), "common words")).collect();
    for memory in &stored {
        add(&opened.store, std::slice::from_ref(memory)).await;
    }
    let before = sorted(found_by_text(&opened.store, by_text(&here, "words")).await);
    opened.store.maintain(soon()).await.unwrap();
    assert_eq!(sorted(found_by_text(&opened.store, by_text(&here, "words")).await), before);
    assert_eq!(before.len(), stored.len());
    assert_eq!(memories(&opened.store, ALL, everything()).await, before);
}

#[rstest]
#[tokio::test]
async fn a_call_whose_deadline_has_passed_does_nothing(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let late = || Deadline::after(Duration::ZERO);
    let kept = memory(&here, "late", "words");
    assert_eq!(opened.store.commit(vec![record(&kept, None)], late()).await, Err(StoreError::TimedOut));
    assert_eq!(opened.store.get(vec![kept.id], late()).await, Err(StoreError::TimedOut));
    assert!(opened.store.get(vec![kept.id], soon()).await.unwrap().is_empty());
}
