//! The audit log: who changed what, and who was refused, as JSON Lines. It has names and ids, and nothing of what
//! memories say. Each process appends to a file of its own.

mod named_ids;

use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
pub(crate) use named_ids::NamedIds;
use reasoning_bank_domain::access::{NamedToken, Principal};
use reasoning_bank_store::data_dir::AUDIT;
use reasoning_bank_store::files::{create_dir, create_private, remove_if_there};
use reasoning_bank_store::ownership::own_uid;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

/// Entries that wait to be written. A call that writes waits for room.
const QUEUE: usize = 1_024;
/// An entry is on the disk at most this long after it was made.
const SYNC_AFTER: Duration = Duration::from_secs(1);
/// A file is closed at this size, and a new one begun.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The most files that are kept, of all processes together, and the most bytes. The oldest go first. A command writes a
/// small file, which is no reason to drop a large one.
const MAX_FILES: usize = 1_024;
const MAX_TOTAL_BYTES: u64 = 64 * MAX_FILE_BYTES;

/// One thing that somebody did, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AuditEntry {
    pub(crate) at: Timestamp,
    /// The owner of the token, or the user of this machine who ran a command. It is not known of a refused request.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) owner: String,
    /// The token of the request, where it has one that is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<NamedToken>,
    /// The name of what was called, such as a tool. That of a command has a space in it.
    pub(crate) action: String,
    /// The key of the workspace, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<String>,
    /// The ids of what it was done to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ids: Vec<String>,
    /// The number of further ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) more_ids: Option<NonZeroU64>,
    /// `ok`, or the code of the failure.
    pub(crate) outcome: &'static str,
    /// The number of further entries like it that have no line of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<NonZeroU64>,
}

impl AuditEntry {
    /// Begins an entry about what is done now. It names nobody yet.
    pub(crate) fn about(action: &str) -> Self {
        Self {
            at: Timestamp::now(),
            owner: String::new(),
            token: None,
            action: action.to_owned(),
            workspace: None,
            ids: Vec::new(),
            more_ids: None,
            outcome: "ok",
            more: None,
        }
    }

    /// Begins an entry about what whoever makes a request does now.
    pub(crate) fn by(principal: &Principal, action: &str) -> Self {
        Self { owner: principal.owner.clone(), token: principal.token.clone(), ..Self::about(action) }
    }
}

enum AuditMsg {
    Append(Box<AuditEntry>),
    /// Answered when all entries before it are on the disk.
    Sync(oneshot::Sender<()>),
}

/// The way to the audit log of this process.
#[derive(Debug, Clone)]
pub(crate) struct AuditLog(mpsc::Sender<AuditMsg>);

impl AuditLog {
    /// Opens the log of a data directory. Its writer ends when the last handle is dropped.
    ///
    /// # Errors
    /// The directory cannot be written to.
    pub(crate) fn open(data_dir: &Path) -> io::Result<Self> {
        let dir = data_dir.join(AUDIT);
        create_dir(&dir)?;
        let file = AuditFile::new(dir)?;
        let (sender, entries) = mpsc::channel(QUEUE);
        tokio::spawn(write_entries(file, entries));
        Ok(Self(sender))
    }

    pub(crate) async fn append(&self, entry: AuditEntry) {
        if self.0.send(AuditMsg::Append(Box::new(entry))).await.is_err() {
            tracing::error!("the writer of the audit log has ended");
        }
    }

    /// Appends an entry, unless too many wait already.
    pub(crate) fn append_if_room(&self, entry: AuditEntry) {
        if self.0.try_send(AuditMsg::Append(Box::new(entry))).is_err() {
            tracing::warn!("the audit log is behind, and an entry of it is lost");
        }
    }

    /// Returns when everything that was appended is on the disk.
    pub(crate) async fn sync(&self) {
        let (synced, done) = oneshot::channel();
        if self.0.send(AuditMsg::Sync(synced)).await.is_ok() {
            let _ = done.await;
        }
    }
}

/// The audit log of a command, which ends soon: each entry is on the disk when [`CommandAudit::append`] returns.
pub(crate) struct CommandAudit {
    file: AuditFile,
    user: String,
}

impl CommandAudit {
    /// Opens the log of a data directory.
    ///
    /// # Errors
    /// The directory cannot be written to.
    pub(crate) fn open(data_dir: &Path) -> io::Result<Self> {
        let dir = data_dir.join(AUDIT);
        create_dir(&dir)?;
        Ok(Self { file: AuditFile::new(dir)?, user: user_name(own_uid()?) })
    }

    /// Notes that the user of this machine ran a command about these ids.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn append(&mut self, action: &str, ids: Vec<String>) -> io::Result<()> {
        self.file.append(&AuditEntry { owner: self.user.clone(), ids, ..AuditEntry::about(action) })?;
        self.file.sync()
    }
}

impl Drop for CommandAudit {
    /// Removes the file of a command that changed nothing.
    fn drop(&mut self) {
        if self.file.bytes == 0 {
            let _ = remove_if_there(&self.file.path);
        }
    }
}

/// Returns the name of a user of this machine, or the number where there is no name.
fn user_name(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| uid.to_string())
}

