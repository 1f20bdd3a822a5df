//! The files of memory banks in an import. They are held in memory until everything else is written.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::BankLocation;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::bank::{BankFiles, BankKey};
use reasoning_bank_domain::safety::secrets::Removed;

use super::line::BankFile;
use super::outcome::Imported;
use crate::export::bank_locations;

/// The most bytes that the memory banks of a file have.
pub(super) const BANKS_MAX_BYTES: usize = 64 << 20;
const BANK_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct ImportedBanks {
    files: BTreeMap<BankKey, BankFiles>,
    bytes: usize,
    removed: HashMap<BankKey, Removed>,
}

impl ImportedBanks {
    /// Adds a file, and says whether the files are few enough.
    pub(super) fn add(&mut self, file: BankFile, removed: Removed) -> bool {
        self.bytes += file.text.len();
        let so_far = self.removed.entry(file.bank.clone()).or_default();
        *so_far = *so_far + removed;
        self.files.entry(file.bank).or_default().insert(file.path, file.text);
        self.bytes <= BANKS_MAX_BYTES
    }

    pub(super) async fn write(mut self, system: &SystemHandle, done: &mut Imported) -> Result<(), Error> {
        if self.files.is_empty() {
            return Ok(());
        }
        let mut places = bank_locations(&system.workspaces.list(Deadline::after(BANK_TIMEOUT)).await?);
        for (key, files) in self.files {
            let (count, removed) = (files.len() as u64, self.removed.remove(&key).unwrap_or_default());
            let place = places.remove(&key).unwrap_or(BankLocation { key, checkout: None });
            let changed = system.banks.import(&place, files, Deadline::after(BANK_TIMEOUT)).await? as u64;
            done.imported.bank_files += changed;
            done.skipped += count - changed;
            if changed > 0 {
                done.redactions += u64::from(removed.redactions);
                done.dropped_characters += u64::from(removed.dropped_characters);
            }
        }
        Ok(())
    }
}
