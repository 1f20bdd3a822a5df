//! The files that belong to traces. Trace files are copies of traces, for people and other programs to read. They are
//! kept whatever store is below. The store's own rows are what counts: a file that cannot be written fails no commit.
//! Files are removed when their traces are erased, and when they are older than traces are kept. Artefacts, which
//! `artefact_files` keeps, go with the episodes that name them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::ports::{
    Batch, Committed, EraseScope, Erased, Limitation, Maintained, MemoryStore, Record, StoreError, StoreFuture,
    StoreReads,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use serde::Deserialize;

use super::artefact_files::{ArtefactFiles, NamedBy};
use super::files::{create_dir, remove_if_there, unless_gone, write_synced};

const EXTENSION: &str = "json";
/// Artefacts of episodes that were never stored are looked for this often. A crash leaves them.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The settings of the trace files: where they are, whether they are written, and how long traces are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFileOptions {
    /// The directory of the files, which the first file creates. Files of other kinds in it are left alone.
    pub dir: PathBuf,
    /// True where new traces get a file. Files that are there are removed with their traces in any case.
    pub write: bool,
    /// Traces are kept for this many whole days at least and for a day more at most, in the store as well. An episode
    /// that stands for others goes with the newest of them. Where it is 0, they are kept for good.
    pub retention_days: u32,
}

/// A store that keeps a file for each of its traces.
pub struct TraceFiles {
    store: Arc<dyn MemoryStore>,
    options: TraceFileOptions,
    artefacts: ArtefactFiles,
    /// The time before which this process has removed all traces; `None` while it has removed none.
    removed_before: Mutex<Option<Timestamp>>,
    /// The time when this process last looked for artefacts of episodes that were never stored.
    looked_at: Mutex<Option<Instant>>,
}

impl TraceFiles {
    pub fn new(store: Arc<dyn MemoryStore>, options: TraceFileOptions, artefacts: ArtefactFiles) -> Self {
        Self { store, options, artefacts, removed_before: Mutex::default(), looked_at: Mutex::default() }
    }

    async fn commit_and_write(&self, batch: Batch, deadline: Deadline) -> Result<Committed, StoreError> {
        let traces: Vec<Trace> = match self.options.write {
            true => batch
                .iter()
                .filter_map(|r| match r {
                    Record::Trace(trace) | Record::Verdict(trace) => Some(trace.clone()),
                    _ => None,
                })
                .collect(),
            false => Vec::new(),
        };
        let committed = self.store.commit(batch, deadline).await?;
        if !traces.is_empty() {
            let dir = self.options.dir.clone();
            let writing = tokio::task::spawn_blocking(move || write(&dir, &traces));
            // the traces are stored: what becomes of their files does not concern the caller, nor does how long it
            // takes
            if tokio::time::timeout_at(deadline.instant(), writing).await.is_err() {
                tracing::warn!("writing trace files takes longer than the request may; it goes on by itself");
            }
        }
        Ok(committed)
    }

    /// Erases the rows, and then removes the files. The rows come first because they are what counts: the files take
    /// none of their time, however many there are. An erasure that fails may still be finished by whoever writes next,
    /// and a workspace that is gone cannot be erased again, so the files of a workspace are removed in any case.
    async fn erase_and_remove(&self, scope: EraseScope, deadline: Deadline) -> Result<Erased, StoreError> {
        let erased = self.store.erase(scope.clone(), deadline).await;
        if erased.is_ok() || matches!(scope, EraseScope::Workspace(_)) {
            let removed = self.remove(scope, deadline).await;
            return erased.and_then(|erased| removed.map(|()| erased));
        }
        erased
    }

    /// Removes the files of what is erased. The work goes on by itself after the deadline, because a workspace that is
    /// erased cannot be erased again.
    async fn remove(&self, scope: EraseScope, deadline: Deadline) -> Result<(), StoreError> {
        if matches!(scope, EraseScope::Memory(_) | EraseScope::Jobs { .. }) {
            return Ok(());
        }
        if matches!(scope, EraseScope::Traces { .. } | EraseScope::Episodes(_)) {
            let of = scope.clone();
            self.release_artefacts(move |name| may_be_in(name.episode, &of), deadline).await?;
        }
        let dir = self.options.dir.clone();
        let about = format!("not all trace files in {} were removed", dir.display());
        beside(about, deadline, move || remove(&dir, &scope)).await
    }

