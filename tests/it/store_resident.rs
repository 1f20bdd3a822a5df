//! Searches that are answered from memory say what searches of the tables say, whoever changed them since, and hold
//! nothing that was erased. That they keep the contract of the store is shown in `store_contract`.

use std::collections::BTreeMap;
use std::path::Path;

use reasoning_bank_actors::ports::{Conditions, EraseScope, MemoryStore, Recall, Record, StoreReads, Visible};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::memory::{Memory, Scope, Status};
use reasoning_bank_domain::retrieval::candidates::Candidates;
use reasoning_bank_store::{LanceStore, Options};
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::store_fixtures::*;
use crate::store_lance::{AXIS, numbered};
use crate::support::Place;

async fn searching_tables(dir: &Path) -> LanceStore {
    open_with(dir, Options { resident_bytes: 0, ..Options::default() }).await
}

async fn keeping(dir: &Path, bytes: usize) -> LanceStore {
    open_with(dir, Options { resident_bytes: bytes, ..Options::default() }).await
}

async fn commit(store: &LanceStore, batch: Vec<Record>) {
    store.commit(batch, soon()).await.unwrap();
}

/// Searches by the word and the vector that all test memories have, and tells whether memory answered.
async fn find(store: &LanceStore, recall: Recall) -> (Candidates, bool) {
    let before = store.resident().answered;
    let found = store.candidates(recall, soon()).await.unwrap();
    (found, store.resident().answered > before)
}

fn common(name: &str) -> Recall {
    Recall { text: Some("common words".into()), ..by_vector(&workspace(name), AXIS) }
}

/// Searches until memory answers, as it does when an owner index that is made in the background is there.
async fn once_in_memory(store: &LanceStore, recall: &Recall) -> Candidates {
    let deadline = soon();
    loop {
        assert!(!deadline.passed(), "{:?}", store.resident());
        if let (found, true) = find(store, recall.clone()).await {
            return found;
        }
    }
}

async fn found_in_memory(store: &LanceStore) -> Vec<MemoryId> {
    let (found, in_memory) = find(store, common("/here")).await;
    assert!(in_memory, "{:?}", store.resident());
    assert_eq!(sorted(ids(&found.text)), sorted(ids(&found.vector)));
    sorted(ids(&found.text))
}

#[tokio::test]
async fn what_anybody_acknowledged_is_found_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let (own, other) = (open(dir.path()).await, open(dir.path()).await);
    let mut memories = numbered(3);
    commit(&own, memories[..1].iter().map(|memory| record(memory, Some(AXIS))).collect()).await;
    assert_eq!(found_in_memory(&own).await, ids_of(&memories[..1]));
    commit(&own, vec![record(&memories[1], Some(AXIS))]).await;
    assert_eq!(found_in_memory(&own).await, ids_of(&memories[..2]));
    commit(&other, vec![record(&memories[2], Some(AXIS))]).await;
    assert_eq!(found_in_memory(&own).await, ids_of(&memories));

    commit(&other, vec![Record::Signal(signal(&memories[0], SignalKind::Helpful, now()))]).await;
    let facts = find(&own, common("/here")).await.0.facts;
    let evidence = facts.iter().find(|(facts, _)| facts.id == memories[0].id).map(|(_, evidence)| evidence);
    assert_eq!(evidence.unwrap().count(SignalKind::Helpful), 1);

    let renamed = next(&memories[1], |memory| memory.content = "other content".into());
    commit(&other, vec![change(&renamed, Some(AXIS))]).await;
    let by_new = Recall { text: Some("other content".into()), ..recall(&workspace("/here")) };
    assert_eq!(ids(&find(&own, by_new).await.0.text), [renamed.id]);

    let archived = next(&memories[0], |memory| memory.status = Status::Archived);
    commit(&other, vec![change(&archived, Some(AXIS))]).await;
    let (found, in_memory) = find(&own, common("/here")).await;
    assert!(in_memory);
    assert!(!ids(&found.vector).contains(&archived.id) && ids(&found.vector).len() == 2);
    // one that comes back has the evidence that it had
    memories[0] = next(&archived, |memory| memory.status = Status::Active);
    commit(&other, vec![change(&memories[0], Some(AXIS))]).await;
    let facts = find(&own, common("/here")).await.0.facts;
    let evidence = facts.iter().find(|(facts, _)| facts.id == memories[0].id).map(|(_, evidence)| evidence);
    assert_eq!(evidence.unwrap().count(SignalKind::Helpful), 1);
}

