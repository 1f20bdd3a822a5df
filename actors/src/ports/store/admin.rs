//! The types for what is done to a store as a whole: erasing, upkeep, and what it cannot do for now.

use std::ops::AddAssign;
use std::{fmt, io};

use jiff::Timestamp;
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, Scope};
use reasoning_bank_domain::note::{Code, Note};
use serde::{Deserialize, Serialize};

use super::records::Record;

/// The things that an erasure erases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EraseScope {
    /// The workspace goes, with its traces, signals, jobs, requests and memories of project scope. What it shares with
    /// a team or an organisation stays theirs.
    Workspace(WorkspaceId),
    /// One memory goes, with its passages and signals, and with the answers to requests that name it.
    Memory(MemoryId),
    /// The same for several memories.
    Memories(Vec<MemoryId>),
    /// The traces that were made before this time go, those of one workspace or of all. Memories that were learned from
    /// them stay. Times are compared in microseconds.
    Traces { workspace: Option<WorkspaceId>, before: Timestamp },
    /// These episodes go: their traces, their states and their vectors.
    Episodes(Vec<TraceId>),
    /// The jobs of all workspaces that were done or had failed before this time go. Times are compared in microseconds.
    Jobs { over_before: Timestamp },
    /// The requests with a key that were sent before this time go, in all workspaces. Times are compared in
    /// microseconds.
    Requests { before: Timestamp },
    /// The history of runs that began before this time goes, in all workspaces. Times are compared in microseconds.
    History { before: Timestamp },
}

impl EraseScope {
    /// Tells whether the erasure removes this record. A revision of a memory or of a trace goes with what it revises.
    pub fn covers(&self, record: &Record) -> bool {
        match record {
            Record::Workspace(workspace) => self.covers_workspace(&workspace.id),
            Record::Trace(trace) | Record::Verdict(trace) => {
                self.covers_trace(trace.trace_id, &trace.metadata.workspace_id, trace.created_at)
            }
            Record::EpisodeState(of) => self.covers_trace(of.episode_id, &of.workspace_id, of.created_at),
            Record::EpisodeVectors(of) => self.covers_trace(of.episode_id, &of.workspace_id, of.created_at),
            Record::Memory { memory, .. } | Record::Revision { memory, .. } => self.covers_memory(memory),
            Record::Signal(signal) => self.covers_signal(signal),
            Record::Job(job) => self.covers_job(job),
            Record::Request(request) => self.covers_request(request),
            Record::History(entry) => self.covers_history(entry),
        }
    }

    pub fn covers_workspace(&self, workspace: &WorkspaceId) -> bool {
        matches!(self, Self::Workspace(id) if id == workspace)
    }

    /// Tells whether the erasure removes a memory, with its passages.
    pub fn covers_memory(&self, memory: &Memory) -> bool {
        match self {
            Self::Workspace(id) => memory.workspace_id == *id && memory.scope == Scope::Project,
            Self::Memory(id) => memory.id == *id,
            Self::Memories(ids) => ids.contains(&memory.id),
            Self::Traces { .. }
            | Self::Episodes(_)
            | Self::Jobs { .. }
            | Self::Requests { .. }
            | Self::History { .. } => false,
        }
    }

    pub fn covers_signal(&self, signal: &Signal) -> bool {
        match self {
            Self::Workspace(id) => signal.workspace_id == *id,
            Self::Memory(id) => signal.memory_id == *id,
            Self::Memories(ids) => ids.contains(&signal.memory_id),
            Self::Traces { .. }
            | Self::Episodes(_)
            | Self::Jobs { .. }
            | Self::Requests { .. }
            | Self::History { .. } => false,
        }
    }

    /// Tells whether the erasure removes this trace of a workspace, which was made at this time.
    pub fn covers_trace(&self, id: TraceId, of: &WorkspaceId, created_at: Timestamp) -> bool {
        match self {
            Self::Episodes(ids) => ids.contains(&id),
            Self::Workspace(id) => id == of,
            Self::Traces { workspace, before } => {
                workspace.as_ref().is_none_or(|id| id == of) && created_at.as_microsecond() < before.as_microsecond()
            }
            Self::Memory(_) | Self::Memories(_) | Self::Jobs { .. } | Self::Requests { .. } | Self::History { .. } => {
                false
            }
        }
    }

    pub fn covers_job(&self, job: &Job) -> bool {
        match self {
            Self::Workspace(id) => job.workspace_id == *id,
            Self::Jobs { over_before } => {
                job.is_over() && job.updated_at.as_microsecond() < over_before.as_microsecond()
            }
            Self::Memory(_)
            | Self::Memories(_)
            | Self::Traces { .. }
            | Self::Episodes(_)
            | Self::Requests { .. }
            | Self::History { .. } => false,
        }
    }

