//! Journals: what was acknowledged since the tables were last synced. A frame is a length, a checksum and one resolved
//! batch as JSON; it is synced before it is applied, so a batch is stored whole or not at all. Applying a frame twice
//! changes nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use reasoning_bank_actors::ports::{Batch, EraseScope, Record, StoreError};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::format::Layout;
use super::{blocking, failed, set_aside};
use crate::store::files::write_synced;

const HEADER_BYTES: usize = 8;
const EXTENSION: &str = "log";
const HISTORY: &str = "history.log";
const OLDER_HISTORY: &str = "history.1.log";
/// Of each of the two history files.
const HISTORY_BYTES: u64 = 8 << 20;

#[derive(Serialize, Deserialize)]
pub(super) struct Frame {
    /// How many erasures had been asked for when it was written: later ones apply to it, earlier ones do not.
    pub(super) erasures: u64,
    pub(super) batch: Batch,
}

impl Frame {
    pub(super) fn encode(&self) -> Result<Vec<u8>, StoreError> {
        let body = serde_json::to_vec(self).map_err(failed)?;
        let length = u32::try_from(body.len()).map_err(|_| StoreError::Failed("the batch is over 4 GiB".into()))?;
        let mut frame = Vec::with_capacity(HEADER_BYTES + body.len());
        frame.extend(length.to_le_bytes());
        frame.extend(crc32fast::hash(&body).to_le_bytes());
        frame.extend(body);
        Ok(frame)
    }
}

/// What a journal holds; a torn end, which nobody was promised, is left out.
pub(super) struct Contents {
    pub(super) frames: Vec<Frame>,
    /// Whole frames with the right checksum that this version cannot decode.
    undecodable: usize,
    /// Up to the end of the last whole frame.
    bytes: u64,
}

/// Reads all frames. A journal with frames that cannot be decoded is kept in `set-aside/` as well.
pub(super) fn read(layout: &Layout, path: &Path) -> io::Result<Vec<Frame>> {
    let contents = contents(path)?;
    if contents.undecodable > 0 {
        let copy = set_aside::place(&layout.set_aside(), None, path)?;
        fs::copy(path, &copy)?;
        tracing::error!(
            journal = %path.display(), copy = %copy.display(), frames = contents.undecodable,
            "frames of the journal cannot be decoded; they are left out and the journal is kept"
        );
    }
    Ok(contents.frames)
}

fn contents(path: &Path) -> io::Result<Contents> {
    let mut file = File::open(path)?;
    let mut left = file.metadata()?.len();
    let mut contents = Contents { frames: Vec::new(), undecodable: 0, bytes: 0 };
    while let Some(body) = read_body(&mut file, left)? {
        let bytes = (HEADER_BYTES + body.len()) as u64;
        (left, contents.bytes) = (left - bytes, contents.bytes + bytes);
        match serde_json::from_slice(&body) {
            Ok(frame) => contents.frames.push(frame),
            Err(_) => contents.undecodable += 1,
        }
    }
    if left > 0 {
        tracing::warn!(journal = %path.display(), bytes = left, "the journal ends in a torn frame, which is dropped");
    }
    Ok(contents)
}

/// The body of the next whole frame. Zeros, which a power loss leaves at the end of a file, are none.
fn read_body(file: &mut File, left: u64) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; HEADER_BYTES];
    if left < HEADER_BYTES as u64 {
        return Ok(None);
    }
    file.read_exact(&mut header)?;
    let [a, b, c, d, e, f, g, h] = header;
    let (length, checksum) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
    if length == 0 || u64::from(length) > left - HEADER_BYTES as u64 {
        return Ok(None);
    }
    let mut body = vec![0; length as usize];
    file.read_exact(&mut body)?;
    Ok((crc32fast::hash(&body) == checksum).then_some(body))
}

/// The journal of this instance: created by its first write, locked while it lives, so that others know not to take it
/// for the journal of a dead process. Used only by whoever holds the write lock.
#[derive(Clone, Default)]
pub(super) struct JournalSlot(Arc<Mutex<Option<Journal>>>);

struct Journal {
    name: String,
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl JournalSlot {
    /// The file name; creates the journal when there is none.
    pub(super) async fn name(&self, layout: &Layout) -> Result<String, StoreError> {
        let (slot, dir) = (Arc::clone(&self.0), layout.journals());
        blocking(move || {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            match &*slot {
                Some(journal) => Ok(journal.name.clone()),
                None => Ok(slot.insert(Journal::create(&dir).map_err(failed)?).name.clone()),
            }
        })
        .await?
    }

    /// Durable when it returns. After an error the journal is left to recovery and the next frame begins a new one.
    pub(super) async fn append(&self, frame: Vec<u8>) -> Result<(), StoreError> {
        let slot = Arc::clone(&self.0);
        blocking(move || {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            let journal = slot.as_mut().ok_or_else(|| StoreError::Failed("there is no journal".into()))?;
            let written = journal.append(&frame);
            if written.is_err() {
                *slot = None;
            }
            written.map_err(failed)
        })
        .await?
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |journal| journal.bytes)
    }

