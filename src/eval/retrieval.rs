//! `eval retrieval` stores a corpus as memories and asks for them as every client does.
//!
//! A query that names no workspace searches all documents. There is no way to read across workspaces, and none is made
//! for this: the documents are then also in one workspace that stands for all of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{Restorable, RetrieveRequest};
use reasoning_bank_actors::ports::{Conditions, Embedder, Recall, Visible};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{DESCRIPTION_MAX_CHARS, Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use reasoning_bank_domain::retrieval::candidates::over_fetch;
use reasoning_bank_domain::retrieval::fusion::RankedList;
use reasoning_bank_domain::retrieval::responses::SearchMode;
use reasoning_bank_domain::safety::secrets::Scrub;
use serde_json::json;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::dataset::{Corpus, CorpusDocument, DatasetQuery};
use super::report::{ByList, LatencyPercentiles, Measures, QueryCount, QueryLatency};
use super::{EvalError, RESIDENT_TIMEOUT, TimedEmbedder};

/// A run lists this many hits of a query.
const RUN_HITS: usize = 20;
/// MRR and nDCG look at this many hits.
const RANKED: usize = 10;
const BATCH_DOCUMENTS: usize = 256;
const BATCH_BYTES: usize = 1024 * 1024;
/// While one batch is embedded, another is stored.
const BATCHES_AT_ONCE: usize = 2;
const BATCH_TIMEOUT: Duration = Duration::from_secs(600);
const QUERY_TIMEOUT: Duration = Duration::from_secs(60);
const UPKEEP_TIMEOUT: Duration = Duration::from_secs(600);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// One call of upkeep does one slice of it.
const MOST_SLICES: usize = 100;

/// The two places of a document that a query may look in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentPlace {
    /// The workspace that the document names.
    Own,
    /// The workspace that stands for all.
    All,
}

impl DocumentPlace {
    fn root(self, workspace: Option<&str>) -> String {
        match self {
            Self::Own => format!("/eval/own/{}", workspace.unwrap_or_default()),
            Self::All => "/eval/all".into(),
        }
    }

    /// Makes the id of a document in this place. Ids follow the numbers of documents, so that ties are broken by the
    /// order of the corpus.
    fn memory_id(self, number: u32) -> MemoryId {
        Uuid::from_u128(u128::from(number) * 2 + self as u128 + 2).into()
    }

    fn number(id: MemoryId) -> u32 {
        ((id.uuid().as_u128() - 2) / 2) as u32
    }
}

/// The places that documents have to be in for the queries of a set.
#[derive(Debug, Clone, Copy)]
struct DocumentPlaces {
    own: bool,
    all: bool,
}

impl DocumentPlaces {
    fn of(queries: &[DatasetQuery]) -> Self {
        let all = queries.iter().any(|query| query.workspace.is_none());
        Self { own: !all || queries.iter().any(|query| query.workspace.is_some()), all }
    }

    /// Lists the places of a document, of which there is at least one.
    fn of_document(self, document: &CorpusDocument) -> impl Iterator<Item = DocumentPlace> {
        let named = document.workspace.is_some();
        let own = (named && self.own).then_some(DocumentPlace::Own);
        own.into_iter().chain((!named || self.all).then_some(DocumentPlace::All))
    }
}

/// A corpus that has been stored.
pub(crate) struct StoredCorpus {
    corpus: Arc<Corpus>,
    /// An answer names documents with the same words once. This lists, for each of them, the others.
    twins: HashMap<u32, Vec<u32>>,
    pub(crate) took: Duration,
    pub(crate) upkeep_took: Duration,
}

