//! The tool `purge_episodes` erases deleted episodes. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::episode::PurgedEpisodes;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, ERASE_DEADLINE, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "purge_episodes",
    title: "Purge deleted episodes",
    description: "Erases deleted episodes for good: those whose time to be restored is over, or all of them.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<PurgedEpisodes>,
    effect: ToolEffect::Erases,
    permission: Permission::Admin,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let deadline = Deadline::after(ERASE_DEADLINE);
    document(&calling.system.episodes.purge(&workspace, arguments.all, deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Those that can still be restored as well.
    #[serde(default)]
    all: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
