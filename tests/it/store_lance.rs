//! Tests of what only the store on disk can do: broken-off commits, several processes, refusals. Processes stand in as
//! instances of their own on one directory: locks and files cannot tell the difference. Damaged tables are in
//! `store_recovery`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reasoning_bank_actors::ports::{
    EraseScope, Fingerprint, JobFilter, MemoryCommit, MemoryFilter, MemoryStore, Page, PassageKind, Record, StoreError,
    StoreReads,
};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_store::{LanceStore, Options};
use rstest::rstest;
use serde_json::json;
use uuid::Uuid;

use crate::store_fixtures::*;

pub(crate) const AXIS: [f32; DIMS] = [1.0, 0.0, 0.0, 0.0];

/// A memory with a trace, a signal and a job, so that every table is written.
pub(crate) fn full_batch(memory: &Memory) -> Vec<Record> {
    let tried = trace(&memory.workspace_id, &memory.title);
    let used = signal(memory, SignalKind::Injected, now());
    let queued = job(&memory.workspace_id, &memory.title, now());
    vec![Record::Trace(tried), record(memory, Some(AXIS)), Record::Signal(used), Record::Job(queued)]
}

pub(crate) fn numbered(count: usize) -> Vec<Memory> {
    (0..count).map(|n| memory(&workspace("/here"), &format!("Title {n}"), "common words")).collect()
}

pub(crate) async fn commit_each(store: &LanceStore, memories: &[Memory]) {
    for memory in memories {
        let committed = store.commit(full_batch(memory), soon()).await.unwrap();
        assert_eq!(committed.memories, [MemoryCommit::Created(memory.id)]);
    }
}

/// Every memory is there once and whole: body, evidence, passage with its vector, trace, job, and both searches find
/// it.
pub(crate) async fn assert_whole(store: &LanceStore, memories: &[Memory]) {
    assert_whole_without_jobs(store, memories).await;
    let jobs = store.jobs(JobFilter::default(), everything(), soon()).await.unwrap();
    assert_eq!(jobs.len(), memories.len());
}

pub(crate) async fn assert_whole_without_jobs(store: &LanceStore, memories: &[Memory]) {
    let expected = ids_of(memories);
    let rows = store.memories(MemoryFilter::default(), everything(), soon()).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.memory.id).collect::<Vec<_>>(), expected);
    for row in rows {
        assert!(memories.contains(&row.memory));
        assert_eq!(row.evidence.usage_count(), 1, "{}", row.memory.title);
    }
    let traces = store.traces(None, everything(), soon()).await.unwrap();
    assert_eq!(traces.len(), memories.len());
    for memory in memories {
        let passages = store.passages(vec![memory.id], soon()).await.unwrap();
        let own = vec![passage(PassageKind::Content, 0, &memory.content_text(), AXIS)];
        assert_eq!(passages, BTreeMap::from([(memory.id, own)]));
    }
    let mut both = by_text(&workspace("/here"), "words");
    (both.vector, both.limit) = (Some(AXIS.to_vec()), 10_000);
    let found = store.candidates(both, soon()).await.unwrap();
    assert_eq!(sorted(ids(&found.text)), expected);
    assert_eq!(sorted(ids(&found.vector)), expected);
}

pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files
}

/// Returns how many files of a directory have this text in them.
pub(crate) fn holding(dir: &Path, text: &str) -> usize {
    let holds = |path: &PathBuf| fs::read(path).unwrap().windows(text.len()).any(|w| w == text.as_bytes());
    files(dir).iter().filter(|path| holds(path)).count()
}

pub(crate) fn table_files(dir: &Path, table: &str, part: &str) -> Vec<PathBuf> {
    let mut files = files(&dir.join("lance").join(format!("{table}.lance")).join(part));
    files.retain(|path| path.extension().is_some_and(|extension| extension != "json"));
    files.sort();
    files
}

pub(crate) fn frame(batch: &[Record]) -> Vec<u8> {
    frame_of(json!(batch))
}

fn frame_of(batch: serde_json::Value) -> Vec<u8> {
    frame_with(&serde_json::to_vec(&json!({ "erasures": 0, "batch": batch })).unwrap())
}

pub(crate) fn frame_with(body: &[u8]) -> Vec<u8> {
    let header = [(body.len() as u32).to_le_bytes(), crc32fast::hash(body).to_le_bytes()].concat();
    [&header, body].concat()
}

/// The journal of a process that was killed.
pub(crate) fn leave_journal(dir: &Path, content: &[u8]) -> String {
    let name = format!("{}.log", Uuid::now_v7());
    fs::write(dir.join("journal").join(&name), content).unwrap();
    name
}

