//! A bank that this process has at hand, with its directory. Whoever changes it has the lock of the bank among all
//! processes, and sees first what others changed meanwhile: the records of other processes, and the files of people.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reasoning_bank_domain::bank::{BankFiles, BankPath, template};
use reasoning_bank_domain::text::tokens;
use serde::{Deserialize, Serialize};

use super::notice::NoticeSeverity;
use super::remembered::Remembered;
use super::state::{BankState, UpdateFrame};
use crate::error::Error;
use crate::file_io;
use crate::ports::{
    BankDirectories, BankDirectory, BankFileStamp, BankLocation, BankOnDisk, BankRecord, BankStamp, StagedFile,
};

/// A process waits this long for others that write to the same bank.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOCK_STEP: Duration = Duration::from_millis(1);
/// A journal that has more bytes is made part of the base.
const MAX_JOURNAL_BYTES: u64 = 8 << 20;
/// The time for which somebody may be in the middle of saving a file.
const BEING_SAVED: Duration = Duration::from_millis(20);
/// The time that an editor which empties a file before it writes it may take in between.
const BEING_EMPTY: Duration = Duration::from_millis(500);
const READ_STEP: Duration = Duration::from_millis(5);

/// The lock of a bank among all processes.
pub(super) type BankLock = Box<dyn Send>;

pub(crate) struct OpenBank {
    pub(super) place: BankLocation,
    pub(super) dir: Box<dyn BankDirectory>,
    pub(super) state: BankState,
    /// The look of the directory when it was read last. None where the directory has to be read.
    pub(super) stamp: Option<BankStamp>,
    /// True where the bank is written for diagnosis after each sync.
    pub(super) dumps: bool,
    /// The number of times in a row that writing the files failed.
    pub(super) failures: u32,
    pub(super) remembered: Remembered,
}

/// The reason why the files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadPurpose {
    ToShow,
    ToChange,
}

/// Tells whether a bank was in memory already, or was read from its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    Cached,
    Read,
}

/// A version of a bank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BankVersion {
    pub at: Timestamp,
    /// The reason why it was kept.
    pub reason: String,
    pub files: BankFiles,
    /// The time at which these texts had been made shorter.
    #[serde(default)]
    pub shortened_at: Option<Timestamp>,
}

/// A version that was brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredVersion {
    /// The version that brings back the bank as it was before.
    pub kept: Timestamp,
    /// The files that came later than the version. They stay, because somebody may have written them.
    pub added_since: Vec<BankPath>,
}

impl OpenBank {
    pub(super) fn open(files: &dyn BankDirectories, place: BankLocation, dumps: bool) -> Result<Self, Error> {
        let dir = files.open(&place).map_err(unusable)?;
        let state = BankState::default();
        Ok(Self { place, dir, state, stamp: None, dumps, failures: 0, remembered: Remembered::default() })
    }

    /// Goes on in the folder that somebody adopted meanwhile. What was acknowledged before is in the files that were
    /// left.
    pub(super) fn follow_adoption(&mut self, files: &dyn BankDirectories, at: Timestamp) -> Result<(), Error> {
        if self.dir.is_current().map_err(unusable)? {
            return Ok(());
        }
        if self.is_ahead() {
            self.sync(at)?;
        }
        *self = Self::open(files, self.place.clone(), self.dumps)?;
        Ok(())
    }

    /// Takes the lock of the bank.
    pub(super) fn lock(&self) -> Result<BankLock, Error> {
        let until = Instant::now() + LOCK_LIMIT;
        loop {
            if let Some(lock) = self.dir.try_lock().map_err(unusable)? {
                return Ok(lock);
            }
            if Instant::now() >= until {
                return Err(Error::Conflict(format!("the bank {}", self.place.key)));
            }
            std::thread::sleep(LOCK_STEP);
        }
    }

    /// Reads the bank without changing anything, and without its lock.
    pub(super) fn look_at(&mut self, at: Timestamp) -> Result<(), Error> {
        self.state = self.recorded()?;
        if !self.has_no_folder()? {
            let disk = self.read_settled(ReadPurpose::ToShow)?;
            self.state.absorb(&disk, at);
        }
        Ok(())
    }

