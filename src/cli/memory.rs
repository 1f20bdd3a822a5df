//! `memory search`, `record`, `get` and `export`: from arguments to requests of the system.

use std::path::Path;

use reasoning_bank_actors::memories::{RetrieveRequest, WorkspaceRef};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::view::{MemoryView, Recorded, Retrieved};

use super::args::{RecordArgs, SearchArgs};
use super::failure::Failure;
use super::input;
use crate::project;
use crate::settings::Loaded;

mod export;
mod record;

pub(super) use export::export;

pub(super) async fn search(
    args: SearchArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Retrieved, Failure> {
    let n = args.n.map_or(loaded.settings.retrieval.n_results, |n| n as usize);
    let request = RetrieveRequest {
        errors_only: args.errors_only,
        error_signature: args.error_signature,
        domain: args.domain,
        tags: args.tags,
        profile: args.profile.map(Into::into),
        ..RetrieveRequest::new(args.query, loaded.workspace.clone(), n)
    };
    Ok(system.memories.retrieve(request, deadline).await?)
}

pub(super) async fn record(
    args: RecordArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Recorded, Failure> {
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

fn named_workspace(named: &str, loaded: &Loaded) -> Result<WorkspaceRef, Failure> {
    project::workspace(named, Path::new("."), loaded.settings.workspace.identity)
        .map_err(|error| Failure::usage("workspace").caused_by(error))
}

pub(super) async fn get(
    id: MemoryId,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<MemoryView, Failure> {
    Ok(system.memories.get(id, &loaded.workspace, deadline).await?)
}

#[cfg(test)]
mod tests;
