//! The dataset of a table, which LanceDB's own interface lies on.

use std::sync::Arc;

use lance::Dataset;
use lancedb::Table;
use reasoning_bank_actors::ports::StoreError;

use crate::lance::errors::failed;

/// The newest version of the table.
pub(in crate::lance) async fn newest(table: &Table) -> Result<Arc<Dataset>, StoreError> {
    let missing = || StoreError::Failed(format!("the table {} is not on this machine", table.name()));
    table.dataset().ok_or_else(missing)?.get().await.map_err(failed)
}

/// The newest version of the table as a dataset of one's own, which may go on to other versions.
pub(in crate::lance) async fn snapshot(table: &Table) -> Result<Dataset, StoreError> {
    Ok((*newest(table).await?).clone())
}
