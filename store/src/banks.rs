//! The directories of memory banks. The files of a bank lie in `banks/<kind>/<id>/` of the data directory, or in a
//! folder of a checkout that somebody named. What keeps them whole lies in `bank-records/<kind>/<id>/` of the data
//! directory, and for an adopted folder below that in a directory for each checkout:
//!
//! ```text
//! lock           who has it may change the files and what is here
//! journal.log    the updates that are not in the base yet, a frame for each
//! base.zst       the files as they were last read and written, and what is known of their sections
//! writing.zst    the files that are being written just now
//! history/       versions of the bank
//! adopted        the folders of the checkouts, where there are some: the newest first, and those that it had before
//! ```
//!
//! `records` reads and writes those, `tree` the files.

mod copying;
mod records;
mod renaming;
mod tree;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use reasoning_bank_actors::ports::{
    BankDirectories, BankDirectory, BankFileStamp, BankLocation, BankOnDisk, BankRecord, BankStamp, StagedFile,
};
use reasoning_bank_domain::bank::{BankKey, BankKind, BankPath};
use reasoning_bank_domain::text::hex::hex;
use sha2::{Digest, Sha256};

pub(crate) use self::copying::gather_banks;
use self::records::Records;
use self::tree::FileTree;
use super::data_dir;
use super::files::{create_dir, remove_if_there, unless_gone, write_synced};

const ADOPTED: &str = "adopted";
/// The records of adopted folders lie here, in a directory for each checkout.
const CHECKOUTS: &str = "checkouts";
/// The path of an adopted folder has at most this many bytes.
const MAX_FOLDER_BYTES: usize = 4_096;
/// A bank remembers this many folders that it was given.
const MAX_FOLDERS: usize = 8;

/// The banks of a data directory.
pub struct BankDirs {
    files: PathBuf,
    records: PathBuf,
}

impl BankDirs {
    pub fn of(data_dir: &Path) -> Self {
        Self { files: data_dir.join(data_dir::BANKS), records: data_dir.join(data_dir::BANK_RECORDS) }
    }

    fn records_of(&self, key: &BankKey) -> PathBuf {
        self.records.join(key.kind().as_str()).join(key.id())
    }

    fn files_of(&self, key: &BankKey) -> PathBuf {
        self.files.join(key.kind().as_str()).join(key.id())
    }
}

/// The folder of its checkout that a bank lived in when it was opened.
struct Adoption {
    /// The file that names the folders, and the checkout. None where a bank is asked for without one.
    marker: Option<(PathBuf, PathBuf)>,
    folder: Option<PathBuf>,
}

impl Adoption {
    /// Reads which folder it is now: the newest that is there, or else the newest.
    fn now(&self) -> io::Result<Option<PathBuf>> {
        let Some((marker, checkout)) = &self.marker else { return Ok(None) };
        let folders = adopted_folders(marker)?;
        let there = folders.iter().find(|folder| checkout.join(folder).is_dir());
        Ok(there.or(folders.first()).cloned())
    }
}

/// Reads the folders that a bank was given, the newest first.
fn adopted_folders(marker: &Path) -> io::Result<Vec<PathBuf>> {
    let text = unless_gone(fs::read_to_string(marker))?.unwrap_or_default();
    Ok(text.lines().map(PathBuf::from).filter(|folder| is_inside(folder)).collect())
}

/// Says whether a relative path stays below where it begins, and not among the files of Git.
fn is_inside(folder: &Path) -> bool {
    let normal = folder.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
    normal && !folder.as_os_str().is_empty() && folder.as_os_str().len() <= MAX_FOLDER_BYTES
}

impl BankDirectories for BankDirs {
    fn open(&self, place: &BankLocation) -> io::Result<Box<dyn BankDirectory>> {
        let records = self.records_of(&place.key);
        let marker = place.checkout.clone().map(|checkout| (records.join(ADOPTED), checkout));
        let adoption = Adoption { marker, folder: None };
        let adoption = Adoption { folder: adoption.now()?, ..adoption };
        let Some((checkout, folder)) = place.checkout.as_ref().zip(adoption.folder.as_deref()) else {
            let tree = FileTree::own(self.files_of(&place.key));
            return Ok(Box::new(BankDir { tree, records: Records::at(records), adoption }));
        };
        let tree = FileTree::in_checkout(checkout, folder)?;
        let name = hex(&Sha256::digest(checkout.as_os_str().as_encoded_bytes())[..8]);
        Ok(Box::new(BankDir { tree, records: Records::at(records.join(CHECKOUTS).join(name)), adoption }))
    }

    fn list(&self) -> io::Result<Vec<BankKey>> {
        let mut listed = Vec::new();
        for kind in BankKind::ALL {
            for entry in unless_gone(fs::read_dir(self.records.join(kind.as_str())))?.into_iter().flatten() {
                let name = entry?.file_name();
                listed.extend(name.to_str().and_then(|id| format!("{}:{id}", kind.as_str()).parse().ok()));
            }
        }
        listed.sort();
        Ok(listed)
    }

