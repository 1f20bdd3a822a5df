//! The access to a directory: what can be done with it right now. It is opened for reading alone where it cannot be
//! written to, and opened again, repairs included, as soon as it can be: by the next write, or by a look now and then
//! while it is read.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use reasoning_bank_actors::ports::{Fingerprint, Limitation, ReadOnlyCause, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use tokio::time::Instant;

use super::commit::write_lock::WriteLock;
use super::commit::{bulk, erasure_log};
use super::erase;
use super::errors::{before_deadline, failed, read_only_cause, to_answer};
use super::layout::Layout;
use super::repair::pending::finish_pending;
use super::repair::{format, read_only, recovery, upgrade};
use super::shared::{Options, SharedStore};
use super::threads::blocking;
use crate::files::write_synced;

/// The time between two looks, while the directory is read, whether it can be written to again.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The longest time that such a look waits for the write lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// The number of bytes that such a look writes, to see whether there is room.
const PROBE_BYTES: usize = 64 << 10;

/// An open directory, and what stood in the way of the last write.
pub(super) struct Access {
    dir: PathBuf,
    fingerprint: Fingerprint,
    options: Options,
    shared: RwLock<Arc<SharedStore>>,
    trouble: Mutex<Option<Trouble>>,
    /// Whoever opens the directory again holds this lock.
    opening: tokio::sync::Mutex<()>,
}

/// The thing that stood in the way of the last write, and when somebody last looked whether it still does.
struct Trouble {
    cause: ReadOnlyCause,
    looked: Instant,
}

