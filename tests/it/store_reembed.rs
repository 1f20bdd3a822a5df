//! A change of the embedder: the old vectors serve until all are made again, whatever is written, erased or killed
//! meanwhile. Processes stand in as instances of their own on one directory.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{
    Chunk, EmbedError, Embedder, EmbedderState, EraseScope, Fingerprint, MemoryStore, Recall, StoreError, StoreReads,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::testkit::HashEmbedder;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::note::Code;
use reasoning_bank_store::{LanceStore, Options};
use rstest::rstest;

use crate::store_fixtures::*;
use crate::store_lance::{AXIS, files};
use crate::support::{Place, Ran};

/// A number of memories whose vectors are not all made at once.
const MANY: usize = 1_200;

/// The new embedder, which breaks off after a number of texts.
struct BreaksOff {
    inner: HashEmbedder,
    left: AtomicUsize,
}

impl BreaksOff {
    fn after(texts: usize) -> Self {
        Self { inner: HashEmbedder::new(), left: AtomicUsize::new(texts) }
    }

    fn embedded(&self, of: usize) -> usize {
        of - self.left.load(Ordering::SeqCst)
    }
}

impl Embedder for BreaksOff {
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn state(&self) -> EmbedderState {
        self.inner.state()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        self.inner.embed_query(text, deadline)
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        let take = |left: usize| left.checked_sub(texts.len());
        match self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
            Ok(_) => self.inner.embed_documents(texts, deadline),
            Err(_) => Box::pin(async { Err(EmbedError::Overloaded) }),
        }
    }
}

/// The new embedder, while whose first texts are embedded somebody erases a memory.
struct Erases {
    inner: HashEmbedder,
    store: LanceStore,
    memory: Mutex<Option<MemoryId>>,
}

impl Embedder for Erases {
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }

    fn state(&self) -> EmbedderState {
        self.inner.state()
    }

    fn embed_query(&self, text: String, deadline: Deadline) -> BoxFuture<'_, Result<Vec<f32>, EmbedError>> {
        self.inner.embed_query(text, deadline)
    }

    fn embed_documents(
        &self,
        texts: Vec<String>,
        deadline: Deadline,
    ) -> BoxFuture<'_, Result<Vec<Vec<Chunk>>, EmbedError>> {
        let doomed = self.memory.lock().unwrap().take();
        Box::pin(async move {
            if let Some(memory) = doomed {
                self.store.erase(EraseScope::Memory(memory), soon()).await.unwrap();
            }
            self.inner.embed_documents(texts, deadline).await
        })
    }
}

fn lessons(count: usize) -> Vec<Memory> {
    (0..count).map(|n| memory(&workspace("/here"), &format!("Title {n}"), &format!("common words {n}"))).collect()
}

async fn commit(store: &LanceStore, memories: &[Memory]) {
    for some in memories.chunks(500) {
        let batch = some.iter().map(|memory| as_it_is(memory, Some(AXIS))).collect();
        store.commit(batch, soon()).await.unwrap();
    }
}

async fn open_new(dir: &Path) -> LanceStore {
    LanceStore::open(dir, HashEmbedder::new().fingerprint(), Options::default()).await.unwrap()
}

async fn refusal(dir: &Path) -> Option<StoreError> {
    LanceStore::open(dir, &fingerprint(), Options::default()).await.err()
}

/// Every memory has one passage with the vector that the new embedder makes of it, and both searches find it.
async fn assert_made(store: &LanceStore, memories: &[Memory]) {
    let embedder = HashEmbedder::new();
    let made = memories.iter().map(|memory| memory.id).collect();
    let mut passages = store.passages(made, soon()).await.unwrap();
    let texts = memories.iter().map(Memory::content_text).collect();
    for (memory, mut made) in memories.iter().zip(embedder.embed_documents(texts, soon()).await.unwrap()) {
        let stored = passages.remove(&memory.id).unwrap();
        assert_eq!(stored.len(), 1);
        assert_eq!((&stored[0].text, &stored[0].vector), (&memory.content_text(), &made.remove(0).vector));
    }
    let recall = |text, vector| Recall { text, vector, limit: 10_000, ..recall(&workspace("/here")) };
    let everywhere = recall(Some("common".into()), Some(embedder.embed_query("common".into(), soon()).await.unwrap()));
    let found = store.candidates(everywhere, soon()).await.unwrap();
    let expected = ids_of(memories);
    assert_eq!((sorted(ids(&found.text)), sorted(ids(&found.vector))), (expected.clone(), expected));
}

fn is_other<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::OtherEmbedder { .. }))
}

