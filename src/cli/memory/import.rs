//! The command `memory import`: it reads the file, asks the user about other workspaces, and shows how far it is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use crate::cli::args::{ImportArgs, Sure};
use crate::cli::confirm::confirm;
use crate::cli::failure::CommandFailure;
use crate::cli::maintain::upkeep;
use crate::cli::output::Output;
use crate::cli::progress::ProgressIndicator;
use crate::cli::session::request_deadline;
use crate::import::{
    Checked, ForeignWorkspaces, ImportFailure, ImportMode, ImportTarget, ImportWords, Imported, check,
};
use crate::settings::Loaded;

/// Imports a file. A memory that names no workspace goes to the one in use.
///
/// # Errors
/// A line is wrong: the error names all that is wrong, up to a bound, and nothing is written. The user does not agree
/// to other workspaces: nothing is written either. Writing fails: a part is written, and the same import again does the
/// rest.
pub(in crate::cli) async fn import(
    args: &ImportArgs,
    loaded: &Loaded,
    output: Output,
    system: &SystemHandle,
) -> Result<Imported, CommandFailure> {
    let bank = Arc::new(import_target(args.trusted_backup, loaded, system).await?);
    let (source, name) = open(&args.file)?;
    let checked = check_export(source, &name, &bank, loaded, output).await?;
    agree(checked.foreign(), &bank, args.sure)?;
    let notes = checked.notes(&*bank);
    let imported = write(checked, &name, output.progress("lines imported"), system).await?;
    Ok(Imported { notes, ..imported })
}

/// Checks the lines of an export and puts aside what they hold. `name` is that of its file.
pub(in crate::cli) async fn check_export(
    source: impl Read + Send + 'static,
    name: &str,
    bank: &Arc<ImportTarget>,
    loaded: &Loaded,
    output: Output,
) -> Result<Checked, CommandFailure> {
    let aside = aside(loaded)?;
    let (progress, known) = (output.progress("lines checked"), Arc::clone(bank));
    let checking = tokio::task::spawn_blocking(move || check(source, aside, &known, |lines| progress.done(lines)));
    checking.await.map_err(Error::internal)?.map_err(|failure| failed(failure, name))
}

/// Makes the file in which things are put aside until they are written.
pub(in crate::cli) fn aside(loaded: &Loaded) -> Result<File, CommandFailure> {
    tempfile::tempfile_in(&loaded.settings.data_dir).map_err(CommandFailure::put_aside)
}

/// Writes what was checked, and makes the indexes of it unless upkeep has its vectors to make first.
pub(in crate::cli) async fn write(
    checked: Checked,
    name: &str,
    progress: ProgressIndicator,
    system: &SystemHandle,
) -> Result<Imported, CommandFailure> {
    progress.most(checked.things());
    let leaves_vectors = checked.leaves_vectors();
    let written = checked.write(system, |things| progress.done(things)).await;
    let imported = written.map_err(|failure| failed(failure, name))?;
    drop(progress);
    if imported.imported.sum() > 0 && !leaves_vectors {
        // what was written is stored and found whatever becomes of this, only more slowly
        if let Err(failure) = upkeep(system).await {
            tracing::warn!(reason = failure.message, "the indexes of what was imported are left to later upkeep");
        }
    }
    Ok(imported)
}

impl ImportWords for ImportTarget {
    fn exactly(&self) -> &'static str {
        "`--trusted-backup` restores a backup of your own exactly"
    }

    fn left_out(&self, workspace: &WorkspaceId, what: &str) -> String {
        match self.workspace(workspace).map(|known| &known.root).filter(|root| !root.is_empty()) {
            Some(root) => format!(
                "the workspace {root} is not trusted with it; where it should be, name the {what} in its \
                 .reasoning-bank.toml, run `reasoning-bank workspace trust {root}`, and import the file again"
            ),
            None => format!(
                "the workspace {workspace} has no directory here, so it cannot be trusted with it; {}",
                self.exactly()
            ),
        }
    }
}

/// Collects what is known here of the workspaces that a file may name.
pub(in crate::cli) async fn import_target(
    is_backup: bool,
    loaded: &Loaded,
    system: &SystemHandle,
) -> Result<ImportTarget, CommandFailure> {
    let here = system.workspaces.resolve(&loaded.workspace, request_deadline()).await?.workspace;
    let all = system.workspaces.list(request_deadline()).await?;
    let known = all.into_iter().map(|workspace| (workspace.id.clone(), workspace)).collect();
    let mode = if is_backup { ImportMode::Backup } else { ImportMode::Stranger };
    Ok(ImportTarget { here, now: Timestamp::now(), mode, known })
}

fn open(path: &Path) -> Result<(Box<dyn Read + Send>, String), CommandFailure> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), "stdin".into()));
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((Box::new(file), name)),
        Err(error) => Err(CommandFailure::unreadable(&name, error)),
    }
}

/// Returns when the user agreed that the file writes to them, or there are none.
///
/// # Errors
/// There is no terminal to ask on, or the user did not agree.
pub(in crate::cli) fn agree(
    foreign: &ForeignWorkspaces,
    bank: &ImportTarget,
    sure: Sure,
) -> Result<(), CommandFailure> {
    if foreign.is_empty() {
        return Ok(());
    }
    let hint = "--yes agrees; --trusted-backup agrees, and restores a backup of your own exactly";
    confirm(&foreign.question(bank), sure).map_err(|failure| match failure.hint {
        Some(_) => failure.hint(hint),
        None => failure,
    })
}

/// Says why a file is not imported, and what to do.
pub(in crate::cli) fn failed(failure: ImportFailure, name: &str) -> CommandFailure {
    let message = failure.to_string();
    match failure {
        ImportFailure::Unreadable(error) => CommandFailure::unreadable(name, error),
        ImportFailure::Aside(error) => CommandFailure::put_aside(error),
        ImportFailure::Bad(_) => CommandFailure::usage(format!("{name}: {message}"))
            .hint("correct or remove what each line names, and import the whole file again"),
        ImportFailure::TooManyWorkspaces => CommandFailure::usage(message)
            .hint("import one workspace's part of it, or say --trusted-backup for a backup of your own"),
        ImportFailure::BanksTooLarge => CommandFailure::usage(message)
            .hint("split the file: its lines of the kind bank_file can be imported by themselves"),
        ImportFailure::BrokenOff { error, .. } => {
            let mut failure = CommandFailure::from(*error);
            failure.message = format!("{message}: {}", failure.message);
            failure.hint("import the same file again: what is there already is skipped")
        }
    }
}

#[cfg(test)]
mod tests;
