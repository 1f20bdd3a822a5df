//! The table of episodes that searches are answered from. It is made of the fragments of the tables. A fragment never
//! changes but for the rows that are deleted from it, so each is read once, and again when more of it was deleted.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use lance::Dataset;
use lance::dataset::ProjectionRequest;
use lance::table::format::Fragment;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_index::{ByteVectors, EpisodeColumns, EpisodeTable, StateColumns, VectorColumns};
use serde::Deserialize;
use tokio_util::task::AbortOnDropHandle;

use super::rows;
use crate::lance::errors::failed;
use crate::lance::tables::recent_rows::ROW_ID;
use crate::lance::tables::rows::{
    decode_bodies, id_column, listed, optional_times, text_column, time_column, vector_bytes,
};
use crate::lance::tables::{Tables, dataset};
use crate::lance::threads::blocking;

/// A fragment as it was read: its number, and the number and the version of what tells which of its rows are deleted.
pub(super) type FragmentKey = (u64, Option<(u64, u64)>);

pub(in crate::lance) struct EpisodeCache {
    /// The most bytes that the table may take. Where it would take more, there is none.
    budget: usize,
    bytes: AtomicUsize,
    held: tokio::sync::Mutex<EpisodeFragments>,
}

/// The episodes in memory, and the table of traces that they were read from.
#[derive(Clone)]
pub(in crate::lance) struct CurrentEpisodes {
    pub(in crate::lance) table: Arc<EpisodeTable>,
    traces: Arc<Dataset>,
}

impl CurrentEpisodes {
    /// Reads these episodes where they are, in no order. Unknown ones are left out.
    pub(in crate::lance) async fn traces(&self, ids: &[u128]) -> Result<Vec<Trace>, StoreError> {
        let mut row_ids: Vec<u64> = ids.iter().filter_map(|id| Some(self.table.location(*id)?.0)).collect();
        row_ids.sort_unstable();
        // A fragment costs time of the processor, not of the disk, so another task reads half of the rows.
        let (some, others) = row_ids.split_at(row_ids.len() / 2);
        let others = AbortOnDropHandle::new(tokio::spawn(read(Arc::clone(&self.traces), others.to_vec())));
        let mut traces = read(Arc::clone(&self.traces), some.to_vec()).await?;
        traces.extend(others.await.map_err(failed)??);
        Ok(traces)
    }
}

async fn read(traces: Arc<Dataset>, row_ids: Vec<u64>) -> Result<Vec<Trace>, StoreError> {
    if row_ids.is_empty() {
        return Ok(Vec::new());
    }
    let body = ProjectionRequest::from_columns(["body"], traces.schema());
    let bodies = traces.take_rows(&row_ids, body).await.map_err(failed)?;
    decode_bodies(&[bodies])
}

#[derive(Default)]
struct EpisodeFragments {
    episodes: Fragments<EpisodeColumns>,
    states: Fragments<StateColumns>,
    vectors: Fragments<VectorColumns>,
    table: Arc<EpisodeTable>,
    /// The fragments that the table was made of. A caller whose time is up may leave newer ones behind that were read.
    joined: JoinedFragments,
}

/// The fragments of each table.
#[derive(Clone, Default, PartialEq)]
struct JoinedFragments {
    episodes: Vec<FragmentKey>,
    states: Vec<FragmentKey>,
    vectors: Vec<FragmentKey>,
}

impl EpisodeFragments {
    /// Brings the table up to date with the fragments that were read.
    async fn join(&mut self) -> Result<(), StoreError> {
        let now = JoinedFragments {
            episodes: self.episodes.keys(),
            states: self.states.keys(),
            vectors: self.vectors.keys(),
        };
        if self.joined == now {
            return Ok(());
        }
        let (table, joined) = (std::mem::take(&mut self.table), std::mem::take(&mut self.joined));
        let added = self.episodes.since(&joined.episodes).zip(self.vectors.since(&joined.vectors));
        let (table, (episodes, vectors)) = match added.filter(|_| table.is_whole()) {
            Some(added) => (table, added),
            None => (Arc::default(), (self.episodes.parts(), self.vectors.parts())),
        };
        let states = self.states.parts();
        let join = move || {
            let mut table = Arc::unwrap_or_clone(table);
            table.add(&episodes, &vectors);
            table.set_states(&states);
            Arc::new(table)
        };
        self.table = blocking(join).await?;
        self.joined = now;
        Ok(())
    }
}