    /// Moves the frames to the history. The tables must have been synced.
    pub(super) fn empty(&self, layout: &Layout) -> io::Result<()> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = slot.as_mut().filter(|journal| journal.bytes > 0) {
            move_to_history(layout, &journal.path)?;
            journal.file.set_len(0)?;
            journal.file.sync_data()?;
            journal.bytes = 0;
        }
        Ok(())
    }

    /// Leaves nothing to whoever opens the directory next. The next write begins a new journal.
    pub(super) fn remove_empty(&self) -> io::Result<()> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.take_if(|journal| journal.bytes == 0) {
            Some(journal) => fs::remove_file(journal.path),
            None => Ok(()),
        }
    }
}

impl Journal {
    fn create(dir: &Path) -> io::Result<Self> {
        let name = format!("{}.{EXTENSION}", Uuid::now_v7());
        let path = dir.join(&name);
        let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
        file.lock()?;
        File::open(dir)?.sync_all()?;
        Ok(Self { name, path, file, bytes: 0 })
    }

    fn append(&mut self, frame: &[u8]) -> io::Result<()> {
        // not `self.bytes`: an erasure by another process may have emptied the file
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(frame).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // best effort: recovery drops a torn end anyway
            let _ = self.file.set_len(before);
        }
        written?;
        self.bytes += frame.len() as u64;
        Ok(())
    }
}