    fn adopt(&self, key: &BankKey, folder: &Path) -> io::Result<()> {
        let bad = || {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the folder must lie below the root of the checkout, not in .git, and have no line end in its name",
            )
        };
        let is_line = folder.to_str().is_some_and(|text| !text.contains(['\n', '\r']));
        if !is_line || !is_inside(folder) {
            return Err(bad());
        }
        let records = self.records_of(key);
        create_dir(&records)?;
        let marker = records.join(ADOPTED);
        let mut folders = adopted_folders(&marker)?;
        folders.retain(|former| former != folder);
        folders.insert(0, folder.to_owned());
        folders.truncate(MAX_FOLDERS);
        let lines: String = folders.iter().map(|folder| format!("{}\n", folder.display())).collect();
        write_synced(&marker, lines.as_bytes())
    }

    fn remove(&self, key: &BankKey) -> io::Result<()> {
        for dir in [self.files_of(key), self.records_of(key)] {
            // a link in the place of a directory leads to somebody else's files
            match unless_gone(fs::symlink_metadata(&dir))? {
                Some(found) if found.is_dir() => unless_gone(fs::remove_dir_all(&dir)).map(drop)?,
                Some(_) => remove_if_there(&dir)?,
                None => {}
            }
        }
        Ok(())
    }
}

struct BankDir {
    tree: FileTree,
    records: Records,
    adoption: Adoption,
}

impl BankDirectory for BankDir {
    fn shown_path(&self) -> PathBuf {
        self.tree.dir().to_owned()
    }

    fn is_adopted(&self) -> bool {
        self.tree.is_in_checkout()
    }

    fn missing_folder(&self) -> io::Result<Option<PathBuf>> {
        let folder = self.adoption.folder.as_ref().filter(|_| self.tree.is_in_checkout());
        Ok(folder.filter(|_| !self.tree.dir().is_dir()).cloned())
    }

    fn is_current(&self) -> io::Result<bool> {
        Ok(self.adoption.now()? == self.adoption.folder)
    }

    fn try_lock(&self) -> io::Result<Option<Box<dyn Send>>> {
        self.records.try_lock()
    }

    fn look(&self) -> io::Result<BankStamp> {
        let taken_at = SystemTime::now();
        Ok(BankStamp { files: self.tree.look()?, records: self.records.look()?, taken_at })
    }

    fn read(&self) -> io::Result<BankOnDisk> {
        self.tree.read()
    }

    fn record(&self, record: BankRecord) -> io::Result<Option<Vec<u8>>> {
        self.records.read(record)
    }

    fn save_record(&self, record: BankRecord, content: &[u8]) -> io::Result<()> {
        self.records.save(record, content)
    }

    fn remove_record(&self, record: BankRecord) -> io::Result<()> {
        self.records.remove(record)
    }

    fn journal(&self) -> io::Result<Vec<Vec<u8>>> {
        self.records.journal()
    }

    fn append(&self, frame: &[u8]) -> io::Result<u64> {
        self.records.append(frame)
    }

    fn clear_journal(&self) -> io::Result<()> {
        self.records.clear_journal()
    }

    fn stage(&self, path: &BankPath, text: &str) -> io::Result<String> {
        self.tree.stage(path, text)
    }

    fn staged(&self, path: &BankPath, name: &str) -> io::Result<StagedFile> {
        self.tree.staged(path, name)
    }

    fn swap(&self, path: &BankPath, name: &str, is_new: bool) -> io::Result<bool> {
        self.tree.swap(path, name, is_new)
    }

    fn discard(&self, path: &BankPath, name: &str) -> io::Result<()> {
        self.tree.discard(path, name)
    }

    fn remove_left_over(&self) -> io::Result<()> {
        self.tree.remove_left_over()
    }

    fn keep_version(&self, at: Timestamp, content: &[u8]) -> io::Result<()> {
        self.records.keep_version(at, content)
    }

    fn versions(&self) -> io::Result<Vec<Timestamp>> {
        self.records.versions()
    }

    fn version(&self, at: Timestamp) -> io::Result<Option<Vec<u8>>> {
        self.records.version(at)
    }

    fn write_dump(&self, content: &[u8]) -> io::Result<()> {
        self.records.write_dump(content)
    }
}

/// Says how a file looks, by its path as it is shown.
fn stamp(path: String, metadata: &fs::Metadata) -> io::Result<BankFileStamp> {
    Ok(BankFileStamp { path, inode: metadata.ino(), bytes: metadata.len(), modified: metadata.modified()? })
}

/// Says whether a file is one that this module is writing.
fn is_temporary(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(tree::TEMPORARY.as_bytes())
}

#[cfg(test)]
mod tests;
