//! Searches answered from memory: shelves (`domain/src/resident.rs`) for the owners of memories that searches ask for, up
//! to a budget of bytes over all of them. A shelf answers only when it stands for the newest version of every table it was
//! filled from, so that what any process acknowledged is always seen: where few rows came since, the search adds them
//! first. Where there is no such shelf, a small one is made first; otherwise the tables are searched (`search`), and a large
//! one is made in the background.

mod bodies;
mod changes;
mod fill;
mod keeping;
mod owner;
mod rows;
mod search;
mod versions;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reasoning_bank_actors::ports::{MemoryRow, Recall, StoreError, Visible};
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::retrieval::Candidates;
use reasoning_bank_domain::terms::QueryTerm;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;

pub(super) use self::keeping::Resident;
pub use self::keeping::ResidentUse;

use self::fill::{Arrivals, Standings};
use self::keeping::{Kept, Look, Pending, Unkept};
use self::owner::Owner;
use self::rows::Snapshot;
use self::versions::Versions;
use super::{blocking, failed, threads};
use crate::heap;

/// A shelf of so many passages is made before the search that wants it is answered.
const PASSAGES_AT_ONCE: usize = 2_000;
/// So many rows are added to a shelf before the search that finds it behind is answered.
const ROWS_AT_ONCE: usize = 2_000;
/// A shelf that is more commits behind is brought up to date in the background: each of them left files of its own to open.
const COMMITS_AT_ONCE: u64 = 32;
/// How long a search waits for another one that adds rows or makes a shelf.
const PATIENCE: Duration = Duration::from_millis(50);
/// So often shelves are brought up to date that were used within the other time. Upkeep prunes versions when they are some
/// seconds old.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const UNUSED_AFTER: Duration = Duration::from_secs(300);

/// The candidates of a search, or `None` where not all that it reads is here: then the tables have to be searched.
/// `terms`: those of the query's text; `None` when there is no text.
pub(super) async fn candidates(
    resident: &Arc<Resident>,
    recall: &Recall,
    terms: Option<&[QueryTerm]>,
) -> Option<Candidates> {
    if !resident.is_on() {
        return None;
    }
    let found = match shelves(resident, &recall.visible).await {
        Ok(Some(shelves)) => search::search(shelves, recall, terms).await,
        Ok(None) => return None,
        Err(error) => Err(error),
    };
    match found {
        Ok(found) => {
            resident.answered.fetch_add(1, Ordering::Relaxed);
            Some(found)
        }
        Err(error) => {
            tracing::debug!(%error, "the tables are searched instead of memory");
            None
        }
    }
}

/// Those of these memories whose places are known here, as they are now.
pub(super) async fn rows(resident: &Resident, ids: &[MemoryId]) -> HashMap<MemoryId, MemoryRow> {
    let found = bodies::get(resident, ids).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "memories are looked up instead of being read where they were");
        HashMap::new()
    });
    resident.read.fetch_add(found.len() as u64, Ordering::Relaxed);
    found
}

/// The shelves of all owners whose memories are visible, at the newest version.
async fn shelves(resident: &Arc<Resident>, visible: &Visible) -> Result<Option<Vec<Arc<Kept>>>, StoreError> {
    let newest = resident.newest.read().map_err(failed)?;
    let mut shelves = Vec::new();
    let mut complete = true;
    for owner in Owner::all(visible) {
        match shelf(resident, owner, &newest).await? {
            Some(kept) => shelves.push(kept),
            None => complete = false,
        }
    }
    Ok(complete.then_some(shelves))
}

async fn shelf(resident: &Arc<Resident>, owner: Owner, newest: &Versions) -> Result<Option<Arc<Kept>>, StoreError> {
    let asked_before = match resident.look_up(&owner) {
        Look::Shelf(kept) => return Ok(is_current(resident, &kept, newest).await?.then_some(kept)),
        Look::NotNow => return Ok(None),
        Look::Nothing { asked_before } => asked_before,
    };
    let at_once = has_few(resident, &owner).await?;
    if !at_once && !asked_before {
        return Ok(None);
    }
    let Some(pending) = Pending::begin(resident, &owner) else { return Ok(None) };
    // a task of its own: it is not in vain when the search is given up
    let made = start(at_once, make(Arc::clone(resident), owner, pending, at_once));
    if !at_once {
        return Ok(None);
    }
    let kept = made.await.map_err(failed)?;
    Ok(kept.filter(|kept| kept.is_at(newest)))
}

/// Whether a shelf for this owner takes little to be made.
async fn has_few(resident: &Resident, owner: &Owner) -> Result<bool, StoreError> {
    let passages = rows::dataset(&resident.tables.passages).await?;
    let all = passages.count_rows(None).await.map_err(failed)?;
    Ok(all <= PASSAGES_AT_ONCE || rows::count(&passages, owner.condition()).await? <= PASSAGES_AT_ONCE)
}

