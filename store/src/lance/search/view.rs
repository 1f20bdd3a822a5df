//! Reads that see a commit whole or not at all, although its tables change one after the other and readers take no
//! lock. The writer says which versions the tables had before (`write_owner`); until it is done, they are read at
//! those. A read is done again if the writer begins or ends during it.

use std::sync::PoisonError;

use reasoning_bank_actors::ports::StoreError;

use crate::lance::commit::write_owner::Applying;
use crate::lance::errors::failed;
use crate::lance::shared::SharedStore;
use crate::lance::tables::{Tables, Versions};

/// The most times that a read is done. Where one commit follows the other all the while, the last try counts.
const TRIES: usize = 4;

/// Does the read on tables that hold every commit whole or not at all.
pub(in crate::lance) async fn whole<T>(
    shared: &SharedStore,
    read: impl AsyncFn(&SharedStore, &Tables) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut tries = 0;
    loop {
        let before = Applying::read(&shared.layout).map_err(failed)?;
        let tables = tables(shared, &before.before).await;
        let found = read(shared, &tables).await;
        tries += 1;
        let is_whole = !before.before.is_empty() || Applying::read(&shared.layout).map_err(failed)? == before;
        if is_whole || tries == TRIES {
            return found;
        }
    }
}

/// Does a read that looks at one table once, for one record or for a table that a commit changes in one step. There is no
/// half of that to be seen.
pub(in crate::lance) async fn at_one_look<T>(
    shared: &SharedStore,
    read: impl AsyncFn(&SharedStore, &Tables) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let before = Applying::read(&shared.layout).map_err(failed)?.before;
    read(shared, &tables(shared, &before).await).await
}

/// The tables, of which those that are named are at these versions. Versions that are gone were noted before a loss of
/// power; what is there now is all that there is.
async fn tables(shared: &SharedStore, versions: &Versions) -> Tables {
    if versions.is_empty() {
        return shared.tables.clone();
    }
    let pinned = || shared.pinned.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, tables)) = pinned().as_ref().filter(|(known, _)| known == versions) {
        return tables.clone();
    }
    match shared.tables.at(versions).await {
        Ok(tables) => {
            *pinned() = Some((versions.clone(), tables.clone()));
            tables
        }
        Err(error) => {
            tracing::debug!(%error, "a commit that broke off names versions that are gone");
            shared.tables.clone()
        }
    }
}
