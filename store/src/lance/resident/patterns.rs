//! The patterns that questions are answered from. They are read from the fragments of the table of memories. A fragment
//! never changes but for the rows that are deleted from it, so each is read once. Where more of it was deleted, only
//! ids are read again. Of what was read, each of the last readers has an index.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use lance::Dataset;
use lance::table::format::Fragment;
use lancedb::expr::{DfExpr, col};
use reasoning_bank_actors::ports::{StoreError, Visible};
use reasoning_bank_domain::memory::{Memory, Status};
use reasoning_bank_domain::pattern::finding::PatternIndex;

use super::episodes::{FragmentKey, key};
use super::rows;
use crate::lance::tables::rows::{decode_bodies, id_column, text_column};
use crate::lance::tables::{Tables, dataset};
use crate::lance::threads::blocking;

/// The number of readers whose indexes are kept.
const READERS_MOST: usize = 8;
/// The bytes that a pattern takes in memory, as a multiple of those of its body.
const BYTES_FOR_ONE: usize = 2;

pub(in crate::lance) struct PatternCache {
    /// The most bytes that all may take. What takes more is read for each question.
    budget: usize,
    bytes: AtomicUsize,
    held: tokio::sync::Mutex<PatternFragments>,
}

#[derive(Default)]
struct PatternFragments {
    fragments: Vec<(FragmentKey, PatternRows)>,
    /// The one that was made last comes first.
    indexes: VecDeque<(Visible, Arc<PatternIndex>)>,
}

/// The patterns of a fragment, and about how many bytes they take.
#[derive(Clone, Default)]
struct PatternRows {
    patterns: Vec<Arc<Memory>>,
    bytes: usize,
    /// It had no patterns when nothing was deleted from it, and never has any.
    never_has_any: bool,
}

impl PatternCache {
    pub(super) fn new(budget: usize) -> Self {
        Self { budget, bytes: AtomicUsize::default(), held: tokio::sync::Mutex::default() }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the active patterns of these tables that may be shown, as they are now.
    pub(in crate::lance) async fn index(
        &self,
        tables: &Tables,
        visible: &Visible,
    ) -> Result<Arc<PatternIndex>, StoreError> {
        // The lock comes first: whatever is read was not yet erased when it was taken.
        let mut held = self.held.lock().await;
        let memories = dataset::newest(&tables.memories).await?;
        if held.follow(&memories).await? {
            held.indexes.clear();
        }
        let known = held.indexes.iter().find(|(of, _)| of == visible).map(|(_, index)| Arc::clone(index));
        let index = match known {
            Some(index) => index,
            None => {
                let is_shown = |memory: &&Arc<Memory>| memory.status == Status::Active && visible.contains(memory);
                let shown: Vec<Arc<Memory>> = held.patterns().filter(is_shown).cloned().collect();
                let index = Arc::new(blocking(move || PatternIndex::of(shown)).await?);
                held.indexes.push_front((visible.clone(), Arc::clone(&index)));
                held.indexes.truncate(READERS_MOST);
                index
            }
        };
        while held.bytes() > self.budget && held.indexes.len() > 1 {
            held.indexes.pop_back();
        }
        if held.bytes() > self.budget {
            *held = PatternFragments::default();
        }
        self.bytes.store(held.bytes(), Ordering::Relaxed);
        Ok(index)
    }

    /// Forgets everything, before anybody hears that rows are erased.
    pub(in crate::lance) async fn forget(&self) {
        *self.held.lock().await = PatternFragments::default();
        self.bytes.store(0, Ordering::Relaxed);
    }
}

impl PatternFragments {
    fn patterns(&self) -> impl Iterator<Item = &Arc<Memory>> {
        self.fragments.iter().flat_map(|(_, rows)| &rows.patterns)
    }

    /// Estimates the bytes of all patterns. An index has those of its reader once more.
    fn bytes(&self) -> usize {
        self.fragments.iter().map(|(_, rows)| rows.bytes).sum::<usize>() * (1 + self.indexes.len())
    }

    /// Reads what is new of the table, and drops what is gone. Tells whether the patterns are others now.
    async fn follow(&mut self, now: &Dataset) -> Result<bool, StoreError> {
        let keys: Vec<FragmentKey> = now.fragments().iter().map(key).collect();
        if self.fragments.iter().map(|(key, _)| *key).eq(keys.iter().copied()) {
            return Ok(false);
        }
        let mut known: HashMap<u64, (FragmentKey, PatternRows)> =
            self.fragments.iter().cloned().map(|(key, rows)| (key.0, (key, rows))).collect();
        let (mut fragments, mut is_changed) = (Vec::new(), false);
        for (key, fragment) in keys.into_iter().zip(now.fragments().iter()) {
            let rows = match known.remove(&key.0) {
                Some((before, rows)) if before == key || rows.never_has_any => rows,
                Some((_, rows)) => {
                    let left: HashSet<u128> = id_column(&read(now, fragment, "id").await?).collect();
                    let count = rows.patterns.len();
                    // The table may have gone back to a version from which less was deleted.
                    let rows = match rows.of_these(&left) {
                        Some(rows) => rows,
                        None => PatternRows::of(key, &read(now, fragment, "body").await?)?,
                    };
                    is_changed |= rows.patterns.len() != count;
                    rows
                }
                None => {
                    let rows = PatternRows::of(key, &read(now, fragment, "body").await?)?;
                    is_changed |= !rows.patterns.is_empty();
                    rows
                }
            };
            fragments.push((key, rows));
        }
        is_changed |= known.values().any(|(_, rows)| !rows.patterns.is_empty());
        self.fragments = fragments;
        Ok(is_changed)
    }
}

impl PatternRows {
    fn of((_, deleted): FragmentKey, bodies: &[RecordBatch]) -> Result<Self, StoreError> {
        let bytes = BYTES_FOR_ONE * text_column(bodies, "body").map(str::len).sum::<usize>();
        let patterns: Vec<Memory> = decode_bodies(bodies)?;
        let never_has_any = patterns.is_empty() && deleted.is_none();
        Ok(Self { patterns: patterns.into_iter().map(Arc::new).collect(), bytes, never_has_any })
    }

    /// Returns those with these ids. None where one of them is not here.
    fn of_these(mut self, ids: &HashSet<u128>) -> Option<Self> {
        let before = self.patterns.len();
        self.patterns.retain(|memory| ids.contains(&memory.id.uuid().as_u128()));
        self.bytes = self.bytes * self.patterns.len() / before.max(1);
        (self.patterns.len() == ids.len()).then_some(self)
    }
}

/// Reads a column of the patterns in a fragment.
async fn read(now: &Dataset, fragment: &Fragment, column: &str) -> Result<Vec<RecordBatch>, StoreError> {
    let is_pattern: DfExpr = col("stage").is_not_null();
    rows::read_all(now, &[column], Some(is_pattern), Some(vec![fragment.clone()])).await
}
