//! The tool `working_context` shows the working memory of a task, or entries of it as a whole.

use futures::FutureExt;
use reasoning_bank_actors::episodes::EpisodeQuery;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::working::WorkingTask;
use reasoning_bank_domain::context::EPISODE_SIMILARITY;
use reasoning_bank_domain::episode::Strategy;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::trace::TASK_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::working::{
    NoReference, Operation, Reference, TOTAL_TOKENS, TaskEpisode, WorkingChange, WorkingMemory, episode_text,
    memory_text,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::working::{ReadEntry, WorkingAnswer, closed, task};
use super::working_open::all_tokens;
use super::{Permission, ToolEffect, ToolSpec, Toolset, present};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

/// The most entries that a call reads.
const MAX_READ: usize = 20;
/// The most episodes that a search adds, and the most memories.
const MAX_FOUND: usize = 3;
const NOTHING_FOUND: &str = "no earlier task and no lesson is about this; a query in other words may find some";

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "working_context",
    title: "Read working memory",
    description: "Shows what is at hand for a task within a budget of tokens or, with get, whole entries by their \
                  references, such as result:7, of a closed task as well. Call it when a line with a reference is not \
                  enough, and with retrieve when earlier tasks may help with this one or its next step.",
    toolsets: |_| &[Toolset::Working],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<WorkingAnswer>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { task_id, get, retrieve, query, budget_tokens, workspace } = calling.extract()?;
    let wrong = |error: NoReference| Error::invalid("get", error.to_string());
    let references: Vec<Reference> = get.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(wrong)?;
    let task = task(calling, task_id, workspace.as_deref()).await?;
    let mut operations: Vec<Operation> = references.iter().copied().map(Operation::Read).collect();
    let mut notes = Vec::new();
    let query = present(query);
    if retrieve || query.is_some() {
        let (found, noted) = found(calling, &task, query, workspace.as_deref()).await?;
        operations.push(Operation::Retrieve(found));
        notes = noted;
    }
    let resolved = references.clone();
    let answer = calling.system.working.apply(&task, operations, calling.deadline, move |memory, applied| {
        let budget = resolved.is_empty().then_some(budget_tokens);
        let read = resolved.iter().filter_map(|reference| memory.resolve(*reference));
        let entries = read.map(|entry| ReadEntry::new(entry.reference(), &entry.text));
        WorkingAnswer::of(task_id, memory, &applied, budget).with_entries(entries.collect())
    });
    let answer = match answer.await {
        Ok(answer) => answer.with_warnings(notes),
        Err(missing) => {
            let episode = closed(calling, task_id, workspace.as_deref(), missing).await?;
            let kept = TaskEpisode::of(&episode.execution);
            let resolve = |reference: &Reference| {
                let text = kept.as_ref().and_then(|kept| kept.resolve(*reference));
                text.map(|text| ReadEntry::new(*reference, &text)).ok_or_else(|| Error::NotFound(reference.to_string()))
            };
            let entries = references.iter().map(resolve).collect::<Result<Vec<_>, Error>>()?;
            WorkingAnswer::closed(task_id, episode.episode_id).with_entries(entries)
        }
    };
    document(&answer).map(quoted)
}

/// Finds what earlier tasks and lessons say about a task, and what there is to know of the search.
async fn found(
    calling: &Calling<'_>,
    task: &WorkingTask,
    query: Option<String>,
    named: Option<&str>,
) -> Result<(Vec<(String, String)>, Vec<String>), Interrupted> {
    if !calling.caller.may(Permission::Read) {
        return Err(Error::PermissionDenied(Permission::Read).into());
    }
    let question = |memory: &WorkingMemory, _: WorkingChange| memory.question();
    let of_task = calling.system.working.apply(task, Vec::new(), calling.deadline, question).await?;
    let query = query.unwrap_or(of_task);
    let workspace = calling.workspace(named).await?;
    let embedding_timeout = calling.caller.embedding_timeout();
    let episodes = EpisodeQuery {
        min_similarity: EPISODE_SIMILARITY,
        embedding_timeout,
        ..EpisodeQuery::new(workspace.clone(), Strategy::Hybrid, Some(query.clone()), MAX_FOUND)
    };
    let proposed = calling.proposed(&workspace).await?;
    let memories = RetrieveRequest {
        embedding_timeout,
        proposed,
        ..RetrieveRequest::new(query.clone(), workspace.clone(), MAX_FOUND)
    };
    let (episodes, memories) = tokio::try_join!(
        calling.system.episodes.search(episodes, calling.deadline),
        calling.system.memories.retrieve(memories, calling.deadline),
    )?;
    let shown: Vec<MemoryId> = memories.memories.iter().map(|recalled| recalled.memory.id).collect();
    calling.system.usage.shown(shown.clone(), &workspace, calling.caller.source());
    calling.note_recall(&workspace, |recalls, workspace| recalls.of_shown(workspace, &query, shown)).await;
    let found = episodes.hits.iter().map(episode_text);
    let found = found.chain(memories.memories.iter().map(|recalled| memory_text(&recalled.memory)));
    let found: Vec<(String, String)> = found.collect();
    let mut notes: Vec<String> = Vec::new();
    if found.is_empty() {
        notes.push(NOTHING_FOUND.to_owned());
    }
    for note in episodes.notes.iter().chain(&memories.notes) {
        // The note of the search names an argument that this tool does not have.
        if note.code != Some(Code::NothingRelevant) && !notes.contains(&note.detail) {
            notes.push(note.detail.clone());
        }
    }
    Ok((found, notes))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task_id: Uuid,
    /// References of the entries to read whole.
    #[serde(default)]
    #[schemars(length(max = MAX_READ), inner(length(min = 1, max = 40)))]
    get: Vec<String>,
    /// Adds what earlier tasks and lessons say about the task and its step in work.
    #[serde(default)]
    retrieve: bool,
    /// The topic to retrieve for instead.
    #[schemars(length(max = TASK_MAX_CHARS))]
    query: Option<String>,
    #[serde(default = "all_tokens")]
    #[schemars(range(min = 200, max = TOTAL_TOKENS))]
    budget_tokens: usize,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
