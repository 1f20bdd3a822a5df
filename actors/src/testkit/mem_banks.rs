//! Directories of memory banks that are in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use reasoning_bank_domain::bank::{BankFiles, BankKey, BankPath, has_conflict};

use super::hanging::{Hang, Hanging};
use crate::ports::{
    BankDirectories, BankDirectory, BankFileStamp, BankLocation, BankOnDisk, BankRecord, BankStamp, LeftAlone,
    StagedFile,
};

/// Memory banks without a disk. Clones share them, as processes share a data directory.
#[derive(Clone, Default)]
pub struct MemBanks {
    banks: Arc<Mutex<BTreeMap<BankLocation, MemBank>>>,
    adopted: Arc<Mutex<BTreeMap<BankKey, PathBuf>>>,
    hanging: Hanging<BankLocation>,
}

#[derive(Default)]
struct MemBank {
    /// Each text with the number of the change that made it.
    files: BTreeMap<BankPath, (String, u64)>,
    staged: BTreeMap<String, String>,
    records: BTreeMap<BankRecord, (Vec<u8>, u64)>,
    journal: Vec<Vec<u8>>,
    versions: BTreeMap<Timestamp, Vec<u8>>,
    changes: u64,
    is_locked: bool,
    /// The folder of the checkout is not there, and with it none of the files.
    is_without_folder: bool,
    refuses_files: bool,
    refuses_records: bool,
    /// Somebody saves these texts at the moment in which a file is replaced.
    saved_in_between: BTreeMap<BankPath, String>,
    /// The number of steps that still succeed. The process is gone after them.
    steps_left: Option<usize>,
}

impl MemBank {
    fn next(&mut self) -> u64 {
        self.changes += 1;
        self.changes
    }

    fn journal_bytes(&self) -> u64 {
        self.journal.iter().map(|frame| frame.len() as u64).sum()
    }

    /// Counts a step that changes something.
    fn step(&mut self, refused: bool) -> io::Result<()> {
        if let Some(left) = &mut self.steps_left {
            *left = left.checked_sub(1).ok_or_else(|| io::Error::other("the process is gone"))?;
        }
        if refused { Err(io::Error::other("the disk is full")) } else { Ok(()) }
    }
}

impl MemBanks {
    /// Saves a file as a person does in an editor.
    pub fn save(&self, place: &BankLocation, path: &str, text: &str) {
        self.with(place, |bank| {
            let change = bank.next();
            bank.files.extend(path.parse().ok().map(|path| (path, (text.to_owned(), change))));
        });
    }

    /// Returns the files as they are on the disk.
    pub fn files(&self, place: &BankLocation) -> BankFiles {
        self.with(place, |bank| bank.files.iter().map(|(path, (text, _))| (path.clone(), text.clone())).collect())
    }

    /// Counts the frames of the journal.
    pub fn frames(&self, place: &BankLocation) -> usize {
        self.with(place, |bank| bank.journal.len())
    }

    /// Returns the bytes of the journal.
    pub fn journal_bytes(&self, place: &BankLocation) -> u64 {
        self.with(place, |bank| bank.journal_bytes())
    }

    /// Lets every change of the files fail from now on, or no longer.
    pub fn refuse_files(&self, place: &BankLocation, refuses: bool) {
        self.with(place, |bank| bank.refuses_files = refuses);
    }

    /// Takes the folder of a checkout away with its files, or brings it back.
    pub fn take_folder(&self, place: &BankLocation, is_taken: bool) {
        self.with(place, |bank| bank.is_without_folder = is_taken);
    }

    /// Lets every change of the records fail from now on, or no longer.
    pub fn refuse_records(&self, place: &BankLocation, refuses: bool) {
        self.with(place, |bank| bank.refuses_records = refuses);
    }

    /// Lets a person save this text at the moment in which the file is replaced next.
    pub fn save_in_between(&self, place: &BankLocation, path: &str, text: &str) {
        self.with(place, |bank| bank.saved_in_between.extend(path.parse().ok().map(|path| (path, text.to_owned()))));
    }

    /// Lets every opening of a memory bank hang until it is let go.
    pub fn hang(&self, place: &BankLocation) -> Hang {
        self.hanging.hang(place.clone())
    }