/// `at_once`: a search waits for it.
fn start<T: Send + 'static>(at_once: bool, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    if at_once { tokio::spawn(work) } else { threads::spawn_aside(work) }
}

/// Brings the shelves that are in use up to date now and then, until the store is closed: a search finds them current, and
/// the versions in between are looked at before they are pruned.
fn watch(resident: &Arc<Resident>) {
    if resident.watched.swap(true, Ordering::AcqRel) {
        return;
    }
    let resident = Arc::downgrade(resident);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let Some(resident) = resident.upgrade() else { return };
            for kept in resident.in_use_since(UNUSED_AFTER) {
                let refreshed = async { is_current(&resident, &kept, &resident.newest.read().map_err(failed)?).await };
                if let Err(error) = refreshed.await {
                    tracing::debug!(%error, "a shelf could not be brought up to date");
                }
            }
        }
    });
}

async fn make(resident: Arc<Resident>, owner: Owner, pending: Pending, at_once: bool) -> Option<Arc<Kept>> {
    let made = async {
        // who waits for little does not wait behind what takes long
        let (reading, patience) =
            if at_once { (&resident.reading_little, PATIENCE) } else { (&resident.reading, Duration::MAX) };
        let Ok(_alone) = tokio::time::timeout(patience, reading.lock()).await else { return Ok(Err(Unkept::Busy)) };
        let snapshot = Snapshot::take(&resident).await?;
        let room = |bytes| pending.make_room(bytes, at_once);
        let shelf = fill::load(&snapshot, &owner, resident.dims, room).await?;
        if !at_once {
            blocking(heap::give_back).await?;
        }
        Ok::<_, StoreError>(shelf.map(|shelf| Kept::new(owner.clone(), shelf, (&snapshot).into(), resident.now())))
    };
    match made.await {
        Ok(Ok(kept)) => {
            watch(&resident);
            let kept = Arc::new(kept);
            pending.end_with(&kept).then_some(kept)
        }
        Ok(Err(why)) => {
            pending.end_without(why);
            None
        }
        Err(error) => {
            tracing::warn!(%error, "memories could not be read into memory to be searched there");
            None
        }
    }
}

/// Whether the shelf stands for the newest version, after what came since was added to it. If not, it is thrown away, or
/// much has come and is added in the background.
async fn is_current(resident: &Arc<Resident>, kept: &Arc<Kept>, newest: &Versions) -> Result<bool, StoreError> {
    if kept.is_at(newest) {
        return Ok(true);
    }
    // somebody adds much already: the tables answer sooner
    let updating = tokio::time::timeout(PATIENCE, Arc::clone(&kept.updating).lock_owned());
    let Ok(updating) = updating.await else { return Ok(false) };
    if kept.is_at(newest) {
        return Ok(true);
    }
    let pending = Pending::of(resident, &kept.owner);
    let standings = kept.placed().standings.clone();
    if standings.commits_behind(newest) > COMMITS_AT_ONCE {
        pending.mark();
        threads::spawn_aside(add_all(Arc::clone(resident), Arc::clone(kept), standings, pending, updating));
        return Ok(false);
    }
    let snapshot = Snapshot::take(resident).await?;
    let Some(arrivals) = fill::arrivals(&standings, &snapshot).await? else { return Ok(false) };
    let at_once = arrivals.rows() <= ROWS_AT_ONCE;
    if !at_once {
        pending.mark();
    }
    // a task of its own: a search that is given up must not leave half of the rows added
    let adding = start(at_once, add(Arc::clone(kept), snapshot, arrivals, pending, updating));
    Ok(at_once && adding.await.map_err(failed)? && kept.is_at(newest))
}

/// Adds what came since the shelf stood at `standings`, as much as it may be.
async fn add_all(
    resident: Arc<Resident>,
    kept: Arc<Kept>,
    standings: Standings,
    pending: Pending,
    updating: OwnedMutexGuard<()>,
) {
    let came = async {
        let snapshot = Snapshot::take(&resident).await?;
        let arrivals = fill::arrivals(&standings, &snapshot).await?;
        Ok::<_, StoreError>(arrivals.map(|arrivals| (snapshot, arrivals)))
    };
    match came.await {
        Ok(Some((snapshot, arrivals))) => {
            add(kept, snapshot, arrivals, pending, updating).await;
        }
        Ok(None) => {}
        Err(error) => tracing::debug!(%error, "it is not known what came since memories were read into memory"),
    }
}

async fn add(
    kept: Arc<Kept>,
    snapshot: Snapshot,
    arrivals: Arrivals,
    pending: Pending,
    _updating: OwnedMutexGuard<()>,
) -> bool {
    match fill::catch_up(&kept, &snapshot, arrivals).await {
        Ok(done) => done && pending.end_with(&kept),
        Err(error) => {
            tracing::warn!(%error, "memories that are searched in memory could not be brought up to date");
            false
        }
    }
}