/// Stores every document. `done` is told how many are stored. A document that occurs twice is stored twice.
pub(crate) async fn ingest(
    corpus: Arc<Corpus>,
    queries: &[DatasetQuery],
    system: &SystemHandle,
    done: impl Fn(u64),
) -> Result<StoredCorpus, EvalError> {
    let begun = Instant::now();
    let (send, mut receive) = mpsc::channel::<DocumentBatch>(1);
    let reading = {
        let (corpus, places) = (Arc::clone(&corpus), DocumentPlaces::of(queries));
        tokio::task::spawn_blocking(move || read(&corpus, places, &send))
    };
    let stored = stream::poll_fn(|context| receive.poll_recv(context))
        .map(async |batch| {
            system.memories.restore(batch.memories, Deadline::after(BATCH_TIMEOUT)).await?;
            Ok::<u64, Error>(batch.documents)
        })
        .buffer_unordered(BATCHES_AT_ONCE)
        .try_fold(0, |sum, documents| {
            done(sum + documents);
            std::future::ready(Ok(sum + documents))
        })
        .await;
    // The reader ends with its channel where storing failed, and what it says of that is of no interest.
    drop(receive);
    let read = reading.await.map_err(Error::internal)?;
    stored?;
    let twins = read?;
    // A memory that took too long to embed was stored without vectors.
    while system.memories.fill_vectors(Deadline::after(BATCH_TIMEOUT)).await? > 0 {}
    let took = begun.elapsed();
    let upkeep_begun = Instant::now();
    finish_upkeep(system).await?;
    Ok(StoredCorpus { corpus, twins, took, upkeep_took: upkeep_begun.elapsed() })
}

/// Does upkeep until there is none left, because a bank at rest is what is measured.
pub(super) async fn finish_upkeep(system: &SystemHandle) -> Result<(), Error> {
    for _ in 0..MOST_SLICES {
        let done = system.store.maintain(Deadline::after(UPKEEP_TIMEOUT)).await?;
        if !done.busy && !done.more {
            break;
        }
    }
    Ok(())
}

#[derive(Default)]
struct DocumentBatch {
    documents: u64,
    memories: Vec<Restorable>,
    bytes: usize,
}

/// Turns the documents into memories, and finds out which of them have the same words.
fn read(
    corpus: &Corpus,
    places: DocumentPlaces,
    send: &mpsc::Sender<DocumentBatch>,
) -> Result<HashMap<u32, Vec<u32>>, EvalError> {
    let now = Timestamp::now();
    let mut same: HashMap<String, Vec<u32>> = HashMap::new();
    let mut batch = DocumentBatch::default();
    let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    corpus.each(|number, document| {
        let workspace = document.workspace.clone();
        let of_document: Vec<DocumentPlace> = places.of_document(&document).collect();
        let mut memory = memory(document, now);
        memory.scrub();
        batch.documents += 1;
        for place in &of_document {
            memory.id = place.memory_id(number);
            memory.workspace_id = WorkspaceId::of_root(&place.root(workspace.as_deref()));
            batch.bytes += memory.content.len();
            batch.memories.push(Restorable::Memory { memory: memory.clone(), passages: Vec::new() });
        }
        same.entry(memory.text_key()).or_default().push(number);
        if batch.memories.len() >= BATCH_DOCUMENTS || batch.bytes >= BATCH_BYTES {
            send.blocking_send(std::mem::take(&mut batch)).map_err(gone)?;
        }
        Ok(())
    })?;
    send.blocking_send(batch).map_err(gone).map_err(EvalError::Run)?;
    let several = same.into_values().filter(|numbers| numbers.len() > 1);
    let others = |numbers: Vec<u32>| {
        let of = |one: u32| (one, numbers.iter().copied().filter(|other| *other != one).collect());
        numbers.iter().copied().map(of).collect::<Vec<_>>()
    };
    Ok(several.flat_map(others).collect())
}

/// Turns a document into a memory: its text is the content, its first sentence the description. Nothing is validated,
/// so titles may be empty and texts long.
pub(super) fn memory(document: CorpusDocument, now: Timestamp) -> Memory {
    let at = document.at.unwrap_or(now);
    Memory::new(NewMemory {
        id: Uuid::nil().into(),
        description: first_sentence(&document.text),
        title: document.title,
        content: document.text,
        outcome: MemoryOutcome::Success,
        workspace_id: WorkspaceId::of_root(""),
        source_type: SourceType::Imported,
        trust: Trust::Tool,
        prior: prior(SourceType::Imported, None),
        at,
    })
}

