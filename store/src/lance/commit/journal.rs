//! Journals hold what was acknowledged since the tables were last synced. A frame (`frames`) holds one resolved batch;
//! it is synced before it is applied, so a batch is stored whole or not at all. Applying a frame twice changes nothing.
//!
//! A process locks the journal that it writes through a file beside it, `UUID.lock`: a lock may keep others from
//! reading what is locked, and journals are read by others.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reasoning_bank_actors::ports::{Record, StoreError};
use uuid::Uuid;

use super::frames::Frame;
use crate::files::{
    create_private, open_private, remove_if_there, sync_data, sync_dir, try_lock, unless_gone, write_synced,
};
use crate::frames;
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::tables::set_aside;
use crate::lance::threads::blocking;

const EXTENSION: &str = "log";
const LOCK_EXTENSION: &str = "lock";
/// A file with this extension stands beside a journal that a sync failed for: other processes must not remove anything
/// from that journal either.
const FAILED_EXTENSION: &str = "failed";
const HISTORY: &str = "history.log";
const OLDER_HISTORY: &str = "history.1.log";
/// The size from which on a history file is full. A file has at most this many bytes and one journal more.
const HISTORY_BYTES: u64 = 8 << 20;
/// The largest size of a journal. No store writes a larger one: a checkpoint follows 8 MiB, and frames are bounded.
const MAX_JOURNAL_BYTES: u64 = 1 << 30;

/// The frames of a journal, and how much of it cannot be read. A torn end, which nobody was promised, is left out.
struct Contents {
    frames: Vec<Frame>,
    /// The number of whole frames with the right checksum that this version cannot decode.
    undecodable: usize,
    /// The number of bytes of frames that are not whole any more.
    damaged: usize,
}

impl Contents {
    fn is_all_readable(&self) -> bool {
        self.undecodable == 0 && self.damaged == 0
    }
}

/// Reads all frames that are whole. Where a journal has others as well, a copy of it is kept in `set-aside/`. A file
/// that is too large for a journal is moved there and has no frames.
pub(in crate::lance) fn read(layout: &Layout, path: &Path) -> io::Result<Vec<Frame>> {
    if fs::metadata(path)?.len() > MAX_JOURNAL_BYTES {
        let moved = set_aside::place(&layout.set_aside(), None, path)?;
        fs::rename(path, &moved)?;
        tracing::error!(journal = %path.display(), moved = %moved.display(), "a file is too large for a journal; it is moved away");
        return Ok(Vec::new());
    }
    let contents = contents(path)?;
    if !contents.is_all_readable() {
        let copy = set_aside::copy(&layout.set_aside(), path)?;
        tracing::error!(
            journal = %path.display(), copy = %copy.display(), damaged_bytes = contents.damaged,
            undecodable_frames = contents.undecodable,
            "a part of the journal cannot be read; it is left out, all that is whole is replayed, and the journal is kept"
        );
    }
    Ok(contents.frames)
}

