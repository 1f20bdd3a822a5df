//! Filling an owner index from the tables, and bringing one up to a later version of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lance::table::format::Fragment;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_index::{IndexedMemory, OwnerIndex};

use super::cache::{CachedIndex, NotCached};
use super::owner::Owner;
use super::row_lookup;
use super::rows::{self, OF_MEMORIES, OF_PASSAGES, OF_SIGNALS, Snapshot};
use super::table_deltas::{self, TableDelta, TableVersions};
use crate::lance::errors::failed;
use crate::lance::tables::recent_rows::RecentRows;
use crate::lance::tables::rows::on_all_cores;
use crate::lance::threads::{self, blocking};

/// The size of an owner index is looked at once in this many batches.
const BATCHES_BETWEEN_LOOKS: usize = 16;
/// The largest number of rows that are added to an owner index. They are all in memory at once; where more came, the
/// owner index is filled anew.
const MOST_NEW_ROWS: usize = 50_000;
/// The largest number of memories that are looked up one by one.
const LOOKED_UP: usize = 500;
/// An owner index of at most this many memories looks up their signals, where the table has more than
/// [`SIGNALS_A_MEMORY`] signals for each of them. Otherwise it reads the whole table of signals.
const FEW_MEMORIES: usize = 2_000;
const SIGNALS_A_MEMORY: usize = 20;

/// Makes an owner index with all that its owner has. There is none where `room`, which is asked now and then, refuses
/// the bytes that it takes.
pub(super) async fn load(
    snapshot: &Snapshot,
    owner: &Owner,
    dims: usize,
    room: impl Fn(usize) -> Result<(), NotCached>,
) -> Result<Result<OwnerIndex, NotCached>, StoreError> {
    let mut index = OwnerIndex::new(dims);
    let mut batches = rows::read(&snapshot.memories, OF_MEMORIES, owner.condition(), None).await?;
    let mut count = 0;
    while let Some(batch) = batches.try_next().await? {
        let owner = owner.clone();
        index = filled(index, move |index| {
            let memories = rows::memories(&[batch])?;
            let own =
                |(memory, row_id): &(Memory, u64)| owner.holds(memory).then(|| IndexedMemory::new(memory, *row_id));
            on_all_cores(&memories, own).into_iter().flatten().for_each(|indexed| index.put(indexed));
            Ok(())
        })
        .await?;
        count += 1;
        if count % BATCHES_BETWEEN_LOOKS == 0
            && let Err(why) = room(index.bytes())
        {
            return Ok(Err(why));
        }
    }
    let all_signals = snapshot.signals.count_rows(None).await.map_err(failed)?;
    let memories = index.ids().len();
    if memories <= FEW_MEMORIES && all_signals > memories * SIGNALS_A_MEMORY {
        let ids: Vec<MemoryId> = index.ids().collect();
        let signals = rows::about(&snapshot.signals, OF_SIGNALS, &ids).await?;
        index = filled(index, move |index| note(index, &signals)).await?;
    } else {
        let mut batches = rows::read(&snapshot.signals, OF_SIGNALS, None, None).await?;
        while let Some(batch) = batches.try_next().await? {
            index = filled(index, move |index| note(index, &[batch])).await?;
        }
    }
    let mut batches = rows::read(&snapshot.passages, OF_PASSAGES, owner.condition(), None).await?;
    while let Some(batch) = batches.try_next().await? {
        index = filled(index, move |index| add_passages(index, &[batch], |_| true)).await?;
        count += 1;
        if count % BATCHES_BETWEEN_LOOKS == 0
            && let Err(why) = room(index.bytes())
        {
            return Ok(Err(why));
        }
    }
    let index = filled(index, |index| {
        index.optimize();
        Ok(())
    })
    .await?;
    Ok(room(index.bytes()).map(|()| index))
}

async fn filled(
    mut index: OwnerIndex,
    fill: impl FnOnce(&mut OwnerIndex) -> Result<(), StoreError> + Send + 'static,
) -> Result<OwnerIndex, StoreError> {
    blocking(move || fill(&mut index).map(|()| index)).await?
}

fn note(index: &mut OwnerIndex, signals: &[RecordBatch]) -> Result<(), StoreError> {
    rows::signals(signals)?.into_iter().for_each(|(memory, kind, at)| index.note(memory, kind, at));
    Ok(())
}

fn add_passages(
    index: &mut OwnerIndex,
    batches: &[RecordBatch],
    wanted: impl Fn(MemoryId) -> bool,
) -> Result<(), StoreError> {
    for batch in batches {
        for passage in rows::passages(batch)?.into_iter().filter(|passage| wanted(passage.memory)) {
            let added = index.add_passage(passage.memory, passage.revision, passage.terms, passage.vector);
            added.map_err(failed)?;
        }
    }
    Ok(())
}

/// The rows that came since an owner index was last filled.
pub(super) struct Deltas {
    memories: TableDelta,
    passages: TableDelta,
    signals: TableDelta,
}

impl Deltas {
    pub(super) fn rows(&self) -> usize {
        self.memories.rows().saturating_add(self.passages.rows()).saturating_add(self.signals.rows())
    }
}

/// Finds what came since these versions. Returns `None` where the owner index has to be filled anew: memories or
/// signals were erased, too much came, or the tables do not tell.
pub(super) async fn deltas(before: &TableVersions, now: &Snapshot) -> Result<Option<Deltas>, StoreError> {
    // passages are deleted with their memory, or when others take their place
    let (memories, passages, signals) = tokio::try_join!(
        table_deltas::since(&before.memories, &now.memories, true),
        table_deltas::since(&before.passages, &now.passages, false),
        table_deltas::since(&before.signals, &now.signals, true),
    )
    .map_err(failed)?;
    let deltas = (|| Some(Deltas { memories: memories?, passages: passages?, signals: signals? }))();
    Ok(deltas.filter(|deltas| deltas.rows() <= MOST_NEW_ROWS))
}