    /// Ends the process after the given number of further changes of the directory. None lets a new process begin.
    pub fn end_after(&self, place: &BankLocation, steps: Option<usize>) {
        self.with(place, |bank| {
            bank.steps_left = steps;
            bank.is_locked = false;
        });
    }

    fn is_adopted(&self, place: &BankLocation) -> bool {
        let adopted = self.adopted.lock().unwrap_or_else(PoisonError::into_inner);
        place.checkout.is_some() && adopted.contains_key(&place.key)
    }

    fn with<T>(&self, place: &BankLocation, work: impl FnOnce(&mut MemBank) -> T) -> T {
        work(self.banks.lock().unwrap_or_else(PoisonError::into_inner).entry(place.clone()).or_default())
    }
}

impl BankDirectories for MemBanks {
    fn open(&self, place: &BankLocation) -> io::Result<Box<dyn BankDirectory>> {
        self.hanging.wait(place);
        let checkout = place.checkout.clone().filter(|_| self.is_adopted(place));
        let (asked, place) = (place.clone(), BankLocation { key: place.key.clone(), checkout });
        Ok(Box::new(MemBankDir { banks: self.clone(), asked, place }))
    }

    fn list(&self) -> io::Result<Vec<BankKey>> {
        let banks = self.banks.lock().unwrap_or_else(PoisonError::into_inner);
        let written = banks.iter().filter(|(_, bank)| !bank.records.is_empty());
        let mut keys: Vec<BankKey> = written.map(|(place, _)| place.key.clone()).collect();
        keys.dedup();
        Ok(keys)
    }

    fn adopt(&self, key: &BankKey, folder: &Path) -> io::Result<()> {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), folder.to_owned());
        Ok(())
    }

    fn remove(&self, key: &BankKey) -> io::Result<()> {
        self.banks.lock().unwrap_or_else(PoisonError::into_inner).retain(|place, _| place.key != *key);
        Ok(())
    }
}

struct MemBankDir {
    banks: MemBanks,
    asked: BankLocation,
    place: BankLocation,
}

struct MemBankLock(MemBanks, BankLocation);

impl Drop for MemBankLock {
    fn drop(&mut self) {
        self.0.with(&self.1, |bank| bank.is_locked = false);
    }
}

impl MemBankDir {
    fn with<T>(&self, work: impl FnOnce(&mut MemBank) -> T) -> T {
        self.banks.with(&self.place, work)
    }
}

fn stamp(path: String, change: u64, bytes: usize) -> BankFileStamp {
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(change);
    BankFileStamp { path, inode: change, bytes: bytes as u64, modified }
}

impl BankDirectory for MemBankDir {
    fn shown_path(&self) -> PathBuf {
        PathBuf::from(self.place.key.to_string())
    }

    fn is_adopted(&self) -> bool {
        self.place.checkout.is_some()
    }

    fn missing_folder(&self) -> io::Result<Option<PathBuf>> {
        Ok(self.with(|bank| bank.is_without_folder).then(|| PathBuf::from("memory-bank")))
    }

    fn is_current(&self) -> io::Result<bool> {
        Ok(self.banks.is_adopted(&self.asked) == self.is_adopted())
    }

    fn try_lock(&self) -> io::Result<Option<Box<dyn Send>>> {
        let was_locked = self.with(|bank| std::mem::replace(&mut bank.is_locked, true));
        if was_locked {
            return Ok(None);
        }
        Ok(Some(Box::new(MemBankLock(self.banks.clone(), self.place.clone()))))
    }

    fn look(&self) -> io::Result<BankStamp> {
        Ok(self.with(|bank| {
            let file =
                |(path, (text, change)): (&BankPath, &(String, u64))| stamp(path.to_string(), *change, text.len());
            let files = bank.files.iter().filter(|_| !bank.is_without_folder).map(file).collect();
            let record = |(record, (content, change)): (&BankRecord, &(Vec<u8>, u64))| {
                stamp(format!("{record:?}"), *change, content.len())
            };
            let mut records: Vec<_> = bank.records.iter().map(record).collect();
            if !bank.journal.is_empty() {
                records.push(stamp("journal".into(), 0, bank.journal.len()));
            }
            BankStamp { files, records, taken_at: SystemTime::now() }
        }))
    }