#[tokio::test]
async fn what_was_erased_is_not_in_memory_when_the_erasure_answers() {
    let dir = tempfile::tempdir().unwrap();
    let (own, other) = (open(dir.path()).await, open(dir.path()).await);
    let memories = numbered(3);
    commit(&own, memories.iter().map(|memory| record(memory, Some(AXIS))).collect()).await;
    for store in [&own, &other] {
        assert_eq!(found_in_memory(store).await, ids_of(&memories));
    }
    own.erase(EraseScope::Memory(memories[0].id), soon()).await.unwrap();
    assert_eq!((own.resident().indexes, own.resident().bytes), (0, 0));
    for store in [&own, &other] {
        let (found, _) = find(store, common("/here")).await;
        assert_eq!(sorted(ids(&found.vector)), ids_of(&memories[1..]));
        assert_eq!(found.facts.len(), 2);
    }
    // and then both are answered from memory again
    for store in [&own, &other] {
        assert_eq!(found_in_memory(store).await, ids_of(&memories[1..]));
    }
    other.erase(EraseScope::Workspace(workspace("/here")), soon()).await.unwrap();
    for store in [&own, &other] {
        assert_eq!(find(store, common("/here")).await.0.facts, []);
    }
}

/// Many commits are added in the background; tables answer until then.
#[tokio::test]
async fn what_came_in_many_commits_is_found_at_once_and_then_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let (own, other) = (open(dir.path()).await, open(dir.path()).await);
    let memories = numbered(41);
    commit(&own, vec![record(&memories[0], Some(AXIS))]).await;
    assert_eq!(found_in_memory(&own).await, ids_of(&memories[..1]));
    for memory in &memories[1..] {
        commit(&other, vec![record(memory, Some(AXIS))]).await;
    }
    let all = Recall { limit: 100, ..common("/here") };
    let (found, _) = find(&own, all.clone()).await;
    assert_eq!(sorted(ids(&found.text)), ids_of(&memories));
    let found = once_in_memory(&own, &all).await;
    assert_eq!(sorted(ids(&found.vector)), ids_of(&memories));
}

#[tokio::test]
async fn compaction_and_new_indexes_leave_the_index_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (own, other) = (open(dir.path()).await, open(dir.path()).await);
    let memories = numbered(15);
    for memory in &memories[..12] {
        commit(&other, vec![record(memory, Some(AXIS))]).await;
    }
    assert_eq!(found_in_memory(&own).await, ids_of(&memories[..12]));
    for memory in &memories[12..] {
        commit(&other, vec![record(memory, Some(AXIS))]).await;
    }
    // in one fragment what is known and what is new
    other.maintain(soon()).await.unwrap();
    assert_eq!(found_in_memory(&own).await, ids_of(&memories));
    let bytes = own.resident().bytes;
    other.maintain(soon()).await.unwrap();
    assert_eq!(found_in_memory(&own).await, ids_of(&memories));
    assert_eq!(own.resident().bytes, bytes);
}

#[tokio::test]
async fn memories_are_read_where_they_are_also_when_they_were_moved_or_changed() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let mut memories = numbered(12);
    for memory in &memories {
        commit(&store, vec![record(memory, Some(AXIS))]).await;
    }
    commit(&store, vec![Record::Signal(signal(&memories[0], SignalKind::Helpful, now()))]).await;
    // how many of them an owner index knew the place of
    let read = async |memories: &[Memory]| {
        let before = store.resident().read;
        let rows = store.get(ids_of(memories), soon()).await.unwrap();
        assert_eq!(rows.len(), memories.len());
        for row in rows {
            let expected = memories.iter().find(|memory| memory.id == row.memory.id).unwrap();
            assert_eq!((row.memory.revision, &row.memory.content), (expected.revision, &expected.content));
            let helped = u64::from(row.memory.id == memories[0].id);
            assert_eq!(row.evidence.count(SignalKind::Helpful), helped);
        }
        store.resident().read - before
    };
    assert_eq!(read(&memories).await, 0);
    assert_eq!(found_in_memory(&store).await, ids_of(&memories));
    assert_eq!(read(&memories).await, 12);

    store.maintain(soon()).await.unwrap();
    assert_eq!(found_in_memory(&store).await, ids_of(&memories));
    let deadline = soon();
    while read(&memories).await < 12 {
        assert!(!deadline.passed(), "the index does not look where they went");
    }

    memories[1] = next(&memories[1], |memory| memory.content = "other words".into());
    commit(&store, vec![change(&memories[1], Some(AXIS))]).await;
    assert_eq!(read(&memories).await, 0, "the index is behind");
    assert_eq!(found_in_memory(&store).await.len(), 12);
    assert_eq!(read(&memories).await, 12);
}

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

