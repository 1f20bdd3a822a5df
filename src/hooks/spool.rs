//! The spool: a hook leaves a file where a session is over or about to be compacted, and where a warning worked. A
//! process that serves does what follows from it, once: it learns from the transcript, brings working memory up to date
//! and takes a snapshot of it, and confirms the warning. A process that ends in between leaves the file to the next
//! one; doing it again adds nothing but another snapshot.
//!
//! ```text
//! hook-spool/ID.json    what was left
//! ```

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::episodes::LearnedRequests;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::working::{LOCAL_OWNER, ListedTask, WorkingTask};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_clients::HookEvent;
use reasoning_bank_domain::learning::episodes::session_outcome;
use reasoning_bank_domain::learning::job::{TRANSCRIPT_MAX_CHARS, Work};
use reasoning_bank_domain::learning::transcript::{self, MAX_FILE_BYTES, Transcript};
use reasoning_bank_domain::memory::trace::TraceSource;
use reasoning_bank_domain::prompt::without_recalled;
use reasoning_bank_domain::working::{Operation, SessionTask, session_of};
use reasoning_bank_store::data_dir::HOOK_SPOOL;
use reasoning_bank_store::files::{create_dir, open_regular, remove_if_there, try_lock, unless_gone, write_synced};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use uuid::Uuid;

use super::failures::{HookFailure, HookProblem, note_failure};
use super::question::{HookQuestion, SpoolEntry, WorkedWarnings};
use super::{HookActivity, SessionLearning};
use crate::project::{self, Identity};
use crate::transcripts;

/// The spool holds this many events; further ones are lost.
const EVENTS_MAX: usize = 1_000;
const EVENT_BYTES: u64 = 256 << 10;
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// A hook that writes for longer was ended.
const ABANDONED_AFTER: Duration = Duration::from_secs(60);
/// Work without a model may take this long.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Leaves an event for a serving process. It is on the disk when this returns. Without a bank nothing is left.
///
/// # Errors
/// The data directory cannot be written to, or has as many events as it takes.
pub(crate) fn leave(data_dir: &Path, entry: &SpoolEntry) -> io::Result<()> {
    if !data_dir.is_dir() {
        return Ok(());
    }
    let dir = data_dir.join(HOOK_SPOOL);
    create_dir(&dir)?;
    if fs::read_dir(&dir)?.flatten().filter(|entry| is_event(&entry.path())).count() >= EVENTS_MAX {
        return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "the spool is full"));
    }
    write_synced(&dir.join(format!("{}.json", Uuid::now_v7())), &serde_json::to_vec(entry)?)
}

/// Learns from what hooks left, for as long as it is polled. One process of a bank does at a time.
pub(super) async fn learn(
    system: &SystemHandle,
    data_dir: &Path,
    identity: Identity,
    learning: SessionLearning,
    activity: &HookActivity,
) -> Infallible {
    loop {
        let in_work = activity.learning.lock().await;
        learn_once(system, data_dir, identity, learning).await;
        drop(in_work);
        let _ = timeout(LOOK_EVERY, activity.left.notified()).await;
    }
}

/// Learns from what hooks have left so far.
pub(super) async fn learn_once(system: &SystemHandle, data_dir: &Path, identity: Identity, learning: SessionLearning) {
    if let Err(error) = learn_all(system, data_dir, identity, learning).await {
        tracing::warn!(%error, "what hooks left could not be worked off; it is tried again");
    }
}

async fn learn_all(
    system: &SystemHandle,
    data_dir: &Path,
    identity: Identity,
    learning: SessionLearning,
) -> Result<(), Error> {
    let listing = data_dir.join(HOOK_SPOOL);
    let taken = spawn_blocking(move || take(&listing)).await.map_err(Error::internal)?.map_err(Error::internal)?;
    let Some((_lock, files)) = taken else { return Ok(()) };
    for file in files {
        let (reading, of) = (file.clone(), data_dir.to_owned());
        let left = spawn_blocking(move || read(&reading, &of, learning)).await.map_err(Error::internal)?;
        match left {
            Some(SpoolWork::Learn(..)) if learning == SessionLearning::Nothing => {}
            Some(work) => match do_one(system, work, identity, learning).await {
                Err(error) if error.retryable() || is_of_bank(&error) => return Err(error),
                // Another time would not change it, and what others left waits behind it.
                Err(error) => tracing::warn!(%error, file = %file.display(), "nothing came of what a hook left"),
                Ok(()) => {}
            },
            None => tracing::debug!(file = %file.display(), "nothing is learned from an event of a hook"),
        }
        remove_if_there(&file).map_err(Error::internal)?;
    }
    Ok(())
}