fn contents(path: &Path) -> io::Result<Contents> {
    let bytes = bytes(path)?;
    let found = frames::split(&bytes);
    if found.torn > 0 {
        tracing::warn!(
            journal = %path.display(), bytes = found.torn,
            "the journal ends in a torn frame, which is dropped"
        );
    }
    let mut contents = Contents { frames: Vec::new(), undecodable: 0, damaged: found.damaged };
    for body in found.whole {
        match serde_json::from_slice(body) {
            Ok(frame) => contents.frames.push(frame),
            Err(_) => contents.undecodable += 1,
        }
    }
    Ok(contents)
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_JOURNAL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The journal of this instance. The first write creates it, and the instance locks it as long as it lives, so that
/// others do not take it for the journal of a dead process. Only the holder of the write lock uses it.
#[derive(Clone, Default)]
pub(in crate::lance) struct JournalSlot(Arc<Mutex<Journals>>);

#[derive(Default)]
struct Journals {
    current: Option<Journal>,
    /// The journals for which a sync failed, of the journal itself or of the tables that it is applied to. The system
    /// may have dropped what was to be written, and say of the next sync that all is well. So these journals are
    /// neither written to nor emptied any more: whoever opens the directory after this process replays them.
    failed: Vec<Journal>,
}

struct Journal {
    name: String,
    path: PathBuf,
    file: File,
    lock: PathBuf,
    _locked: File,
    bytes: u64,
}

impl Journals {
    fn give_up(&mut self, journal: Journal) {
        let marker = journal.path.with_extension(FAILED_EXTENSION);
        if let Err(error) = open_private(&marker, File::options().write(true)) {
            tracing::error!(%error, "other processes cannot be told that the disk failed to take what was written");
        }
        self.failed.push(journal);
    }
}

impl JournalSlot {
    fn lock(&self) -> MutexGuard<'_, Journals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file name of the journal, which is created when there is none.
    pub(in crate::lance) async fn name(&self, layout: &Layout) -> Result<String, StoreError> {
        let (slot, dir) = (self.clone(), layout.journals());
        blocking(move || {
            let mut journals = slot.lock();
            match &journals.current {
                Some(journal) => Ok(journal.name.clone()),
                None => {
                    let journal = Journal::create(&dir).map_err(failed)?;
                    Ok(journals.current.insert(journal).name.clone())
                }
            }
        })
        .await?
    }

    /// Appends a frame, which is durable when this returns. After an error that may have left something behind, the
    /// journal is left to recovery and the next frame begins a new one.
    pub(in crate::lance) async fn append(&self, frame: Vec<u8>) -> Result<(), StoreError> {
        let slot = self.clone();
        blocking(move || {
            let mut journals = slot.lock();
            let journal = journals.current.as_mut().ok_or_else(|| StoreError::Failed("there is no journal".into()))?;
            match journal.append(&frame) {
                Ok(()) => Ok(()),
                Err(Broken::Undone(error)) => Err(failed(error)),
                Err(Broken::Doubtful(error)) => {
                    if let Some(doubtful) = journals.current.take() {
                        journals.give_up(doubtful);
                    }
                    Err(failed(error))
                }
            }
        })
        .await?
    }

    /// Gives up the journal because the tables could not be synced: it holds what is in them, so it stays as it is.
    pub(super) fn give_up(&self) {
        let mut journals = self.lock();
        if let Some(applied) = journals.current.take_if(|journal| journal.bytes > 0) {
            tracing::error!("the disk failed to take what was written; the journal stays until the next start");
            journals.give_up(applied);
        }
    }

    /// Returns the number of bytes of frames that the journal has.
    pub(in crate::lance) fn bytes(&self) -> u64 {
        self.lock().current.as_ref().map_or(0, |journal| journal.bytes)
    }

    /// Empties the journal: moves its frames to the history. The tables must have been synced.
    pub(super) fn empty(&self, layout: &Layout) -> io::Result<()> {
        let mut journals = self.lock();
        if let Some(journal) = journals.current.as_mut().filter(|journal| journal.bytes > 0) {
            move_to_history(layout, &journal.path)?;
            journal.file.set_len(0)?;
            journal.file.sync_data()?;
            journal.bytes = 0;
        }
        Ok(())
    }

    /// Removes the journal if nothing is in it, so that nothing is left to whoever opens the directory next. The next
    /// write begins a new journal.
    pub(in crate::lance) fn remove_empty(&self) -> io::Result<()> {
        match self.lock().current.take_if(|journal| journal.bytes == 0) {
            Some(journal) => remove_with_lock(&journal.path, &journal.lock),
            None => Ok(()),
        }
    }

    /// Refuses to remove anything after a sync failed. A journal whose process has ended is replayed before anything is
    /// removed, so the failure belongs to a process that lives: this one, or another.
    fn refuse_after_a_failure(&self, journals: &[PathBuf]) -> io::Result<()> {
        let of_another = || journals.iter().any(|journal| journal.with_extension(FAILED_EXTENSION).exists());
        if self.lock().failed.is_empty() && !of_another() {
            return Ok(());
        }
        Err(io::Error::other(
            "the disk failed to take what was written, and nothing is removed from the journals until the process that wrote it has been started again",
        ))
    }
}

/// The error of a frame that could not be appended, by what is left of the frame.
enum Broken {
    /// Nothing of the frame is left.
    Undone(io::Error),
    /// The frame may be there, or come back.
    Doubtful(io::Error),
}

impl Journal {
    fn create(dir: &Path) -> io::Result<Self> {
        let name = format!("{}.{EXTENSION}", Uuid::now_v7());
        let path = dir.join(&name);
        let lock = path.with_extension(LOCK_EXTENSION);
        let locked = create_private(&lock, File::options().write(true))?;
        locked.lock()?;
        let file = create_private(&path, File::options().append(true))?;
        // earlier versions look for the lock on the journal itself; none of them ran where a lock keeps others from
        // reading
        #[cfg(unix)]
        file.lock()?;
        sync_dir(dir)?;
        Ok(Self { name, path, file, lock, _locked: locked, bytes: 0 })
    }

    fn append(&mut self, frame: &[u8]) -> Result<(), Broken> {
        // not `self.bytes`: an erasure by another process may have emptied the file
        let before = self.file.metadata().map_err(Broken::Undone)?.len();
        if let Err(error) = self.file.write_all(frame) {
            // nothing of it was synced, so what was begun can be cut off
            return Err(match self.file.set_len(before) {
                Ok(()) => Broken::Undone(error),
                Err(_) => Broken::Doubtful(error),
            });
        }
        sync_data(&self.path, &self.file).map_err(Broken::Doubtful)?;
        self.bytes += frame.len() as u64;
        Ok(())
    }
}

/// Finds the journals that dead processes left behind, and removes those that are empty. Their locks are held until the
/// list is dropped. The write lock must be held, as it is by whoever begins a journal.
pub(in crate::lance) fn orphans(layout: &Layout) -> io::Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for path in journals(layout)? {
        let Some(locked) = lock_of_dead(&path)? else { continue };
        let lock = path.with_extension(LOCK_EXTENSION);
        match unless_gone(fs::metadata(&path))? {
            Some(metadata) if metadata.len() > 0 => {
                // what its owner could not sync is replayed, and synced, by this process
                remove_if_there(&path.with_extension(FAILED_EXTENSION))?;
                orphans.push(Orphan { path, lock, _locked: locked });
            }
            Some(_) => remove_with_lock(&path, &lock)?,
            // its owner, which ended just now, removed it
            None => {}
        }
    }
    Ok(orphans)
}

