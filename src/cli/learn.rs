//! The command `learn` gives files of conversations and notes, and those of memory banks, to the learner in batches.
//! `reasoning_bank_domain::learning::transcript` reads what a file holds; the learner decides what is kept of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::learning::capture::Captured;
use reasoning_bank_domain::learning::transcript::{self, MAX_FILE_BYTES, Transcript};

use super::args::{BankArgs, LearnArgs};
use super::bank::BankCaller;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::progress::ProgressIndicator;
use super::render;
use super::session::{request_deadline, with_bulk_bank};
use crate::cli::answers::{LearnReport, LearnedFile};
use crate::settings::{Loaded, SettingSources};
use crate::transcripts;

pub(super) fn command(
    args: LearnArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let learned = with_bulk_bank(loaded, async |system| {
        let progress = output.progress("exchanges");
        let mut learned = LearnReport::default();
        for path in &args.files {
            let reading = path.clone();
            let read = tokio::task::spawn_blocking(move || read(&reading)).await.map_err(Error::internal)?;
            learn(path.display().to_string(), read, &loaded.workspace, &system, &progress, &mut learned).await?;
        }
        if let Some(bank) = args.bank {
            let here = BankCaller { loaded, directory: &sources.directory };
            let place = here.place(&system, &BankArgs { bank: Some(bank) }).await?;
            for (path, text) in system.banks.texts(&place, request_deadline()).await?.0 {
                let read = transcript::read(text.as_bytes()).map_err(|error| error.to_string());
                let name = format!("{}/{path}", place.key);
                learn(name, read, &loaded.workspace, &system, &progress, &mut learned).await?;
            }
        }
        Ok(learned)
    })?;
    output.answer(&learned, render::learned)?;
    let failed = learned.files.iter().any(|file| file.error.is_some());
    Ok(if failed { CommandExit::Failed } else { CommandExit::Ok })
}

/// Learns from one file, which was read.
async fn learn(
    file: String,
    read: Result<Transcript, String>,
    workspace: &WorkspaceRef,
    system: &SystemHandle,
    progress: &ProgressIndicator,
    learned: &mut LearnReport,
) -> Result<(), CommandFailure> {
    let done = match read {
        Ok(transcript) => {
            progress.most((learned.total.exchanges + transcript.exchanges.len()) as u64);
            let before = learned.total.exchanges;
            let done = |count: usize| progress.done((before + count) as u64);
            file_of(file, transcript, workspace, system, done).await.map_err(broken_off)?
        }
        Err(error) => LearnedFile { file, error: Some(error), ..LearnedFile::default() },
    };
    learned.total.add(&done.counts);
    learned.files.push(done);
    Ok(())
}

async fn file_of(
    file: String,
    transcript: Transcript,
    workspace: &WorkspaceRef,
    system: &SystemHandle,
    done: impl Fn(usize),
) -> Result<LearnedFile, Error> {
    let mut learned = LearnedFile {
        file,
        format: Some(transcript.format),
        unreadable: transcript.unreadable.clone(),
        left_out: transcript.left_out,
        cut_characters: transcript.cut_characters as u64,
        ..LearnedFile::default()
    };
    let count = |batch: Vec<Captured>| {
        for Captured { outcome, removed, .. } in batch {
            learned.counts.count(outcome);
            learned.redactions += u64::from(removed.redactions);
            learned.dropped_characters += u64::from(removed.dropped_characters);
        }
        done(learned.counts.exchanges);
    };
    let episodes = transcripts::learn(transcript, workspace, system, count).await?;
    Ok(LearnedFile { episodes, ..learned })
}

fn read(path: &Path) -> Result<Transcript, String> {
    let bytes = if path.as_os_str() == "-" { bounded(io::stdin().lock()) } else { File::open(path).and_then(bounded) };
    let bytes = bytes.map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(format!("it has more than {MAX_FILE_BYTES} bytes"));
    }
    transcript::read(&bytes).map_err(|error| error.to_string())
}

/// Reads at most one byte more than there may be.
fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn broken_off(error: Error) -> CommandFailure {
    CommandFailure::from(error).hint("learn the same files again: what was learned already adds nothing")
}