/// Tells whether the bank cannot be used by this process. Another one may learn from what was left.
fn is_of_bank(error: &Error) -> bool {
    use StoreError::{NewerFormat, OtherEmbedder, Unusable};
    matches!(error, Error::Store(NewerFormat { .. } | OtherEmbedder { .. } | Unusable(_)))
}

fn is_event(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

/// Says whether a file that is no event was left by a hook that ended while it wrote.
fn is_abandoned(path: &Path) -> bool {
    let written = path.metadata().and_then(|file| file.modified());
    written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED_AFTER))
}

/// Lists the events that were left, the oldest first, with the lock of whoever learns from them. None where there is
/// nothing to do, or another process does it.
fn take(dir: &Path) -> io::Result<Option<(File, Vec<PathBuf>)>> {
    let Some(entries) = unless_gone(fs::read_dir(dir))? else { return Ok(None) };
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let (mut files, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_event(path));
    for path in others.iter().filter(|path| is_abandoned(path)) {
        // What is no file of a hook stays, and keeps nothing else.
        if let Err(error) = remove_if_there(path) {
            tracing::debug!(%error, file = %path.display(), "what lies in the spool stays there");
        }
    }
    files.sort_unstable();
    let lock = File::open(dir)?;
    Ok((!files.is_empty() && try_lock(&lock)?).then_some((lock, files)))
}

/// The work that follows from a file that was left.
enum SpoolWork {
    Learn(HookQuestion, Transcript),
    /// There is no transcript where the client names none, or where none may be learned from.
    Save(HookQuestion, Option<Transcript>),
    Confirm(WorkedWarnings),
}

/// Reads what was left, and the transcript that it names, without what agents were shown of the bank. None where either
/// cannot be read, which another time would not change. That a transcript is too long is noted for `doctor`.
fn read(file: &Path, data_dir: &Path, learning: SessionLearning) -> Option<SpoolWork> {
    let question = match serde_json::from_slice(&bounded(file, EVENT_BYTES).ok()?).ok()? {
        SpoolEntry::Worked(worked) => return Some(SpoolWork::Confirm(worked)),
        SpoolEntry::Event(question) => question,
    };
    match &question.call.event {
        HookEvent::Compacting { transcript } => {
            let transcript = transcript.as_deref().filter(|_| learning != SessionLearning::Nothing);
            let read = transcript.and_then(|file| read_transcript(file, &question, data_dir));
            Some(SpoolWork::Save(question, read))
        }
        HookEvent::SessionEnded { transcript } => {
            let read = read_transcript(transcript, &question, data_dir)?;
            Some(SpoolWork::Learn(question, read))
        }
        _ => None,
    }
}

fn read_transcript(file: &Path, question: &HookQuestion, data_dir: &Path) -> Option<Transcript> {
    let bytes = bounded(file, MAX_FILE_BYTES as u64);
    if bytes.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::FileTooLarge) {
        let failure = HookFailure {
            at: Timestamp::now(),
            client: question.call.client,
            event: question.call.name.clone(),
            problem: HookProblem::TranscriptTooLong,
            cause: None,
        };
        let _ = note_failure(data_dir, &failure);
        return None;
    }
    let text = String::from_utf8(bytes.ok()?).ok()?;
    transcript::read(without_recalled(&text).as_bytes()).ok()
}