    fn read(&self) -> io::Result<BankOnDisk> {
        let mut files =
            if self.with(|bank| bank.is_without_folder) { BankFiles::new() } else { self.banks.files(&self.place) };
        let conflicted: Vec<BankPath> =
            files.iter().filter(|(_, text)| has_conflict(text)).map(|(path, _)| path.clone()).collect();
        files.retain(|path, _| !conflicted.contains(path));
        let left_alone = conflicted.into_iter().map(|path| (path.into(), LeftAlone::Conflicted)).collect();
        Ok(BankOnDisk { files, left_alone })
    }

    fn record(&self, record: BankRecord) -> io::Result<Option<Vec<u8>>> {
        Ok(self.with(|bank| bank.records.get(&record).map(|(content, _)| content.clone())))
    }

    fn save_record(&self, record: BankRecord, content: &[u8]) -> io::Result<()> {
        self.with(|bank| {
            bank.step(bank.refuses_records)?;
            let change = bank.next();
            bank.records.insert(record, (content.to_vec(), change));
            Ok(())
        })
    }

    fn remove_record(&self, record: BankRecord) -> io::Result<()> {
        self.with(|bank| {
            bank.step(false)?;
            bank.records.remove(&record);
            Ok(())
        })
    }

    fn journal(&self) -> io::Result<Vec<Vec<u8>>> {
        Ok(self.with(|bank| bank.journal.clone()))
    }

    fn append(&self, frame: &[u8]) -> io::Result<u64> {
        self.with(|bank| {
            bank.step(bank.refuses_records)?;
            bank.journal.push(frame.to_vec());
            Ok(bank.journal_bytes())
        })
    }

    fn clear_journal(&self) -> io::Result<()> {
        self.with(|bank| {
            bank.step(bank.refuses_records)?;
            bank.journal.clear();
            Ok(())
        })
    }

    fn stage(&self, _: &BankPath, text: &str) -> io::Result<String> {
        self.with(|bank| {
            bank.step(bank.refuses_files)?;
            let name = bank.next().to_string();
            bank.staged.insert(name.clone(), text.to_owned());
            Ok(name)
        })
    }

    fn staged(&self, _: &BankPath, name: &str) -> io::Result<StagedFile> {
        Ok(self.with(|bank| bank.staged.get(name).cloned().map_or(StagedFile::Missing, StagedFile::Text)))
    }

    fn swap(&self, path: &BankPath, name: &str, is_new: bool) -> io::Result<bool> {
        self.with(|bank| {
            bank.step(bank.refuses_files)?;
            let change = bank.next();
            if let Some(saved) = bank.saved_in_between.remove(path) {
                bank.files.insert(path.clone(), (saved, change));
            }
            let is_conflicted = bank.files.get(path).is_some_and(|(text, _)| has_conflict(text));
            if is_conflicted || bank.files.contains_key(path) == is_new {
                return Ok(false);
            }
            let Some(text) = bank.staged.remove(name) else { return Err(io::ErrorKind::NotFound.into()) };
            if let Some((displaced, _)) = bank.files.insert(path.clone(), (text, change)) {
                bank.staged.insert(name.to_owned(), displaced);
            }
            Ok(true)
        })
    }

    fn discard(&self, _: &BankPath, name: &str) -> io::Result<()> {
        self.with(|bank| {
            bank.step(false)?;
            bank.staged.remove(name);
            Ok(())
        })
    }

    fn remove_left_over(&self) -> io::Result<()> {
        self.with(|bank| {
            bank.step(false)?;
            bank.staged.clear();
            Ok(())
        })
    }

    fn keep_version(&self, at: Timestamp, content: &[u8]) -> io::Result<()> {
        self.with(|bank| {
            bank.step(bank.refuses_records)?;
            bank.versions.insert(at, content.to_vec());
            Ok(())
        })
    }

    fn versions(&self) -> io::Result<Vec<Timestamp>> {
        Ok(self.with(|bank| bank.versions.keys().rev().copied().collect()))
    }

    fn version(&self, at: Timestamp) -> io::Result<Option<Vec<u8>>> {
        Ok(self.with(|bank| bank.versions.get(&at).cloned()))
    }

    fn write_dump(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
