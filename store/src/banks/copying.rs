//! Banks in a backup: each as it is at one moment, with its records. What lies in a checkout is not in it.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use reasoning_bank_actors::ports::BankDirectories;

use super::BankDirs;
use super::records::{LOCK, Records};
use crate::files::copy_tree;

/// A process that writes to a bank is waited for so long.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOCK_STEP: Duration = Duration::from_millis(5);

/// Copies the banks of a data directory.
pub(crate) fn gather_banks(data_dir: &Path, to: &Path) -> io::Result<()> {
    let (from, copied) = (BankDirs::of(data_dir), BankDirs::of(to));
    for key in from.list()? {
        let records = Records::at(from.records_of(&key));
        let until = Instant::now() + LOCK_LIMIT;
        let _lock = loop {
            if let Some(lock) = records.try_lock()? {
                break lock;
            }
            if Instant::now() >= until {
                return Err(io::Error::other(format!("the bank {key} is in use all the time")));
            }
            std::thread::sleep(LOCK_STEP);
        };
        copy_tree(&from.files_of(&key), &copied.files_of(&key), None)?;
        copy_tree(&from.records_of(&key), &copied.records_of(&key), Some(LOCK))?;
    }
    Ok(())
}
