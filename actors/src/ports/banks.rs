//! The directories of memory banks: markdown files that people edit as well, and beside them the records that keep what
//! was acknowledged until it is in the files. The records never lie in a checkout. All calls block.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use reasoning_bank_domain::bank::{BankFiles, BankKey, BankPath};
use reasoning_bank_domain::memory::workspace::Workspace;

/// A file that was changed within this time before it was looked at may change again without looking different.
const UNSETTLED: Duration = Duration::from_millis(30);

/// The place where a memory bank is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BankLocation {
    pub key: BankKey,
    /// The root of the caller's checkout, in which an adopted folder is looked for. None over the network.
    pub checkout: Option<PathBuf>,
}

impl BankLocation {
    /// Returns where the memory bank of a workspace is asked for. Its root is a checkout, unless it has none.
    pub fn of_workspace(workspace: &Workspace) -> Self {
        let root = Some(&workspace.root).filter(|root| !root.is_empty());
        Self { key: BankKey::code(&workspace.id), checkout: root.map(PathBuf::from) }
    }
}

/// Finds the directories of memory banks.
pub trait BankDirectories: Send + Sync + 'static {
    /// Opens a memory bank, which need not have any file yet.
    fn open(&self, place: &BankLocation) -> io::Result<Box<dyn BankDirectory>>;

    /// Lists the memory banks that were ever opened for writing.
    fn list(&self) -> io::Result<Vec<BankKey>>;

    /// Lets a memory bank live in a folder of the checkouts of its workspace, named relative to their root. A checkout
    /// that does not have it goes on with the folder that the bank had before, where that is there.
    fn adopt(&self, key: &BankKey, folder: &Path) -> io::Result<()>;

    /// Removes a memory bank with its records, but never an adopted folder.
    fn remove(&self, key: &BankKey) -> io::Result<()>;
}

/// The files and the records of one memory bank.
pub trait BankDirectory: Send + Sync {
    /// Returns the directory of the files, for people.
    fn shown_path(&self) -> PathBuf;

    /// Says whether the files lie in a checkout.
    fn is_adopted(&self) -> bool;

    /// Returns the folder of the checkout that the files belong in, where it is not there.
    fn missing_folder(&self) -> io::Result<Option<PathBuf>>;

    /// Says whether the memory bank would be opened in the same directory now. It would not after a folder was adopted.
    fn is_current(&self) -> io::Result<bool>;

    /// Takes the lock of the memory bank among all processes, unless somebody has it. It is freed when it is dropped.
    fn try_lock(&self) -> io::Result<Option<Box<dyn Send>>>;

    /// Looks at the files and the records, without reading them.
    fn look(&self) -> io::Result<BankStamp>;

    fn read(&self) -> io::Result<BankOnDisk>;

    fn record(&self, record: BankRecord) -> io::Result<Option<Vec<u8>>>;

    /// Replaces a record whole. It is on the disk when this returns.
    fn save_record(&self, record: BankRecord, content: &[u8]) -> io::Result<()>;

    fn remove_record(&self, record: BankRecord) -> io::Result<()>;

    /// Reads the frames of the journal that are whole.
    fn journal(&self) -> io::Result<Vec<Vec<u8>>>;

    /// Appends a frame of JSON to the journal. It is on the disk when this returns. After an error it is not there.
    /// Returns the bytes that the journal has now.
    fn append(&self, frame: &[u8]) -> io::Result<u64>;

    fn clear_journal(&self) -> io::Result<()>;

    /// Writes a text beside the file that it is for, in the form of that file, and syncs it. Returns its temporary
    /// name.
    fn stage(&self, path: &BankPath, text: &str) -> io::Result<String>;

    /// Reads what lies under a temporary name.
    fn staged(&self, path: &BankPath, name: &str) -> io::Result<StagedFile>;

    /// Puts the staged text into the place of the file at once, and what was there under the temporary name. False, and
    /// nothing has changed, where a file is to be new and is there already, or is to be replaced and is not.
    fn swap(&self, path: &BankPath, name: &str, is_new: bool) -> io::Result<bool>;

    fn discard(&self, path: &BankPath, name: &str) -> io::Result<()>;

    /// Removes the texts that were staged and that no record names, which a crash left. Whoever calls it has the lock.
    fn remove_left_over(&self) -> io::Result<()>;

    /// Keeps a version of the memory bank, and lets old ones go where there are too many.
    fn keep_version(&self, at: Timestamp, content: &[u8]) -> io::Result<()>;

    /// Lists the versions, the newest first.
    fn versions(&self) -> io::Result<Vec<Timestamp>>;

    fn version(&self, at: Timestamp) -> io::Result<Option<Vec<u8>>>;

    /// Writes the dump for diagnosis, which nobody reads again.
    fn write_dump(&self, content: &[u8]) -> io::Result<()>;
}

/// A record of a memory bank that is replaced whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BankRecord {
    /// The files as they were when they were last read and written, and what is ahead of them.
    Base,
    /// The files that are being written.
    Writing,
}

/// The files of a memory bank. Line ends are `\n` where a file has only one kind, and there is no byte order mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BankOnDisk {
    pub files: BankFiles,
    /// The files that are there and are no files of the memory bank.
    pub left_alone: BTreeMap<String, LeftAlone>,
}

/// The reason why a file is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum LeftAlone {
    #[error("has a name that no file of a bank may have")]
    BadName,
    #[error("has its ending in capitals; name it so that it ends with .md")]
    EndsInCapitals,
    #[error("is not in UTF-8")]
    NotUtf8,
    #[error("has more than 256 KiB")]
    TooLarge,
    #[error("is one too many: a bank has at most 200 files with 4 MiB together")]
    TooMany,
    #[error("lies too deep: folders may be nested three deep")]
    TooDeep,
    #[error("has a conflict of Git that is not resolved; what belongs in it waits until it is")]
    Conflicted,
    #[error("has the name of a file and is a folder; name it without .md")]
    Folder,
    #[error("is a link; only files and folders belong to a bank")]
    Link,
    #[error("is no regular file; only files and folders belong to a bank")]
    NoFile,
    #[error("cannot be read")]
    Unreadable,
}

/// The content of a file under a temporary name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StagedFile {
    Missing,
    Text(String),
    /// Something that is no text of a bank: a person's, and never to be removed.
    Other,
}

/// The files and the records of a memory bank as they looked at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankStamp {
    pub files: Vec<BankFileStamp>,
    pub records: Vec<BankFileStamp>,
    pub taken_at: SystemTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankFileStamp {
    pub path: String,
    pub inode: u64,
    pub bytes: u64,
    pub modified: SystemTime,
}

impl BankStamp {
    /// Says whether the files are as they were at an earlier look, for sure.
    pub fn has_files_of(&self, earlier: &Self) -> bool {
        let settled = |file: &BankFileStamp| file.modified + UNSETTLED < earlier.taken_at;
        self.files == earlier.files && self.files.iter().all(settled)
    }

    /// Says whether no process has ever written the records of the memory bank.
    pub fn is_new(&self) -> bool {
        self.records.is_empty()
    }

    pub fn has_records_of(&self, earlier: &Self) -> bool {
        self.records == earlier.records
    }
}