/// Counts the journals with something in them that dead processes left behind, as far as this process may look.
pub(in crate::lance) fn waiting(layout: &Layout) -> usize {
    let is_waiting = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0) && matches!(lock_of_dead(path), Ok(Some(_)))
    };
    journals(layout).unwrap_or_default().iter().filter(|path| is_waiting(path)).count()
}

/// Takes the lock of a journal; `None` where somebody holds it, or its owner removed it just now. Journals of earlier
/// versions have no file beside them and are locked themselves.
fn lock_of_dead(journal: &Path) -> io::Result<Option<File>> {
    let opened = match unless_gone(File::open(journal.with_extension(LOCK_EXTENSION)))? {
        None => unless_gone(File::open(journal))?,
        lock => lock,
    };
    let Some(file) = opened else { return Ok(None) };
    Ok(try_lock(&file)?.then_some(file))
}

fn remove_with_lock(journal: &Path, lock: &Path) -> io::Result<()> {
    [journal, &journal.with_extension(FAILED_EXTENSION), lock].into_iter().try_for_each(remove_if_there)
}

/// A journal that a dead process left behind, with its lock.
pub(in crate::lance) struct Orphan {
    pub(in crate::lance) path: PathBuf,
    lock: PathBuf,
    _locked: File,
}

impl Orphan {
    /// Moves the frames of the journal to the history and removes it. The tables must have been synced.
    pub(in crate::lance) fn remove(self, layout: &Layout) -> io::Result<()> {
        if self.path.try_exists()? {
            move_to_history(layout, &self.path)?;
            remove_with_lock(&self.path, &self.lock)?;
        }
        Ok(())
    }
}