fn any_memory(dice: &mut Dice, n: usize) -> Memory {
    let mut any = memory(&workspace(["/here", "/there"][dice.below(2)]), &format!("Title {n}"), "common words");
    any.content = format!("common words {}", ["gauge", "valve", "pipe"][dice.below(3)]);
    match dice.below(4) {
        0 => (any.scope, any.team) = (Scope::Team, Some("red".into())),
        1 => any = warning(any),
        _ => any.pattern_tags = vec!["io".into()],
    }
    any
}

/// Returns everything that scoring is told, in a form that does not depend on how scores are rounded.
fn told(found: &Candidates) -> (Vec<MemoryId>, Vec<MemoryId>, BTreeMap<MemoryId, String>) {
    let facts = found.facts.iter().map(|(facts, evidence)| (facts.id, format!("{facts:?} {evidence:?}"))).collect();
    (sorted(ids(&found.text)), sorted(ids(&found.vector)), facts)
}

#[tokio::test]
async fn after_any_changes_by_anybody_memory_and_tables_say_the_same() {
    for seed in 1..=3 {
        let mut dice = Dice(seed);
        let dir = tempfile::tempdir().unwrap();
        let stores = [open(dir.path()).await, open(dir.path()).await];
        let tables = searching_tables(dir.path()).await;
        let mut memories: Vec<Memory> = Vec::new();
        for step in 0..60 {
            let store = &stores[dice.below(2)];
            let some = (!memories.is_empty()).then(|| dice.below(memories.len().max(1)));
            match (dice.below(12), some) {
                (0..=4, _) | (_, None) => {
                    let new: Vec<Memory> = (0..=dice.below(3)).map(|n| any_memory(&mut dice, step * 10 + n)).collect();
                    commit(store, new.iter().map(|memory| as_it_is(memory, Some(AXIS))).collect()).await;
                    memories.extend(new);
                }
                (5..=6, Some(at)) => {
                    let kind = [SignalKind::Helpful, SignalKind::Injected][dice.below(2)];
                    commit(store, vec![Record::Signal(signal(&memories[at], kind, now()))]).await;
                }
                (7..=8, Some(at)) => {
                    let status = [Status::Active, Status::Archived][dice.below(2)];
                    memories[at] = next(&memories[at], |memory| {
                        memory.status = status;
                        memory.content = "common words changed".into();
                    });
                    commit(store, vec![change(&memories[at], Some(AXIS))]).await;
                }
                (9, Some(at)) if dice.below(3) == 0 => {
                    let gone = memories.swap_remove(at);
                    store.erase(EraseScope::Memory(gone.id), soon()).await.unwrap();
                }
                (10, Some(_)) => drop(store.maintain(soon()).await.unwrap()),
                // several changes may lie between two searches
                _ => continue,
            }
            let visible = Visible { team: Some("red".into()), ..visible(&workspace("/here")) };
            let conditions = match dice.below(3) {
                0 => Conditions { tags: vec!["io".into()], ..Conditions::default() },
                1 => Conditions { warnings_only: true, ..Conditions::default() },
                _ => Conditions::default(),
            };
            let signature = Some(Signature::of("ValueError", None));
            let text = Some(["common words", "gauge", "changed valve"][dice.below(3)].to_owned());
            let asked =
                Recall { visible, conditions, signature, text, limit: 500, ..by_vector(&workspace("/here"), AXIS) };
            let expected = told(&tables.candidates(asked.clone(), soon()).await.unwrap());
            for store in &stores {
                let found = store.candidates(asked.clone(), soon()).await.unwrap();
                assert_eq!(told(&found), expected, "seed {seed}, step {step}");
            }
        }
        assert!(stores.iter().all(|store| store.resident().answered > 20), "{:?}", stores.map(|s| s.resident()));
    }
}

#[tokio::test]
async fn indexes_keep_to_their_budget_and_those_used_last_stay() {
    let dir = tempfile::tempdir().unwrap();
    let all: Vec<Memory> = ["/one", "/two"]
        .iter()
        .flat_map(|name| (0..40).map(|n| memory(&workspace(name), &format!("Title {n}"), "common words")))
        .collect();
    let small = keeping(dir.path(), 1_000).await;
    commit(&small, all.iter().map(|memory| record(memory, Some(AXIS))).collect()).await;
    for _ in 0..3 {
        let (found, in_memory) = find(&small, common("/one")).await;
        assert!(!in_memory && ids(&found.text).len() == 40);
        assert_eq!(small.resident().indexes, 0);
    }
    let roomy = open(dir.path()).await;
    assert!(find(&roomy, common("/one")).await.1);
    let one = roomy.resident().bytes;
    assert!(one > 40 * 100, "{one}");
    let tight = keeping(dir.path(), one * 3 / 2).await;
    for name in ["/one", "/two", "/two", "/one"] {
        let (found, in_memory) = find(&tight, common(name)).await;
        assert!(in_memory && ids(&found.vector).len() == 40, "{name}");
        assert_eq!(tight.resident().indexes, 1);
    }
}

