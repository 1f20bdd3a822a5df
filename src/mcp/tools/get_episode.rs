//! The tool `get_episode` reads one episode as a whole.

use futures::FutureExt;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::episode::Episode;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_episode",
    title: "Read an earlier task",
    description: "Reads all that is known of one earlier task. Call it with an id that search_episodes found, when the summary \
                  is not enough.",
    toolsets: |_| &[Toolset::Episodes],
    arguments: |_| schema::of_arguments::<OneEpisode>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<Episode>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let (id, workspace) = OneEpisode::of(calling).await?;
    document(&calling.system.episodes.get(id, &workspace, calling.deadline).await?).map(quoted)
}

/// The arguments of every tool that is about one episode and nothing else.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub(super) struct OneEpisode {
    episode_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

impl OneEpisode {
    /// Reads which episode a call is about, and of which workspace.
    pub(super) async fn of(calling: &Calling<'_>) -> Result<(TraceId, WorkspaceRef), Interrupted> {
        let Self { episode_id, workspace } = calling.extract()?;
        Ok((episode_id.into(), calling.workspace(workspace.as_deref()).await?))
    }
}
