//! A directory that a process only looks into, however it is: nothing is made, repaired, stored or erased, and no lock
//! is waited for.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use reasoning_bank_actors::ports::{
    Batch, Committed, EraseScope, Erased, Fingerprint, Maintained, MemoryStore, ReadOnlyCause, StoreError, StoreFuture,
    StoreReads,
};
use reasoning_bank_actors::runtime::Deadline;

use super::LanceStore;
use super::access::Access;
use super::commit::erasures::Erasures;
use super::layout::Layout;
use super::repair::read_only;
use super::shared::Options;

/// A small bank is read into memory whole, which is faster than to search its tables.
const RESIDENT_BYTES: usize = 64 << 20;

/// A data directory that is open to be looked into. What would have to be repaired first is not opened: a memory that
/// somebody quarantined or erased could still be in its tables.
pub struct LanceReader(LanceStore);

impl LanceReader {
    /// Opens a data directory as it is.
    ///
    /// # Errors
    /// There is no bank in it, it has another format than this version writes, an erasure is under way, or a process
    /// that died has left something to be repaired.
    pub async fn open(dir: &Path) -> Result<(Self, Fingerprint), StoreError> {
        let refused = |what: &str| StoreError::Unusable(format!("{}: {what}", dir.display()));
        let Some(fingerprint) = LanceStore::embedder_of(dir).await? else { return Err(refused("there is no bank")) };
        let layout = Layout::of(dir);
        let options = Options { resident_bytes: RESIDENT_BYTES, ..Options::default() };
        let shared = read_only::open(layout.clone(), &fingerprint, options.clone(), ReadOnlyCause::LockHeld).await?;
        if shared.limitation(ReadOnlyCause::LockHeld).waiting > 0 {
            return Err(refused("what a process left behind that died has to be written first"));
        }
        if Erasures::read(&layout).await?.pending.is_some() {
            return Err(refused("an erasure is under way"));
        }
        let access = Access::of(dir.to_owned(), &fingerprint, options, shared, None);
        Ok((Self(LanceStore { access: Arc::new(access) }), fingerprint))
    }
}

fn refused<T>() -> StoreFuture<'static, T> {
    async { Err(StoreError::Failed("the bank is open to be looked into alone".to_owned())) }.boxed()
}

impl MemoryStore for LanceReader {
    fn reads(&self) -> &dyn StoreReads {
        &self.0
    }

    fn commit(&self, _: Batch, _: Deadline) -> StoreFuture<'_, Committed> {
        refused()
    }

    fn erase(&self, _: EraseScope, _: Deadline) -> StoreFuture<'_, Erased> {
        refused()
    }

    fn maintain(&self, _: Deadline) -> StoreFuture<'_, Maintained> {
        refused()
    }
}