/// Tells whether a file of this name is a journal.
pub(super) fn is_name(name: &str) -> bool {
    let stem = name.strip_suffix(EXTENSION).and_then(|stem| stem.strip_suffix('.'));
    stem.is_some_and(|stem| Uuid::parse_str(stem).is_ok())
}

/// Lists the journals of living and dead processes, the oldest first.
pub(in crate::lance) fn journals(layout: &Layout) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(layout.journals())? {
        let path = entry?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_name) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Lists the files with frames that are in the tables for certain, the oldest first. They are kept to repair tables
/// that were damaged on disk.
pub(in crate::lance) fn history(layout: &Layout) -> Vec<PathBuf> {
    let paths = [OLDER_HISTORY, HISTORY].map(|name| layout.journals().join(name));
    paths.into_iter().filter(|path| path.exists()).collect()
}

fn move_to_history(layout: &Layout, journal: &Path) -> io::Result<()> {
    // only whole frames are moved: neither a torn end nor what was damaged is worth a search when the history is read
    let bytes = bytes(journal)?;
    let whole: Vec<u8> = frames::split(&bytes).whole.into_iter().flat_map(frames::framed).collect();
    append_to_history(layout, &whole[..])
}

fn append_to_history(layout: &Layout, mut frames: impl Read) -> io::Result<()> {
    let history = layout.journals().join(HISTORY);
    if fs::metadata(&history).is_ok_and(|metadata| metadata.len() >= HISTORY_BYTES) {
        fs::rename(&history, layout.journals().join(OLDER_HISTORY))?;
    }
    let mut history = open_private(&history, File::options().append(true))?;
    let before = history.metadata()?.len();
    let copied = io::copy(&mut frames, &mut history).and_then(|_| history.sync_data());
    if copied.is_err() {
        history.set_len(before)?;
    }
    copied
}

/// Empties every journal and the history, those of other processes too, so that nothing of what was erased stays
/// readable. The tables must have been synced and the write lock be held.
pub(in crate::lance) fn scrub(layout: &Layout, own: &JournalSlot) -> io::Result<()> {
    let journals = journals(layout)?;
    own.refuse_after_a_failure(&journals)?;
    empty(journals.into_iter().chain(history(layout)), own)
}

/// Removes the records that are `doomed` from the history, and moves what is left of every journal to it. Frames that
/// cannot be decoded are removed as well, because nobody knows what they hold. The tables must have been synced and the
/// write lock be held.
pub(in crate::lance) fn remove_records(
    layout: &Layout,
    own: &JournalSlot,
    doomed: impl Fn(&Record) -> bool,
) -> io::Result<()> {
    let journals = journals(layout)?;
    own.refuse_after_a_failure(&journals)?;
    let remaining = |path: &Path| -> io::Result<Option<Vec<u8>>> {
        let mut contents = contents(path)?;
        let mut found = !contents.is_all_readable();
        for frame in &mut contents.frames {
            let before = frame.batch.len();
            frame.batch.retain(|record| !doomed(record));
            found |= frame.batch.len() < before;
        }
        let left = contents.frames.iter().filter(|frame| !frame.batch.is_empty()).map(Frame::encode);
        let left = || left.collect::<Result<Vec<_>, _>>().map(|frames| frames.concat()).map_err(io::Error::other);
        found.then(left).transpose()
    };
    for path in history(layout) {
        if let Some(left) = remaining(&path)? {
            write_synced(&path, &left)?;
        }
    }
    for path in &journals {
        match remaining(path)? {
            Some(left) => append_to_history(layout, &left[..])?,
            None => move_to_history(layout, path)?,
        }
    }
    empty(journals, own)
}

fn empty(journals: impl IntoIterator<Item = PathBuf>, own: &JournalSlot) -> io::Result<()> {
    for path in journals {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(0)?;
        file.sync_data()?;
    }
    if let Some(journal) = own.lock().current.as_mut() {
        journal.bytes = 0;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