    /// Removes the artefacts that only episodes name which are not in the store. It looks at these names alone.
    async fn release_artefacts(
        &self,
        looks_at: impl Fn(&NamedBy) -> bool + Send + 'static,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let listing = self.artefacts.clone();
        let about = || "artefacts of episodes".to_owned();
        let named = beside(about(), deadline, move || {
            listing.named().map(|named| named.into_iter().filter(looks_at).collect::<Vec<_>>())
        });
        let mut gone = Vec::new();
        for name in named.await? {
            if self.reads().trace(name.episode, Some(name.workspace.clone()), deadline).await?.is_none() {
                gone.push(name);
            }
        }
        let releasing = self.artefacts.clone();
        beside(about(), deadline, move || releasing.release(&gone)).await
    }

    /// Removes the traces that were kept long enough. This is done once a day, because the limit moves at midnight UTC.
    async fn remove_old(&self, deadline: Deadline) -> Result<(), StoreError> {
        let Some(before) = limit(self.options.retention_days, Timestamp::now()) else { return Ok(()) };
        if *self.removed_before.lock().unwrap_or_else(PoisonError::into_inner) == Some(before) {
            return Ok(());
        }
        let erased = self.erase_and_remove(EraseScope::Traces { workspace: None, before }, deadline).await?;
        if erased.traces > 0 {
            tracing::info!(traces = erased.traces, %before, "traces that were kept long enough were removed, with their episodes");
        }
        *self.removed_before.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        Ok(())
    }

    /// Says whether it is time to look for artefacts that nobody needs, and notes that it is done now.
    fn is_time_to_look(&self) -> bool {
        let mut looked_at = self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = looked_at.is_none_or(|at| at.elapsed() > LOOK_EVERY);
        if is_due {
            *looked_at = Some(Instant::now());
        }
        is_due
    }

    async fn maintain_both(&self, deadline: Deadline) -> Result<Maintained, StoreError> {
        if let Err(error) = self.remove_old(deadline).await {
            tracing::warn!(%error, "old traces could not be removed");
        }
        if self.is_time_to_look()
            && let Err(error) = self.release_artefacts(NamedBy::is_overdue, deadline).await
        {
            tracing::warn!(%error, "artefacts of episodes that are gone could not be removed");
        }
        self.store.maintain(deadline).await
    }
}

impl MemoryStore for TraceFiles {
    fn reads(&self) -> &dyn StoreReads {
        self.store.reads()
    }

    fn commit(&self, batch: Batch, deadline: Deadline) -> StoreFuture<'_, Committed> {
        self.commit_and_write(batch, deadline).boxed()
    }

    fn erase(&self, scope: EraseScope, deadline: Deadline) -> StoreFuture<'_, Erased> {
        self.erase_and_remove(scope, deadline).boxed()
    }

    fn maintain(&self, deadline: Deadline) -> StoreFuture<'_, Maintained> {
        self.maintain_both(deadline).boxed()
    }

    fn limitation(&self) -> Option<Limitation> {
        self.store.limitation()
    }
}

/// Does work with files before the deadline. It goes on by itself after it. `about` begins the text of its failure.
async fn beside<T: Send + 'static>(
    about: String,
    deadline: Deadline,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let working = tokio::time::timeout_at(deadline.instant(), tokio::task::spawn_blocking(work));
    let failed = |error: String| StoreError::Failed(format!("{about}: {error}"));
    let done = working.await.map_err(|_| StoreError::TimedOut)?.map_err(|error| failed(error.to_string()))?;
    done.map_err(|error| failed(error.to_string()))
}

/// Returns the time before which traces are removed; `None` where they are kept for good.
fn limit(retention_days: u32, now: Timestamp) -> Option<Timestamp> {
    if retention_days == 0 {
        return None;
    }
    let midnight = now.as_second() - now.as_second().rem_euclid(DAY.as_secs());
    let kept = i64::from(retention_days).saturating_mul(DAY.as_secs());
    Timestamp::from_second(midnight.saturating_sub(kept)).ok()
}

