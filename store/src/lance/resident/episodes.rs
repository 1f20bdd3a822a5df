//! The table of episodes that searches are answered from. It is made of the fragments of the tables. A fragment never
//! changes but for the rows that are deleted from it, so each is read once, and again when more of it was deleted.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use lance::Dataset;
use lance::table::format::Fragment;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_index::{ByteVectors, EpisodeColumns, EpisodeTable, StateColumns, VectorColumns};

use super::rows;
use crate::lance::tables::rows::{id_column, optional_times, text_column, time_column, vector_bytes};
use crate::lance::tables::{Tables, dataset};
use crate::lance::threads::blocking;

/// A fragment as it was read: its number, and the number and the version of what tells which of its rows are deleted.
pub(super) type FragmentKey = (u64, Option<(u64, u64)>);

pub(in crate::lance) struct EpisodeCache {
    /// The most bytes that the table may take. Where it would take more, there is none.
    budget: usize,
    bytes: AtomicUsize,
    held: tokio::sync::Mutex<HeldEpisodes>,
}

#[derive(Default)]
struct HeldEpisodes {
    episodes: Fragments<EpisodeColumns>,
    states: Fragments<StateColumns>,
    vectors: Fragments<VectorColumns>,
    table: Arc<EpisodeTable>,
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
    ) -> Result<Option<Arc<EpisodeTable>>, StoreError> {
        let episodes = dataset::newest(&tables.traces).await?;
        let states = dataset::newest(&tables.episode_state).await?;
        let vectors = dataset::newest(&tables.episode_vectors).await?;
        let bytes = EpisodeTable::bytes(rows_of(&episodes), rows_of(&vectors), dims);
        let mut held = self.held.lock().await;
        if bytes > self.budget {
            *held = HeldEpisodes::default();
            self.bytes.store(0, Ordering::Relaxed);
            return Ok(None);
        }
        let changed = [
            held.episodes.follow(&episodes, &["id", "created", "workspace"], episode_columns).await?,
            held.states.follow(&states, &["id", "accessed", "archived", "deleted"], state_columns).await?,
            held.vectors
                .follow(&vectors, &["id", "embedder", "task", "outcome", "whole"], |rows| vector_columns(rows, dims))
                .await?,
        ];
        if changed.contains(&true) {
            let (episodes, states, vectors) = (held.episodes.parts(), held.states.parts(), held.vectors.parts());
            held.table = Arc::new(blocking(move || EpisodeTable::join(&episodes, &states, &vectors)).await?);
            self.bytes.store(bytes, Ordering::Relaxed);
        }
        Ok(Some(Arc::clone(&held.table)))
    }

    /// Forgets everything, before anybody hears that rows are erased.
    pub(in crate::lance) async fn forget(&self) {
        *self.held.lock().await = HeldEpisodes::default();
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

impl<T> Fragments<T> {
    /// Reads the fragments that are new or changed, and drops those that are gone. Tells whether there were any.
    async fn follow(
        &mut self,
        now: &Dataset,
        columns: &[&str],
        parse: impl Fn(&[RecordBatch]) -> T,
    ) -> Result<bool, StoreError> {
        let keys: Vec<FragmentKey> = now.fragments().iter().map(key).collect();
        if self.0.iter().map(|(key, _)| *key).eq(keys.iter().copied()) {
            return Ok(false);
        }
        let mut known: HashMap<FragmentKey, Arc<T>> = self.0.iter().cloned().collect();
        let mut parts = Vec::new();
        for (key, fragment) in keys.into_iter().zip(now.fragments().iter()) {
            let part = match known.remove(&key) {
                Some(part) => part,
                None => Arc::new(parse(&rows::read_all(now, columns, None, Some(vec![fragment.clone()])).await?)),
            };
            parts.push((key, part));
        }
        self.0 = parts;
        Ok(true)
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

/// Reads a column of texts of which there are few.
fn few_texts(rows: &[RecordBatch], name: &'static str) -> Vec<Arc<str>> {
    let mut known: HashMap<&str, Arc<str>> = HashMap::new();
    text_column(rows, name).map(|text| Arc::clone(known.entry(text).or_insert_with(|| text.into()))).collect()
}

fn episode_columns(rows: &[RecordBatch]) -> EpisodeColumns {
    EpisodeColumns {
        ids: id_column(rows).collect(),
        created: time_column(rows, "created").collect(),
        workspaces: few_texts(rows, "workspace"),
    }
}

fn state_columns(rows: &[RecordBatch]) -> StateColumns {
    let [accessed, archived, deleted] =
        ["accessed", "archived", "deleted"].map(|name| optional_times(rows, name).collect());
    StateColumns { ids: id_column(rows).collect(), accessed, archived, deleted }
}

fn vector_columns(rows: &[RecordBatch], dims: usize) -> VectorColumns {
    let [task, outcome, whole] = ["task", "outcome", "whole"].map(|name| {
        let mut vectors = ByteVectors::new(dims);
        vector_bytes(rows, name).for_each(|vector| vectors.push(vector));
        vectors
    });
    VectorColumns { ids: id_column(rows).collect(), embedders: few_texts(rows, "embedder"), task, outcome, whole }
}