#[tokio::test]
async fn all_vectors_are_made_again_and_processes_of_the_old_embedder_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let (store, other) = (open(dir.path()).await, open(dir.path()).await);
    let memories = lessons(100);
    commit(&other, &memories).await;
    let told = Mutex::new(Vec::new());
    let done = store.reembed(&HashEmbedder::new(), |done, all| told.lock().unwrap().push((done, all))).await.unwrap();
    let told = told.into_inner().unwrap();
    assert_eq!((done, told.first(), told.last()), (100, Some(&(0, 100)), Some(&(100, 100))));

    for instance in [&store, &other] {
        let here = workspace("/here");
        assert!(is_other(instance.candidates(by_vector(&here, AXIS), soon()).await));
        assert!(is_other(instance.candidates(by_text(&here, "common"), soon()).await));
        assert!(is_other(instance.passages(vec![memories[0].id], soon()).await));
        assert!(is_other(instance.commit(vec![as_it_is(&lessons(1)[0], Some(AXIS))], soon()).await));
    }
    assert!(matches!(refusal(dir.path()).await, Some(StoreError::OtherEmbedder { .. })));
    assert_made(&open_new(dir.path()).await, &memories).await;
    let left = files(dir.path()).into_iter().filter(|path| path.to_string_lossy().contains("passages-"));
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn what_breaks_off_is_gone_on_with_and_what_changed_meanwhile_is_made_too() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let mut memories = lessons(MANY);
    commit(&store, &memories).await;
    assert_eq!(store.reembed(&BreaksOff::after(600), |_, _| ()).await.unwrap_err().code(), Code::EmbeddingUnavailable);

    let found = store.candidates(by_vector(&workspace("/here"), AXIS), soon()).await.unwrap();
    assert_eq!(ids(&found.vector).len(), 50, "the old vectors serve");
    let more = lessons(30);
    commit(&store, &more).await;
    for at in [0, MANY - 1] {
        let changed = next(&memories[at], |memory| memory.content = format!("common words, changed {at}"));
        store.commit(vec![change(&changed, Some(AXIS))], soon()).await.unwrap();
        memories[at] = changed;
    }
    let erased = memories.remove(1);
    store.erase(EraseScope::Memory(erased.id), soon()).await.unwrap();
    memories.extend(more);
    store.close(soon()).await.unwrap();

    let rest = BreaksOff::after(10_000);
    let again = open(dir.path()).await;
    assert_eq!(again.reembed(&rest, |_, _| ()).await.unwrap(), memories.len() as u64);
    assert!(rest.embedded(10_000) < 900, "what was made before is not made again: {}", rest.embedded(10_000));
    assert_made(&open_new(dir.path()).await, &memories).await;
}

/// Returns how many of the passages that are being made are of this memory; of all where none is named.
async fn being_made(dir: &Path, memory: Option<&Memory>) -> usize {
    let lance = lancedb::connect(dir.join("lance").to_str().unwrap()).execute().await.unwrap();
    let next = lance.open_table("passages-next").execute().await.unwrap();
    let of_it = memory.map(|memory| format!("memory_id = '{}'", memory.id));
    next.count_rows(of_it).await.unwrap()
}