fn write(dir: &Path, traces: &[Trace]) {
    for trace in traces {
        let path = path_of(dir, trace.trace_id);
        if let Err(error) = write_one(dir, &path, trace) {
            tracing::warn!(file = %path.display(), %error, "a trace file could not be written");
        }
    }
}

/// Writes the file of a trace. It leaves a later revision, which another request or another process may have written
/// meanwhile.
fn write_one(dir: &Path, path: &Path, trace: &Trace) -> io::Result<()> {
    create_dir(dir)?;
    let locked = fs::File::open(dir)?;
    locked.lock()?;
    if head_of(path, trace.trace_id)?.is_some_and(|written| written.revision > trace.revision) {
        return Ok(());
    }
    write_synced(path, &serde_json::to_vec_pretty(trace)?)
}

fn path_of(dir: &Path, id: TraceId) -> PathBuf {
    dir.join(format!("{id}.{EXTENSION}"))
}

/// The part of a trace that says whether it is removed, and which revision it is.
#[derive(Deserialize)]
struct TraceHead {
    trace_id: TraceId,
    #[serde(default)]
    revision: u64,
    metadata: TraceOwner,
    created_at: Timestamp,
}

#[derive(Deserialize)]
struct TraceOwner {
    workspace_id: WorkspaceId,
}

/// Removes the files of the traces in this scope. It goes by what the files say, so it also finds those that earlier
/// runs or other processes wrote. A file that cannot be removed does not keep it from removing the others.
fn remove(dir: &Path, scope: &EraseScope) -> io::Result<()> {
    let Some(entries) = unless_gone(fs::read_dir(dir))? else { return Ok(()) };
    let mut result = Ok(());
    for entry in entries {
        let path = entry?.path();
        let removed = remove_one(dir, &path, scope);
        result = result.and(removed);
    }
    result
}

fn remove_one(dir: &Path, path: &Path, scope: &EraseScope) -> io::Result<()> {
    let Some(id) = id_of(dir, path).filter(|id| may_be_in(*id, scope)) else { return Ok(()) };
    if head_of(path, id)?.is_some_and(|head| scope.covers_trace(id, &head.metadata.workspace_id, head.created_at)) {
        remove_if_there(path)?;
    }
    Ok(())
}

/// Returns the id of the trace that a file is for, by its name; `None` where the name is not that of a trace file.
fn id_of(dir: &Path, path: &Path) -> Option<TraceId> {
    let id = path.file_stem()?.to_str()?.parse().ok()?;
    (path == path_of(dir, id)).then_some(id)
}

/// Tells whether a trace may be in this scope, by its id. A trace gets its id, which holds the time, before it is made,
/// so the files of younger traces need not be read.
fn may_be_in(id: TraceId, scope: &EraseScope) -> bool {
    let before = match scope {
        EraseScope::Traces { before, .. } => before,
        EraseScope::Episodes(ids) => return ids.contains(&id),
        _ => return true,
    };
    let begun = id.uuid().get_timestamp().map(|time| i128::from(time.to_unix().0));
    begun.is_none_or(|begun| begun <= i128::from(before.as_second()))
}

/// Reads the head of a trace from its file; `None` where the file is not there or does not hold this trace.
fn head_of(path: &Path, id: TraceId) -> io::Result<Option<TraceHead>> {
    let Some(json) = unless_gone(fs::read(path))? else { return Ok(None) };
    Ok(serde_json::from_slice::<TraceHead>(&json).ok().filter(|head| head.trace_id == id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_moves_at_midnight_and_whole_days_are_kept() {
        let limit = |days, now: &str| limit(days, now.parse().unwrap()).map(|limit| limit.to_string());
        assert_eq!(limit(0, "2026-03-31T12:00:00Z"), None);
        assert_eq!(limit(30, "2026-03-31T00:00:00Z").as_deref(), Some("2026-03-01T00:00:00Z"));
        assert_eq!(limit(30, "2026-03-31T23:59:59.9Z").as_deref(), Some("2026-03-01T00:00:00Z"));
        assert_eq!(limit(1, "2026-04-01T00:00:00Z").as_deref(), Some("2026-03-31T00:00:00Z"));
    }
}
