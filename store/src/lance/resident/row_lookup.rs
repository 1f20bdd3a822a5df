//! Reads of memories by the row ids that their owner index knows. They need no look into an index of the table, and the
//! owner index has the evidence. A row id that no longer belongs to its memory is noticed by what stands there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures::TryStreamExt;
use lance::Dataset;
use lance::dataset::ProjectionRequest;
use lance::table::format::Fragment;
use reasoning_bank_actors::ports::{MemoryRow, StoreError, Visible};
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_index::RowLocation;
use tokio_util::task::AbortOnDropHandle;

use super::cache::{CachedIndex, Resident};
use super::owner::Owner;
use super::rows;
use crate::lance::errors::failed;
use crate::lance::tables::{dataset, rows as records};

/// Reads those of these memories that are found by their row ids, as they are at the newest version.
pub(super) async fn get(
    resident: &Resident,
    ids: &[MemoryId],
    visible: Option<&Visible>,
) -> Result<HashMap<MemoryId, MemoryRow>, StoreError> {
    let mut known = known(resident, ids, visible)?;
    if known.is_empty() {
        return Ok(HashMap::new());
    }
    let memories = dataset::newest(&resident.tables.memories).await?;
    let is_there = |row_id: u64| memories.fragments().iter().any(|fragment| fragment.id == row_id >> 32);
    let row_ids = known.values().map(|(location, _)| location.row_id);
    let mut row_ids: Vec<u64> = row_ids.filter(|row_id| is_there(*row_id)).collect();
    row_ids.sort_unstable();
    row_ids.dedup();
    // a fragment costs time of the processor, not of the disk, so another task reads half of the rows
    let (some, others) = row_ids.split_at(row_ids.len() / 2);
    let others = AbortOnDropHandle::new(tokio::spawn(read(Arc::clone(&memories), others.to_vec())));
    let some = read(memories, some.to_vec()).await?;
    let all = some.into_iter().chain(others.await.map_err(failed)??);
    let found = all.filter_map(|memory| {
        let (RowLocation { revision, .. }, evidence) = known.remove(&memory.id)?;
        (revision == memory.revision).then_some((memory.id, MemoryRow { memory, evidence }))
    });
    Ok(found.collect())
}

/// Reads the memories with these row ids, in their order.
async fn read(memories: Arc<Dataset>, row_ids: Vec<u64>) -> Result<Vec<Memory>, StoreError> {
    let body = ProjectionRequest::from_columns(["body"], memories.schema());
    let bodies = memories.take_rows(&row_ids, body).await.map_err(failed)?;
    records::decode_bodies(&[bodies])
}

/// Returns where these memories are, and their evidence, by the owner indexes that stand for the newest version.
fn known(
    resident: &Resident,
    ids: &[MemoryId],
    visible: Option<&Visible>,
) -> Result<HashMap<MemoryId, (RowLocation, Evidence)>, StoreError> {
    let owners = visible.map(Owner::all);
    let mut indexes = resident.indexes();
    indexes.retain(|cached| owners.as_ref().is_none_or(|owners| owners.contains(&cached.owner)));
    if indexes.is_empty() {
        return Ok(HashMap::new());
    }
    let newest = resident.newest.read().map_err(failed)?;
    let mut known = HashMap::new();
    for cached in indexes {
        let versioned = cached.versioned();
        if versioned.versions.are_at(&newest) {
            known.extend(ids.iter().filter_map(|id| Some((*id, versioned.index.location(*id)?))));
        }
    }
    Ok(known)
}

/// Notes the row ids of the memories that these fragments hold.
pub(super) async fn moved(
    cached: Arc<CachedIndex>,
    memories: Arc<Dataset>,
    fragments: Vec<Fragment>,
) -> Result<(), StoreError> {
    let mut batches = rows::read(&memories, rows::ROW_IDS_OF_MEMORIES, None, Some(fragments)).await?;
    while let Some(batch) = batches.try_next().await? {
        let row_ids: BTreeMap<MemoryId, u64> = rows::row_ids(&batch)?;
        let mut versioned = cached.versioned_mut();
        row_ids.into_iter().for_each(|(id, row_id)| versioned.index.moved(id, row_id));
    }
    Ok(())
}
