//! The commands of `backup`: making one, looking through one, restoring one. They work on the data directory by
//! themselves, whether a server has it open or not.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_store::backup::{self, BackupError, BackupSource, Destination, MOMENT_LIMIT, RestoreOptions};
use reasoning_bank_store::{LanceStore, Options};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::answers::{BackupMade, BackupRestored, BackupSummary, BackupVerified};
use super::args::BackupCommand;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::{render, signals};
use crate::audit::CommandAudit;
use crate::settings::Loaded;

const CLOSE_LIMIT: Duration = Duration::from_secs(10);
/// The time within which a cancelled backup has removed what it made, unless it waits for a stream.
const GRACE: Duration = Duration::from_secs(3);

pub(super) fn command(command: BackupCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandFailure::runtime)?;
    let done = runtime.block_on(async {
        let asked_to_end = signals::asked_to_end().map_err(CommandFailure::signals)?;
        let cancel = CancellationToken::new();
        let work = run(command, loaded, output, &cancel);
        tokio::pin!(work);
        tokio::select! {
            done = &mut work => done,
            signal = asked_to_end => {
                cancel.cancel();
                let _ = timeout(GRACE, work).await;
                Err(CommandFailure::ended_by(signal))
            }
        }
    });
    // A read of a stream that hangs must not hold the process.
    runtime.shutdown_background();
    done
}

async fn run(
    command: BackupCommand,
    loaded: &Loaded,
    output: Output,
    cancel: &CancellationToken,
) -> Result<CommandExit, CommandFailure> {
    let data_dir = &loaded.settings.data_dir;
    match command {
        BackupCommand::Create { to } => create(&to, data_dir, output, cancel).await,
        BackupCommand::Verify { from } => {
            let verified = backup::verify(source(&from), cancel).await?;
            let whole = verified.findings.is_empty();
            let summary = BackupSummary::of(&verified.manifest);
            let answer = BackupVerified { whole, summary, findings: verified.findings };
            output.answer(&answer, render::backup_verified)?;
            Ok(if whole { CommandExit::Ok } else { CommandExit::Failed })
        }
        BackupCommand::Restore { from, with_tokens, erasures_of } => {
            let options = RestoreOptions { with_tokens, erasures_of };
            let restored = backup::restore(source(&from), data_dir, options, cancel).await?;
            noted("backup restore", &restored.manifest.id.to_string(), data_dir, output);
            let answer = BackupRestored {
                data_dir: data_dir.clone(),
                summary: BackupSummary::of(&restored.manifest),
                memories_now: restored.memories,
                erased_again: restored.erased_again,
                erasures_from: restored.erasures_from,
                with_tokens: restored.with_tokens,
                left_out: restored.unexpected,
            };
            output.answer(&answer, render::backup_restored)
        }
    }
}

async fn create(
    to: &Path,
    data_dir: &Path,
    output: Output,
    cancel: &CancellationToken,
) -> Result<CommandExit, CommandFailure> {
    let to_stream = is_stream(to);
    if to_stream && (output.json || io::stdout().is_terminal()) {
        let problem = "stdout carries the backup: it can be neither a terminal nor have a document";
        return Err(CommandFailure::usage(problem).hint("name a directory, or redirect stdout and leave --json out"));
    }
    let embedder = LanceStore::embedder_of(data_dir).await.map_err(Error::from)?;
    let embedder = embedder.ok_or_else(|| BackupError::NoBank(data_dir.to_owned()))?;
    let store = LanceStore::open(data_dir, &embedder, Options::default()).await.map_err(Error::from)?;
    let destination = match to_stream {
        true => Destination::Stream(Box::new(io::stdout())),
        false => Destination::Directory(to.to_owned()),
    };
    let made = backup::create(&store, destination, Deadline::after(MOMENT_LIMIT), cancel).await;
    if let Err(error) = store.close(Deadline::after(CLOSE_LIMIT)).await {
        tracing::warn!(%error, "the store was not closed cleanly; the journal is replayed at the next start");
    }
    let made = made?;
    noted("backup create", &made.id.to_string(), data_dir, output);
    let directory = if to_stream { None } else { Some(std::path::absolute(to).unwrap_or_else(|_| to.to_owned())) };
    let answer = BackupMade { directory, summary: BackupSummary::of(&made) };
    if to_stream {
        output.remark(&render::backup_made(&answer));
        return Ok(CommandExit::Ok);
    }
    output.answer(&answer, render::backup_made)
}

fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn source(from: &Path) -> BackupSource {
    match is_stream(from) {
        true => BackupSource::Stream(Box::new(io::stdin())),
        false => BackupSource::Directory(from.to_owned()),
    }
}

/// Notes in the audit log what was done.
fn noted(action: &str, id: &str, data_dir: &Path, output: Output) {
    output.noted(CommandAudit::open(data_dir).and_then(|mut audit| audit.append(action, vec![id.to_owned()])));
}
