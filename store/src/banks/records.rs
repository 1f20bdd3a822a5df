//! The records of a bank: its lock, its journal, and what is replaced whole, compressed.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use reasoning_bank_actors::ports::{BankFileStamp, BankRecord};
use reasoning_bank_domain::learning::job::day_of;

use super::stamp;
use crate::files::{
    create_dir, open_lock, open_private, remove_if_there, sync_data, sync_dir, try_lock, unless_gone, write_synced,
};
use crate::frames::{framed, split};

pub(super) const LOCK: &str = "lock";
const JOURNAL: &str = "journal.log";
const DUMP: &str = "cache_memory_dump.json";
/// A bank keeps this many versions: the newest, and of those before them the first of each day.
const MAX_VERSIONS: usize = 20;
const NEWEST_VERSIONS: usize = 10;
/// A larger record was not written by this program. A bank has at most 4 MiB, and a record holds it a few times.
const MAX_BYTES: u64 = 64 << 20;
/// A lock whose file was removed is taken again in the new file.
const LOCK_TRIES: usize = 8;

pub(super) struct Records {
    dir: PathBuf,
}

fn name(record: BankRecord) -> &'static str {
    match record {
        BankRecord::Base => "base.zst",
        BankRecord::Writing => "writing.zst",
    }
}

impl Records {
    pub(super) fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(super) fn try_lock(&self) -> io::Result<Option<Box<dyn Send>>> {
        let path = self.dir.join(LOCK);
        for _ in 0..LOCK_TRIES {
            create_dir(&self.dir)?;
            let file = open_lock(&path)?;
            if !try_lock(&file)? {
                return Ok(None);
            }
            if file.metadata()?.nlink() > 0 {
                return Ok(Some(Box::new(file)));
            }
        }
        Ok(None)
    }

    pub(super) fn look(&self) -> io::Result<Vec<BankFileStamp>> {
        let mut stamps = Vec::new();
        for name in [JOURNAL, name(BankRecord::Base), name(BankRecord::Writing)] {
            if let Some(metadata) = unless_gone(fs::metadata(self.dir.join(name)))? {
                stamps.push(stamp(name.to_owned(), &metadata)?);
            }
        }
        Ok(stamps)
    }

    pub(super) fn read(&self, record: BankRecord) -> io::Result<Option<Vec<u8>>> {
        unpacked(&self.dir.join(name(record)))
    }

    pub(super) fn save(&self, record: BankRecord, content: &[u8]) -> io::Result<()> {
        create_dir(&self.dir)?;
        write_synced(&self.dir.join(name(record)), &zstd::encode_all(content, 0)?)
    }

    pub(super) fn remove(&self, record: BankRecord) -> io::Result<()> {
        remove_if_there(&self.dir.join(name(record)))?;
        sync_dir(&self.dir)
    }

    pub(super) fn journal(&self) -> io::Result<Vec<Vec<u8>>> {
        let Some(bytes) = bounded(&self.dir.join(JOURNAL))? else { return Ok(Vec::new()) };
        let found = split(&bytes);
        if found.damaged > 0 {
            tracing::error!(dir = %self.dir.display(), bytes = found.damaged, "the journal of a memory bank is damaged");
        }
        Ok(found.whole.into_iter().map(<[u8]>::to_vec).collect())
    }

    /// Returns the bytes of the journal with the frame.
    pub(super) fn append(&self, frame: &[u8]) -> io::Result<u64> {
        let path = self.dir.join(JOURNAL);
        create_dir(&self.dir)?;
        let is_new = !path.exists();
        let mut file = open_private(&path, File::options().read(true).write(true))?;
        let end = file.seek(SeekFrom::End(0))?;
        let framed = framed(frame);
        let appended = file.write_all(&framed).and_then(|()| sync_data(&path, &file));
        if let Err(error) = appended {
            // A frame that was not acknowledged must not come up later.
            file.set_len(end)?;
            return Err(error);
        }
        if is_new {
            sync_dir(&self.dir)?;
        }
        Ok(end + framed.len() as u64)
    }

    pub(super) fn clear_journal(&self) -> io::Result<()> {
        let path = self.dir.join(JOURNAL);
        let Some(file) = unless_gone(File::options().write(true).open(&path))? else { return Ok(()) };
        file.set_len(0)?;
        sync_data(&path, &file)
    }

    fn history(&self) -> PathBuf {
        self.dir.join("history")
    }

    pub(super) fn keep_version(&self, at: Timestamp, content: &[u8]) -> io::Result<()> {
        let history = self.history();
        create_dir(&history)?;
        write_synced(&history.join(version_name(at)), &zstd::encode_all(content, 0)?)?;
        for old in surplus(self.versions()?) {
            remove_if_there(&history.join(version_name(old)))?;
        }
        Ok(())
    }

    pub(super) fn versions(&self) -> io::Result<Vec<Timestamp>> {
        let mut versions = Vec::new();
        for entry in unless_gone(fs::read_dir(self.history()))?.into_iter().flatten() {
            let name = entry?.file_name();
            let milliseconds = name.to_str().and_then(|name| name.strip_suffix(".zst")?.parse().ok());
            versions.extend(milliseconds.and_then(|at| Timestamp::from_millisecond(at).ok()));
        }
        versions.sort_unstable_by(|one, other| other.cmp(one));
        Ok(versions)
    }

    pub(super) fn version(&self, at: Timestamp) -> io::Result<Option<Vec<u8>>> {
        unpacked(&self.history().join(version_name(at)))
    }

    pub(super) fn write_dump(&self, content: &[u8]) -> io::Result<()> {
        create_dir(&self.dir)?;
        write_synced(&self.dir.join(DUMP), content)
    }
}

/// Returns the versions that go, of versions of which the newest is the first. A day on which a bank is made shorter
/// again and again must not take away the version of the day before.
fn surplus(mut versions: Vec<Timestamp>) -> Vec<Timestamp> {
    let day = |at: &Timestamp| day_of(*at);
    let mut gone = Vec::new();
    while versions.len() > MAX_VERSIONS {
        let is_first_of_day = |at: usize| versions.get(at + 1).is_none_or(|older| day(older) != day(&versions[at]));
        let oldest = versions.len() - 1;
        let goes = (NEWEST_VERSIONS..versions.len()).rev().find(|at| !is_first_of_day(*at)).unwrap_or(oldest);
        gone.push(versions.remove(goes));
    }
    gone
}

fn version_name(at: Timestamp) -> String {
    format!("{}.zst", at.as_millisecond())
}

fn bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = unless_gone(File::open(path))? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    within_bound(path, bytes).map(Some)
}

fn unpacked(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(packed) = bounded(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    zstd::Decoder::new(&*packed)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    within_bound(path, bytes).map(Some)
}

fn within_bound(path: &Path, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    match bytes.len() as u64 {
        0..=MAX_BYTES => Ok(bytes),
        _ => Err(io::Error::other(format!("{} has more than {MAX_BYTES} bytes", path.display()))),
    }
}
