//! The tool `record_episode` keeps what happened in a task.

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_actors::episodes::RecordEpisode;
use reasoning_bank_domain::episode::{EpisodeTask, NewArtefact, NewEpisode, NewOutcome, ReportedEpisode};
use reasoning_bank_domain::memory::trace::{EpisodeMetadata, Execution, Reflection};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "record_episode",
    title: "Record what happened in a task",
    description: "Keeps what happened in a task: the task, its status and, as far as known, what was done, what failed and \
                  how it was resolved. Call it when a task ended and the way there may help later.",
    toolsets: |_| &[Toolset::Episodes],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<ReportedEpisode>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let Arguments { task, outcome, execution, reflection, metadata, session_id, timestamp, artefacts, .. } = arguments;
    let episode = NewEpisode { task, outcome, execution, reflection, metadata, session_id, timestamp, artefacts };
    let request = RecordEpisode { episode, workspace, session: Some(calling.caller.source().to_owned()) };
    document(&calling.episodes().record(request, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: EpisodeTask,
    outcome: NewOutcome,
    #[serde(default)]
    execution: Execution,
    #[serde(default)]
    reflection: Reflection,
    #[serde(default)]
    metadata: EpisodeMetadata,
    /// Default: this conversation.
    session_id: Option<String>,
    /// RFC 3339, if not now.
    timestamp: Option<Timestamp>,
    /// Files and long texts to keep with it.
    #[serde(default)]
    artefacts: Vec<NewArtefact>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
