//! The tool `learn_from_episode` tells what came of a task: it keeps the episode, and learns from it.

use futures::FutureExt;
use reasoning_bank_actors::context::{GivenContext, LearnEpisode};
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::context::{INSIGHTS_MAX, LearnedEpisode, ToldEpisode, status_of};
use reasoning_bank_domain::episode::EpisodeStatus;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::memory::{CONTENT_MAX_CHARS, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "learn_from_episode",
    title: "Learn from a task",
    description: "Tells what came of a task: keeps the episode, makes lessons of its insights, and lets its status count \
                  for or against the patterns and memories that the context had shown. Call it once when a task ended, \
                  with the context_id of get_context_for_task, the episode, or both.",
    toolsets: |_| &[Toolset::Context],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<LearnedEpisode>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let within = arguments.episode.as_ref().and_then(|episode| episode.outcome.status);
    let status = status_of(arguments.status, within).map_err(Error::from)?;
    let told = LearnEpisode {
        workspace,
        context: arguments.context_id.map(|id| GivenContext::Id(id.into())),
        episode: arguments.episode.map(|episode| episode.with_status(status)),
        status,
        insights: arguments.insights,
        session: calling.caller.session(),
        counts_in: Scope::SHARED.into_iter().filter(|scope| calling.may_write_to(*scope).is_ok()).collect(),
    };
    document(&calling.context().learn(told, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The id that get_context_for_task gave.
    context_id: Option<Uuid>,
    /// The report. Default: the task of the context alone.
    episode: Option<ToldEpisode>,
    status: Option<EpisodeStatus>,
    /// The insights: each becomes a lesson.
    #[serde(default)]
    #[schemars(length(max = INSIGHTS_MAX), inner(length(min = 1, max = CONTENT_MAX_CHARS)))]
    insights: Vec<String>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
