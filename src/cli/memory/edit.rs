//! The commands that change memories that are there, and list them: `memory list`, `update`, `feedback`, `pin`,
//! `delete`, `quarantine`, `supersede` and `promote`.

use reasoning_bank_actors::memories::{Erasure, FeedbackRequest, ListRequest, SaidBy, UpdateRequest};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::evidence::feedback::Reported;
use reasoning_bank_domain::evidence::promotion::{Promoted, Proposals};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::observation::Feedback;
use reasoning_bank_domain::memory::{Changes, Scope};
use reasoning_bank_domain::retrieval::responses::{MemoryDetail, MemoryPage, Quarantined, Replaced, Updated};

use super::narrowed;
use crate::cli::answers::Deleted;
use crate::cli::args::{FeedbackArgs, ListArgs, Sure, UpdateArgs};
use crate::cli::confirm::confirm;
use crate::cli::failure::CommandFailure;
use crate::cli::session::{request_deadline, rewrite_deadline};
use crate::settings::Loaded;

pub(in crate::cli) async fn list(
    args: ListArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<MemoryPage, CommandFailure> {
    let (conditions, made) = narrowed(args.only);
    let request = ListRequest {
        workspace: loaded.workspace.clone(),
        parent: args.parent,
        status: args.status.map(Into::into),
        conditions,
        made,
        limit: args.page.limit.into(),
        after: args.page.after.map(MemoryId::from),
    };
    Ok(system.memories.list(request, deadline).await?)
}

pub(in crate::cli) async fn update(
    args: UpdateArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Updated, CommandFailure> {
    let mut tags = args.tags;
    if let Some(tags) = &mut tags {
        tags.retain(|tag| !tag.trim().is_empty());
    }
    let changes = Changes {
        title: args.title,
        description: args.description,
        content: args.content,
        pattern_tags: tags,
        domain_category: args.domain,
        difficulty_level: args.difficulty,
        status: args.status.map(Into::into),
        pinned: None,
    };
    let request = UpdateRequest {
        id: args.id,
        workspace: loaded.workspace.clone(),
        changes,
        if_revisions: args.if_revision.map(|revision| vec![revision]),
    };
    Ok(system.memories.update(request, deadline).await?)
}

pub(in crate::cli) async fn pin(
    id: MemoryId,
    pinned: bool,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Updated, CommandFailure> {
    let changes = Changes { pinned: Some(pinned), ..Changes::default() };
    let request = UpdateRequest { id, workspace: loaded.workspace.clone(), changes, if_revisions: None };
    Ok(system.memories.update(request, deadline).await?)
}

pub(in crate::cli) async fn feedback(
    args: FeedbackArgs,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Reported, CommandFailure> {
    let request = FeedbackRequest {
        workspace: loaded.workspace.clone(),
        memory_ids: vec![args.id],
        trace_id: None,
        task: None,
        commit: None,
        verdict: Feedback { helpful: Some(args.helpful), comment: args.comment, ..Feedback::default() },
        learnings: Vec::new(),
        session: Some(ClientSession::by_hand()),
        counts_in: Scope::SHARED.to_vec(),
        is_work: false,
    };
    Ok(system.memories.feedback(request, deadline).await?)
}

/// Erases a memory, after a question with its title.
pub(in crate::cli) async fn delete(
    id: MemoryId,
    sure: Sure,
    loaded: &Loaded,
    system: &SystemHandle,
) -> Result<Deleted, CommandFailure> {
    let title = system.memories.get(id, &loaded.workspace, request_deadline()).await?.title;
    confirm(&format!("Delete the memory \"{title}\" ({id}) for good"), sure)?;
    let Erasure { removed, reinstated } = system.memories.delete(id, &loaded.workspace, rewrite_deadline()).await?;
    Ok(Deleted { id, title, removed, reinstated })
}

pub(in crate::cli) async fn quarantine(
    id: MemoryId,
    descendants: bool,
    undo: bool,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Quarantined, CommandFailure> {
    Ok(system.memories.quarantine(id, &loaded.workspace, descendants, undo, deadline).await?)
}

pub(in crate::cli) async fn supersede(
    older: MemoryId,
    newer: MemoryId,
    loaded: &Loaded,
    system: &SystemHandle,
) -> Result<Replaced, CommandFailure> {
    Ok(system.memories.supersede(older, newer, &loaded.workspace, &SaidBy::Person, request_deadline()).await?)
}

pub(in crate::cli) async fn reinstate(
    older: MemoryId,
    newer: Option<MemoryId>,
    loaded: &Loaded,
    system: &SystemHandle,
) -> Result<MemoryDetail, CommandFailure> {
    Ok(system.memories.reinstate(older, newer, &loaded.workspace, &SaidBy::Person, request_deadline()).await?)
}

pub(in crate::cli) async fn promote(
    id: MemoryId,
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Promoted, CommandFailure> {
    Ok(system.memories.promote(id, &loaded.workspace, deadline).await?)
}

pub(in crate::cli) async fn promotions(
    loaded: &Loaded,
    system: &SystemHandle,
    deadline: Deadline,
) -> Result<Proposals, CommandFailure> {
    Ok(system.memories.promotions(&loaded.workspace, deadline).await?)
}