/// Cuts a text at the first sign that ends a sentence, or at the end of the line, and at the length of a description.
fn first_sentence(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut ends = line.char_indices().filter(|(_, sign)| matches!(sign, '.' | '!' | '?' | '。' | '！' | '？'));
    let end = ends.find_map(|(at, sign)| {
        let end = at + sign.len_utf8();
        let rest = &line[end..];
        (rest.is_empty() || rest.starts_with(char::is_whitespace) || sign.len_utf8() > 1).then_some(end)
    });
    line[..end.unwrap_or(line.len())].trim_end().chars().take(DESCRIPTION_MAX_CHARS).collect()
}

/// Returns when all that the queries ask is searched in memory, as in a process that has served for a while, or when it
/// cannot be. `answered` counts the searches that were answered from memory.
pub(crate) async fn until_resident(
    stored: &StoredCorpus,
    queries: &[DatasetQuery],
    system: &SystemHandle,
    answered: impl AsyncFn() -> u64,
) -> Result<(), EvalError> {
    let begun = Instant::now();
    let roots: BTreeSet<String> = queries.iter().map(|query| stored.root(query)).collect();
    for root in roots {
        loop {
            let before = answered().await;
            let any = Recall { text: Some("any".into()), ..of_workspace(&root, 1) };
            system.store.candidates(any, Deadline::after(QUERY_TIMEOUT)).await?;
            if answered().await > before {
                break;
            }
            if begun.elapsed() > RESIDENT_TIMEOUT {
                tracing::warn!(
                    "retrieval.resident_mb: not all of the documents fit, and some queries are searched on disk"
                );
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}

fn of_workspace(root: &str, limit: usize) -> Recall {
    Recall {
        with_superseded: false,
        visible: Visible { workspace: Some(WorkspaceId::of_root(root)), team: None, org: None },
        conditions: Conditions::default(),
        text: None,
        vector: None,
        signature: None,
        limit,
    }
}

/// The counts, measures and times of all queries.
pub(crate) struct QueryResults {
    pub(crate) counts: QueryCount,
    /// The measures of the answers.
    pub(crate) measures: Measures,
    /// The measures of what either list alone would have answered.
    pub(crate) by_list: ByList<Measures>,
    pub(crate) latency: QueryLatency,
}

/// Asks the queries one after another, and writes a line of each to `run`.
pub(crate) async fn ask<E: Embedder>(
    stored: &StoredCorpus,
    queries: &[DatasetQuery],
    ks: &[usize],
    system: &SystemHandle,
    embedder: &TimedEmbedder<E>,
    mut run: Option<impl Write>,
    done: impl Fn(u64),
) -> Result<QueryResults, EvalError> {
    let names = ks.iter().map(|k| format!("recall@{k}"));
    let mut measures = Measures::of(names.chain(["MRR", "nDCG"].map(|name| format!("{name}@{RANKED}"))));
    let mut by_list = ByList { keyword: measures.clone(), vector: measures.clone() };
    let mut counts = QueryCount { lines: queries.len(), ..QueryCount::default() };
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let n = ks.iter().copied().fold(RUN_HITS, usize::max);
    for (asked, query) in queries.iter().enumerate() {
        let except = stored.excluded(query);
        let workspace = WorkspaceRef::Root(stored.root(query));
        let request =
            RetrieveRequest { min_relevance: Some(0.0), ..RetrieveRequest::new(query.text.clone(), workspace, n) };
        let begun = Instant::now();
        let found = system.memories.retrieve_except(request, &except, Deadline::after(QUERY_TIMEOUT)).await;
        let took = begun.elapsed();
        let found = found.map_err(|error| EvalError::Query { id: query.id.clone(), error })?;
        let by_words_alone = found.mode == SearchMode::Keyword;
        counts.by_words_alone += usize::from(by_words_alone);
        let ms = took.as_secs_f64() * 1_000.0;
        with.push(ms);
        without.push(took.saturating_sub(embedder.take_last()).as_secs_f64() * 1_000.0);
        let hits = stored.hits(query, found.memories.into_iter().map(|found| found.memory.id), &except, n);
        if !query.gold.is_empty() {
            counts.scored += 1;
            counts.gold_not_in_corpus += query.gold.ids().filter(|id| stored.corpus.number(id).is_none()).count();
            let add = |measures: &mut Measures, hits: &[&str]| {
                let recall = ks.iter().map(|k| query.gold.recall_at(*k, hits));
                let ranked = [query.gold.reciprocal_rank_at(RANKED, hits), query.gold.ndcg_at(RANKED, hits)];
                measures.add(recall.chain(ranked));
            };
            add(&mut measures, &hits);
            let lists = stored.lists(query, &except, n, system, embedder).await?;
            add(&mut by_list.keyword, &lists.keyword);
            add(&mut by_list.vector, &lists.vector);
            // Embedded once more, which is nobody's time.
            embedder.take_last();
        }
        if let Some(run) = &mut run {
            let hits = &hits[..hits.len().min(RUN_HITS)];
            let line = json!({"id": query.id, "hits": hits, "ms": (ms * 1_000.0).round() / 1_000.0});
            writeln!(run, "{line}").map_err(EvalError::Run)?;
        }
        done(asked as u64 + 1);
    }
    if let Some(run) = &mut run {
        run.flush().map_err(EvalError::Run)?;
    }
    let latency = QueryLatency {
        with_embedding: LatencyPercentiles::of(&with),
        without_embedding: LatencyPercentiles::of(&without),
    };
    Ok(QueryResults { counts, measures, by_list, latency })
}

impl StoredCorpus {
    fn place(&self, query: &DatasetQuery) -> DocumentPlace {
        if query.workspace.is_some() { DocumentPlace::Own } else { DocumentPlace::All }
    }

    fn root(&self, query: &DatasetQuery) -> String {
        self.place(query).root(query.workspace.as_deref())
    }

    fn excluded(&self, query: &DatasetQuery) -> HashSet<MemoryId> {
        let numbers = query.exclude.iter().filter_map(|id| self.corpus.number(id));
        numbers.map(|number| self.place(query).memory_id(number)).collect()
    }

    /// Returns the ids of documents that either list alone has, best first. A list that could not be made is empty.
    async fn lists(
        &self,
        query: &DatasetQuery,
        except: &HashSet<MemoryId>,
        n: usize,
        system: &SystemHandle,
        embedder: &impl Embedder,
    ) -> Result<ByList<Vec<&str>>, EvalError> {
        let recall = Recall {
            text: Some(query.text.clone()),
            vector: embedder.embed_query(query.text.clone(), Deadline::after(QUERY_TIMEOUT)).await.ok(),
            ..of_workspace(&self.root(query), over_fetch(n) + except.len())
        };
        let found = system.store.candidates(recall, Deadline::after(QUERY_TIMEOUT)).await?.without(except);
        let ids = |list: Option<RankedList>| {
            let hits = list.unwrap_or_default().hits.into_iter().take(n);
            hits.map(|(id, _)| self.corpus.id(DocumentPlace::number(id))).collect()
        };
        Ok(ByList { keyword: ids(found.text), vector: ids(found.vector) })
    }

    /// Returns the ids of documents, best first. The documents with the same words follow each, because an answer names
    /// only one of them.
    fn hits(
        &self,
        query: &DatasetQuery,
        found: impl Iterator<Item = MemoryId>,
        except: &HashSet<MemoryId>,
        n: usize,
    ) -> Vec<&str> {
        let place = self.place(query);
        let is_searched = |number: &u32| {
            let is_there = query.workspace.is_none() || self.corpus.workspace(*number) == query.workspace.as_deref();
            is_there && !except.contains(&place.memory_id(*number))
        };
        let with_twins = found.map(DocumentPlace::number).flat_map(|number| {
            let twins = self.twins.get(&number).into_iter().flatten().copied().filter(is_searched);
            std::iter::once(number).chain(twins)
        });
        with_twins.take(n).map(|number| self.corpus.id(number)).collect()
    }
}

#[cfg(test)]
mod tests;