    /// Reads the files. One that somebody is saving just now is read when that is done, and at the latest after half a
    /// second. A caller that only shows the files waits for none but those that something is ahead of.
    pub(super) fn read_settled(&self, what_for: ReadPurpose) -> Result<BankOnDisk, Error> {
        let until = Instant::now() + BEING_EMPTY;
        loop {
            let disk = self.dir.read().map_err(unusable)?;
            let now = self.dir.look().map_err(unusable)?;
            let is_being_saved = |file: &BankFileStamp| {
                // Nearly all files rest, and are not looked at further.
                if file.modified + BEING_EMPTY <= now.taken_at {
                    return false;
                }
                let Ok(path) = file.path.parse::<BankPath>() else { return false };
                let (before, text) = (self.state.base().get(&path), disk.files.get(&path));
                let is_emptied = text.is_some_and(|text| is_blank(text)) && before.is_some_and(|text| !is_blank(text));
                let may_take = if is_emptied { BEING_EMPTY } else { BEING_SAVED };
                let matters = what_for == ReadPurpose::ToChange || self.state.ahead().contains_key(&path);
                matters && before != text && file.modified + may_take > now.taken_at
            };
            if Instant::now() >= until || !now.files.iter().any(is_being_saved) {
                return Ok(disk);
            }
            std::thread::sleep(READ_STEP);
        }
    }

    /// Reads what came out of the place of a file that was written. Where it is not what was expected, somebody saved
    /// it in between, and may be in the middle of it.
    pub(super) fn read_displaced(
        &self,
        file: &BankPath,
        name: &str,
        expected: Option<&str>,
    ) -> Result<StagedFile, Error> {
        let begun = Instant::now();
        let mut last: Option<(StagedFile, Instant)> = None;
        loop {
            let now = self.dir.staged(file, name).map_err(unusable)?;
            let StagedFile::Text(text) = &now else { return Ok(now) };
            let since =
                last.as_ref().filter(|(before, _)| *before == now).map_or_else(Instant::now, |(_, since)| *since);
            let may_take = if is_blank(text) { BEING_EMPTY } else { BEING_SAVED };
            let is_expected = expected.is_none_or(|expected| expected == text);
            if is_expected || since.elapsed() >= may_take || begun.elapsed() >= BEING_EMPTY + BEING_SAVED {
                return Ok(now);
            }
            last = Some((now, since));
            std::thread::sleep(READ_STEP);
        }
    }

    /// Writes what this process has in memory, for diagnosis.
    pub(super) fn dump(&self, at: Timestamp) {
        let texts = self.state.texts();
        let tokens: BTreeMap<_, _> = texts.iter().map(|(path, text)| (path.as_str(), tokens::estimate(text))).collect();
        let dump = serde_json::json!({
            "at": at, "bank": self.place.key.to_string(), "tokens": tokens, "pending": self.state.pending, "files": texts,
        });
        let written =
            serde_json::to_vec_pretty(&dump).map_err(io::Error::from).and_then(|dump| self.dir.write_dump(&dump));
        if let Err(error) = written {
            tracing::warn!(%error, "the dump of a memory bank could not be written");
        }
    }

    /// Says whether the bank was ever written to.
    pub(super) fn exists(&self) -> Result<bool, Error> {
        Ok(!self.dir.look().map_err(unusable)?.is_new())
    }

    /// Returns the texts that an update is filed in. A folder of a checkout may have none, and then gets those files of
    /// the template that something is filed in.
    pub(super) fn texts_to_file_in(&self) -> BankFiles {
        let texts = self.state.texts();
        if texts.is_empty() { template(self.place.key.kind()) } else { texts }
    }

