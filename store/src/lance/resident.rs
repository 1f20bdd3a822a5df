//! Searches that are answered from memory, by owner indexes (`index/src/lib.rs`). Owner indexes are kept for the
//! owners of memories that searches ask for, up to a budget of bytes over all of them. An owner index answers only when
//! it stands for the newest version of every table it was filled from, so that what any process acknowledged is always
//! seen: where few rows came since, the search adds them first. Where there is no such owner index, a small one is made
//! first; otherwise the tables are searched (`search`), and a large one is made in the background.
//!
//! In reading order: whom an owner index is for (`owner`), which owner indexes are kept (`cache`), which versions of
//! the tables they stand for (`versions`, `table_deltas`), how rows are read for them (`rows`) and filled in (`fill`),
//! how they are searched (`search`), and how memories are read by the row ids that they know (`row_lookup`). `episodes`
//! has the table of episodes and `patterns` the patterns, which take their shares of the budget.

mod cache;
mod episodes;
mod fill;
mod owner;
mod patterns;
mod row_lookup;
mod rows;
mod search;
mod table_deltas;
mod versions;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reasoning_bank_actors::ports::{MemoryRow, Recall, StoreError, Visible};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::retrieval::candidates::Candidates;
use reasoning_bank_domain::text::terms::QueryTerm;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use self::cache::{BuildGuard, CachedIndex, Look, NotCached};
use self::fill::{Deltas, NewRows};
use self::owner::Owner;
use self::rows::Snapshot;
use self::table_deltas::TableVersions;
use self::versions::CommittedVersions;
use crate::allocator;
use crate::lance::errors::failed;
use crate::lance::tables::dataset;
use crate::lance::threads::{self, blocking};

pub(super) use self::cache::Resident;
pub use self::cache::ResidentUse;
pub(super) use self::episodes::CurrentEpisodes;

/// An owner index of at most this many passages is made before the search that wants it is answered.
const PASSAGES_AT_ONCE: usize = 2_000;
/// The largest number of rows that are added to an owner index before the search that finds it behind is answered.
const ROWS_AT_ONCE: usize = 2_000;
/// An owner index that is more than this many commits behind is brought up to date in the background, because each
/// commit left files of its own to open.
const COMMITS_AT_ONCE: u64 = 8;
/// The largest number of times that a search is done in memory. Where a commit came each time, the tables are searched.
const TRIES: usize = 4;
/// The longest time that a search waits for another one that makes an owner index.
const TIMEOUT: Duration = Duration::from_millis(50);
/// The longest time that a search waits for another one that adds what came. Adding few rows takes less than searching
/// the tables, and one pass serves all that wait. So a busy machine, where a pass takes longer, is not made busier.
const ADDING_TIMEOUT: Duration = Duration::from_secs(2);
/// Owner indexes that were used within [`UNUSED_AFTER`] are brought up to date at this interval. It is shorter than the
/// age at which upkeep prunes versions.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const UNUSED_AFTER: Duration = Duration::from_secs(300);
/// Owner indexes that were searched within this time are brought up to date after each commit.
const SEARCHED_LATELY: Duration = Duration::from_secs(10);

/// Returns the candidates of a search. Returns `None` where not all that it reads is in memory: then the tables have to
/// be searched. `terms` are those of the text of the query; they are `None` when there is no text.
pub(super) async fn candidates(
    resident: &Arc<Resident>,
    recall: &Recall,
    terms: Option<&[QueryTerm]>,
) -> Option<Candidates> {
    if !resident.is_on() {
        return None;
    }
    match of_one_version(resident, recall, terms).await {
        Ok(Some(found)) => {
            resident.answered.fetch_add(1, Ordering::Relaxed);
            Some(found)
        }
        Ok(None) => None,
        Err(error) => {
            tracing::debug!(%error, "the tables are searched instead of memory");
            None
        }
    }
}

/// Searches the owner indexes, and does so again where one of them was brought up to date meanwhile: each commit is
/// seen whole or not at all.
async fn of_one_version(
    resident: &Arc<Resident>,
    recall: &Recall,
    terms: Option<&[QueryTerm]>,
) -> Result<Option<Candidates>, StoreError> {
    for _ in 0..TRIES {
        let Some(indexes) = indexes(resident, &recall.visible).await? else { return Ok(None) };
        let versions =
            || -> Vec<[u64; 3]> { indexes.iter().map(|cached| cached.versioned().versions.numbers()).collect() };
        let before = versions();
        let found = search::search(indexes.clone(), recall, terms).await?;
        let after = versions();
        if before == after && after.windows(2).all(|pair| pair[0] == pair[1]) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Reads those of these memories whose row ids are known here, as they are now. With `visible` nothing is looked at but
/// what its owners have.
pub(super) async fn rows(
    resident: &Resident,
    ids: &[MemoryId],
    visible: Option<&Visible>,
) -> HashMap<MemoryId, MemoryRow> {
    let found = row_lookup::get(resident, ids, visible).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "memories are looked up instead of being read where they were");
        HashMap::new()
    });
    resident.read.fetch_add(found.len() as u64, Ordering::Relaxed);
    found
}

