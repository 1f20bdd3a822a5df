//! Upkeep in bounded slices keeps fragments few, lets indexes cover nearly all rows, and prunes old versions. One
//! process does it at a time. What takes long is done on a snapshot beside the writers; the write lock is held to
//! publish what came of it, and a slice gives up when somebody else writes all the while, or erased meanwhile what it
//! was made of. Versions are pruned only after a checkpoint: until then an old one may be all that a power loss leaves.
//! With them go the files that no version has: while both locks are held nobody is about to publish them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lancedb::Table;
use reasoning_bank_actors::ports::{Maintained, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use tokio::time::Instant;

use super::publish::{lock, lock_to_publish};
use crate::lance::commit::erasures::Erasures;
use crate::lance::errors::{before_deadline, failed};
use crate::lance::shared::SharedStore;
use crate::lance::tables::{TableName, compaction, indexes};
use crate::lance::threads;

/// Fewer fragments are not worth a rewrite.
const FRAGMENTS_WORTH_COMPACTING: usize = 8;
/// Readers that began on a version have finished when it is this old, those too that read all of a large bank into
/// memory and then look at what came since.
const KEEP_VERSIONS: Duration = Duration::from_secs(120);
/// Others write for milliseconds; a process that writes for longer writes in bulk.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const BACKGROUND_SLICE: Duration = Duration::from_secs(60);
/// Fragments are counted once in this many commits.
const COMMITS_BETWEEN_LOOKS: u64 = 8;

/// Starts a slice in the background when a table has too many fragments or rows that no index has.
pub(in crate::lance) fn after_commit(shared: &Arc<SharedStore>) {
    let commits = shared.upkeep.commits.fetch_add(1, Ordering::Relaxed) + 1;
    let in_bulk = shared.upkeep.quiet_from().is_some_and(|quiet| Instant::now() < quiet);
    if in_bulk || !commits.is_multiple_of(COMMITS_BETWEEN_LOOKS) || shared.upkeep.running.swap(true, Ordering::AcqRel) {
        return;
    }
    let shared = Arc::clone(shared);
    threads::spawn_aside(async move {
        let running = RunningFlag(&shared.upkeep.running);
        if let Err(error) = slice_if_needed(&shared).await {
            tracing::warn!(%error, "upkeep of the store failed");
        }
        drop(running);
    });
}

struct RunningFlag<'a>(&'a AtomicBool);

impl Drop for RunningFlag<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

async fn slice_if_needed(shared: &SharedStore) -> Result<(), StoreError> {
    for (name, table) in shared.tables.each() {
        let scattered = compaction::small_fragments(table).await? >= shared.options.compact_at_fragments;
        if scattered || indexes::are_due(name, table).await? {
            let done = slice(shared, Deadline::after(BACKGROUND_SLICE)).await?;
            tracing::debug!(?done, "upkeep");
            break;
        }
    }
    Ok(())
}

/// Does a slice now. It goes on to its end by itself when the deadline passes.
pub(in crate::lance) async fn maintain(
    shared: &Arc<SharedStore>,
    deadline: Deadline,
) -> Result<Maintained, StoreError> {
    let shared = Arc::clone(shared);
    let work = threads::spawn_aside(async move { slice(&shared, deadline).await });
    before_deadline(deadline, async { work.await.map_err(failed)? }).await
}

/// Does upkeep to the deadline, or until nothing is left to do.
async fn slice(shared: &SharedStore, deadline: Deadline) -> Result<Maintained, StoreError> {
    let mut done = Maintained::default();
    if !shared.upkeep.is_quiet(deadline).await {
        return Ok(busy(done));
    }
    let _alone = match shared.upkeep.lock.acquire(deadline).await {
        Ok(guard) => guard,
        Err(StoreError::TimedOut) => return Ok(busy(done)),
        Err(error) => return Err(error),
    };
    for (name, table) in shared.tables.each() {
        if compaction::small_fragments(table).await? >= FRAGMENTS_WORTH_COMPACTING {
            let Some(fewer) = compact(shared, table, deadline).await? else { return Ok(busy(done)) };
            done.fragments_removed += fewer;
            done.more |= compaction::small_fragments(table).await? >= shared.options.compact_at_fragments;
        }
        if !refresh_indexes(shared, name, table, deadline, &mut done).await? {
            return Ok(busy(done));
        }
    }
    shared.checkpoints.sync_tables().await?;
    let Some((guard, _)) = lock(shared, deadline.at_most(LOCK_TIMEOUT)).await? else { return Ok(busy(done)) };
    shared.checkpoints.take(&guard).await?;
    for (_, table) in shared.tables.each() {
        done.versions_removed += compaction::prune(table, KEEP_VERSIONS).await?;
    }
    Ok(done)
}

fn busy(done: Maintained) -> Maintained {
    Maintained { busy: true, more: true, ..done }
}

/// Makes and extends the indexes of a table, piece by piece. Returns false when a piece could not be published.
async fn refresh_indexes(
    shared: &SharedStore,
    name: TableName,
    table: &Table,
    deadline: Deadline,
    done: &mut Maintained,
) -> Result<bool, StoreError> {
    while !deadline.passed() {
        let erasures = Erasures::read(&shared.layout).await?;
        let Some(prepared) = indexes::prepare(name, table).await.transpose() else { return Ok(true) };
        let Some(_guard) = lock_to_publish(shared, table, &erasures).await? else { return Ok(false) };
        if !prepared?.publish().await? {
            return Ok(false);
        }
    }
    done.more |= indexes::are_due(name, table).await?;
    Ok(true)
}

/// Compacts a table. Returns how many fragments fewer there are; `None` when what was compacted could not be published.
async fn compact(shared: &SharedStore, table: &Table, deadline: Deadline) -> Result<Option<u64>, StoreError> {
    let erasures = Erasures::read(&shared.layout).await?;
    let Some(compacted) = compaction::prepare(table, deadline).await.transpose() else { return Ok(Some(0)) };
    let Some(_guard) = lock_to_publish(shared, table, &erasures).await? else { return Ok(None) };
    compacted?.publish(table).await
}
