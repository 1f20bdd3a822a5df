//! Publishing what was made beside the writers. It is done under the write lock, unless something was erased meanwhile.

use std::time::Duration;

use lancedb::Table;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_actors::runtime::Deadline;

use crate::lance::commit::erasures::Erasures;
use crate::lance::commit::write_lock::WriteGuard;
use crate::lance::repair::pending::finish_pending;
use crate::lance::shared::SharedStore;
use crate::lance::tables::compaction;

/// The longest time that publishing waits for the write lock: what took long to prepare is worth a longer wait.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(30);

/// Takes the write lock and finishes what the last holder left; returns `None` where the deadline passed first.
pub(super) async fn lock(
    shared: &SharedStore,
    deadline: Deadline,
) -> Result<Option<(WriteGuard, Erasures)>, StoreError> {
    match shared.lock.acquire(deadline).await {
        Ok(guard) => {
            let erasures = finish_pending(shared, &guard).await?;
            Ok(Some((guard, erasures)))
        }
        Err(StoreError::TimedOut) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes the write lock to publish what was made of this table since `then`. Returns `None` where the lock was not had
/// in time. Returns `None` as well where something was erased since, or was still to be: what was made may hold what is
/// to be gone, and its files are removed. Work that failed comes here too before its error is told: it may have failed
/// because rows were erased beneath it, and it leaves files all the same.
pub(super) async fn lock_to_publish(
    shared: &SharedStore,
    table: &Table,
    then: &Erasures,
) -> Result<Option<WriteGuard>, StoreError> {
    let Some((guard, now)) = lock(shared, Deadline::after(PUBLISH_TIMEOUT)).await? else { return Ok(None) };
    if then.pending.is_none() && then.count == now.count {
        return Ok(Some(guard));
    }
    shared.checkpoints.sync_tables().await?;
    compaction::prune_all(table).await?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use reasoning_bank_actors::ports::{EraseScope, Fingerprint, MemoryStore};
    use reasoning_bank_actors::testkit::soon;
    use uuid::Uuid;

    use super::*;
    use crate::lance::tables::TableName;
    use crate::lance::{LanceStore, Options};

    /// Makes a file of memories that is in no version of the table.
    fn unpublished(shared: &SharedStore) -> PathBuf {
        let data = shared.layout.table(TableName::Memories.as_str()).join("data");
        fs::create_dir_all(&data).unwrap();
        let file = data.join(format!("{}.lance", Uuid::now_v7()));
        fs::write(&file, "rows").unwrap();
        file
    }

    #[tokio::test]
    async fn what_was_made_before_an_erasure_ended_is_not_published_and_its_files_go() {
        let dir = tempfile::tempdir().unwrap();
        let fingerprint = Fingerprint { name: "test".into(), dims: 4, hash: "0123456789abcdef0123".into() };
        let store = LanceStore::open(dir.path(), &fingerprint, Options::default()).await.unwrap();
        let shared = &store.for_reading();
        let table = &shared.tables.memories.clone();
        let scope = || EraseScope::Memory(Uuid::now_v7().into());

        let before = Erasures::read(&shared.layout).await.unwrap();
        let piece = unpublished(shared);
        assert!(lock_to_publish(shared, table, &before).await.unwrap().is_some());
        assert!(piece.exists());

        store.erase(scope(), soon()).await.unwrap();
        let piece = unpublished(shared);
        assert!(lock_to_publish(shared, table, &before).await.unwrap().is_none());
        assert!(!piece.exists());

        // An erasure that broke off, and that upkeep itself finishes, is counted already.
        let mut pending = Erasures::read(&shared.layout).await.unwrap();
        pending.pending = Some(scope());
        pending.write(&shared.layout).await.unwrap();
        assert!(lock_to_publish(shared, table, &pending).await.unwrap().is_none());
        let finished = Erasures::read(&shared.layout).await.unwrap();
        assert_eq!((finished.count, finished.pending), (pending.count, None));
    }
}
