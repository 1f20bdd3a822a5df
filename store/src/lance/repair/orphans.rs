//! The journals that dead processes left behind.

use reasoning_bank_actors::ports::StoreError;

use crate::lance::commit::write_lock::WriteGuard;
use crate::lance::commit::{journal, replay};
use crate::lance::errors::failed;
use crate::lance::shared::SharedStore;
use crate::lance::threads::blocking;

/// Replays the journals that dead processes left behind, and moves them to the history. An erasure does so first: it
/// empties every journal, and what such a journal holds may not be in the tables.
pub(super) async fn replay_orphans(shared: &SharedStore, guard: &WriteGuard) -> Result<(), StoreError> {
    let layout = shared.layout.clone();
    let orphans = blocking(move || journal::orphans(&layout)).await?.map_err(failed)?;
    if orphans.is_empty() {
        return Ok(());
    }
    let paths = orphans.iter().map(|orphan| orphan.path.clone()).collect();
    let frames = replay::replay(&shared.layout, &shared.tables, shared.dims, paths).await?;
    tracing::info!(frames, "replayed the journals of earlier processes");
    shared.checkpoints.take(guard).await?;
    let layout = shared.layout.clone();
    blocking(move || orphans.into_iter().try_for_each(|orphan| orphan.remove(&layout))).await?.map_err(failed)
}
