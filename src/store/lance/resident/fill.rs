//! Filling a shelf from the tables, and bringing one up to a later version of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::resident::{Filed, Shelf};

use super::super::rows::on_all_cores;
use super::super::{blocking, failed, threads};
use super::changes::{self, Came, Standing};
use super::keeping::Unkept;
use super::owner::Owner;
use super::rows::{self, OF_MEMORIES, OF_PASSAGES, OF_SIGNALS, Snapshot};
use super::versions::Versions;
use super::{Kept, bodies};

/// How often it is looked at how large a shelf has become: once in so many batches.
const BATCHES_BETWEEN_LOOKS: usize = 16;
/// Where more rows came, which are all in memory at once, the shelf is filled anew.
const MOST_ARRIVALS: usize = 50_000;
/// More memories than these are not looked up one by one.
const LOOKED_UP: usize = 500;
/// The signals about a shelf of no more memories are looked up where there are so many times more of them in all.
const FEW_MEMORIES: usize = 2_000;
const SIGNALS_A_MEMORY: usize = 20;

/// Versions of the tables that a shelf stands for.
#[derive(Debug, Clone)]
pub(super) struct Standings {
    pub(super) memories: Standing,
    pub(super) passages: Standing,
    pub(super) signals: Standing,
}

impl From<&Snapshot> for Standings {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            memories: (&*snapshot.memories).into(),
            passages: (&*snapshot.passages).into(),
            signals: (&*snapshot.signals).into(),
        }
    }
}

impl Standings {
    /// How many versions of a table came since, at most.
    pub(super) fn commits_behind(&self, newest: &Versions) -> u64 {
        let behind = |standing: &Standing, newest: u64| newest.saturating_sub(standing.version);
        let memories = behind(&self.memories, newest.memories);
        memories.max(behind(&self.passages, newest.passages)).max(behind(&self.signals, newest.signals))
    }

    pub(super) fn are_at(&self, newest: &Versions) -> bool {
        let Self { memories, passages, signals } = self;
        memories.version >= newest.memories && passages.version >= newest.passages && signals.version >= newest.signals
    }
}

/// A shelf with all that its owner has; none where `room` says so of its bytes, now and then.
pub(super) async fn load(
    snapshot: &Snapshot,
    owner: &Owner,
    dims: usize,
    room: impl Fn(usize) -> Result<(), Unkept>,
) -> Result<Result<Shelf, Unkept>, StoreError> {
    let mut shelf = Shelf::new(dims);
    let mut batches = rows::read(&snapshot.memories, OF_MEMORIES, owner.condition(), None).await?;
    let mut count = 0;
    while let Some(batch) = batches.try_next().await? {
        let owner = owner.clone();
        shelf = filled(shelf, move |shelf| {
            let memories = rows::memories(&[batch])?;
            let own = |(memory, at): &(Memory, u64)| owner.holds(memory).then(|| Filed::new(memory, *at));
            on_all_cores(&memories, own).into_iter().flatten().for_each(|filed| shelf.put(filed));
            Ok(())
        })
        .await?;
        count += 1;
        if count % BATCHES_BETWEEN_LOOKS == 0
            && let Err(why) = room(shelf.bytes())
        {
            return Ok(Err(why));
        }
    }
    let all_signals = snapshot.signals.count_rows(None).await.map_err(failed)?;
    let memories = shelf.ids().len();
    if memories <= FEW_MEMORIES && all_signals > memories * SIGNALS_A_MEMORY {
        let ids: Vec<MemoryId> = shelf.ids().collect();
        let signals = rows::about(&snapshot.signals, OF_SIGNALS, &ids).await?;
        shelf = filled(shelf, move |shelf| note(shelf, &signals)).await?;
    } else {
        let mut batches = rows::read(&snapshot.signals, OF_SIGNALS, None, None).await?;
        while let Some(batch) = batches.try_next().await? {
            shelf = filled(shelf, move |shelf| note(shelf, &[batch])).await?;
        }
    }
    let mut batches = rows::read(&snapshot.passages, OF_PASSAGES, owner.condition(), None).await?;
    while let Some(batch) = batches.try_next().await? {
        shelf = filled(shelf, move |shelf| add_passages(shelf, &[batch], |_| true)).await?;
        count += 1;
        if count % BATCHES_BETWEEN_LOOKS == 0
            && let Err(why) = room(shelf.bytes())
        {
            return Ok(Err(why));
        }
    }
    let shelf = filled(shelf, |shelf| {
        shelf.settle();
        Ok(())
    })
    .await?;
    Ok(room(shelf.bytes()).map(|()| shelf))
}

async fn filled(
    mut shelf: Shelf,
    fill: impl FnOnce(&mut Shelf) -> Result<(), StoreError> + Send + 'static,
) -> Result<Shelf, StoreError> {
    blocking(move || fill(&mut shelf).map(|()| shelf)).await?
}

fn note(shelf: &mut Shelf, signals: &[RecordBatch]) -> Result<(), StoreError> {
    rows::signals(signals)?.into_iter().for_each(|(memory, kind, at)| shelf.note(memory, kind, at));
    Ok(())
}

