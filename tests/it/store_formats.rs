//! Directories of earlier formats are upgraded at open, also after an upgrade that broke off. That later formats are
//! refused is shown in `store_lance`.

use std::fs;
use std::path::Path;

use futures::TryStreamExt;
use lancedb::index::Index;
use lancedb::index::scalar::FtsIndexBuilder;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use reasoning_bank_actors::ports::{
    Conditions, EraseScope, JobFilter, MemoryCommit, MemoryFilter, MemoryStore, Recall, Record, StoreReads, Summary,
    Visible,
};
use reasoning_bank_domain::episode::{EpisodeFilter, LifecycleRules};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, Scope};
use rstest::rstest;

use crate::store_fixtures::*;
use crate::store_lance::*;

const MEMORIES: [&str; 8] = ["id", "workspace", "scope", "status", "duplicate_key", "parent", "derived_from", "body"];
const TRACES: [&str; 3] = ["id", "workspace", "body"];

/// Writes a table again with these columns only, in as many fragments as it had batches.
async fn rewrite(dir: &Path, name: &str, columns: &[&str]) {
    let lance = dir.join("lance");
    let connection = lancedb::connect(lance.to_str().unwrap()).execute().await.unwrap();
    let table = connection.open_table(name).execute().await.unwrap();
    let query = table.query().select(Select::columns(columns));
    let rows: Vec<_> = query.execute().await.unwrap().try_collect().await.unwrap();
    let schema = table.schema().await.unwrap();
    let fields: Vec<_> = columns.iter().map(|name| schema.field_with_name(name).unwrap().clone()).collect();
    drop(table);
    fs::remove_dir_all(lance.join(format!("{name}.lance"))).unwrap();
    let schema = std::sync::Arc::new(lancedb::arrow::arrow_schema::Schema::new(fields));
    let table = connection.create_empty_table(name, schema).execute().await.unwrap();
    for batch in rows {
        table.add(batch).execute().await.unwrap();
    }
}

/// Makes the sixth format on disk: memories do not say the stage of a pattern, and there is no history.
async fn downgrade_to_the_sixth(dir: &Path) {
    rewrite(dir, "memories", &[&MEMORIES[..], &["outcome", "signature", "team", "org"]].concat()).await;
    fs::remove_dir_all(dir.join("lance/history.lance")).unwrap();
    fs::write(dir.join("format_version"), "6\n").unwrap();
}

/// Makes the fifth format on disk: traces have no labels, and episodes neither a state nor vectors.
async fn downgrade_to_the_fifth(dir: &Path) {
    downgrade_to_the_sixth(dir).await;
    rewrite(dir, "traces", &[&TRACES[..], &["outcome", "created"]].concat()).await;
    for table in ["episode_state", "episode_vectors"] {
        fs::remove_dir_all(dir.join(format!("lance/{table}.lance"))).unwrap();
    }
    fs::write(dir.join("format_version"), "5\n").unwrap();
}

/// Makes the third format on disk: the text index is over the texts themselves, and passages know less of
/// their memories.
async fn downgrade_to_the_third(dir: &Path) {
    downgrade_to_the_fifth(dir).await;
    let connection = lancedb::connect(dir.join("lance").to_str().unwrap()).execute().await.unwrap();
    let passages = connection.open_table("passages").execute().await.unwrap();
    passages.drop_index("passages_terms").await.unwrap();
    passages.drop_columns(&["terms", "created", "outcome", "source", "difficulty"]).await.unwrap();
    let index = Index::FTS(FtsIndexBuilder::code());
    passages.create_index(&["text"], index).name("passages_text".into()).execute().await.unwrap();
    fs::write(dir.join("format_version"), "3\n").unwrap();
}

/// Makes the directory one of the second format, which has no signatures and no jobs.
async fn downgrade_to_the_second(dir: &Path) {
    downgrade_to_the_third(dir).await;
    rewrite(dir, "memories", &[&MEMORIES[..], &["outcome"]].concat()).await;
    fs::remove_dir_all(dir.join("lance/jobs.lance")).unwrap();
    fs::write(dir.join("format_version"), "2\n").unwrap();
}