/// The journals that processes which are no more left behind. Their locks are held until the list is dropped.
pub(super) fn orphans(layout: &Layout) -> io::Result<Vec<Orphan>> {
    let mut orphans = Vec::new();
    for path in journals(layout)? {
        let file = File::open(&path)?;
        match file.try_lock() {
            Ok(()) if file.metadata()?.len() == 0 => fs::remove_file(path)?,
            Ok(()) => orphans.push(Orphan { path, _lock: file }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(orphans)
}

pub(super) struct Orphan {
    pub(super) path: PathBuf,
    _lock: File,
}

impl Orphan {
    /// Moves its frames to the history. The tables must have been synced.
    pub(super) fn remove(self, layout: &Layout) -> io::Result<()> {
        move_to_history(layout, &self.path)?;
        fs::remove_file(&self.path)
    }
}

/// Journals of living and dead processes, oldest first.
pub(super) fn journals(layout: &Layout) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(layout.journals())? {
        let path = entry?.path();
        let named_by_uuid = path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|s| Uuid::parse_str(s).is_ok());
        if named_by_uuid && path.extension().is_some_and(|extension| extension == EXTENSION) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Frames that are in the tables for certain, oldest first; kept to repair tables that were damaged on disk.
pub(super) fn history(layout: &Layout) -> Vec<PathBuf> {
    let paths = [OLDER_HISTORY, HISTORY].map(|name| layout.journals().join(name));
    paths.into_iter().filter(|path| path.exists()).collect()
}

fn move_to_history(layout: &Layout, journal: &Path) -> io::Result<()> {
    // a torn end would hide all that is appended after it
    let whole = contents(journal)?.bytes;
    append_to_history(layout, File::open(journal)?.take(whole))
}

fn append_to_history(layout: &Layout, mut frames: impl Read) -> io::Result<()> {
    let history = layout.journals().join(HISTORY);
    if fs::metadata(&history).is_ok_and(|metadata| metadata.len() >= HISTORY_BYTES) {
        fs::rename(&history, layout.journals().join(OLDER_HISTORY))?;
    }
    let mut history = OpenOptions::new().append(true).create(true).open(history)?;
    let before = history.metadata()?.len();
    let copied = io::copy(&mut frames, &mut history);
    if copied.is_err() {
        history.set_len(before)?;
    }
    copied.map(drop)
}

/// Empties every journal and the history, those of other processes too: nothing of what was erased stays readable.
/// The tables must have been synced and the write lock be held.
pub(super) fn scrub(layout: &Layout, own: &JournalSlot) -> io::Result<()> {
    empty(journals(layout)?.into_iter().chain(history(layout)), own)
}

/// Removes these records from the history, and moves what is left of every journal to it. Of frames that cannot be decoded
/// nobody knows what they hold: they go. The tables must have been synced and the write lock be held.
pub(super) fn remove_records(layout: &Layout, own: &JournalSlot, doomed: impl Fn(&Record) -> bool) -> io::Result<()> {
    let remaining = |path: &Path| -> io::Result<Option<Vec<u8>>> {
        let mut contents = contents(path)?;
        let mut found = contents.undecodable > 0;
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
    let journals = journals(layout)?;
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
    if let Some(journal) = own.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        journal.bytes = 0;
    }
    Ok(())
}

/// Which erasures there were. One that is under way is finished by whoever writes next.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Erasures {
    pub(super) count: u64,
    pub(super) pending: Option<EraseScope>,
}

impl Erasures {
    pub(super) async fn read(layout: &Layout) -> Result<Self, StoreError> {
        let path = layout.erasures();
        blocking(move || match fs::read(&path) {
            Ok(json) => serde_json::from_slice(&json).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(failed(error)),
        })
        .await?
    }

    pub(super) async fn write(&self, layout: &Layout) -> Result<(), StoreError> {
        let (path, json) = (layout.erasures(), serde_json::to_vec(self).map_err(failed)?);
        blocking(move || write_synced(&path, &json).map_err(failed)).await?
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use reasoning_bank_actors::ports::Record;
    use reasoning_bank_domain::confidence::{Signal, SignalKind};
    use reasoning_bank_domain::workspace::{Workspace, WorkspaceId};

    use super::*;

    #[test]
    fn every_record_survives_the_journal() {
        let signal = Record::Signal(Signal {
            id: Uuid::now_v7().into(),
            memory_id: Uuid::now_v7().into(),
            workspace_id: WorkspaceId::of_root("/here"),
            kind: SignalKind::Helpful,
            at: Timestamp::UNIX_EPOCH,
            trace_id: None,
            session: None,
            comment: Some("\u{1f980} \"quoted\"".into()),
        });
        let workspace = Record::Workspace(Workspace::of_root("/here", Timestamp::UNIX_EPOCH));
        let batch = vec![signal, workspace];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        fs::write(&path, Frame { erasures: 3, batch: batch.clone() }.encode().unwrap()).unwrap();
        assert_eq!(contents(&path).unwrap().frames[0].batch, batch);
    }

    fn frame(erasures: u64) -> Vec<u8> {
        Frame { erasures, batch: Vec::new() }.encode().unwrap()
    }

    fn numbers(path: &Path) -> Vec<u64> {
        contents(path).unwrap().frames.iter().map(|frame| frame.erasures).collect()
    }

    #[test]
    fn a_torn_or_spoilt_end_is_dropped_and_what_was_before_it_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let whole = [frame(1), frame(2)].concat();
        for cut in 1..frame(3).len() {
            fs::write(&path, [&whole[..], &frame(3)[..cut]].concat()).unwrap();
            assert_eq!(numbers(&path), [1, 2], "cut after {cut} bytes");
        }
        let mut spoilt = [whole.clone(), frame(3)].concat();
        let last = spoilt.len() - 1;
        spoilt[last] ^= 1;
        fs::write(&path, spoilt).unwrap();
        assert_eq!(numbers(&path), [1, 2]);
        fs::write(&path, [whole, frame(3)].concat()).unwrap();
        assert_eq!(numbers(&path), [1, 2, 3]);
    }

    #[test]
    fn zeros_after_a_power_loss_end_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        for zeros in [1, 8, 4096] {
            fs::write(&path, [frame(1), vec![0; zeros]].concat()).unwrap();
            assert_eq!(numbers(&path), [1], "{zeros} zeros");
            fs::write(&path, vec![0; zeros]).unwrap();
            assert!(numbers(&path).is_empty(), "{zeros} zeros");
        }
    }

    #[tokio::test]
    async fn a_torn_end_does_not_get_into_the_history() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::prepare(dir.path()).await.unwrap();
        let journal = dir.path().join("torn");
        fs::write(&journal, [frame(1), frame(2)[..10].to_vec()].concat()).unwrap();
        move_to_history(&layout, &journal).unwrap();
        fs::write(&journal, frame(3)).unwrap();
        move_to_history(&layout, &journal).unwrap();
        assert_eq!(numbers(&history(&layout)[0]), [1, 3]);
    }

    #[tokio::test]
    async fn a_journal_that_another_process_emptied_gets_no_zeros_from_a_failed_append() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::prepare(dir.path()).await.unwrap();
        let mut journal = Journal::create(&layout.journals()).unwrap();
        journal.append(&frame(1)).unwrap();
        scrub(&layout, &JournalSlot::default()).unwrap();
        journal.file = OpenOptions::new().read(true).open(&journal.path).unwrap();
        journal.append(&frame(2)).unwrap_err();
        assert_eq!(fs::metadata(&journal.path).unwrap().len(), 0);
    }

    #[tokio::test]
    async fn a_journal_belongs_to_its_owner_while_that_lives() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::prepare(dir.path()).await.unwrap();
        let slot = JournalSlot::default();
        slot.name(&layout).await.unwrap();
        slot.append(frame(7)).await.unwrap();
        assert!(orphans(&layout).unwrap().is_empty());
        drop(slot);
        let mut orphans = orphans(&layout).unwrap();
        assert_eq!(numbers(&orphans[0].path), [7]);
        orphans.remove(0).remove(&layout).unwrap();
        assert!(journals(&layout).unwrap().is_empty());
        assert_eq!(numbers(&history(&layout)[0]), [7]);
    }
}
