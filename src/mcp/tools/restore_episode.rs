//! The tool `restore_episode` brings one episode back into search. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::episode::RestoredEpisode;
use serde_json::Value;

use super::get_episode::OneEpisode;
use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "restore_episode",
    title: "Restore an episode",
    description: "Brings a deleted or archived episode back into search.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<OneEpisode>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<RestoredEpisode>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let (id, workspace) = OneEpisode::of(calling).await?;
    document(&calling.episodes().restore(id, &workspace, calling.deadline).await?)
}