/// Makes the directory one of the first format, which has no outcome and no time either, and whose passages have no
/// revision in their ids.
async fn downgrade_to_the_first(dir: &Path) {
    downgrade_to_the_second(dir).await;
    rewrite(dir, "memories", &MEMORIES).await;
    rewrite(dir, "traces", &TRACES).await;
    let connection = lancedb::connect(dir.join("lance").to_str().unwrap()).execute().await.unwrap();
    let passages = connection.open_table("passages").execute().await.unwrap();
    let id = "concat(memory_id, '/', kind, '/', cast(n as string))";
    passages.update().column("id", id).execute().await.unwrap();
    fs::write(dir.join("format_version"), "1\n").unwrap();
}

async fn summary(store: &impl StoreReads) -> Summary {
    store.summary(soon()).await.unwrap()
}

fn stamp(dir: &Path) -> String {
    fs::read_to_string(dir.join("format_version")).unwrap()
}

async fn bank(dir: &Path) -> Vec<Memory> {
    let memories = numbered(6);
    let store = open(dir).await;
    for three in memories.chunks(3) {
        store.commit(three.iter().flat_map(full_batch).collect(), soon()).await.unwrap();
    }
    store.close(soon()).await.unwrap();
    memories
}

#[rstest]
#[case::never_begun(&[])]
#[case::after_the_traces(&["memories"])]
#[case::before_the_stamp(&["memories", "traces"])]
#[tokio::test]
async fn a_directory_of_the_first_format_is_upgraded_once_and_whole(#[case] not_reached: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let mut memories = bank(dir.path()).await;
    downgrade_to_the_first(dir.path()).await;
    if !not_reached.is_empty() {
        // an upgrade that was killed: some tables are as they will be, others as they were, and the stamp is the old
        // one
        drop(open(dir.path()).await);
        assert_eq!(stamp(dir.path()), "7\n");
        let later = ["traces", "memories"].into_iter().skip_while(|table| !not_reached.contains(table));
        for table in later.filter(|_| not_reached.len() == 1) {
            rewrite(dir.path(), table, if table == "traces" { &TRACES } else { &MEMORIES }).await;
        }
        fs::write(dir.path().join("format_version"), "1\n").unwrap();
    }
    // frames of that format wait, too
    leave_journal(dir.path(), &frame(&full_batch(&memories[0])[1..2]));
    let store = open(dir.path()).await;
    assert_eq!(stamp(dir.path()), "7\n");
    assert_whole_without_jobs(&store, &memories).await;
    assert_eq!(summary(&store).await.traces.get(&Outcome::Success), Some(&6));

    // and it is used like any other
    commit_each(&store, &[memory(&workspace("/here"), "Later", "common words")]).await;
    let changed = next(&memories[0], |memory| memory.content = "changed words".into());
    store.commit(vec![change(&changed, Some(AXIS))], soon()).await.unwrap();
    memories[0] = changed;
    store.maintain(soon()).await.unwrap();
    assert_eq!(summary(&store).await.memories_by_outcome.values().sum::<u64>(), 7);
    let before = now() + jiff::SignedDuration::from_secs(1);
    let erased = store.erase(EraseScope::Traces { workspace: None, before }, soon()).await.unwrap();
    assert_eq!(erased.traces, 7);
    drop(store);
    let store = open(dir.path()).await;
    assert_eq!(store.get(vec![memories[0].id], soon()).await.unwrap()[0].memory, memories[0]);
}

#[tokio::test]
async fn a_memory_with_the_repeat_key_of_an_older_version_is_known_when_it_is_said_again() {
    let dir = tempfile::tempdir().unwrap();
    let here = workspace("/here");
    let of = |domain: Option<&str>| Memory {
        domain_category: domain.map(str::to_owned),
        ..memory(&here, "Ask before a push", "if asked:\n    push")
    };
    let kept = of(Some("ios"));
    let store = open(dir.path()).await;
    commit_each(&store, std::slice::from_ref(&kept)).await;
    store.close(soon()).await.unwrap();
    drop(store);
    let connection = lancedb::connect(dir.path().join("lance").to_str().unwrap()).execute().await.unwrap();
    let memories = connection.open_table("memories").execute().await.unwrap();
    let former = format!("'{}'", kept.former_duplicate_key());
    memories.update().column("duplicate_key", former).execute().await.unwrap();
    drop(memories);

    let store = open(dir.path()).await;
    let said = async |memory: Memory| {
        let confirm = Some(uuid::Uuid::now_v7().into());
        let record = Record::Memory { memory, passages: Vec::new(), confirm };
        store.commit(vec![record], soon()).await.unwrap().memories[0]
    };
    assert_eq!(said(of(Some("ios"))).await, MemoryCommit::Reinforced(kept.id));
    for other in [of(Some("android")), of(None)] {
        assert_eq!(said(other.clone()).await, MemoryCommit::Created(other.id), "{:?}", other.domain_category);
    }
}

