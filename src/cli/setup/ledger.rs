//! The receipt of all set-ups of this user on disk, and the backups that it names. It lies in the user's data
//! directory, beside the default one of the bank, and is gone when everything is taken back.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use reasoning_bank_clients::{AgentClient, FileRecord, Receipt, fingerprint, remove};

use super::super::failure::CommandFailure;
use super::{FilePlan, changes, files};
use crate::settings::SettingSources;

const DIRECTORY: &str = "reasoning-bank-setup";
const RECEIPT: &str = "receipt.json";
const LOCK: &str = "lock";
const BACKUPS: &str = "backups";

pub(super) struct Ledger {
    pub(super) directory: PathBuf,
    receipt: Receipt,
    /// One process at a time changes the receipt.
    lock: Option<File>,
}

impl Drop for Ledger {
    /// Leaves no directory behind where nothing was written.
    fn drop(&mut self) {
        if self.lock.take().is_some() && self.receipt.files.is_empty() {
            let _ = fs::remove_file(self.directory.join(LOCK));
            let _ = fs::remove_dir(&self.directory);
        }
    }
}

impl Ledger {
    pub(super) fn open(sources: &SettingSources, is_dry_run: bool) -> Result<Self, CommandFailure> {
        let home = sources.data_home.as_ref();
        let directory =
            home.map(|home| home.join(DIRECTORY)).ok_or_else(|| CommandFailure::usage("there is no home directory"))?;
        let lock = if is_dry_run { None } else { Some(lock(&directory)?) };
        let path = directory.join(RECEIPT);
        let receipt = match files::read(&path)? {
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                files::unreadable(&path, error).hint(
                    "move the file away: `setup CLIENT --uninstall` takes out our entries without it, too; nothing was \
                     changed",
                )
            })?,
            None => Receipt::default(),
        };
        Ok(Self { directory, receipt, lock })
    }

    pub(super) fn records(&self) -> Vec<FileRecord> {
        self.receipt.files.clone()
    }

    pub(super) fn record(&self, path: &Path) -> Option<&FileRecord> {
        self.receipt.of(path)
    }

    /// Returns what a file was before the first set-up, as far as its owner has not changed it since.
    pub(super) fn original(
        &self,
        record: &FileRecord,
        current: Option<&str>,
    ) -> Result<Option<String>, CommandFailure> {
        let backup = match &record.backup {
            Some(name) => files::read(&self.backup(name))?,
            None => None,
        };
        let changes = changes(record.format, &record.clients);
        if self.has_lost_backup(record) {
            // What the file was is not known any more. What is ours goes all the same.
            let rest = current.map(|current| remove(record.format, current, None, &changes)).transpose();
            return rest.map_err(|error| files::unreadable(&record.path, error));
        }
        record.original(&changes, backup.as_deref(), current).map_err(|error| files::unreadable(&record.path, error))
    }

    /// Says whether the file of a backup is gone.
    pub(super) fn has_lost_backup(&self, record: &FileRecord) -> bool {
        record.backup.as_ref().is_some_and(|name| !self.backup(name).exists())
    }

    fn backup(&self, name: &str) -> PathBuf {
        self.directory.join(BACKUPS).join(name)
    }

    /// Writes a file as planned. The backup and the receipt are there before it. A new file of a project may be read by
    /// whoever may read others of it.
    pub(super) fn write(&mut self, plan: &FilePlan, is_of_project: bool) -> Result<(), CommandFailure> {
        let path = &plan.file.path;
        let Some(wanted) = &plan.wanted else { return Ok(()) };
        let known = self.receipt.of(path).cloned();
        if plan.current.as_ref() == Some(wanted) {
            // The clients that need the file may be new. Its text before the first set-up is known already.
            let Some(mut record) = known else { return Ok(()) };
            record.clients = joined(record.clients, plan);
            record.written = fingerprint(wanted);
            record.backup = self.back_up(plan)?;
            return self.note(record);
        }
        unchanged_since(plan)?;
        let (clients, mut directories) =
            known.map_or_else(Default::default, |record| (record.clients, record.directories));
        if plan.current.is_none() {
            directories.clear();
        }
        let mut record = FileRecord {
            path: path.clone(),
            format: plan.file.format,
            clients: joined(clients, plan),
            backup: self.back_up(plan)?,
            written: fingerprint(wanted),
            directories,
        };
        self.note(record.clone())?;
        let made = if is_of_project { files::write_shared(path, wanted)? } else { files::write(path, wanted)? };
        if !made.is_empty() {
            record.directories = made;
            self.note(record)?;
        }
        Ok(())
    }

    /// Takes a file back as planned.
    pub(super) fn restore(&mut self, plan: &FilePlan) -> Result<(), CommandFailure> {
        let path = &plan.file.path;
        let known = self.receipt.of(path).cloned();
        if plan.current != plan.wanted {
            unchanged_since(plan)?;
            match &plan.wanted {
                Some(text) => drop(files::write(path, text)?),
                None => {
                    files::delete(path, known.as_ref().map(|record| &*record.directories).unwrap_or_default())?;
                }
            }
        }
        match known {
            Some(record) if !plan.clients.is_empty() => {
                self.note(FileRecord { clients: plan.clients.clone(), ..record })
            }
            _ => {
                self.receipt.forget(path);
                self.save()
            }
        }
    }

    /// Removes what is not needed any more.
    pub(super) fn close(self) -> Result<(), CommandFailure> {
        if !self.receipt.files.is_empty() {
            return Ok(());
        }
        fs::remove_dir_all(&self.directory).map_err(|error| files::unwritable(&self.directory, error))
    }

    fn note(&mut self, record: FileRecord) -> Result<(), CommandFailure> {
        self.receipt.note(record);
        self.save()
    }

    fn save(&self) -> Result<(), CommandFailure> {
        let path = self.directory.join(RECEIPT);
        let text = serde_json::to_string_pretty(&self.receipt).map_err(|error| files::unwritable(&path, error))?;
        files::write(&path, &text).map(drop)
    }

    /// Keeps what the file was, under a name that its text decides.
    fn back_up(&self, plan: &FilePlan) -> Result<Option<String>, CommandFailure> {
        let Some(original) = &plan.original else { return Ok(None) };
        let file = plan.file.path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{}-{}", &fingerprint(original)[..16], file.trim_start_matches('.'));
        files::write(&self.backup(&name), original)?;
        Ok(Some(name))
    }
}

fn lock(directory: &Path) -> Result<File, CommandFailure> {
    let path = directory.join(LOCK);
    let locked = || {
        fs::create_dir_all(directory)?;
        let file = File::create(&path)?;
        file.lock()?;
        Ok(file)
    };
    locked().map_err(|error: std::io::Error| files::unwritable(&path, error))
}

fn joined(mut clients: Vec<AgentClient>, plan: &FilePlan) -> Vec<AgentClient> {
    clients.extend(&plan.clients);
    clients.sort_unstable();
    clients.dedup();
    clients
}

/// Refuses to overwrite what a client wrote while the user was asked.
fn unchanged_since(plan: &FilePlan) -> Result<(), CommandFailure> {
    if files::read(&plan.file.path)? == plan.current {
        return Ok(());
    }
    Err(files::unwritable(&plan.file.path, "it was changed in the meantime"))
}