/// Returns the owner indexes of all owners whose memories are visible, at the newest version; `None` where one of them
/// is not there.
async fn indexes(resident: &Arc<Resident>, visible: &Visible) -> Result<Option<Vec<Arc<CachedIndex>>>, StoreError> {
    let newest = resident.newest.read().map_err(failed)?;
    let mut indexes = Vec::new();
    let mut complete = true;
    for owner in Owner::all(visible) {
        match index(resident, owner, &newest).await? {
            Some(cached) => indexes.push(cached),
            None => complete = false,
        }
    }
    Ok(complete.then_some(indexes))
}

async fn index(
    resident: &Arc<Resident>,
    owner: Owner,
    newest: &CommittedVersions,
) -> Result<Option<Arc<CachedIndex>>, StoreError> {
    let asked_before = match resident.look_up(&owner) {
        Look::Cached(cached) => return Ok(is_current(resident, &cached, newest).await?.then_some(cached)),
        Look::NotNow => return Ok(None),
        Look::Nothing { asked_before } => asked_before,
    };
    let at_once = has_few(resident, &owner).await?;
    if !at_once && !asked_before {
        return Ok(None);
    }
    let Some(guard) = BuildGuard::begin(resident, &owner) else { return Ok(None) };
    // It is a task of its own, so that it completes even when the search is cancelled.
    let made = start(at_once, make(Arc::clone(resident), owner, guard, at_once));
    if !at_once {
        return Ok(None);
    }
    let cached = made.await.map_err(failed)?;
    Ok(cached.filter(|cached| cached.is_at(newest)))
}

/// Tells whether an owner index for this owner takes little to be made.
async fn has_few(resident: &Resident, owner: &Owner) -> Result<bool, StoreError> {
    let passages = dataset::newest(&resident.tables.passages).await?;
    let all = passages.count_rows(None).await.map_err(failed)?;
    Ok(all <= PASSAGES_AT_ONCE || rows::count(&passages, owner.condition()).await? <= PASSAGES_AT_ONCE)
}

/// Starts work on an owner index. `at_once` says that a search waits for it.
fn start<T: Send + 'static>(at_once: bool, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    if at_once { tokio::spawn(work) } else { threads::spawn_aside(work) }
}

/// Brings the owner indexes that are in use up to date, until the store is closed: after each commit of this process
/// those that were searched lately, so that the next search finds them current, and all of them now and then, so that
/// the versions in between are looked at before they are pruned.
fn watch(resident: &Arc<Resident>) {
    if resident.watched.swap(true, Ordering::AcqRel) {
        return;
    }
    resident.recent.begin();
    let committed = Arc::clone(&resident.committed);
    let resident = Arc::downgrade(resident);
    tokio::spawn(async move {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let used_within = tokio::select! {
                biased;
                _ = looks.tick() => UNUSED_AFTER,
                () = committed.notified() => SEARCHED_LATELY,
            };
            let Some(resident) = resident.upgrade() else { return };
            for cached in resident.in_use_since(used_within) {
                let refreshed =
                    async { is_current(&resident, &cached, &resident.newest.read().map_err(failed)?).await };
                if let Err(error) = refreshed.await {
                    tracing::debug!(%error, "an owner index could not be brought up to date");
                }
            }
        }
    });
}

async fn make(resident: Arc<Resident>, owner: Owner, guard: BuildGuard, at_once: bool) -> Option<Arc<CachedIndex>> {
    let made = async {
        // a search that waits for little does not wait behind what takes long
        let (reading, timeout) =
            if at_once { (&resident.reading_little, TIMEOUT) } else { (&resident.reading, Duration::MAX) };
        let Ok(_alone) = tokio::time::timeout(timeout, reading.lock()).await else { return Ok(Err(NotCached::Busy)) };
        let snapshot = Snapshot::take(&resident.layout, &resident.tables).await?;
        let room = |bytes| guard.make_room(bytes, at_once);
        let index = fill::load(&snapshot, &owner, resident.dims, room).await?;
        if !at_once {
            blocking(allocator::return_freed).await?;
        }
        Ok::<_, StoreError>(
            index.map(|index| CachedIndex::new(owner.clone(), index, (&snapshot).into(), resident.now())),
        )
    };
    match made.await {
        Ok(Ok(cached)) => {
            watch(&resident);
            let cached = Arc::new(cached);
            guard.end_with(&cached).then_some(cached)
        }
        Ok(Err(why)) => {
            guard.end_without(why);
            None
        }
        Err(error) => {
            tracing::warn!(%error, "memories could not be read into memory to be searched there");
            None
        }
    }
}