impl EpisodeCache {
    pub(super) fn new(budget: usize) -> Self {
        Self { budget, bytes: AtomicUsize::default(), held: tokio::sync::Mutex::default() }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the episodes of these tables as they are now. None where they take too much memory.
    pub(in crate::lance) async fn table(
        &self,
        tables: &Tables,
        dims: usize,
    ) -> Result<Option<CurrentEpisodes>, StoreError> {
        // The lock comes first: whatever is read was not yet erased when it was taken.
        let mut held = self.held.lock().await;
        let episodes = dataset::newest(&tables.traces).await?;
        let states = dataset::newest(&tables.episode_state).await?;
        let vectors = dataset::newest(&tables.episode_vectors).await?;
        let bytes = EpisodeTable::bytes(rows_of(&episodes), rows_of(&vectors), dims);
        if bytes > self.budget {
            *held = EpisodeFragments::default();
            self.bytes.store(0, Ordering::Relaxed);
            return Ok(None);
        }
        let of_episodes = ["id", "created", "workspace", "outcome", "domain", "task_type", "tools", ROW_ID];
        held.episodes.follow(&episodes, &of_episodes, episode_columns).await?;
        held.states.follow(&states, &["id", "accessed", "archived", "deleted", "body"], state_columns).await?;
        let of_vectors = ["id", "embedder", "task", "outcome", "whole"];
        held.vectors.follow(&vectors, &of_vectors, move |rows| vector_columns(rows, dims)).await?;
        held.join().await?;
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(Some(CurrentEpisodes { table: Arc::clone(&held.table), traces: episodes }))
    }

    /// Forgets everything, before anybody hears that rows are erased.
    pub(in crate::lance) async fn forget(&self) {
        *self.held.lock().await = EpisodeFragments::default();
        self.bytes.store(0, Ordering::Relaxed);
    }
}

/// The parts that were read of the fragments of a table, in the order of the table.
struct Fragments<T>(Vec<(FragmentKey, Arc<T>)>);

impl<T> Default for Fragments<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Send + 'static> Fragments<T> {
    /// Reads the fragments that are new or changed, and drops those that are gone.
    async fn follow(
        &mut self,
        now: &Dataset,
        columns: &[&str],
        parse: impl Fn(&[RecordBatch]) -> Result<T, StoreError> + Copy + Send + 'static,
    ) -> Result<(), StoreError> {
        let keys: Vec<FragmentKey> = now.fragments().iter().map(key).collect();
        if self.keys() == keys {
            return Ok(());
        }
        let mut known: HashMap<FragmentKey, Arc<T>> = self.0.iter().cloned().collect();
        let mut parts = Vec::new();
        for (key, fragment) in keys.into_iter().zip(now.fragments().iter()) {
            let part = match known.remove(&key) {
                Some(part) => part,
                None => {
                    let rows = rows::read_all(now, columns, None, Some(vec![fragment.clone()])).await?;
                    Arc::new(blocking(move || parse(&rows)).await??)
                }
            };
            parts.push((key, part));
        }
        self.0 = parts;
        Ok(())
    }

    fn keys(&self) -> Vec<FragmentKey> {
        self.0.iter().map(|(key, _)| *key).collect()
    }

    /// Returns the parts behind those of these fragments. None where other ones are before them.
    fn since(&self, before: &[FragmentKey]) -> Option<Vec<Arc<T>>> {
        let added = self.0.get(before.len()..)?;
        let are_first = self.0.iter().map(|(key, _)| key).zip(before).all(|(own, key)| own == key);
        are_first.then(|| added.iter().map(|(_, part)| Arc::clone(part)).collect())
    }

    fn parts(&self) -> Vec<Arc<T>> {
        self.0.iter().map(|(_, part)| Arc::clone(part)).collect()
    }
}

pub(super) fn key(fragment: &Fragment) -> FragmentKey {
    (fragment.id, fragment.deletion_file.as_ref().map(|deleted| (deleted.id, deleted.read_version)))
}

fn rows_of(dataset: &Dataset) -> usize {
    dataset.fragments().iter().filter_map(|fragment| fragment.physical_rows).sum()
}

/// Reads a column of texts of which there are few. Each is made into a value once.
fn few<T: ?Sized>(rows: &[RecordBatch], name: &'static str, value: impl Fn(&str) -> Arc<T>) -> Vec<Arc<T>> {
    let mut known: HashMap<&str, Arc<T>> = HashMap::new();
    text_column(rows, name).map(|text| Arc::clone(known.entry(text).or_insert_with(|| value(text)))).collect()
}

fn few_texts(rows: &[RecordBatch], name: &'static str) -> Vec<Arc<str>> {
    few(rows, name, |text| text.into())
}

fn episode_columns(batches: &[RecordBatch]) -> Result<EpisodeColumns, StoreError> {
    let mut row_ids = Vec::new();
    for batch in batches {
        row_ids.extend_from_slice(rows::row_id_column(batch)?);
    }
    Ok(EpisodeColumns {
        ids: id_column(batches).collect(),
        created: time_column(batches, "created").collect(),
        workspaces: few_texts(batches, "workspace"),
        outcomes: few_texts(batches, "outcome"),
        domains: few_texts(batches, "domain"),
        task_types: few_texts(batches, "task_type"),
        tools: few(batches, "tools", |text| listed(text).collect()),
        row_ids,
    })
}

/// The part of a state that no column has.
#[derive(Deserialize)]
struct Accesses {
    #[serde(default)]
    access_count: u64,
}

fn state_columns(rows: &[RecordBatch]) -> Result<StateColumns, StoreError> {
    let [accessed, archived, deleted] =
        ["accessed", "archived", "deleted"].map(|name| optional_times(rows, name).collect());
    let counts = decode_bodies::<Accesses>(rows)?.into_iter().map(|of| of.access_count).collect();
    Ok(StateColumns { ids: id_column(rows).collect(), accessed, archived, deleted, access_counts: counts })
}

fn vector_columns(rows: &[RecordBatch], dims: usize) -> Result<VectorColumns, StoreError> {
    let [task, outcome, whole] = ["task", "outcome", "whole"].map(|name| {
        let mut vectors = ByteVectors::new(dims);
        vector_bytes(rows, name).for_each(|vector| vectors.push(vector));
        vectors.build_prefilter();
        vectors
    });
    Ok(VectorColumns { ids: id_column(rows).collect(), embedders: few_texts(rows, "embedder"), task, outcome, whole })
}