#[tokio::test]
async fn what_a_killed_process_had_promised_is_replayed_and_its_torn_end_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(3);
    let lost = memory(&workspace("/here"), "Lost", "common words");
    let store = open(dir.path()).await;
    commit_each(&store, &memories[..1]).await;
    store.close(soon()).await.unwrap();
    let torn = frame(&full_batch(&lost));
    let journal = [frame(&full_batch(&memories[1])), frame(&full_batch(&memories[2])), torn[..torn.len() - 1].to_vec()];
    let name = leave_journal(dir.path(), &journal.concat());
    for _ in 0..2 {
        let store = open(dir.path()).await;
        assert_whole(&store, &memories).await;
        assert!(!dir.path().join("journal").join(&name).exists(), "what was replayed is not replayed again");
    }
}

#[tokio::test]
async fn a_commit_that_broke_off_is_finished_by_the_next_writer() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(2);
    let store = open(dir.path()).await;
    let name = leave_journal(dir.path(), &frame(&full_batch(&memories[0])));
    fs::write(dir.path().join("lance/.write.lock"), name).unwrap();
    commit_each(&store, &memories[1..]).await;
    assert_whole(&store, &memories).await;
    assert_eq!(fs::read(dir.path().join("lance/.write.lock")).unwrap(), b"");
}

#[tokio::test]
async fn frames_that_cannot_be_decoded_are_kept_aside_and_the_rest_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(2);
    drop(open(dir.path()).await);
    let foreign = frame_of(json!([{ "of another version": 1 }]));
    let journal = [frame(&full_batch(&memories[0])), foreign, frame(&full_batch(&memories[1])), vec![0; 4096]].concat();
    let name = leave_journal(dir.path(), &journal);
    for _ in 0..2 {
        assert_whole(&open(dir.path()).await, &memories).await;
        let [kept] = &files(&dir.path().join("set-aside"))[..] else { panic!("one copy") };
        assert!(kept.to_string_lossy().ends_with(&name));
        assert_eq!(fs::read(kept).unwrap(), journal);
    }
}

