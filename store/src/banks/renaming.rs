//! Another key for a bank: what it has moves to where the bank of that key lies.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use reasoning_bank_domain::bank::BankKey;

use super::BankDirs;
use super::copying::{LOCK_LIMIT, wait_for};
use super::records::Records;
use crate::files::{create_dir, sync_dir, unless_gone};

impl BankDirs {
    /// Gives a bank another key, under its lock. Says whether it has that one now: not where there is no such bank, or
    /// another one has the key. What a crash left half done is done when this is called again.
    pub fn rename(&self, from: &BankKey, to: &BankKey) -> io::Result<bool> {
        let (records, new_records) = (self.records_of(from), self.records_of(to));
        if !records.is_dir() || new_records.exists() {
            return Ok(false);
        }
        // A bank in use is written to within moments.
        let _lock = wait_for(&Records::at(records.clone()), Instant::now() + LOCK_LIMIT, from)?;
        move_dir(&self.files_of(from), &self.files_of(to))?;
        // A bank is there where its records are, so that they come last.
        move_dir(&records, &new_records)?;
        Ok(true)
    }
}

fn move_dir(from: &Path, to: &Path) -> io::Result<()> {
    let Some(parent) = to.parent() else { return Ok(()) };
    create_dir(parent)?;
    unless_gone(fs::rename(from, to))?;
    sync_dir(parent)
}

#[cfg(test)]
mod tests {
    use reasoning_bank_actors::ports::{BankDirectories, BankLocation};

    use super::*;

    #[test]
    fn a_bank_has_its_files_and_its_records_under_another_key_and_takes_no_others() {
        let data = tempfile::tempdir().unwrap();
        let banks = BankDirs::of(data.path());
        let [old, new, other] = ["old", "new", "other"].map(|name| BankKey::project(name).unwrap());
        let open = |key: &BankKey| banks.open(&BankLocation { key: key.clone(), checkout: None }).unwrap();
        assert!(!banks.rename(&old, &new).unwrap(), "there is none");
        for key in [&old, &other] {
            let bank = open(key);
            bank.append(b"{\"an\":\"update\"}").unwrap();
            create_dir(&bank.shown_path()).unwrap();
            fs::write(bank.shown_path().join("context.md"), key.id()).unwrap();
        }
        assert!(banks.rename(&old, &new).unwrap());
        let bank = open(&new);
        assert_eq!(bank.journal().unwrap().len(), 1);
        assert_eq!(fs::read_to_string(bank.shown_path().join("context.md")).unwrap(), "old");
        assert!(open(&old).journal().unwrap().is_empty());
        assert!(!banks.rename(&other, &new).unwrap(), "another bank has the key");
        assert_eq!(banks.list().unwrap(), [new, other]);
    }

    #[test]
    fn what_a_crash_left_half_done_is_done_the_next_time() {
        let data = tempfile::tempdir().unwrap();
        let banks = BankDirs::of(data.path());
        let [old, new] = ["old", "new"].map(|name| BankKey::project(name).unwrap());
        let place = BankLocation { key: old.clone(), checkout: None };
        banks.open(&place).unwrap().append(b"{}").unwrap();
        create_dir(&banks.files_of(&new)).unwrap();
        fs::write(banks.files_of(&new).join("context.md"), "moved").unwrap();
        assert!(banks.rename(&old, &new).unwrap());
        assert_eq!(banks.list().unwrap(), [new]);
    }
}