#[tokio::test]
async fn traces_of_a_directory_of_the_fifth_format_are_episodes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let here = workspace("/here");
    let fixed = Trace { task: "Fix the pager".into(), ..trace(&here, "task") };
    let other = Trace { task: "Add a flag".into(), ..trace(&here, "task") };
    store.commit([&fixed, &other].map(|trace| Record::Trace(trace.clone())).to_vec(), soon()).await.unwrap();
    store.close(soon()).await.unwrap();
    drop(store);
    downgrade_to_the_fifth(dir.path()).await;
    let filter = EpisodeFilter {
        task_type: Some("debugging".into()),
        ..EpisodeFilter::of(here, LifecycleRules::default(), now())
    };
    for accesses in 0..2 {
        let store = open(dir.path()).await;
        assert_eq!(stamp(dir.path()), "7\n");
        let found = store.episodes(filter.clone(), None, 9, soon()).await.unwrap();
        assert_eq!(
            found.iter().map(|row| (&row.trace, row.state.access_count)).collect::<Vec<_>>(),
            [(&fixed, accesses)]
        );
        store.commit(vec![Record::EpisodeState(found[0].state.accessed(1, now()))], soon()).await.unwrap();
        store.maintain(soon()).await.unwrap();
        store.close(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn patterns_of_a_directory_of_the_sixth_format_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let here = workspace("/here");
    let (plain, pattern) = (memory(&here, "Plain", "words"), pattern(&here, "Pattern"));
    let store = open(dir.path()).await;
    commit_each(&store, &[plain, pattern.clone()]).await;
    store.close(soon()).await.unwrap();
    drop(store);
    downgrade_to_the_sixth(dir.path()).await;
    let filter = MemoryFilter { patterns_only: true, ..MemoryFilter::default() };
    for _ in 0..2 {
        let store = open(dir.path()).await;
        assert_eq!(stamp(dir.path()), "7\n");
        let listed = store.memories(filter.clone(), everything(), soon()).await.unwrap();
        assert_eq!(listed.iter().map(|row| row.memory.id).collect::<Vec<_>>(), [pattern.id]);
        store.close(soon()).await.unwrap();
    }
}

/// Returns the memories that are found by the kind of their error alone.
async fn found_by_error(store: &impl StoreReads, raw: &str) -> Vec<MemoryId> {
    let visible = Visible { team: Some("red".into()), ..visible(&workspace("/here")) };
    let recall = Recall { signature: Some(Signature::of(raw, None)), visible, ..recall(&workspace("/here")) };
    let found = store.candidates(recall, soon()).await.unwrap().facts;
    sorted(found.into_iter().map(|(facts, _)| facts.id).collect())
}

#[rstest]
#[case::of_the_first(1)]
#[case::of_the_second(2)]
#[tokio::test]
async fn warnings_of_a_directory_of_an_earlier_format_are_found_by_their_errors(#[case] format: u32) {
    let dir = tempfile::tempdir().unwrap();
    let [plain, warned] = [memory(&workspace("/here"), "A", "1"), warning(memory(&workspace("/here"), "B", "2"))];
    let store = open(dir.path()).await;
    commit_each(&store, &[plain, warned.clone()]).await;
    store.close(soon()).await.unwrap();
    drop(store);
    match format {
        1 => downgrade_to_the_first(dir.path()).await,
        _ => downgrade_to_the_second(dir.path()).await,
    }
    for _ in 0..2 {
        let store = open(dir.path()).await;
        assert_eq!(stamp(dir.path()), "7\n");
        assert_eq!(found_by_error(&store, "ValueError").await, [warned.id]);
        assert_eq!(summary(&store).await.traces.get(&Outcome::Success), Some(&2));
        let queued = job(&workspace("/here"), "session", now());
        store.commit(vec![Record::Job(queued.clone())], soon()).await.unwrap();
        assert_eq!(store.job(queued.id, None, soon()).await.unwrap().as_ref(), Some(&queued));
        assert_eq!(store.jobs(JobFilter::default(), everything(), soon()).await.unwrap(), [queued]);
        // everything works on as before, in fragments of both kinds
        let changed = store.get(vec![warned.id], soon()).await.unwrap().remove(0).memory;
        store.commit(vec![change(&next(&changed, |_| ()), Some(AXIS))], soon()).await.unwrap();
        store.maintain(soon()).await.unwrap();
        assert_eq!(found_by_error(&store, "ValueError").await, [warned.id]);
        store.close(soon()).await.unwrap();
    }
}

#[rstest]
#[case::of_the_first(1)]
#[case::of_the_second(2)]
#[case::of_the_third(3)]
#[tokio::test]
async fn the_words_of_a_directory_of_an_earlier_format_are_found_as_they_are_now(#[case] format: u32) {
    let dir = tempfile::tempdir().unwrap();
    let known = memory(&workspace("/here"), "Headers", "call parseHttpHeader first");
    let known = Memory { difficulty_level: Some("Hard".into()), ..known };
    let store = open(dir.path()).await;
    commit_each(&store, std::slice::from_ref(&known)).await;
    store.close(soon()).await.unwrap();
    drop(store);
    match format {
        1 => downgrade_to_the_first(dir.path()).await,
        2 => downgrade_to_the_second(dir.path()).await,
        _ => downgrade_to_the_third(dir.path()).await,
    }
    for _ in 0..2 {
        let store = open(dir.path()).await;
        assert_eq!(stamp(dir.path()), "7\n");
        for query in ["parse headers", "ParseHTTPHeader"] {
            let found = store.candidates(by_text(&workspace("/here"), query), soon()).await.unwrap();
            assert_eq!(ids(&found.text), [known.id], "{query}");
        }
        for (conditions, expected) in narrowed(&known) {
            let recall = Recall { conditions, ..by_text(&workspace("/here"), "headers") };
            let found = ids(&store.candidates(recall, soon()).await.unwrap().text);
            assert_eq!(!found.is_empty(), expected);
        }
        let indexes = index_names(dir.path()).await;
        assert!(
            indexes.contains(&"passages_terms".into()) && !indexes.contains(&"passages_text".into()),
            "{indexes:?}"
        );
        store.close(soon()).await.unwrap();
    }
}

/// Returns conditions on the fields of memories that passages have since the fourth format, and whether they hold.
fn narrowed(known: &Memory) -> [(Conditions, bool); 5] {
    let (made, some) = (known.created_at, Conditions::default);
    [
        (Conditions { since: Some(made), outcome: Some(known.outcome), ..some() }, true),
        (Conditions { source_type: Some(known.source_type), difficulty: Some("hard".into()), ..some() }, true),
        (Conditions { until: Some(made), ..some() }, false),
        (Conditions { outcome: Some(MemoryOutcome::Mixed), ..some() }, false),
        (Conditions { difficulty: Some("easy".into()), ..some() }, false),
    ]
}

async fn index_names(dir: &Path) -> Vec<String> {
    let connection = lancedb::connect(dir.join("lance").to_str().unwrap()).execute().await.unwrap();
    let passages = connection.open_table("passages").execute().await.unwrap();
    passages.list_indices().await.unwrap().into_iter().map(|index| index.name).collect()
}

/// A process of the second format was running during the upgrade.
#[tokio::test]
async fn what_a_process_of_an_earlier_format_goes_on_writing_is_complete_at_the_next_open() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut red = warning(memory(&workspace("/there"), "Red", "1"));
    (red.scope, red.team) = (Scope::Team, Some("red".into()));
    let late = [red, warning(memory(&workspace("/here"), "Own", "2")), memory(&workspace("/here"), "Plain", "3")];
    let store = open(elsewhere.path()).await;
    store.commit(late.iter().map(|memory| as_it_is(memory, Some(AXIS))).collect(), soon()).await.unwrap();
    drop(store);
    downgrade_to_the_second(elsewhere.path()).await;
    drop(open(dir.path()).await);
    let [from, to] = [&elsewhere, &dir].map(|dir| dir.path().join("lance").to_str().unwrap().to_owned());
    for table in ["memories", "passages"] {
        let rows = lancedb::connect(&from).execute().await.unwrap().open_table(table).execute().await.unwrap();
        let rows: Vec<_> = rows.query().execute().await.unwrap().try_collect().await.unwrap();
        let upgraded = lancedb::connect(&to).execute().await.unwrap().open_table(table).execute().await.unwrap();
        upgraded.add(rows).execute().await.unwrap();
    }
    let [red, own, plain] = late.each_ref().map(|memory| memory.id);
    for _ in 0..2 {
        let store = open(dir.path()).await;
        assert_eq!(found_by_error(&store, "ValueError").await, sorted(vec![red, own]));
        let found = store.get(vec![red, own, plain], soon()).await.unwrap();
        assert_eq!(found.into_iter().map(|row| row.memory).collect::<Vec<_>>(), late);
    }
}

