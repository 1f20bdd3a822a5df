//! The commands of `memory`, from arguments to requests of the system. `edit` has those that change memories that are
//! there.

use std::io;
use std::path::Path;

use export::export;
use import::import;
pub(super) use import::{agree, aside, check_export, failed, import_target, write};
use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::retrieval::conditions::{Conditions, TimeRange};
use reasoning_bank_domain::retrieval::responses::{Explained, MemoryDetail, Recorded, Retrieved};
use recalls::recalls;

use super::args::{MemoryCommand, OnlyArgs, RecordArgs, SearchArgs};
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::session::{request_deadline, rewrite_deadline, with_bank, with_bulk_bank, with_searching_bank};
use super::{input, render};
use crate::export::ExportOptions;
use crate::project;
use crate::settings::{self, Loaded};

mod edit;
mod export;
mod import;
mod recalls;
mod record;

pub(super) fn command(command: MemoryCommand, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    match command {
        MemoryCommand::Search(args) => {
            if args.explain {
                let found =
                    with_searching_bank(loaded, async |bank| explain(args, loaded, &bank, request_deadline()).await)?;
                return output.answer(&found, render::explained);
            }
            let found =
                with_searching_bank(loaded, async |bank| search(args, loaded, &bank, request_deadline()).await)?;
            output.answer(&found, |found| render::retrieved(found, false))
        }
        MemoryCommand::Record(args) => {
            let recorded = with_bank(loaded, async |bank| record(*args, loaded, &bank, request_deadline()).await)?;
            output.answer(&recorded, render::recorded)
        }
        MemoryCommand::Get { id } => {
            let found = with_bank(loaded, async |bank| get(id, loaded, &bank, request_deadline()).await)?;
            output.answer(&found, render::memory_detail)
        }
        MemoryCommand::List(args) => {
            let listed = with_bank(loaded, async |bank| edit::list(args, loaded, &bank, request_deadline()).await)?;
            output.answer(&listed, render::listed)
        }
        MemoryCommand::Recalls { limit } => {
            let listed = with_bank(loaded, async |bank| recalls(limit.into(), loaded, &bank).await)?;
            output.answer(&listed, render::recalls)
        }
        MemoryCommand::Update(args) => {
            let updated = with_bank(loaded, async |bank| edit::update(args, loaded, &bank, request_deadline()).await)?;
            output.answer(&updated, render::updated)
        }
        MemoryCommand::Pin { id } => pin(id, true, loaded, output),
        MemoryCommand::Unpin { id } => pin(id, false, loaded, output),
        MemoryCommand::Feedback(args) => {
            let reported =
                with_bank(loaded, async |bank| edit::feedback(args, loaded, &bank, request_deadline()).await)?;
            output.answer(&reported, render::reported)
        }
        MemoryCommand::Delete { id, sure } => {
            let deleted = with_bank(loaded, async |bank| edit::delete(id, sure, loaded, &bank).await)?;
            output.answer(&deleted, render::deleted)
        }
        MemoryCommand::Quarantine { id, descendants, undo } => {
            let changed = with_bank(loaded, async |bank| {
                edit::quarantine(id, descendants, undo, loaded, &bank, rewrite_deadline()).await
            })?;
            output.answer(&changed, |changed| render::quarantined(changed, undo))
        }
        MemoryCommand::Supersede { older, by: Some(newer), undo: false } => {
            let replaced = with_bank(loaded, async |bank| edit::supersede(older, newer, loaded, &bank).await)?;
            output.answer(&replaced, |replaced| render::superseded(replaced, newer))
        }
        MemoryCommand::Supersede { older, by, .. } => {
            let back = with_bank(loaded, async |bank| edit::reinstate(older, by, loaded, &bank).await)?;
            output.answer(&back, render::memory_detail)
        }
        MemoryCommand::Promote { id: Some(id) } => {
            let promoted = with_bank(loaded, async |bank| edit::promote(id, loaded, &bank, request_deadline()).await)?;
            output.answer(&promoted, render::promoted)
        }
        MemoryCommand::Promote { id: None } => {
            let found = with_bank(loaded, async |bank| edit::promotions(loaded, &bank, request_deadline()).await)?;
            output.answer(&found, render::promotions)
        }
        MemoryCommand::Export { all, vectors, with_jobs } => {
            let workspace = (!all).then_some(&loaded.workspace);
            with_bank(loaded, async |bank| {
                let mut out = io::BufWriter::new(io::stdout().lock());
                let options = ExportOptions { vectors, jobs: with_jobs };
                export(workspace, options, output.json, &bank, &mut out).await
            })
            .map(|()| CommandExit::Ok)
        }
        MemoryCommand::Import(args) => {
            let imported = with_bulk_bank(loaded, async |bank| import(&args, loaded, output, &bank).await)?;
            output.answer(&imported, render::imported)
        }
    }
}

