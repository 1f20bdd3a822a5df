//! Banks in a backup: each as it is at one moment, with its records. What lies in a checkout is not in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reasoning_bank_actors::ports::BankDirectories;
use reasoning_bank_domain::bank::BankKey;

use super::records::{LOCK, Records};
use super::{BankDirs, CHECKOUTS};
use crate::files::{copy_tree, unless_gone};

/// A process that writes to a bank is waited for so long.
pub(super) const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOCK_STEP: Duration = Duration::from_millis(5);

/// Copies the banks of a data directory.
pub(crate) fn gather_banks(data_dir: &Path, to: &Path) -> io::Result<()> {
    gather_within(data_dir, to, LOCK_LIMIT)
}

/// Copies the banks, each under its locks, for which it waits at most for `limit`.
fn gather_within(data_dir: &Path, to: &Path, limit: Duration) -> io::Result<()> {
    let (from, copied) = (BankDirs::of(data_dir), BankDirs::of(to));
    for key in from.list()? {
        let dir = from.records_of(&key);
        let checkouts = unless_gone(fs::read_dir(dir.join(CHECKOUTS)))?.into_iter().flatten();
        let checkouts = checkouts.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        let until = Instant::now() + limit;
        let wait = |dir: PathBuf| wait_for(&Records::at(dir), until, &key);
        let _locks = [dir.clone()].into_iter().chain(checkouts).map(wait).collect::<io::Result<Vec<_>>>()?;
        copy_tree(&from.files_of(&key), &copied.files_of(&key), None)?;
        copy_tree(&dir, &copied.records_of(&key), Some(LOCK))?;
    }
    Ok(())
}

pub(super) fn wait_for(records: &Records, until: Instant, key: &BankKey) -> io::Result<Box<dyn Send>> {
    loop {
        if let Some(lock) = records.try_lock()? {
            return Ok(lock);
        }
        if Instant::now() >= until {
            return Err(io::Error::other(format!("the bank {key} is in use all the time")));
        }
        std::thread::sleep(LOCK_STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_is_copied_while_nobody_writes_to_it_or_to_a_checkout_of_it() {
        let (data, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = BankKey::global();
        let banks = BankDirs::of(data.path());
        let (dir, records) = (banks.files_of(&key), banks.records_of(&key));
        let checkout = records.join(CHECKOUTS).join("of-somebody");
        for path in [&dir, &checkout] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(dir.join("context.md"), "whole").unwrap();
        for locked in [&records, &checkout] {
            let lock = Records::at(locked.clone()).try_lock().unwrap().unwrap();
            let error = gather_within(data.path(), to.path(), Duration::ZERO).unwrap_err();
            assert!(error.to_string().contains("global:default is in use"), "{error}");
            drop(lock);
        }
        gather_within(data.path(), to.path(), Duration::ZERO).unwrap();
        let copied = BankDirs::of(to.path()).files_of(&key).join("context.md");
        assert_eq!(fs::read_to_string(copied).unwrap(), "whole");
    }
}