#[tokio::test]
async fn a_small_index_does_not_take_the_place_of_a_large_one_that_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let many = |name: &str, count: usize| -> Vec<Record> {
        let of = |n| memory(&workspace(name), &format!("Title {n}"), "common words");
        (0..count).map(|n| as_it_is(&of(n), Some(AXIS))).collect()
    };
    let roomy = open(dir.path()).await;
    commit(&roomy, many("/large", 1_500)).await;
    commit(&roomy, many("/small", 20)).await;
    assert!(find(&roomy, common("/large")).await.1);
    let store = keeping(dir.path(), roomy.resident().bytes).await;
    for (name, expected) in [("/large", true), ("/small", false), ("/large", true), ("/small", false)] {
        assert_eq!(find(&store, common(name)).await.1, expected, "{name}");
    }
}

#[tokio::test]
async fn a_large_index_is_made_and_brought_up_to_date_while_tables_answer() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let many = |from: usize, count: usize| -> Vec<Memory> {
        (from..from + count).map(|n| memory(&workspace("/here"), &format!("Title {n}"), "common words")).collect()
    };
    let whole = |memories: &[Memory]| memories.iter().map(|memory| as_it_is(memory, Some(AXIS))).collect();
    let beside: Vec<Memory> =
        (0..30).map(|n| memory(&workspace("/beside"), &format!("Title {n}"), "common words")).collect();
    commit(&store, whole(&many(0, 5_200))).await;
    commit(&store, whole(&beside)).await;
    let helped = |memory: &Memory| Record::Signal(signal(memory, SignalKind::Helpful, now()));
    let elsewhere = memory(&workspace("/here"), "Title", "common words");
    commit(&store, vec![as_it_is(&elsewhere, Some(AXIS))]).await;
    commit(&store, [&elsewhere].repeat(900).into_iter().chain(&beside[..2]).map(helped).collect()).await;
    let (found, in_memory) = find(&store, common("/beside")).await;
    assert!(in_memory, "a small one is made at once, however many memories others have");
    assert_eq!(sorted(ids(&found.text)), ids_of(&beside));
    let with_evidence = found.facts.iter().filter(|(_, evidence)| evidence.count(SignalKind::Helpful) == 1);
    assert_eq!(sorted(with_evidence.map(|(facts, _)| facts.id).collect()), ids_of(&beside[..2]));
    let last = memory(&workspace("/here"), "Last", "a singular sentence");
    let singular = || by_text(&workspace("/here"), "singular");
    assert!(!find(&store, singular()).await.1, "a large one is not made for who asks once");
    assert!(!find(&store, singular()).await.1);
    assert_eq!(ids(&once_in_memory(&store, &singular()).await.text), []);

    let mut more = many(6_000, 2_500);
    more.push(last.clone());
    commit(&store, whole(&more)).await;
    assert_eq!(ids(&find(&store, singular()).await.0.text), [last.id]);
    assert_eq!(ids(&once_in_memory(&store, &singular()).await.text), [last.id]);
}

#[test]
fn a_process_finds_what_others_wrote_and_changed_and_nothing_that_they_deleted() {
    let place = Place::new();
    place.write(
        "config/reasoning-bank/config.toml",
        "mcp.toolsets = ['all']\nmcp.destructive = 'allow'\nllm.provider = 'none'\n",
    );
    let [mut one, mut other] = [(); 2].map(|()| McpProcess::initialized(&place, &[]));
    let found = |process: &mut McpProcess, query: &str| -> Vec<Value> {
        let found = process.call("retrieve_memories", json!({"query": query}));
        let memories = found["memories"].as_array().unwrap();
        memories.iter().map(|memory| json!([memory["id"], memory["content"]])).collect()
    };
    assert_eq!(found(&mut one, "close before rename"), [Value::Null; 0]);
    for n in 0..3 {
        let content = format!("Close before rename, {n}.");
        let lesson = json!({"title": "Close files", "description": "When it fits.", "content": content});
        let id = other.call("record_memory", lesson)["id"].clone();
        assert_eq!(found(&mut one, "close before rename"), [json!([id, content])]);
        other.call("update_memory", json!({"memory_id": id, "content": "Flush, then rename."}));
        assert_eq!(found(&mut one, "flush"), [json!([id, "Flush, then rename."])]);
        other.call("delete_memory", json!({"memory_id": id, "confirm": true}));
        assert_eq!(found(&mut one, "flush"), [Value::Null; 0]);
    }
}
