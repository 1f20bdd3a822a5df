//! The work that is pending when the write lock is had: a commit, a change of the embedder or an erasure that broke
//! off.

use reasoning_bank_actors::ports::StoreError;

use super::{erasure, format};
use crate::lance::commit::erasures::Erasures;
use crate::lance::commit::write_lock::WriteGuard;
use crate::lance::commit::{bulk, replay};
use crate::lance::shared::SharedStore;

/// Finishes what the last holder of the write lock began and could not finish. It comes before anything is written.
pub(in crate::lance) async fn finish_pending(shared: &SharedStore, guard: &WriteGuard) -> Result<Erasures, StoreError> {
    format::check_again(&shared.layout, &shared.fingerprint).await?;
    bulk::take_back(&shared.layout).await?;
    let unfinished = guard.unfinished()?;
    if let Some(journal) = &unfinished.journal {
        tracing::info!(journal, "finishing a commit that broke off");
        let journals = vec![shared.layout.journals().join(journal)];
        replay::replay(&shared.layout, &shared.tables, shared.dims, journals).await?;
    }
    if !unfinished.is_over() {
        guard.finish()?;
    }
    let erasures = Erasures::read(&shared.layout).await?;
    if erasures.pending.is_some() {
        erasure::finish(shared, guard, erasures).await.map(|(_, e)| e)
    } else {
        Ok(erasures)
    }
}