fn pin(id: MemoryId, pinned: bool, loaded: &Loaded, output: Output) -> Result<CommandExit, CommandFailure> {
    let changed = with_bank(loaded, async |bank| edit::pin(id, pinned, loaded, &bank, request_deadline()).await)?;
    output.answer(&changed, render::updated)
}

async fn search(
    args: SearchArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Retrieved, CommandFailure> {
    let request = searched(args, loaded, system, deadline).await?;
    Ok(system.memories.retrieve(request, deadline).await?)
}

async fn explain(
    args: SearchArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Explained, CommandFailure> {
    let request = searched(args, loaded, system, deadline).await?;
    Ok(system.memories.explain(request, deadline).await?)
}

/// Returns the conditions that narrow a search or a list.
fn narrowed(only: OnlyArgs) -> (Conditions, TimeRange) {
    let conditions = Conditions {
        domain: only.domain_filter,
        difficulty: only.difficulty,
        tags: only.tags,
        warnings_only: only.errors_only,
        without_warnings: only.no_errors,
        outcome: only.outcome.map(Into::into),
        source_type: only.source.map(Into::into),
        ..Conditions::default()
    };
    (conditions, TimeRange { since: only.since, until: only.until })
}

/// Makes the search that the arguments ask for.
async fn searched(
    args: SearchArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<RetrieveRequest, CommandFailure> {
    let n = args.n.map_or(loaded.settings.retrieval.n_results, |n| n as usize);
    let root = system.workspaces.resolve(&loaded.workspace, deadline).await?.workspace.root;
    let (conditions, made) = narrowed(args.only);
    Ok(RetrieveRequest {
        scopes: args.scope.map(Into::into).unwrap_or_default(),
        proposed: settings::proposed(Path::new(&root)),
        conditions,
        made,
        min_confidence: args.min_confidence,
        include_superseded: args.include_superseded,
        // A person sees what is nearest, and what of it is below the threshold.
        min_relevance: Some(0.0),
        error_signature: args.error_signature,
        domain: args.domain,
        profile: args.profile.map(Into::into),
        ..RetrieveRequest::new(args.query, loaded.workspace.clone(), n)
    })
}

async fn record(
    args: RecordArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Recorded, CommandFailure> {
    let mut lesson = match &args.file {
        Some(path) => record::LessonFile::parse(&input::read(path)?)?,
        None => record::LessonFile::of_flags(args.lesson, args.error),
    };
    let workspace = match lesson.workspace.take().filter(|_| !loaded.workspace_is_named) {
        Some(named) => named_workspace(&named, loaded)?,
        None => loaded.workspace.clone(),
    };
    Ok(system.memories.record(lesson.into_request(workspace), deadline).await?)
}

fn named_workspace(named: &str, loaded: &Loaded) -> Result<WorkspaceRef, CommandFailure> {
    project::workspace(named, Path::new("."), loaded.settings.workspace.identity)
        .map_err(|error| CommandFailure::usage("workspace").caused_by(error))
}

async fn get(
    id: MemoryId,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<MemoryDetail, CommandFailure> {
    Ok(system.memories.show(id, &loaded.workspace, deadline).await?)
}

#[cfg(test)]
mod tests;