/// Adds what came since to the owner index, and tells whether it then stands for the newest version. If not, it is
/// thrown away, somebody else is at work on it, or much has come and is added in the background.
async fn is_current(
    resident: &Arc<Resident>,
    cached: &Arc<CachedIndex>,
    newest: &CommittedVersions,
) -> Result<bool, StoreError> {
    if cached.is_at(newest) {
        return Ok(true);
    }
    // a search of another owner may be adding what came to this owner index as well
    let alone = tokio::time::timeout(ADDING_TIMEOUT, Arc::clone(&resident.adding).lock_owned());
    let Ok(alone) = alone.await else { return Ok(false) };
    if cached.is_at(newest) {
        return Ok(true);
    }
    // somebody adds much already: the tables answer sooner
    let Ok(updating) = Arc::clone(&cached.updating).try_lock_owned() else { return Ok(false) };
    let guard = BuildGuard::of(resident, &cached.owner);
    let versions = cached.versioned().versions.clone();
    if versions.commits_behind(newest) > COMMITS_AT_ONCE {
        guard.mark();
        threads::spawn_aside(add_all(Arc::clone(resident), Arc::clone(cached), versions, guard, updating));
        return Ok(false);
    }
    let Some((snapshot, deltas)) = read_deltas(resident, &versions).await? else { return Ok(false) };
    let (resident, cached) = (Arc::clone(resident), Arc::clone(cached));
    if deltas.rows() > ROWS_AT_ONCE {
        guard.mark();
        threads::spawn_aside(add(cached, snapshot, deltas, guard, updating));
        return Ok(false);
    }
    let added_to = Arc::clone(&cached);
    // a task of its own: a search that is given up must not leave half of the rows added
    let adding = tokio::spawn(async move {
        let Some(new) = add(added_to, snapshot.clone(), deltas, guard, updating).await else { return false };
        // the search goes on, and others wait until their owner indexes have the same rows
        tokio::spawn(add_to_others(resident, versions, snapshot, new, alone));
        true
    });
    Ok(adding.await.map_err(failed)? && cached.is_at(newest))
}

/// Adds rows that came to all other owner indexes in use that stand for the versions before: what came is read once,
/// and not once for each owner.
async fn add_to_others(
    resident: Arc<Resident>,
    before: TableVersions,
    snapshot: Snapshot,
    new: Arc<NewRows>,
    _alone: OwnedMutexGuard<()>,
) {
    for cached in resident.in_use_since(UNUSED_AFTER) {
        let Ok(_updating) = Arc::clone(&cached.updating).try_lock_owned() else { continue };
        if cached.versioned().versions.are_those_of(&before) {
            add_rows(&cached, &snapshot, &new, BuildGuard::of(&resident, &cached.owner)).await;
        }
    }
}

/// Takes the newest version of the tables, and finds what came to it since `versions`. Returns `None` where an owner
/// index has to be filled anew.
async fn read_deltas(resident: &Resident, versions: &TableVersions) -> Result<Option<(Snapshot, Deltas)>, StoreError> {
    let snapshot = Snapshot::take(&resident.layout, &resident.tables).await?;
    let deltas = fill::deltas(versions, &snapshot).await?;
    if deltas.is_none() {
        // Another process may have erased some of the rows.
        resident.recent.forget();
    }
    Ok(deltas.map(|deltas| (snapshot, deltas)))
}

/// Adds what came to an owner index that stands for `versions`, however many commits it is behind.
async fn add_all(
    resident: Arc<Resident>,
    cached: Arc<CachedIndex>,
    versions: TableVersions,
    guard: BuildGuard,
    updating: OwnedMutexGuard<()>,
) {
    match read_deltas(&resident, &versions).await {
        Ok(Some((snapshot, deltas))) => {
            add(cached, snapshot, deltas, guard, updating).await;
        }
        Ok(None) => {}
        Err(error) => tracing::debug!(%error, "it is not known what came since memories were read into memory"),
    }
}

/// Reads what came and adds it to the owner index. Returns the rows where the owner index has them and is kept.
async fn add(
    cached: Arc<CachedIndex>,
    snapshot: Snapshot,
    deltas: Deltas,
    guard: BuildGuard,
    _updating: OwnedMutexGuard<()>,
) -> Option<Arc<NewRows>> {
    match NewRows::read(&guard.resident.recent, &snapshot, deltas).await.map(Arc::new) {
        Ok(new) => add_rows(&cached, &snapshot, &new, guard).await.then_some(new),
        Err(error) => {
            tracing::warn!(%error, "what came to memories that are searched in memory could not be read");
            None
        }
    }
}

/// Adds rows to an owner index, and tells whether it has them and is kept.
async fn add_rows(cached: &Arc<CachedIndex>, snapshot: &Snapshot, new: &Arc<NewRows>, guard: BuildGuard) -> bool {
    match fill::catch_up(cached, snapshot, new).await {
        Ok(done) => done && guard.end_with(cached),
        Err(error) => {
            tracing::warn!(%error, "memories that are searched in memory could not be brought up to date");
            false
        }
    }
}
