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
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOCK_STEP: Duration = Duration::from_millis(5);

/// Copies the banks of a data directory.
pub(crate) fn gather_banks(data_dir: &Path, to: &Path) -> io::Result<()> {
    let (from, copied) = (BankDirs::of(data_dir), BankDirs::of(to));
    for key in from.list()? {
        let dir = from.records_of(&key);
        let checkouts = unless_gone(fs::read_dir(dir.join(CHECKOUTS)))?.into_iter().flatten();
        let checkouts = checkouts.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        let until = Instant::now() + LOCK_LIMIT;
        let wait = |dir: PathBuf| wait_for(&Records::at(dir), until, &key);
        let _locks = [dir.clone()].into_iter().chain(checkouts).map(wait).collect::<io::Result<Vec<_>>>()?;
        copy_tree(&from.files_of(&key), &copied.files_of(&key), None)?;
        copy_tree(&dir, &copied.records_of(&key), Some(LOCK))?;
    }
    Ok(())
}

fn wait_for(records: &Records, until: Instant, key: &BankKey) -> io::Result<Box<dyn Send>> {
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
