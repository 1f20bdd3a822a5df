//! The tool `delete_episode` hides one episode, or erases it. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::episode::DeletedEpisode;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, ERASE_DEADLINE, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "delete_episode",
    title: "Delete an episode",
    description: "Deletes one episode. It is hidden at once and can be restored for some days; with now it is gone for good.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<DeletedEpisode>,
    effect: ToolEffect::Erases,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let id = arguments.episode_id.into();
    if !arguments.now {
        return document(&calling.episodes().delete(id, &workspace, calling.deadline).await?);
    }
    if !calling.caller.may(Permission::Admin) {
        return Err(Error::PermissionDenied(Permission::Admin).into());
    }
    document(&calling.system.episodes.erase(id, &workspace, Deadline::after(ERASE_DEADLINE)).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    episode_id: Uuid,
    /// For good, which needs the permission admin.
    #[serde(default)]
    now: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