/// The rows that came, of all owners.
pub(super) struct NewRows {
    memories: Vec<(Memory, u64)>,
    passages: Vec<RecordBatch>,
    signals: Vec<RecordBatch>,
    /// The fragments of memories that were only moved.
    moved: Vec<Fragment>,
    /// True where an owner index may know some of the signals already.
    known_signals: bool,
    /// True where some of the passages may be in the place of others.
    changed_passages: bool,
}

impl NewRows {
    pub(super) async fn read(recent: &RecentRows, now: &Snapshot, deltas: Deltas) -> Result<Self, StoreError> {
        let Deltas { memories, passages, signals } = deltas;
        let moved = memories.moved;
        let (known_signals, changed_passages) = (signals.with_moved || signals.with_changed, passages.with_changed);
        let (memories, passages, signals) = tokio::try_join!(
            rows::of_fragments(recent, &now.memories, OF_MEMORIES, memories.fragments),
            rows::of_fragments(recent, &now.passages, OF_PASSAGES, passages.fragments),
            rows::of_fragments(recent, &now.signals, OF_SIGNALS, signals.fragments),
        )?;
        let memories = blocking(move || rows::memories(&memories)).await??;
        Ok(Self { memories, passages, signals, moved, known_signals, changed_passages })
    }
}

/// Brings an owner index to the versions of `now`, and tells whether that could be done. Nobody else may do so at the
/// same time. After an error the owner index is of no use.
pub(super) async fn catch_up(
    cached: &Arc<CachedIndex>,
    now: &Snapshot,
    new: &Arc<NewRows>,
) -> Result<bool, StoreError> {
    let here = {
        let (cached, new) = (Arc::clone(cached), Arc::clone(new));
        // all passages of a revision come at once: where there are some, there are all
        blocking(move || passages_here(&cached, &new.passages)).await??
    };
    let changed: Vec<MemoryId> = if new.changed_passages { here.iter().copied().collect() } else { Vec::new() };
    if changed.len() > LOOKED_UP {
        return Ok(false);
    }
    // the signals of these memories are counted again: the owner index knows some of them already, or it dropped them
    // while it did not have the memory
    let mut recounted: BTreeSet<MemoryId> = newcomers(cached, &new.memories);
    if new.known_signals {
        let versioned = cached.versioned();
        let known = rows::signals(&new.signals)?.into_iter().map(|(memory, ..)| memory);
        recounted.extend(known.filter(|id| versioned.index.contains(*id)));
    }
    let recounted: Vec<MemoryId> = recounted.into_iter().collect();
    let every_signal = async {
        match recounted.len() > LOOKED_UP {
            true => rows::read_all(&now.signals, OF_SIGNALS, None, None).await,
            false => rows::about(&now.signals, OF_SIGNALS, &recounted).await,
        }
    };
    let (changed_passages, every_signal) =
        tokio::try_join!(rows::about(&now.passages, OF_PASSAGES, &changed), every_signal)?;
    let mut evidence = rows::evidence(&every_signal)?;

    let versions = TableVersions::from(now);
    let (filled, added) = (Arc::clone(cached), Arc::clone(new));
    blocking(move || {
        let mut versioned = filled.versioned_mut();
        let index = &mut versioned.index;
        for (memory, row_id) in &added.memories {
            if filled.owner.holds(memory) {
                index.put(IndexedMemory::new(memory, *row_id))
            } else {
                index.remove(memory.id)
            }
        }
        changed.iter().for_each(|id| index.clear_passages(*id));
        add_passages(index, &changed_passages, |_| true)?;
        add_passages(index, &added.passages, |id| !here.contains(&id))?;
        note(index, &added.signals)?;
        recounted.into_iter().for_each(|id| index.set_evidence(id, evidence.remove(&id).unwrap_or_default()));
        versioned.versions = versions;
        Ok::<_, StoreError>(())
    })
    .await??;
    if !new.moved.is_empty() {
        // searches need not wait for it: until then these memories are looked up in the table
        let (memories, moved) = (Arc::clone(&now.memories), new.moved.clone());
        threads::spawn_aside(row_lookup::moved(Arc::clone(cached), memories, moved));
    }
    Ok(true)
}

/// Finds the memories of these passages for which the owner index already has the passages of that revision.
fn passages_here(cached: &CachedIndex, passages: &[RecordBatch]) -> Result<BTreeSet<MemoryId>, StoreError> {
    let mut revisions: BTreeMap<MemoryId, u64> = BTreeMap::new();
    for batch in passages {
        for passage in rows::passages(batch)? {
            let newest = revisions.entry(passage.memory).or_default();
            *newest = passage.revision.max(*newest);
        }
    }
    let versioned = cached.versioned();
    let here = |(id, revision)| (versioned.index.passages_of(id) == Some(revision)).then_some(id);
    Ok(revisions.into_iter().filter_map(here).collect())
}

/// Returns those of these memories that belong into the owner index and are not there yet.
fn newcomers(cached: &CachedIndex, memories: &[(Memory, u64)]) -> BTreeSet<MemoryId> {
    let versioned = cached.versioned();
    let own = memories.iter().filter(|(memory, _)| cached.owner.holds(memory)).map(|(memory, _)| memory.id);
    own.filter(|id| !versioned.index.contains(*id)).collect()
}