#[rstest]
#[case::while_the_table_is_broken(true)]
#[case::when_the_table_is_back(false)]
#[tokio::test]
async fn a_commit_that_failed_between_tables_outlives_the_close(#[case] broken: bool) {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(2);
    let options = Options { checkpoint_bytes: 1, ..Options::default() };
    let store = LanceStore::open(dir.path(), &fingerprint(), options).await.unwrap();
    commit_each(&store, &memories[..1]).await;
    let [table, away] = ["lance/passages.lance", "passages"].map(|name| dir.path().join(name));
    fs::rename(&table, &away).unwrap();
    fs::write(&table, "no table").unwrap();
    store.commit(full_batch(&memories[1]), soon()).await.unwrap_err();
    if broken {
        store.close(soon()).await.unwrap_err();
    }
    fs::remove_file(&table).unwrap();
    fs::rename(&away, &table).unwrap();
    if !broken {
        store.close(soon()).await.unwrap();
    }
    drop(store);
    assert_whole(&open(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn a_reader_closes_while_another_process_writes() {
    let dir = tempfile::tempdir().unwrap();
    let reader = open(dir.path()).await;
    let lock = fs::File::open(dir.path().join("lance/.write.lock")).unwrap();
    lock.lock().unwrap();
    reader.close(soon()).await.unwrap();
}

#[tokio::test]
async fn nobody_else_may_look_into_the_directories() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    drop(open(&data).await);
    for created in [data.clone(), data.join("lance"), data.join("journal")] {
        assert_eq!(fs::metadata(created).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[tokio::test]
async fn a_newer_format_another_embedder_and_a_place_that_is_no_directory_are_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(1);
    let store = open(dir.path()).await;
    commit_each(&store, &memories).await;
    store.close(soon()).await.unwrap();
    drop(store);
    let refusal = async |fingerprint: &Fingerprint| {
        LanceStore::open(dir.path(), fingerprint, Options::default()).await.err().unwrap()
    };

    let other = Fingerprint { name: "other".into(), dims: 8, hash: "ffff".into() };
    let expected = StoreError::OtherEmbedder { found: fingerprint().to_string(), expected: other.to_string() };
    assert_eq!(refusal(&other).await, expected);
    let version = dir.path().join("format_version");
    fs::write(&version, "8\n").unwrap();
    assert_eq!(refusal(&fingerprint()).await, StoreError::NewerFormat { found: 8, known: 7 });
    fs::write(&version, "eight").unwrap();
    assert!(matches!(refusal(&fingerprint()).await, StoreError::Unusable(message) if message.contains("eight")));
    fs::write(&version, "7\n").unwrap();
    assert_whole(&open(dir.path()).await, &memories).await;

    let store = open(dir.path()).await;
    fs::write(&version, "8\n").unwrap();
    let newer = || StoreError::NewerFormat { found: 8, known: 7 };
    let late = memory(&workspace("/here"), "Late", "of a process that an upgrade overtook");
    assert_eq!(store.commit(vec![record(&late, Some(AXIS))], soon()).await, Err(newer()));
    assert_eq!(store.erase(EraseScope::Workspace(workspace("/here")), soon()).await, Err(newer()));
    assert_eq!(store.maintain(soon()).await, Err(newer()));
    assert_whole(&store, &memories).await;
    drop(store);
    fs::write(&version, "7\n").unwrap();
    assert_whole(&open(dir.path()).await, &memories).await;

    let below_a_file = version.join("data");
    let refused = LanceStore::open(&below_a_file, &fingerprint(), Options::default()).await.err().unwrap();
    assert!(matches!(refused, StoreError::Unusable(message) if message.contains("format_version")));
    assert_eq!(fs::read_to_string(version).unwrap(), "7\n");
}

#[tokio::test]
async fn a_vector_of_another_length_is_refused_with_its_whole_batch() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let [good, bad] = ["good", "bad"].map(|title| memory(&workspace("/here"), title, "common words"));
    let mut wrong = passage(PassageKind::Content, 0, "text", AXIS);
    wrong.vector = Some(vec![1.0; 3]);
    let batch = vec![record(&good, Some(AXIS)), record_with(&bad, vec![wrong])];
    let refused = store.commit(batch, soon()).await;
    assert!(matches!(refused, Err(StoreError::Failed(message)) if message.contains("3 numbers")));
    assert!(store.get(vec![good.id, bad.id], soon()).await.unwrap().is_empty());
}

#[tokio::test]
async fn instances_see_at_once_what_others_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = [open(dir.path()).await, open(dir.path()).await];
    let memories = numbered(6);
    for (n, memory) in memories.iter().enumerate() {
        let (writer, reader) = if n % 2 == 0 { (&one, &two) } else { (&two, &one) };
        commit_each(writer, std::slice::from_ref(memory)).await;
        assert_whole(reader, &memories[..=n]).await;
    }
    one.erase(EraseScope::Memory(memories[0].id), soon()).await.unwrap();
    assert!(two.get(vec![memories[0].id], soon()).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_lose_and_double_nothing() {
    const WRITERS: usize = 4;
    const EACH: usize = 12;
    let dir = tempfile::tempdir().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    let memories = numbered(WRITERS * EACH);
    for (n, own) in memories.chunks(EACH).enumerate() {
        let (dir, own) = (dir.path().to_owned(), own.to_vec());
        tasks.spawn(async move {
            let store = open(&dir).await;
            let mut created = 0;
            for memory in &own {
                // everybody also says one thing that all the others say
                let common = self::memory(&workspace("/here"), "Common", "said by all");
                let mut batch = full_batch(memory);
                batch.push(record(&common, Some(AXIS)));
                let committed = store.commit(batch, soon()).await.unwrap().memories;
                assert_eq!(committed[0], MemoryCommit::Created(memory.id));
                created += usize::from(matches!(committed[1], MemoryCommit::Created(_)));
                if n == 0 {
                    store.maintain(soon()).await.unwrap();
                }
            }
            created
        });
    }
    let created: usize = tasks.join_all().await.into_iter().sum();
    assert_eq!(created, 1, "the common memory is created once and confirmed by all others");
    let store = open(dir.path()).await;
    let mut rows = store.memories(MemoryFilter::default(), everything(), soon()).await.unwrap();
    let common = rows.iter().position(|row| row.memory.title == "Common").unwrap();
    let common = rows.remove(common);
    assert_eq!(common.evidence.count(SignalKind::Confirmed) as usize, WRITERS * EACH - 1);
    let stored: Vec<MemoryId> = rows.iter().map(|row| row.memory.id).collect();
    assert_eq!(stored, ids_of(&memories));
    assert!(rows.iter().all(|row| row.evidence.usage_count() == 1));
}

#[tokio::test]
async fn commits_that_wait_become_one_and_a_caller_that_leaves_takes_no_half_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = numbered(40);
    let versions = table_files(dir.path(), "memories", "_versions").len();
    let all = memories.iter().map(|memory| store.commit(full_batch(memory), soon()));
    for committed in futures::future::join_all(all).await {
        committed.unwrap();
    }
    let written = table_files(dir.path(), "memories", "_versions").len() - versions;
    assert!(written < memories.len() / 2, "{written} commits for {} callers", memories.len());
    assert_whole(&store, &memories).await;

    let left = memory(&workspace("/here"), "Left", "other text");
    let impatient = tokio::time::timeout(Duration::from_millis(3), store.commit(full_batch(&left), soon())).await;
    let again = store.commit(full_batch(&left), soon()).await.unwrap();
    assert_eq!(again.memories, [MemoryCommit::Created(left.id)], "{impatient:?}");
    assert_eq!(store.get(vec![left.id], soon()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_was_erased_is_in_no_file_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let other_process = open(dir.path()).await;
    let secret = "xylophonequartz";
    let mut memories = numbered(3);
    let here = workspace("/here");
    let doomed = memory(&here, &format!("About {secret}"), &format!("never tell {secret} anybody"));
    commit_each(&other_process, std::slice::from_ref(&doomed)).await;
    commit_each(&store, &memories).await;
    store.maintain(soon()).await.unwrap();
    let holding = |part: &str| holding(&dir.path().join(part), secret);
    assert!(holding("lance") > 0 && holding("journal") > 0, "otherwise this test shows nothing");
    let erased = store.erase(EraseScope::Memory(doomed.id), soon()).await.unwrap();
    assert_eq!((erased.memories, erased.passages, erased.signals), (1, 1, 1));
    // its trace was the trace of a task with that title: it goes with the workspace
    store.erase(EraseScope::Workspace(here.clone()), soon()).await.unwrap();
    assert_eq!(holding("."), 0);
    memories = numbered(2);
    commit_each(&other_process, &memories).await;
    drop((store, other_process));
    assert_whole(&open(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn an_erasure_that_broke_off_is_finished_by_the_next_writer() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = numbered(3);
    commit_each(&store, &memories[..2]).await;
    let pending = json!({ "count": 1, "pending": EraseScope::Memory(memories[0].id) });
    fs::write(dir.path().join("journal/erasures.json"), pending.to_string()).unwrap();
    // a frame from before the erasure does not bring it back
    let name = leave_journal(dir.path(), &frame(&full_batch(&memories[0])));
    fs::write(dir.path().join("lance/.write.lock"), name).unwrap();
    commit_each(&store, &memories[2..]).await;
    assert!(store.get(vec![memories[0].id], soon()).await.unwrap().is_empty());
    assert_eq!(store.get(vec![memories[1].id, memories[2].id], soon()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn small_commits_are_merged_into_few_fragments_and_all_is_still_found() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = numbered(20);
    commit_each(&store, &memories).await;
    let done = store.maintain(soon()).await.unwrap();
    assert!(!done.busy && done.fragments_removed >= 5 * 19, "{done:?}");
    assert_whole(&store, &memories).await;
    assert_whole(&open(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn a_large_bank_gets_a_vector_index_and_answers_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let here = workspace("/here");
    let large: Vec<Record> = (0..5_200)
        .map(|n| {
            let angle = f32::from(n as u16) / 900.0;
            record(&memory(&here, &format!("Title {n}"), "gauge"), Some([angle.cos(), angle.sin(), 0.1, 0.0]))
        })
        .collect();
    store.commit(large, soon()).await.unwrap();
    let few = workspace("/few");
    let mine = memory(&few, "mine", "gauge");
    store.commit(vec![record(&mine, Some([0.0, 0.0, 0.0, 1.0]))], soon()).await.unwrap();
    let near = |workspace| by_vector(workspace, [0.0, 1.0, 0.1, 0.0]);
    let before = store.candidates(near(&here), soon()).await.unwrap();
    store.maintain(soon()).await.unwrap();
    let after = store.candidates(near(&here), soon()).await.unwrap();
    let shared = ids(&after.vector).iter().filter(|id| ids(&before.vector).contains(id)).count();
    assert!(shared >= 45, "{shared} of 50");
    // a small workspace is found in whatever partition it lies
    assert_eq!(ids(&store.candidates(near(&few), soon()).await.unwrap().vector), [mine.id]);
    let indexes = table_files(dir.path(), "passages", "_indices");
    assert!(indexes.iter().any(|path| path.ends_with("auxiliary.idx") || path.ends_with("index.idx")), "{indexes:?}");
    store.derived_from(vec![mine.id], Page::first(1), soon()).await.unwrap();
}
