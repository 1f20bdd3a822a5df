//! Tells callers of the notices of a bank. Each session and each caller without one is told of a notice once, and a
//! notice of what lasts goes when its cause does.

use jiff::Timestamp;

use super::notice::{BankNotice, NoticeReader, NoticeSeverity};
use super::open_bank::{BankLock, OpenBank, unusable};
use super::state::LastingCause;
use super::{BankSettings, shorten};
use crate::error::Error;
use crate::ports::BankOnDisk;

/// The most files that a notice names as left alone.
const MAX_NAMED: usize = 20;

impl OpenBank {
    /// Returns what a reader of the bank is told, and notes that it was.
    pub(super) fn tell(
        &mut self,
        reader: &NoticeReader,
        settings: &BankSettings,
        at: Timestamp,
    ) -> Result<Vec<(u64, BankNotice)>, Error> {
        let told = self.state.notices_for(reader);
        let is_longer = shorten::tell_of_length(self, settings, at);
        let is_noted = matches!(reader, NoticeReader::Caller(_)) && !told.is_empty();
        if !is_longer && !is_noted {
            return Ok(told);
        }
        // Whoever has the lock changes the bank. What is not noted is told again.
        let Some(lock) = self.dir.try_lock().map_err(unusable)? else {
            self.forget_look();
            return Ok(told);
        };
        let before = self.dir.look().map_err(unusable)?;
        self.refresh(&lock, at)?;
        if shorten::tell_of_length(self, settings, at) || is_longer {
            self.store_notices(&lock);
        }
        let told = self.told(&lock, reader);
        self.seen_as_it_is(before)?;
        Ok(told)
    }

    /// Returns what a reader is told by whoever has changed the bank, and notes that it was.
    pub(super) fn told(&mut self, lock: &BankLock, reader: &NoticeReader) -> Vec<(u64, BankNotice)> {
        let told = self.state.notices_for(reader);
        if matches!(reader, NoticeReader::Caller(_)) && !told.is_empty() {
            self.state.note_told(reader);
            self.store_notices(lock);
        }
        told
    }

    /// Stores the notices with their numbers. What cannot be stored is told again.
    pub(super) fn store_notices(&mut self, lock: &BankLock) {
        if let Err(error) = self.checkpoint(lock) {
            tracing::warn!(%error, bank = %self.place.key, "the notices of a memory bank could not be stored");
        }
    }

    /// Names the files that are left alone, once for each set of them. Says whether that is new.
    pub(super) fn name_left_alone(&mut self, disk: &BankOnDisk, at: Timestamp) -> bool {
        let named: Vec<String> = disk.left_alone.iter().map(|(path, why)| format!("{path} {why}")).collect();
        let about = (!named.is_empty()).then(|| {
            let more = named.len().saturating_sub(MAX_NAMED);
            let mut description = format!("left alone: {}", named[..named.len() - more].join("; "));
            if more > 0 {
                description.push_str(&format!("; and {more} more"));
            }
            (description.clone(), description)
        });
        self.state.lasts(LastingCause::FilesLeftAlone, NoticeSeverity::Warning, about, at)
    }

    /// Tells that the folder of the files is not in the checkout. Says whether that is new.
    pub(super) fn tell_of_folder(&mut self, at: Timestamp) -> Result<bool, Error> {
        let missing = self.dir.missing_folder().map_err(unusable)?.map(|folder| {
            let folder = folder.display().to_string();
            let description = format!(
                "the folder {folder} of the bank is not in this checkout, and is not made by itself: the bank is shown as \
                 it was read last, and what is filed is kept and waits for the folder. Where it was moved, run `bank adopt \
                 NEW_FOLDER`; where it is to be made again, `mkdir {folder}`"
            );
            (folder, description)
        });
        Ok(self.state.lasts(LastingCause::FolderMissing, NoticeSeverity::Warning, missing, at))
    }

    /// Says whether the folder of the files is not in the checkout.
    pub(super) fn has_no_folder(&self) -> Result<bool, Error> {
        Ok(self.dir.missing_folder().map_err(unusable)?.is_some())
    }
}