    /// Reads the records without looking at the files.
    pub(super) fn recorded(&self) -> Result<BankState, Error> {
        loop {
            let state = self.base()?;
            let frames = self.dir.journal().map_err(unusable)?;
            // Another process may have made a new base in between, and emptied the journal.
            if self.base()?.generation != state.generation {
                continue;
            }
            return Ok(frames.iter().fold(state, |mut state, frame| {
                match serde_json::from_slice::<UpdateFrame>(frame) {
                    Ok(frame) if frame.generation == state.generation => state.update(frame),
                    Ok(_) => {}
                    Err(error) => tracing::error!(%error, "an update of a memory bank cannot be read"),
                }
                state
            }));
        }
    }

    fn base(&self) -> Result<BankState, Error> {
        let Some(record) = self.dir.record(BankRecord::Base).map_err(unusable)? else {
            return Ok(BankState::default());
        };
        serde_json::from_slice(&record).map_err(Error::internal)
    }

    /// Makes what is in memory the base of what follows, and empties the journal.
    pub(super) fn checkpoint(&mut self, _lock: &BankLock) -> Result<(), Error> {
        self.forget_look();
        let mut next = self.state.clone();
        next.generation += 1;
        let record = serde_json::to_vec(&next).map_err(Error::internal)?;
        self.dir.save_record(BankRecord::Base, &record).map_err(unusable)?;
        self.state = next;
        self.dir.clear_journal().map_err(unusable)
    }

    /// Sees to it that the directory is read before the bank is used again.
    pub(super) fn forget_look(&mut self) {
        self.stamp = None;
    }

    /// Carries out an update. It is in the journal when this returns.
    pub(super) fn append(&mut self, lock: &BankLock, frame: UpdateFrame) -> Result<(), Error> {
        let known = self.stamp.take();
        let frame = UpdateFrame { generation: self.state.generation, ..frame };
        let bytes = serde_json::to_vec(&frame).map_err(Error::internal)?;
        let journal_bytes = self.dir.append(&bytes).map_err(unusable)?;
        self.state.update(frame);
        if journal_bytes > MAX_JOURNAL_BYTES {
            // The update is stored. The next one tries again.
            if let Err(error) = self.checkpoint(lock) {
                tracing::warn!(%error, bank = %self.place.key, "the journal of a memory bank could not be emptied");
            }
            return Ok(());
        }
        let now = self.dir.look().map_err(unusable)?;
        self.stamp = known.map(|known| BankStamp { records: now.records, ..known });
        Ok(())
    }

    /// Notes that the files could not be written, for the next caller.
    pub(super) fn failed(&mut self, error: &Error, at: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        let description = format!("the files could not be written: {error}; what was acknowledged is kept");
        self.state.notice(NoticeSeverity::Error, description, at);
    }

    /// Says whether something is in no file yet.
    pub(super) fn is_ahead(&self) -> bool {
        !self.state.ahead().is_empty()
    }

    /// Keeps the bank as it is among its versions. Returns the name of the version.
    pub(super) fn keep_version(&self, reason: &str, at: Timestamp) -> Result<Timestamp, Error> {
        // A version is found by its millisecond. One that was kept in the same moment stays.
        let kept = self.dir.versions().map_err(unusable)?;
        let mut millisecond = at.as_millisecond();
        while kept.iter().any(|version| version.as_millisecond() == millisecond) {
            millisecond += 1;
        }
        let at = Timestamp::from_millisecond(millisecond).map_err(Error::internal)?;
        let (files, shortened_at) = (self.state.texts(), self.state.shortened_at);
        let version = BankVersion { at, reason: reason.to_owned(), files, shortened_at };
        let bytes = serde_json::to_vec(&version).map_err(Error::internal)?;
        self.dir.keep_version(at, &bytes).map_err(unusable)?;
        Ok(at)
    }

    pub(super) fn versions(&self) -> Result<Vec<BankVersion>, Error> {
        let mut versions = Vec::new();
        for at in self.dir.versions().map_err(unusable)? {
            versions.extend(self.version(at)?);
        }
        Ok(versions)
    }

    pub(super) fn version(&self, at: Timestamp) -> Result<Option<BankVersion>, Error> {
        let Some(bytes) = self.dir.version(at).map_err(unusable)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(Error::internal)
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

pub(super) fn unusable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidInput => Error::invalid("bank", error.to_string()),
        _ => file_io::unusable(error),
    }
}
