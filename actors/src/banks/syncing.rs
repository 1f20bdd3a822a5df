//! A bank and its directory agree: what others changed is read, and what is ahead is written.

use jiff::Timestamp;
use reasoning_bank_domain::bank::{BankFiles, BankKind, template};

use super::notice::NoticeSeverity;
use super::open_bank::{BankLock, Freshness, OpenBank, ReadPurpose, unusable};
use super::writing;
use crate::error::Error;
use crate::ports::BankStamp;

impl OpenBank {
    /// Brings the bank up to date with its directory, for a reader. It takes in what others changed, finishes what a
    /// process left unfinished, and writes the template of a bank that is new. Unless the bank is new, it waits for
    /// nobody who writes: then the bank has what was acknowledged so far, and nothing is written.
    pub(super) fn bring_up_to_date(&mut self, at: Timestamp) -> Result<Freshness, Error> {
        let now = self.dir.look().map_err(unusable)?;
        if let Some(known) = &self.stamp
            && now.has_records_of(known)
            && now.has_files_of(known)
        {
            return Ok(Freshness::Cached);
        }
        let lock = match self.dir.try_lock().map_err(unusable)? {
            Some(lock) => lock,
            None if now.is_new() => self.lock()?,
            None => {
                self.stamp = None;
                self.state = self.recorded()?;
                return Ok(Freshness::Read);
            }
        };
        self.read_again(&lock, ReadPurpose::ToShow, template, at)
    }

    /// Makes the texts in memory the base, and writes them.
    pub(super) fn write_anew(&mut self, lock: &BankLock, at: Timestamp) -> Result<(), Error> {
        self.state.updated_at = Some(at);
        self.checkpoint(lock)?;
        self.sync_locked(lock, at)
    }

    /// Reads what others changed: the records, and the files. Files that were written a moment ago are read in any
    /// case, because they could have been changed again without looking different.
    pub(super) fn refresh(&mut self, lock: &BankLock, at: Timestamp) -> Result<(), Error> {
        self.read_again(lock, ReadPurpose::ToChange, template, at).map(drop)
    }

    /// Does the same, and leaves a bank that is new without files.
    pub(super) fn refresh_to_fill(&mut self, lock: &BankLock, at: Timestamp) -> Result<(), Error> {
        self.read_again(lock, ReadPurpose::ToChange, |_| BankFiles::new(), at).map(drop)
    }

    /// Reads again what has another look. A new bank gets the files that `begin` makes.
    fn read_again(
        &mut self,
        lock: &BankLock,
        what_for: ReadPurpose,
        begin: impl FnOnce(BankKind) -> BankFiles,
        at: Timestamp,
    ) -> Result<Freshness, Error> {
        let now = self.dir.look().map_err(unusable)?;
        let known = self.stamp.take();
        let has_records = known.as_ref().is_some_and(|known| now.has_records_of(known));
        let has_files = known.as_ref().is_some_and(|known| now.has_files_of(known));
        let has_no_folder = self.has_no_folder()?;
        if !has_records {
            self.state = self.recorded()?;
            if !has_no_folder {
                writing::recover(self, lock, at)?;
            }
        }
        let mut freshness = if has_records { Freshness::Cached } else { Freshness::Read };
        let folder_changed = self.tell_of_folder(at)?;
        let mut is_told = folder_changed;
        let (mut changed, is_first) = (false, now.is_new());
        // Where the folder is not there, nobody has removed its files one by one.
        if !has_no_folder && (!has_records || !has_files) {
            let disk = self.read_settled(what_for)?;
            is_told |= self.name_left_alone(&disk, at);
            if folder_changed && disk.files.is_empty() && disk.left_alone.is_empty() {
                self.state.put_base_ahead();
            }
            changed = self.state.absorb(&disk, at);
            if is_first && disk.files.is_empty() && !self.dir.is_adopted() {
                self.state.set_texts(begin(self.place.key.kind()));
            }
        }
        if changed || is_first {
            freshness = Freshness::Read;
        }
        if changed || is_first || is_told {
            self.checkpoint(lock)?;
        }
        if is_first && !has_no_folder {
            writing::write_out(self, lock, at)?;
        }
        // What waited for the folder waits no longer.
        if folder_changed && let Err(error) = self.sync_locked(lock, at) {
            self.failed(&error, at);
        }
        self.seen_as_it_is(now)?;
        Ok(freshness)
    }

    /// Notes that the bank in memory is what the directory says. `before` was taken before the files were read.
    pub(super) fn seen_as_it_is(&mut self, before: BankStamp) -> Result<(), Error> {
        let after = self.dir.look().map_err(unusable)?;
        self.stamp = Some(BankStamp { taken_at: before.taken_at, files: after.files, records: after.records });
        Ok(())
    }

    /// Writes what is ahead into the files.
    pub(super) fn sync(&mut self, at: Timestamp) -> Result<(), Error> {
        let lock = self.lock()?;
        self.refresh(&lock, at)?;
        self.sync_locked(&lock, at)
    }

    /// Does the same with the lock. What cannot be written stays ahead, and a notice says so.
    pub(super) fn sync_locked(&mut self, lock: &BankLock, at: Timestamp) -> Result<(), Error> {
        if self.state.ahead().is_empty() {
            self.failures = 0;
            return Ok(());
        }
        // A folder of a checkout that is not there is made by nobody but its owner.
        if self.has_no_folder()? {
            self.failures = self.failures.saturating_add(1);
            return Ok(());
        }
        let before = self.dir.look().map_err(unusable)?;
        let written = writing::write_out(self, lock, at);
        let left = !self.state.ahead().is_empty();
        match (&written, left) {
            (Ok(()), false) if self.failures > 0 => {
                self.failures = 0;
                self.state.notice(
                    NoticeSeverity::Info,
                    "the files could be written again, with all that waited".into(),
                    at,
                );
            }
            (Ok(()), false) => {}
            _ => self.failures = self.failures.saturating_add(1),
        }
        written?;
        if self.dumps {
            self.dump(at);
        }
        self.seen_as_it_is(before)
    }
}