#[tokio::test]
async fn an_erasure_leaves_nothing_among_the_vectors_that_are_being_made() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let mut memories = lessons(MANY);
    commit(&store, &memories).await;
    store.reembed(&BreaksOff::after(600), |_, _| ()).await.unwrap_err();
    let made = being_made(dir.path(), None).await;
    assert!((1..MANY).contains(&made), "{made}");
    // They are made in the order of ids.
    memories.sort_by_key(|memory| memory.id);
    let erased = memories.remove(0);
    assert_eq!(being_made(dir.path(), Some(&erased)).await, 1);
    store.erase(EraseScope::Memory(erased.id), soon()).await.unwrap();
    assert_eq!(being_made(dir.path(), None).await, made - 1);
    assert_eq!(being_made(dir.path(), Some(&erased)).await, 0);
    store.reembed(&HashEmbedder::new(), |_, _| ()).await.unwrap();
    assert_made(&open_new(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn what_is_erased_while_its_new_vector_is_made_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let mut memories = lessons(MANY);
    commit(&store, &memories).await;
    // They are made in the order of ids.
    memories.sort_by_key(|memory| memory.id);
    let erased = memories.remove(0);
    let (inner, memory) = (HashEmbedder::new(), Mutex::new(Some(erased.id)));
    let erases = Erases { inner, store: open(dir.path()).await, memory };
    assert_eq!(store.reembed(&erases, |_, _| ()).await.unwrap(), memories.len() as u64);
    assert_made(&open_new(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn another_embedder_than_the_one_that_was_begun_with_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = lessons(MANY);
    commit(&store, &memories).await;
    store.reembed(&BreaksOff::after(600), |_, _| ()).await.unwrap_err();
    let begun = dir.path().join("lance/reembed.json");
    let state = fs::read_to_string(&begun).unwrap();
    fs::write(&begun, state.replace(&HashEmbedder::new().fingerprint().hash, "ffff")).unwrap();
    let all = BreaksOff::after(10_000);
    store.reembed(&all, |_, _| ()).await.unwrap();
    assert_eq!(all.embedded(10_000), MANY);
    assert_made(&open_new(dir.path()).await, &memories).await;
}

/// The last thing that was done of the switch.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Killed {
    StateWritten,
    EmbedderNamed,
    OldTableMoved,
    NewTableInPlace,
}

#[rstest]
#[tokio::test]
async fn a_switch_that_was_killed_is_finished_by_whoever_comes_next(
    #[values(Killed::StateWritten, Killed::EmbedderNamed, Killed::OldTableMoved, Killed::NewTableInPlace)]
    killed: Killed,
    #[values(false, true)] by_an_instance_that_is_open: bool,
) {
    let (dir, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let memories = lessons(20);
    let store = open(dir.path()).await;
    commit(&store, &memories).await;
    store.close(soon()).await.unwrap();
    let (lance, kept) = (dir.path().join("lance"), old.path());
    copy(&lance.join("passages.lance"), &kept.join("passages.lance"));
    fs::copy(lance.join("fingerprint.json"), kept.join("fingerprint.json")).unwrap();
    let open_still = open(dir.path()).await;
    store.reembed(&HashEmbedder::new(), |_, _| ()).await.unwrap();

    // Back to where it was killed.
    let to = fs::read_to_string(lance.join("fingerprint.json")).unwrap();
    fs::write(lance.join("reembed.json"), format!("{{\"to\":{to},\"switching\":true}}")).unwrap();
    if killed < Killed::EmbedderNamed {
        fs::copy(kept.join("fingerprint.json"), lance.join("fingerprint.json")).unwrap();
    }
    if killed < Killed::NewTableInPlace {
        fs::rename(lance.join("passages.lance"), lance.join("passages-next.lance")).unwrap();
    }
    let former = if killed < Killed::OldTableMoved { "passages.lance" } else { "passages-former.lance" };
    copy(&kept.join("passages.lance"), &lance.join(former));

    if by_an_instance_that_is_open {
        assert!(is_other(open_still.commit(vec![as_it_is(&lessons(1)[0], Some(AXIS))], soon()).await));
    } else {
        assert!(matches!(refusal(dir.path()).await, Some(StoreError::OtherEmbedder { .. })));
    }
    assert_made(&open_new(dir.path()).await, &memories).await;
    assert!(!lance.join("reembed.json").exists() && !lance.join("passages-former.lance").exists());
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}

#[test]
fn the_command_changes_the_embedder_of_a_bank() {
    let place = Place::new();
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/all-MiniLM-L6-v2-int8");
    copy(&assets, &place.path("project/mini"));
    let run_with = |model: &str, arguments: &[&str]| {
        let mut command = place.command(arguments);
        Ran::of(command.env("REASONING_BANK__EMBEDDING__MODEL_DIR", model).output().unwrap())
    };
    let run = |arguments: &[&str]| run_with("mini", arguments);
    let empty = run(&["--json", "reembed"]).ok().json();
    assert_eq!((&empty["changed"], empty.get("from")), (&false.into(), None));
    let lesson = ["memory", "record", "--title", "Bound retries", "--description", "d", "--content", "with backoff"];
    place.run(&lesson).ok();
    let refused = run(&["--json", "memory", "search", "retries"]).exits(2).json();
    assert_eq!(refused["error"]["code"], "embedder_mismatch");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("reembed"), "{refused}");

    let done = run(&["--json", "reembed"]).ok().json();
    assert_eq!((&done["changed"], &done["passages"]), (&true.into(), &1.into()));
    assert!(done["to"].as_str().unwrap().starts_with("mini/384/"), "{done}");
    assert_eq!(run(&["--json", "memory", "search", "retries"]).ok().json()["mode"], "hybrid");
    let exported = run(&["memory", "export", "--vectors"]).ok().stdout;
    assert!(exported.contains("mini/384/") && !exported.contains("all-MiniLM"), "{exported}");
    assert!(run(&["reembed"]).ok().stdout.contains("nothing to do"));

    let search = ["--json", "memory", "search", "retries"];
    fs::rename(place.path("project/mini"), place.path("project/moved")).unwrap();
    assert_eq!(run_with("moved", &search).ok().json()["mode"], "hybrid", "a model that was moved is the same");
    place.write("project/moved/sentence_bert_config.json", r#"{"max_seq_length": 128}"#);
    let other_window = run_with("moved", &search).exits(2).json();
    assert_eq!(other_window["error"]["code"], "embedder_mismatch");
    assert_eq!(
        place.run(&["--json", "memory", "search", "retries"]).exits(2).json()["error"]["code"],
        "embedder_mismatch"
    );
}
