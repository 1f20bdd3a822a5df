//! The tool `restore_episode` brings one episode back into search. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::episode::RestoredEpisode;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "restore_episode",
    title: "Restore an episode",
    description: "Brings a deleted or archived episode back into search.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<RestoredEpisode>,
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
    document(&calling.episodes().restore(id, &workspace, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    episode_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