fn bounded(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(file)?;
    if file.metadata()?.len() > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

async fn do_one(
    system: &SystemHandle,
    work: SpoolWork,
    identity: Identity,
    learning: SessionLearning,
) -> Result<(), Error> {
    let directory: &Path = match &work {
        SpoolWork::Learn(question, _) | SpoolWork::Save(question, _) => question.place(identity),
        SpoolWork::Confirm(worked) => &worked.directory,
    };
    let Ok(root) = project::root(directory, directory, identity) else { return Ok(()) };
    let workspace = WorkspaceRef::Root(root);
    match work {
        SpoolWork::Learn(question, transcript) => {
            let (exchanges, source) = (transcript.exchanges.len(), question.call.source());
            let for_model = (learning == SessionLearning::ByModel).then(|| Work::Distill {
                // What rules and a model learn from one session is of one source.
                session_id: transcript.session().unwrap_or(&question.call.session).to_owned(),
                outcome: session_outcome(&transcript.requests),
                transcript: transcript.messages(TRANSCRIPT_MAX_CHARS),
            });
            transcripts::learn(transcript, &workspace, system, |_| {}).await?;
            if let Some(work) = for_model.filter(|_| exchanges > 0) {
                match system.distiller.queue(work, &workspace, Deadline::after(TIMEOUT)).await {
                    Ok(_) => {}
                    // Rules have learned from it, and what others left does not wait for a place.
                    Err(error @ Error::Overloaded { .. }) => tracing::warn!(%error, "no model reads a session"),
                    Err(error) => return Err(error),
                }
            }
            let of = system.workspaces.resolve(&workspace, Deadline::after(TIMEOUT)).await?.workspace.id;
            system.working.close_followed(&of, &source, None, Deadline::after(TIMEOUT)).await?;
            tracing::info!(exchanges, session = question.call.session, "learned from a session that is over");
        }
        SpoolWork::Save(question, transcript) => {
            save_working_memory(system, &workspace, &question.call.source(), transcript).await?;
        }
        SpoolWork::Confirm(WorkedWarnings { session, warnings, .. }) => {
            let confirmed = system.memories.worked(warnings, &session, &workspace, Deadline::after(TIMEOUT)).await?;
            tracing::debug!(confirmed, "warnings worked");
        }
    }
    Ok(())
}

/// Keeps the task of a session that goes on without what was said so far: the one that its agent opened gets a snapshot,
/// and where there is none the last request of its transcript becomes one.
async fn save_working_memory(
    system: &SystemHandle,
    workspace: &WorkspaceRef,
    session: &str,
    transcript: Option<Transcript>,
) -> Result<(), Error> {
    let deadline = Deadline::after(TIMEOUT);
    let resolved = system.workspaces.resolve(workspace, deadline).await?;
    let tasks = system.working.list_all(&resolved.workspace.id, LOCAL_OWNER, deadline).await?;
    let newest = tasks.into_iter().find(|task| session_of(&task.memory).is_none());
    let mut requests = transcript.map(|transcript| transcript.requests).unwrap_or_default();
    let running = requests.pop().filter(|request| {
        let is_older = |task: &ListedTask| request.began.is_some_and(|began| task.memory.touched_at() < began);
        newest.as_ref().is_none_or(is_older)
    });
    let (id, owner) = (resolved.workspace.id.clone(), LOCAL_OWNER.to_owned());
    let Some(running) = running else {
        // The process that has a task open sees to it itself.
        let Some(newest) = newest.filter(|task| !task.is_elsewhere) else { return Ok(()) };
        let task = WorkingTask { workspace: id, owner, id: newest.id };
        return system.working.apply(&task, vec![Operation::Snapshot], deadline, |_, _| ()).await;
    };
    system.memories.register(&resolved, deadline).await?;
    // The requests before it are over, and are learned with what their transcript says of them.
    let over = LearnedRequests { requests, source: TraceSource::Transcript, owner: None, outcome: None };
    system.episodes.learn(over, workspace, deadline).await?;
    let running = SessionTask::of(&running, &id, session);
    system.working.close_followed(&id, session, Some(running.id()), deadline).await?;
    system.working.follow(&id, running, deadline).await
}
