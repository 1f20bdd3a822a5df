//! The logs of working memories: a log for each task, which holds its operations line by line. All calls block.

use std::io;

use jiff::Timestamp;
use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

pub trait WorkingLogs: Send + Sync + 'static {
    /// Makes the log of a new task, which is locked for this process.
    fn create(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<Box<dyn WorkingLog>>;

    /// Opens a log, and locks it for this process.
    fn open(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<OpenedLog>;

    /// Reads the whole lines of a log that another process may have open. None where there is no log.
    fn read(&self, workspace: &WorkspaceId, task: WorkingId) -> io::Result<Option<Vec<String>>>;

    /// Lists the tasks of a workspace that have a log, the one that was written to last first.
    fn list(&self, workspace: &WorkspaceId) -> io::Result<Vec<WorkingId>>;

    /// Lists the tasks of all workspaces to whose logs nothing was appended since a time. It may list others, too: when
    /// a task was touched is known for sure from its log alone.
    fn unwritten_since(&self, at: Timestamp) -> io::Result<Vec<(WorkspaceId, WorkingId)>>;
}

/// The result of opening a log.
pub enum OpenedLog {
    /// The log, and its lines. A last line that a crash cut off is gone.
    Opened(Box<dyn WorkingLog>, Vec<String>),
    /// Another process has it open.
    InUse,
    Missing,
}

pub trait WorkingLog: Send {
    /// Appends lines, of which all or none are there afterwards, and with `sync` returns when they are on the disk.
    /// False where the log was removed, as the deletion of its workspace does. `lines` has no line end after the last.
    fn append(&mut self, lines: &str, sync: bool) -> io::Result<bool>;

    /// Returns when everything that was appended is on the disk. False where the log was removed.
    fn sync(&mut self) -> io::Result<bool>;

    /// Says whether the log was not removed. It costs less than a read.
    fn is_there(&self) -> io::Result<bool>;

    /// Removes the log.
    fn remove(&mut self) -> io::Result<()>;
}
