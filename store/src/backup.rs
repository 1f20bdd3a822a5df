//! Backups: a directory, or a stream of tar, with all that a data directory holds at one moment and a manifest of it.
//!
//! ```text
//! DIR/manifest.json         when it was made, of which bank, and each file with its size and its checksum
//! DIR/manifest.json.sha256  the checksum of the manifest, in the form of `sha256sum`
//! DIR/bank/...              the files, at the places that they have in the data directory
//! ```
//!
//! In reading order: `manifest` is the document, `create` makes a backup of what `snapshot` of the store gathered, and
//! `source` reads one. `verify` reads all of it, and `restore` puts it into an empty directory. `registry` remembers
//! which backups there are, so that an erasure can name those that still hold what it erased; `scheduled` makes one
//! when it is time to. Below them, `copying` copies files with their checksums, and `partial` is a directory that is
//! not whole yet.

mod copying;
mod create;
mod manifest;
mod partial;
mod registry;
mod restore;
mod scheduled;
mod source;
mod verify;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reasoning_bank_actors::ports::StoreError;
use serde::Serialize;

pub use self::create::{Destination, create};
pub use self::manifest::{BackupFile, BackupManifest};
pub use self::registry::{KnownBackup, holding};
pub use self::restore::{RestoreOptions, Restored, restore};
pub use self::scheduled::{Schedule, make_if_due};
pub use self::source::BackupSource;
pub use self::verify::{Verified, verify};

/// The moment of a backup, in which nobody writes, is over by then. It takes milliseconds; a process that does upkeep
/// has the write lock for longer.
pub const MOMENT_LIMIT: Duration = Duration::from_secs(60);
/// The number of files that the text of an error names.
const NAMED: usize = 5;

/// The reason why a backup was not made, or not restored. Nothing is left of what was begun.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("there is no bank in {0}")]
    NoBank(PathBuf),
    #[error("another backup of this bank is being made")]
    Busy,
    /// The place that was named cannot be used: it is not empty, or lies in the data directory.
    #[error("{}: {problem}", .place.display())]
    Place { place: PathBuf, problem: &'static str },
    /// There is no backup, or nobody can tell what is in it.
    #[error("{place} is no whole backup: {problem}")]
    NoBackup { place: String, problem: String },
    #[error("the backup is damaged: {}", named(.0))]
    Damaged(Vec<FlawedFile>),
    #[error("{} is of another bank than the backup", .0.display())]
    OtherBank(PathBuf),
    #[error("{}: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the backup was cancelled")]
    Cancelled,
}

impl BackupError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { path: path.to_owned(), error }
    }

    fn no_backup(place: impl ToString, problem: impl ToString) -> Self {
        Self::NoBackup { place: place.to_string(), problem: problem.to_string() }
    }
}

/// A fault of a file of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Flaw {
    Missing,
    /// It has other bytes than when the backup was made.
    Changed,
    /// It cannot be read to its end.
    Unreadable,
    /// The manifest does not list it.
    Unexpected,
}

impl Flaw {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Unreadable => "unreadable",
            Self::Unexpected => "unexpected",
        }
    }
}

/// A file of a backup that is not as it was when the backup was made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FlawedFile {
    pub flaw: Flaw,
    /// The path of the file in the backup.
    pub path: String,
}

fn named(findings: &[FlawedFile]) -> String {
    let each = findings.iter().take(NAMED).map(|finding| format!("{} {}", finding.flaw.as_str(), finding.path));
    let more = findings.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more"));
    each.chain(more).collect::<Vec<_>>().join(", ")
}

/// Does file work of any length on a thread of its own. A panic there is an error of the store.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string()).into()))
}
