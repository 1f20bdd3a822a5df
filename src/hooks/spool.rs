//! The spool: a hook leaves a file where a session is over, and a process that serves learns from its transcript, once. A
//! process that ends in between leaves the file to the next one; what was learned already adds nothing.
//!
//! ```text
//! hook-spool/ID.json    the call of the hook
//! ```

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_clients::HookEvent;
use reasoning_bank_domain::learning::transcript::{self, MAX_FILE_BYTES, Transcript};
use reasoning_bank_domain::prompt::without_recalled;
use reasoning_bank_store::data_dir::HOOK_SPOOL;
use reasoning_bank_store::files::{create_dir, remove_if_there, try_lock, unless_gone, write_synced};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use uuid::Uuid;

use super::question::HookQuestion;
use crate::project::{self, Identity};
use crate::transcripts;

/// The spool holds so many events; further ones are lost.
const EVENTS_MAX: usize = 1_000;
const EVENT_BYTES: u64 = 256 << 10;
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Leaves an event for a serving process. It is on the disk when this returns. Without a bank nothing is left.
///
/// # Errors
/// The data directory cannot be written to.
pub(crate) fn leave(data_dir: &Path, question: &HookQuestion) -> io::Result<()> {
    if !data_dir.is_dir() {
        return Ok(());
    }
    let dir = data_dir.join(HOOK_SPOOL);
    create_dir(&dir)?;
    if fs::read_dir(&dir)?.count() >= EVENTS_MAX {
        return Ok(());
    }
    write_synced(&dir.join(format!("{}.json", Uuid::now_v7())), &serde_json::to_vec(question)?)
}

/// Learns from what hooks left, for as long as it is polled. One process of a bank does at a time.
pub(super) async fn learn(system: &SystemHandle, data_dir: &Path, identity: Identity, captures: bool) -> Infallible {
    let dir = data_dir.join(HOOK_SPOOL);
    loop {
        if let Err(error) = learn_all(system, &dir, identity, captures).await {
            tracing::warn!(%error, "sessions that are over could not be learned from; it is tried again");
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn learn_all(system: &SystemHandle, dir: &Path, identity: Identity, captures: bool) -> Result<(), Error> {
    let listing = dir.to_owned();
    let taken = spawn_blocking(move || take(&listing)).await.map_err(Error::internal)?.map_err(Error::internal)?;
    let Some((_lock, files)) = taken else { return Ok(()) };
    for file in files {
        let reading = file.clone();
        let left = spawn_blocking(move || read(&reading)).await.map_err(Error::internal)?;
        match left {
            Some((question, transcript)) if captures => match learn_one(system, question, transcript, identity).await {
                Err(error) if error.retryable() => return Err(error),
                // Another time would not change it, and what others left waits behind it.
                Err(error) => tracing::warn!(%error, file = %file.display(), "a session could not be learned from"),
                Ok(()) => {}
            },
            _ => tracing::debug!(file = %file.display(), "nothing is learned from an event of a hook"),
        }
        remove_if_there(&file).map_err(Error::internal)?;
    }
    Ok(())
}

/// Lists the events that were left, the oldest first, with the lock of whoever learns from them. None where there is
/// nothing to do, or another process does it.
fn take(dir: &Path) -> io::Result<Option<(File, Vec<PathBuf>)>> {
    let Some(entries) = unless_gone(fs::read_dir(dir))? else { return Ok(None) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    files.sort_unstable();
    let lock = File::open(dir)?;
    Ok((!files.is_empty() && try_lock(&lock)?).then_some((lock, files)))
}

/// Reads an event and the transcript that it names, without what agents were shown of the bank. None where either cannot be
/// read, which another time would not change.
fn read(file: &Path) -> Option<(HookQuestion, Transcript)> {
    let question: HookQuestion = serde_json::from_slice(&bounded(file, EVENT_BYTES).ok()?).ok()?;
    let HookEvent::SessionEnded { transcript } = &question.call.event else { return None };
    let bytes = bounded(transcript, MAX_FILE_BYTES as u64).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let read = transcript::read(without_recalled(&text).as_bytes()).ok()?;
    Some((question, read))
}

fn bounded(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > most {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

async fn learn_one(
    system: &SystemHandle,
    question: HookQuestion,
    transcript: Transcript,
    identity: Identity,
) -> Result<(), Error> {
    let Ok(root) = project::root(&question.directory, &question.directory, identity) else { return Ok(()) };
    let workspace = WorkspaceRef::Root(root);
    let exchanges = transcript.exchanges.len();
    transcripts::learn(transcript, &workspace, system, |_| {}).await?;
    tracing::info!(exchanges, session = question.call.session, "learned from a session that is over");
    Ok(())
}