/// Each line is the body of a frame as versions with the first and with the second format wrote it: a workspace, a
/// trace, a warning and a signal; then the warning changed.
#[tokio::test]
async fn frames_that_earlier_versions_wrote_are_replayed() {
    let bodies = include_str!("data/frames_of_earlier_formats.jsonl");
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).await);
    leave_journal(dir.path(), &bodies.lines().map(|body| frame_with(body.as_bytes())).collect::<Vec<_>>().concat());
    let store = open(dir.path()).await;
    assert!(!dir.path().join("set-aside").exists());
    let id: MemoryId = "019a0000-0000-7000-8000-000000000001".parse().unwrap();
    let row = store.get(vec![id], soon()).await.unwrap().remove(0);
    assert_eq!((row.memory.revision, row.memory.content.as_str()), (2, "changed words"));
    assert_eq!(row.evidence.usage_count() + row.evidence.count(SignalKind::Helpful), 1);
    assert_eq!(found_by_error(&store, "ValueError").await, [id]);
    let summary = summary(&store).await;
    assert_eq!((summary.rows, summary.traces.get(&Outcome::Success)), (6, Some(&1)));
    assert_eq!(store.workspaces(soon()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_table_that_falls_back_to_a_version_from_before_the_upgrade_is_upgraded_again() {
    let dir = tempfile::tempdir().unwrap();
    let memories = bank(dir.path()).await;
    downgrade_to_the_first(dir.path()).await;
    drop(open(dir.path()).await);
    for table in ["traces", "memories"] {
        let newest = table_files(dir.path(), table, "_versions").remove(0);
        fs::OpenOptions::new().write(true).open(newest).unwrap().set_len(0).unwrap();
    }
    let store = open(dir.path()).await;
    assert_whole_without_jobs(&store, &memories).await;
    assert_eq!(summary(&store).await.traces.get(&Outcome::Success), Some(&6));
}

#[tokio::test]
async fn what_is_left_of_a_damaged_table_of_the_first_format_is_upgraded() {
    let dir = tempfile::tempdir().unwrap();
    let memories = bank(dir.path()).await;
    downgrade_to_the_first(dir.path()).await;
    for table in ["traces", "memories"] {
        let data = table_files(dir.path(), table, "data");
        fs::OpenOptions::new().write(true).open(&data[0]).unwrap().set_len(10).unwrap();
    }
    // the history still knows what the fragment held
    let store = open(dir.path()).await;
    assert_whole_without_jobs(&store, &memories).await;
    assert_eq!(summary(&store).await.traces.get(&Outcome::Success), Some(&6));
}

#[tokio::test]
async fn a_summary_of_a_large_bank_says_what_the_disk_and_the_indexes_hold() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories: Vec<Memory> =
        (0..10_000).map(|n| memory(&workspace("/here"), &format!("Title {n}"), &"words ".repeat(50))).collect();
    for chunk in memories.chunks(2_000) {
        store.commit(chunk.iter().map(|memory| as_it_is(memory, Some(AXIS))).collect(), soon()).await.unwrap();
    }
    let before = summary(&store).await;
    assert_eq!((before.rows, before.index_lag_rows), (20_000, 10_000));
    assert!(before.fragments >= 10, "{before:?}");
    store.maintain(soon()).await.unwrap();
    commit_each(&store, &numbered(1)).await;
    let after = summary(&store).await;
    assert_eq!((after.rows, after.index_lag_rows), (20_005, 1));
    assert!(after.bytes > 10_000 * 50, "{after:?}");
}