fn add_passages(
    shelf: &mut Shelf,
    batches: &[RecordBatch],
    wanted: impl Fn(MemoryId) -> bool,
) -> Result<(), StoreError> {
    for batch in batches {
        for passage in rows::passages(batch)?.into_iter().filter(|passage| wanted(passage.memory)) {
            let added = shelf.add_passage(passage.memory, passage.revision, passage.terms, passage.vector);
            added.map_err(failed)?;
        }
    }
    Ok(())
}

/// What came since a shelf was last filled.
pub(super) struct Arrivals {
    memories: Came,
    passages: Came,
    signals: Came,
}

impl Arrivals {
    pub(super) fn rows(&self) -> usize {
        self.memories.rows().saturating_add(self.passages.rows()).saturating_add(self.signals.rows())
    }
}

/// `None` where the shelf has to be filled anew: memories or signals were erased, too much came, or nobody knows.
pub(super) async fn arrivals(before: &Standings, now: &Snapshot) -> Result<Option<Arrivals>, StoreError> {
    // passages are deleted with their memory, or when others take their place
    let (memories, passages, signals) = tokio::try_join!(
        changes::since(&before.memories, &now.memories, true),
        changes::since(&before.passages, &now.passages, false),
        changes::since(&before.signals, &now.signals, true),
    )
    .map_err(failed)?;
    let arrivals = (|| Some(Arrivals { memories: memories?, passages: passages?, signals: signals? }))();
    Ok(arrivals.filter(|arrivals| arrivals.rows() <= MOST_ARRIVALS))
}

/// Brings a shelf to the versions of `now`; whether that could be done. Nobody else may do so at the same time. After an
/// error the shelf is of no use.
pub(super) async fn catch_up(kept: &Arc<Kept>, now: &Snapshot, arrivals: Arrivals) -> Result<bool, StoreError> {
    let Arrivals { memories, passages, signals } = arrivals;
    let moved = memories.moved;
    let (known_signals, changed_passages) = (signals.with_moved || signals.with_changed, passages.with_changed);
    let (memories, passages, signals) = tokio::try_join!(
        rows::read_all(&now.memories, OF_MEMORIES, None, Some(memories.fragments)),
        rows::read_all(&now.passages, OF_PASSAGES, None, Some(passages.fragments)),
        rows::read_all(&now.signals, OF_SIGNALS, None, Some(signals.fragments)),
    )?;
    let (memories, here) = {
        let (kept, passages) = (Arc::clone(kept), passages.clone());
        // all passages of a revision come at once: where there are some, there are all
        let read = move || Ok::<_, StoreError>((rows::memories(&memories)?, passages_here(&kept, &passages)?));
        blocking(read).await??
    };
    let changed: Vec<MemoryId> = if changed_passages { here.iter().copied().collect() } else { Vec::new() };
    if changed.len() > LOOKED_UP {
        return Ok(false);
    }
    // of these signals are counted that the shelf knows already, or that it forgot as it had not the memory
    let mut recounted: BTreeSet<MemoryId> = newcomers(kept, &memories);
    if known_signals {
        recounted.extend(rows::signals(&signals)?.into_iter().map(|(memory, ..)| memory));
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

    let standings = Standings::from(now);
    let filled = Arc::clone(kept);
    blocking(move || {
        let mut placed = filled.placed_mut();
        let shelf = &mut placed.shelf;
        for (memory, at) in &memories {
            if filled.owner.holds(memory) { shelf.put(Filed::new(memory, *at)) } else { shelf.remove(memory.id) }
        }
        changed.iter().for_each(|id| shelf.clear_passages(*id));
        add_passages(shelf, &changed_passages, |_| true)?;
        add_passages(shelf, &passages, |id| !here.contains(&id))?;
        note(shelf, &signals)?;
        recounted.into_iter().for_each(|id| shelf.set_evidence(id, evidence.remove(&id).unwrap_or_default()));
        placed.standings = standings;
        Ok::<_, StoreError>(())
    })
    .await??;
    if !moved.is_empty() {
        // searches need not wait for it: until then these bodies are looked for
        threads::spawn_aside(bodies::moved(Arc::clone(kept), Arc::clone(&now.memories), moved));
    }
    Ok(true)
}

/// The memories with passages of which the shelf has those of the same revision.
fn passages_here(kept: &Kept, passages: &[RecordBatch]) -> Result<BTreeSet<MemoryId>, StoreError> {
    let mut revisions: BTreeMap<MemoryId, u64> = BTreeMap::new();
    for batch in passages {
        for passage in rows::passages(batch)? {
            let newest = revisions.entry(passage.memory).or_default();
            *newest = passage.revision.max(*newest);
        }
    }
    let placed = kept.placed();
    let here = |(id, revision)| (placed.shelf.passages_of(id) == Some(revision)).then_some(id);
    Ok(revisions.into_iter().filter_map(here).collect())
}

/// Those that are not here.
fn newcomers(kept: &Kept, memories: &[(Memory, u64)]) -> BTreeSet<MemoryId> {
    let placed = kept.placed();
    memories.iter().map(|(memory, _)| memory.id).filter(|id| !placed.shelf.contains(*id)).collect()
}