    /// Tells whether the erasure removes an entry of the history. What a memory or an episode was goes with it.
    pub fn covers_history(&self, entry: &HistoryEntry) -> bool {
        match self {
            Self::Workspace(id) => entry.workspace_id == *id,
            Self::Memory(id) => entry.is_about(*id),
            Self::Memories(ids) => ids.iter().any(|id| entry.is_about(*id)),
            Self::Episodes(ids) => ids.iter().any(|id| entry.object == id.uuid()),
            Self::History { before } => entry.run_id.is_some() && entry.at.as_microsecond() < before.as_microsecond(),
            Self::Traces { .. } | Self::Jobs { .. } | Self::Requests { .. } => false,
        }
    }

    /// Tells whether the erasure removes what is kept of a request. Its answer may have words of a memory that it
    /// names.
    pub fn covers_request(&self, request: &KeyedRequest) -> bool {
        match self {
            Self::Workspace(id) => request.workspace_id == *id,
            Self::Memory(id) => request.names(*id),
            Self::Memories(ids) => ids.iter().any(|id| request.names(*id)),
            Self::Requests { before } => request.at.as_microsecond() < before.as_microsecond(),
            Self::Traces { .. } | Self::Episodes(_) | Self::Jobs { .. } | Self::History { .. } => false,
        }
    }
}

/// The numbers of records that an erasure physically removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Erased {
    pub memories: u64,
    pub passages: u64,
    pub traces: u64,
    pub signals: u64,
    pub jobs: u64,
}

impl AddAssign for Erased {
    fn add_assign(&mut self, more: Self) {
        let Self { memories, passages, traces, signals, jobs } = more;
        self.memories += memories;
        self.passages += passages;
        self.traces += traces;
        self.signals += signals;
        self.jobs += jobs;
    }
}

/// The outcome of one slice of upkeep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Maintained {
    /// True where another process was writing, so that nothing was done.
    pub busy: bool,
    pub fragments_removed: u64,
    pub versions_removed: u64,
    /// True where more is left to do.
    pub more: bool,
}

/// The reason why nothing can be written for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyCause {
    /// The disk has no space left, or the quota is used up.
    DiskFull,
    /// The file system is mounted read-only.
    FileSystem,
    /// This user may not write to the directory.
    Permission,
    /// The write lock could not be had, and nothing was written. One process held it all the while, so it has stopped
    /// and is not busy; or others took turns for as long as the opening of a store may wait. A write that only waits
    /// for the turns of others is [`TimedOut`] instead.
    ///
    /// [`TimedOut`]: super::StoreError::TimedOut
    LockHeld,
}

impl ReadOnlyCause {
    /// Finds the cause behind an error of the system. None where such an error is no reason why nothing can be written.
    pub fn of(error: io::ErrorKind) -> Option<Self> {
        match error {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Some(Self::DiskFull)
            }
            io::ErrorKind::ReadOnlyFilesystem => Some(Self::FileSystem),
            io::ErrorKind::PermissionDenied => Some(Self::Permission),
            _ => None,
        }
    }

    /// Says what the user can do about the cause.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::DiskFull => {
                "free space on the disk of the data directory, or raise the quota; writes then work again by \
                 themselves. One that broke off may be carried out then: look before you repeat it"
            }
            Self::FileSystem => {
                "mount the file system of the data directory writable again (after an error of the disk look at that \
                 first), or use another data directory; writes then work again by themselves"
            }
            Self::Permission => {
                "let the user who runs this write to the data directory and all that is in it, or use another \
                 data directory; writes then work again by themselves"
            }
            Self::LockHeld => {
                "`fuser -v` on lance/.write.lock in the data directory shows which process holds it: let it go on \
                 (`kill -CONT`) or end it; writes then work again by themselves"
            }
        }
    }
}

impl fmt::Display for ReadOnlyCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskFull => "there is no space left on its disk",
            Self::FileSystem => "its file system is mounted read-only",
            Self::Permission => "this user may not write to its directory",
            Self::LockHeld => "somebody holds its write lock and does not give it back",
        })
    }
}

/// The reason why a store cannot write for now, and how much it cannot show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limitation {
    pub cause: ReadOnlyCause,
    /// The number of journals of earlier processes that could not be replayed. What they alone hold is not shown.
    pub waiting: usize,
}

impl Limitation {
    /// Tells whether something that is stored may be missing from answers.
    pub fn is_incomplete(&self) -> bool {
        self.waiting > 0
    }

    /// Makes the note that is told beside an answer.
    pub fn note(&self) -> Note {
        Note::new(Code::StoreUnavailable, self.to_string())
    }
}

impl fmt::Display for Limitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memories can be read but nothing can be stored: {}", self.cause)?;
        if self.is_incomplete() {
            write!(
                f,
                "; what an earlier process stored shortly before it broke off may be missing until then (journals that \
                 wait: {})",
                self.waiting
            )?;
        }
        Ok(())
    }
}