async fn write_entries(mut file: AuditFile, mut entries: mpsc::Receiver<AuditMsg>) {
    let mut unsynced: Option<Instant> = None;
    loop {
        let next = match unsynced {
            Some(until) => timeout_at(until, entries.recv()).await,
            None => Ok(entries.recv().await),
        };
        let done = match next {
            Ok(Some(AuditMsg::Append(entry))) => {
                unsynced.get_or_insert_with(|| Instant::now() + SYNC_AFTER);
                tokio::task::block_in_place(|| file.append(&entry))
            }
            Ok(Some(AuditMsg::Sync(synced))) => {
                unsynced = None;
                let done = tokio::task::block_in_place(|| file.sync());
                let _ = synced.send(());
                done
            }
            Ok(None) => {
                let _ = tokio::task::block_in_place(|| file.sync());
                return;
            }
            Err(_elapsed) => {
                unsynced = None;
                tokio::task::block_in_place(|| file.sync())
            }
        };
        if let Err(error) = done {
            tracing::error!(%error, "the audit log could not be written");
        }
    }
}

struct AuditFile {
    dir: PathBuf,
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl AuditFile {
    fn new(dir: PathBuf) -> io::Result<Self> {
        let (path, file) = Self::begin(&dir)?;
        Ok(Self { dir, path, file, bytes: 0 })
    }

    /// Begins a file, and removes the oldest ones. Ids of version 7 are in the order of time.
    fn begin(dir: &Path) -> io::Result<(PathBuf, File)> {
        let mut files: Vec<PathBuf> = fs::read_dir(dir)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        let mut bytes = MAX_FILE_BYTES;
        for (newer, file) in files.iter().rev().enumerate() {
            bytes += fs::metadata(file).map_or(0, |file| file.len());
            if newer + 1 >= MAX_FILES || bytes > MAX_TOTAL_BYTES {
                remove_if_there(file)?;
            }
        }
        let path = dir.join(format!("{}.jsonl", uuid::Uuid::now_v7()));
        let file = create_private(&path, File::options().append(true))?;
        Ok((path, file))
    }

    fn append(&mut self, entry: &AuditEntry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let is_full = self.bytes > 0 && self.bytes + line.len() as u64 > MAX_FILE_BYTES;
        // Another process may have removed it, as the oldest one.
        let is_removed = self.file.metadata()?.nlink() == 0;
        if is_full || is_removed {
            self.file.sync_data()?;
            (self.path, self.file) = Self::begin(&self.dir)?;
            self.bytes = 0;
        }
        self.file.write_all(&line)?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn entry(action: &str) -> AuditEntry {
        let (owner, workspace) = ("ana".into(), Some("shop".into()));
        AuditEntry { owner, workspace, ids: vec!["1".into()], ..AuditEntry::about(action) }
    }

    fn lines(dir: &Path) -> Vec<Value> {
        let mut files: Vec<PathBuf> = fs::read_dir(dir.join(AUDIT)).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_synced_is_there_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let log = AuditLog::open(dir.path()).unwrap();
        for action in ["record_memory", "delete_memory"] {
            log.append(entry(action)).await;
        }
        log.sync().await;
        let actions: Vec<Value> = lines(dir.path()).into_iter().map(|line| line["action"].clone()).collect();
        assert_eq!(actions, ["record_memory", "delete_memory"]);
    }

    /// Makes files of earlier processes.
    fn old_files(dir: &Path, count: usize, bytes: u64) {
        (0..count).for_each(|n| File::create(dir.join(format!("0{n:04}.jsonl"))).unwrap().set_len(bytes).unwrap());
    }

    #[test]
    fn only_so_many_files_and_bytes_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        old_files(dir.path(), MAX_FILES + 3, 1);
        AuditFile::new(dir.path().into()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), MAX_FILES);
        let large = tempfile::tempdir().unwrap();
        old_files(large.path(), 70, MAX_FILE_BYTES);
        AuditFile::new(large.path().into()).unwrap();
        assert_eq!(fs::read_dir(large.path()).unwrap().count(), 64);
    }

    #[test]
    fn a_command_says_which_user_ran_it() {
        let dir = tempfile::tempdir().unwrap();
        CommandAudit::open(dir.path()).unwrap().append("token create", vec!["0123456789ab".into()]).unwrap();
        let line = &lines(dir.path())[0];
        assert_eq!((&line["action"], &line["ids"][0]), (&"token create".into(), &"0123456789ab".into()));
        assert!(!line["owner"].as_str().unwrap().is_empty());
        assert_eq!(user_name(u32::MAX - 7), (u32::MAX - 7).to_string());
    }

    #[test]
    fn a_process_whose_file_was_removed_goes_on_in_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = AuditFile::new(dir.path().into()).unwrap();
        fs::read_dir(dir.path()).unwrap().for_each(|file| fs::remove_file(file.unwrap().path()).unwrap());
        file.append(&entry("record_memory")).unwrap();
        let sizes = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        assert_eq!(sizes.filter(|bytes| *bytes > 0).count(), 1);
    }
}