impl Access {
    /// Opens the directory for writing, or for reading alone where it cannot be written to.
    ///
    /// # Errors
    /// Those of [`open_for_writing`], where what is there cannot be read either.
    pub(super) async fn open(dir: PathBuf, fingerprint: &Fingerprint, options: Options) -> Result<Self, StoreError> {
        let turns_end = Deadline::after(options.open_turns_timeout);
        loop {
            let refused = match open_for_writing(&dir, fingerprint, options.clone()).await {
                Ok(shared) => return Ok(Self::of(dir, fingerprint, options, shared, None)),
                Err(error) => error,
            };
            let Some(cause) = read_only_cause(&refused) else { return Err(refused) };
            match read_only::open(Layout::of(&dir), fingerprint, options.clone(), cause).await {
                Ok(shared) => {
                    tracing::warn!(dir = %dir.display(), "{}; {}", shared.limitation(cause).note(), cause.remedy());
                    return Ok(Self::of(dir, fingerprint, options, shared, Some(cause)));
                }
                // the holder of the lock may be about to make it readable
                Err(StoreError::Unusable(_)) if cause == ReadOnlyCause::LockHeld && !turns_end.passed() => {}
                // not a lasting answer: the next request tries again
                Err(StoreError::Unusable(why)) => {
                    let refused = told(&refused);
                    let text = format!("{why}; but {cause}{refused}: {}", cause.remedy());
                    return Err(StoreError::Failed(text));
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn of(
        dir: PathBuf,
        fingerprint: &Fingerprint,
        options: Options,
        shared: SharedStore,
        cause: Option<ReadOnlyCause>,
    ) -> Self {
        let trouble = cause.map(|cause| Trouble { cause, looked: Instant::now() });
        Self {
            dir,
            fingerprint: fingerprint.clone(),
            options,
            shared: RwLock::new(Arc::new(shared)),
            trouble: Mutex::new(trouble),
            opening: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns what is open now, without a look whether it can be written to.
    pub(super) fn shared(&self) -> Arc<SharedStore> {
        Arc::clone(&self.shared.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn trouble(&self) -> MutexGuard<'_, Option<Trouble>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what cannot be done or shown for now; `None` where nothing is known to stand in the way of a write.
    pub(super) fn limitation(&self) -> Option<Limitation> {
        let cause = self.trouble().as_ref()?.cause;
        Some(self.shared().limitation(cause))
    }

    /// Returns what a read works on. Where something stood in the way of the last write, this looks now and then,
    /// beside the read, whether the directory can be written to again.
    pub(super) fn for_reading(self: &Arc<Self>) -> Arc<SharedStore> {
        let is_due = {
            let mut trouble = self.trouble();
            let due = trouble.as_mut().filter(|trouble| trouble.looked.elapsed() >= LOOK_EVERY);
            due.map(|trouble| trouble.looked = Instant::now()).is_some()
        };
        if is_due {
            let access = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = access.look(Deadline::after(LOCK_TIMEOUT)).await {
                    tracing::debug!(%error, "the store cannot be written to yet");
                }
            });
        }
        self.shared()
    }

    /// Tries whether the directory can be written to by now. It does what comes before a write, and writes enough to
    /// show that there is room.
    pub(super) async fn look(self: &Arc<Self>, deadline: Deadline) -> Result<(), StoreError> {
        self.write(deadline, move |shared| async move {
            let guard = shared.lock.acquire_in_turn(to_answer(deadline)).await?;
            finish_pending(&shared, &guard).await?;
            let probe = shared.layout.probe();
            blocking(move || {
                write_synced(&probe, &[0; PROBE_BYTES])?;
                std::fs::remove_file(&probe)
            })
            .await?
            .map_err(failed)
        })
        .await
    }

    /// Returns the directory, opened for writing.
    pub(super) async fn writable(self: &Arc<Self>, deadline: Deadline) -> Result<Arc<SharedStore>, StoreError> {
        self.noted(before_deadline(deadline, self.for_writing(to_answer(deadline))).await)
    }

    /// Does work that writes, and notes whether that went well.
    pub(super) async fn write<T, F>(
        self: &Arc<Self>,
        deadline: Deadline,
        work: impl FnOnce(Arc<SharedStore>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let shared = self.writable(deadline).await?;
        let done = self.noted(work(shared).await);
        if done.is_ok() {
            *self.trouble() = None;
        }
        done
    }

    fn noted<T>(&self, done: Result<T, StoreError>) -> Result<T, StoreError> {
        let done = done.map_err(|error| read_only_cause(&error).map_or(error, StoreError::ReadOnly));
        if let Err(StoreError::ReadOnly(cause)) = &done {
            *self.trouble() = Some(Trouble { cause: *cause, looked: Instant::now() });
        }
        done
    }

    async fn for_writing(self: &Arc<Self>, deadline: Deadline) -> Result<Arc<SharedStore>, StoreError> {
        if !self.shared().is_read_only() {
            return Ok(self.shared());
        }
        let access = Arc::clone(self);
        // a task of its own: a repair that is begun is not broken off because its caller goes away
        let opened = tokio::spawn(async move {
            let _alone = access.opening.lock().await;
            if access.shared().is_read_only() {
                let left = deadline.remaining();
                let options = Options { open_timeout: left, open_turns_timeout: left, ..access.options.clone() };
                let shared = open_for_writing(&access.dir, &access.fingerprint, options).await?;
                tracing::info!("the store can be written to again");
                *access.shared.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shared);
                *access.trouble() = None;
            }
            Ok(access.shared())
        });
        opened.await.map_err(failed)?
    }
}

/// Opens the directory for writing: creates what is missing, and repairs what a crash or a power loss left behind.
async fn open_for_writing(dir: &Path, fingerprint: &Fingerprint, options: Options) -> Result<SharedStore, StoreError> {
    let layout = Layout::prepare(dir).await?;
    let lock = WriteLock::of(&layout);
    let guard = lock.acquire_unless_stalled(options.open_timeout, Deadline::after(options.open_turns_timeout)).await?;
    let format = format::check(&layout, fingerprint).await?;
    erasure_log::prepare(&layout).map_err(failed)?;
    let (tables, damaged) = recovery::open_tables(&layout, fingerprint.dims).await?;
    bulk::take_back(&layout).await?;
    upgrade::upgrade(&layout, &tables, format, damaged).await?;
    let shared = SharedStore::new(layout, options, fingerprint, tables).with_lock(lock);
    recovery::replay(&shared, &guard, damaged).await?;
    erase::finish_for_earlier_versions(&shared, &guard).await?;
    drop(guard);
    Ok(shared)
}

fn told(refused: &StoreError) -> String {
    match refused {
        StoreError::Unusable(text) | StoreError::Failed(text) => format!(" ({text})"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::Timestamp;
    use reasoning_bank_actors::ports::{EraseScope, MemoryStore, Page, Record, StoreReads};
    use reasoning_bank_actors::testkit::soon;
    use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};

    use super::super::LanceStore;
    use super::super::commit::journal;
    use super::*;
    use crate::files::faults;

    fn fingerprint() -> Fingerprint {
        Fingerprint { name: "test".into(), dims: 4, hash: "0123456789abcdef0123".into() }
    }

    async fn open(dir: &Path) -> LanceStore {
        LanceStore::open(dir, &fingerprint(), Options::default()).await.unwrap()
    }

    async fn register(store: &LanceStore, root: &str) -> Result<(), StoreError> {
        let record = Record::Workspace(Workspace::of_root(root, Timestamp::UNIX_EPOCH));
        store.commit(vec![record], soon()).await.map(drop)
    }

    async fn registered(store: &LanceStore) -> Vec<WorkspaceId> {
        store.workspaces(soon()).await.unwrap().into_iter().map(|workspace| workspace.id).collect()
    }

    fn sorted(roots: &[&str]) -> Vec<WorkspaceId> {
        let mut ids: Vec<WorkspaceId> = roots.iter().map(|root| WorkspaceId::of_root(root)).collect();
        ids.sort();
        ids
    }

    fn journals_with_bytes(dir: &Path) -> Vec<(PathBuf, u64)> {
        let journals = journal::journals(&Layout::of(dir)).unwrap().into_iter();
        let with_bytes = journals.map(|path| (path.clone(), fs::metadata(&path).unwrap().len()));
        with_bytes.filter(|(_, bytes)| *bytes > 0).collect()
    }

    #[tokio::test]
    async fn a_journal_is_never_emptied_after_its_tables_could_not_be_synced() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).await;
        register(&store, "/one").await.unwrap();
        let [(failed, bytes)] = &journals_with_bytes(dir.path())[..] else { panic!("one journal") };
        faults::fail_next_sync_below(&dir.path().join("lance/workspaces.lance"));
        store.close(soon()).await.unwrap_err();
        // the system says of the next sync that all is well, whatever became of what was to be written
        register(&store, "/two").await.unwrap();
        store.close(soon()).await.unwrap();
        assert_eq!(journals_with_bytes(dir.path()), [(failed.clone(), *bytes)]);
        let erased = store.erase(EraseScope::Workspace(WorkspaceId::of_root("/two")), soon()).await;
        assert!(erased.unwrap_err().to_string().contains("started again"));
        drop(store);
        let store = open(dir.path()).await;
        assert_eq!(registered(&store).await, sorted(&["/one"]), "the erasure is finished by the next process");
        assert_eq!(journals_with_bytes(dir.path()), []);
    }

    #[tokio::test]
    async fn a_commit_that_could_not_be_synced_is_not_acknowledged_and_its_journal_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).await;
        register(&store, "/one").await.unwrap();
        let [(failed, before)] = &journals_with_bytes(dir.path())[..] else { panic!("one journal") };
        faults::fail_next_sync_below(failed);
        register(&store, "/two").await.unwrap_err();
        let after = fs::metadata(failed).unwrap().len();
        assert!(after > *before, "what may be on the disk is not cut off");
        register(&store, "/three").await.unwrap();
        store.close(soon()).await.unwrap();
        assert_eq!(journals_with_bytes(dir.path()), [(failed.clone(), after)], "the next one is another file");
        drop(store);
        let found = registered(&open(dir.path()).await).await;
        for root in ["/one", "/three"] {
            assert!(found.contains(&WorkspaceId::of_root(root)), "{root} was acknowledged");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_written_to_is_read_and_written_again_when_it_can_be() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path()).await;
        register(&store, "/one").await.unwrap();
        drop(store);
        let held = fs::File::open(dir.path().join("lance/.write.lock")).unwrap();
        held.lock().unwrap();
        let options = Options { open_timeout: Duration::from_millis(50), ..Options::default() };
        let store = LanceStore::open(dir.path(), &fingerprint(), options).await.unwrap();
        let limitation = store.limitation().unwrap();
        assert_eq!((limitation.cause, limitation.waiting), (ReadOnlyCause::LockHeld, 1));
        assert_eq!(registered(&store).await, sorted(&["/one"]));
        let refused = store.commit(
            vec![Record::Workspace(Workspace::of_root("/two", Timestamp::UNIX_EPOCH))],
            Deadline::after(Duration::from_millis(300)),
        );
        assert_eq!(refused.await.unwrap_err(), StoreError::ReadOnly(ReadOnlyCause::LockHeld));
        drop(held);
        register(&store, "/two").await.unwrap();
        assert_eq!(store.limitation(), None);
        assert_eq!(registered(&store).await, sorted(&["/one", "/two"]));
        let journals = journals_with_bytes(dir.path());
        assert_eq!(journals.len(), 1, "what waited was replayed: {journals:?}");
    }

    #[tokio::test]
    async fn a_bank_that_cannot_be_made_is_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::of(&dir.path().join("bank"));
        let shared =
            read_only::open(layout, &fingerprint(), Options::default(), ReadOnlyCause::DiskFull).await.unwrap();
        let access = Access::of(
            dir.path().join("bank"),
            &fingerprint(),
            Options::default(),
            shared,
            Some(ReadOnlyCause::DiskFull),
        );
        let store = LanceStore { access: Arc::new(access) };
        assert_eq!(registered(&store).await, []);
        store.summary(soon()).await.unwrap();
        store.backlog(soon()).await.unwrap();
        store.lineage(Page::first(10), soon()).await.unwrap();
        assert!(!dir.path().join("bank").exists());
        register(&store, "/one").await.unwrap();
        assert_eq!(registered(&store).await, sorted(&["/one"]));
    }
}
