//! Memories whose shelf knows where in their table they are: read without a look into an index, and with the evidence that
//! the shelf has. A place that is no longer theirs is noticed by what stands there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures::TryStreamExt;
use lance::Dataset;
use lance::dataset::ProjectionRequest;
use lance::table::format::Fragment;
use reasoning_bank_actors::ports::{MemoryRow, StoreError};
use reasoning_bank_domain::confidence::Evidence;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::resident::Body;
use tokio_util::task::AbortOnDropHandle;

use super::super::{failed, rows as records};
use super::keeping::{Kept, Resident};
use super::rows;

/// Those of these memories that are found so, as they are at the newest version.
pub(super) async fn get(resident: &Resident, ids: &[MemoryId]) -> Result<HashMap<MemoryId, MemoryRow>, StoreError> {
    let mut known = known(resident, ids)?;
    if known.is_empty() {
        return Ok(HashMap::new());
    }
    let memories = rows::dataset(&resident.tables.memories).await?;
    let is_there = |at: u64| memories.fragments().iter().any(|fragment| fragment.id == at >> 32);
    let mut places: Vec<u64> = known.values().map(|(body, _)| body.at).filter(|at| is_there(*at)).collect();
    places.sort_unstable();
    places.dedup();
    // what a fragment costs is time of the processor, not of the disk
    let (some, others) = places.split_at(places.len() / 2);
    let others = AbortOnDropHandle::new(tokio::spawn(read(Arc::clone(&memories), others.to_vec())));
    let some = read(memories, some.to_vec()).await?;
    let all = some.into_iter().chain(others.await.map_err(failed)??);
    let found = all.filter_map(|memory| {
        let (Body { revision, .. }, evidence) = known.remove(&memory.id)?;
        (revision == memory.revision).then_some((memory.id, MemoryRow { memory, evidence }))
    });
    Ok(found.collect())
}

/// `places` in their order.
async fn read(memories: Arc<Dataset>, places: Vec<u64>) -> Result<Vec<Memory>, StoreError> {
    let body = ProjectionRequest::from_columns(["body"], memories.schema());
    let bodies = memories.take_rows(&places, body).await.map_err(failed)?;
    records::decode_bodies(&[bodies])
}

/// What the shelves that stand for the newest version say of these memories.
fn known(resident: &Resident, ids: &[MemoryId]) -> Result<HashMap<MemoryId, (Body, Evidence)>, StoreError> {
    let shelves = resident.shelves();
    if shelves.is_empty() {
        return Ok(HashMap::new());
    }
    let newest = resident.newest.read().map_err(failed)?;
    let mut known = HashMap::new();
    for kept in shelves {
        let placed = kept.placed();
        if placed.standings.are_at(&newest) {
            known.extend(ids.iter().filter_map(|id| Some((*id, placed.shelf.body(*id)?))));
        }
    }
    Ok(known)
}

/// Notes where the bodies are that these fragments hold.
pub(super) async fn moved(kept: Arc<Kept>, memories: Arc<Dataset>, fragments: Vec<Fragment>) -> Result<(), StoreError> {
    let mut batches = rows::read(&memories, rows::PLACES_OF_MEMORIES, None, Some(fragments)).await?;
    while let Some(batch) = batches.try_next().await? {
        let places: BTreeMap<MemoryId, u64> = rows::places(&batch)?;
        let mut placed = kept.placed_mut();
        places.into_iter().for_each(|(id, at)| placed.shelf.move_body(id, at));
    }
    Ok(())
}
