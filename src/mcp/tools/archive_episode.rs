//! The tool `archive_episode` takes one episode out of search. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::episode::ArchivedEpisode;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "archive_episode",
    title: "Archive an episode",
    description: "Archives one episode: no search finds it unless archived ones are asked for.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<ArchivedEpisode>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let id = arguments.episode_id.into();
    document(&calling.episodes().archive(id, &workspace, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    episode_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
