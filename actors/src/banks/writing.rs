//! Writing the files of a bank, so that neither a person's change nor an update is lost, wherever a process ends.
//!
//! Every new text is staged beside its file first. Then a record names the files, with the text that each should have
//! had and the text that it gets. Then each file and its staged text change places at once, and what comes out is
//! looked at: if it is not the text that was expected, a person saved in between, and what he saved is merged and
//! written again. At the end there is a new base, the record goes, and so does what was staged.
//!
//! Whoever finds a record after a crash knows from what lies under the temporary name whether the file was changed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reasoning_bank_domain::bank::BankPath;
use serde::{Deserialize, Serialize};

use super::notice::NoticeSeverity;
use super::open_bank::{BankLock, OpenBank, ReadPurpose, unusable};
use crate::error::Error;
use crate::ports::{BankOnDisk, BankRecord, StagedFile};

/// The most times that a sync writes a file anew because a person saves it again and again. The next sync goes on.
const MAX_ROUNDS: usize = 8;

/// The record of what is being written.
#[derive(Debug, Serialize, Deserialize)]
struct WritingRecord {
    generation: u64,
    files: Vec<WrittenFile>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WrittenFile {
    path: BankPath,
    /// The temporary name.
    name: String,
    /// The text that the file has; none of a file that is new.
    expected: Option<String>,
    target: String,
}

/// Writes what is ahead. What cannot be written stays ahead.
pub(super) fn write_out(bank: &mut OpenBank, lock: &BankLock, at: Timestamp) -> Result<(), Error> {
    for _ in 0..MAX_ROUNDS {
        if bank.state.ahead().is_empty() || !write_once(bank, lock, at)? {
            break;
        }
    }
    Ok(())
}

/// Writes each file that is ahead once. Says whether another round may write more.
fn write_once(bank: &mut OpenBank, lock: &BankLock, at: Timestamp) -> Result<bool, Error> {
    bank.forget_look();
    let mut files = Vec::new();
    let mut failed = Vec::new();
    for (path, target) in bank.state.ahead() {
        let expected = bank.state.base().get(path).cloned();
        match bank.dir.stage(path, target) {
            Ok(name) => files.push(WrittenFile { path: path.clone(), name, expected, target: target.clone() }),
            Err(error) => failed.push(format!("{path}: {error}")),
        }
    }
    let record = WritingRecord { generation: bank.state.generation, files };
    if let Err(error) = save(bank, &record) {
        for file in &record.files {
            let _ = bank.dir.discard(&file.path, &file.name);
        }
        return Err(error);
    }
    let (mut displaced, mut refused) = (BTreeMap::new(), Vec::new());
    for file in &record.files {
        match bank.dir.swap(&file.path, &file.name, file.expected.is_none()) {
            Ok(true) => {
                bank.state.set_base(&file.path, Some(file.target.clone()));
                displaced.extend(merge_displaced(bank, file, file.expected.as_deref(), at)?);
            }
            // A person created the file, or removed it: the next round sees what there is.
            Ok(false) => refused.push(file),
            Err(error) => failed.push(format!("{}: {error}", file.path)),
        }
    }
    let disk = bank.read_settled(ReadPurpose::ToChange)?;
    for file in refused {
        match disk.left_alone.get(file.path.as_str()) {
            Some(why) => failed.push(format!("{}: what is there {why}", file.path)),
            None if disk.files.get(&file.path) == file.expected.as_ref() => {
                failed.push(format!("{}: something that is no file is in its place", file.path));
            }
            None => {}
        }
    }
    bank.state.absorb(&disk, at);
    if failed.is_empty() {
        bank.state.synced_at = Some(at);
    } else {
        let failed = failed.join("; ");
        let description = format!(
            "{failed}: the file could not be written; what was acknowledged is kept, and writing is tried again"
        );
        bank.state.notice(NoticeSeverity::Error, description, at);
    }
    if bank.state.ahead().is_empty() {
        bank.state.pending = 0;
    }
    finish(bank, lock, &record, Some(&displaced), at)?;
    Ok(failed.is_empty())
}

fn save(bank: &OpenBank, record: &WritingRecord) -> Result<(), Error> {
    let bytes = serde_json::to_vec(record).map_err(Error::internal)?;
    let saved = bank.dir.save_record(BankRecord::Writing, &bytes);
    if saved.is_err() {
        // It may be there all the same. Nothing was changed, so that it says nothing.
        bank.dir.remove_record(BankRecord::Writing).map_err(unusable)?;
    }
    saved.map_err(unusable)
}

/// Merges what came out of the place of a file that was written, where it is not what was expected. Returns it with the
/// path of the file.
fn merge_displaced(
    bank: &mut OpenBank,
    file: &WrittenFile,
    expected: Option<&str>,
    at: Timestamp,
) -> Result<Option<(BankPath, String)>, Error> {
    match bank.read_displaced(&file.path, &file.name, expected)? {
        StagedFile::Text(theirs) => {
            if expected.is_some_and(|expected| expected != theirs) {
                let ours = bank.state.text(&file.path).unwrap_or(&file.target).clone();
                bank.state.merge_in(&file.path, expected.unwrap_or_default(), &theirs, &ours, at);
            }
            Ok(Some((file.path.clone(), theirs)))
        }
        StagedFile::Missing => Ok(None),
        StagedFile::Other => {
            let description = format!(
                "{}: what somebody saved while it was written is no text of a bank; it lies beside it under {}",
                file.path, file.name
            );
            bank.state.notice(NoticeSeverity::Error, description, at);
            Ok(None)
        }
    }
}

/// Makes the new base, and removes what was staged and the record. Somebody may have gone on writing into a file that
/// has lost its place by then: `displaced` is what was merged of it, and what differs is merged still.
fn finish(
    bank: &mut OpenBank,
    lock: &BankLock,
    record: &WritingRecord,
    displaced: Option<&BTreeMap<BankPath, String>>,
    at: Timestamp,
) -> Result<(), Error> {
    bank.checkpoint(lock)?;
    let mut is_late = false;
    for file in &record.files {
        if let Some(merged) = displaced.and_then(|displaced| displaced.get(&file.path)) {
            let now = merge_displaced(bank, file, Some(merged), at)?;
            is_late |= now.is_some_and(|(_, now)| now != *merged);
        }
    }
    if is_late {
        bank.checkpoint(lock)?;
    }
    for file in &record.files {
        if bank.dir.staged(&file.path, &file.name).map_err(unusable)? != StagedFile::Other {
            bank.dir.discard(&file.path, &file.name).map_err(unusable)?;
        }
    }
    bank.dir.remove_record(BankRecord::Writing).map_err(unusable)
}

/// Goes on from where a process ended, and removes what it left.
pub(super) fn recover(bank: &mut OpenBank, lock: &BankLock, at: Timestamp) -> Result<(), Error> {
    if let Some(bytes) = bank.dir.record(BankRecord::Writing).map_err(unusable)? {
        let record: WritingRecord = serde_json::from_slice(&bytes).map_err(Error::internal)?;
        if record.generation == bank.state.generation {
            let disk = bank.dir.read().map_err(unusable)?;
            for file in &record.files {
                if was_swapped(bank, file, &disk)? {
                    bank.state.set_base(&file.path, Some(file.target.clone()));
                    merge_displaced(bank, file, file.expected.as_deref(), at)?;
                }
            }
        }
        finish(bank, lock, &record, None, at)?;
    }
    bank.dir.remove_left_over().map_err(unusable)
}

/// Says whether a file and its staged text had changed places when a process ended.
fn was_swapped(bank: &OpenBank, file: &WrittenFile, disk: &BankOnDisk) -> Result<bool, Error> {
    Ok(match bank.dir.staged(&file.path, &file.name).map_err(unusable)? {
        StagedFile::Text(text) => text != file.target,
        StagedFile::Missing => disk.files.get(&file.path) != file.expected.as_ref(),
        StagedFile::Other => true,
    })
}
