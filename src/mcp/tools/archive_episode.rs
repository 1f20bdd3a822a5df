//! The tool `archive_episode` takes one episode out of search. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::episode::ArchivedEpisode;
use serde_json::Value;

use super::get_episode::OneEpisode;
use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "archive_episode",
    title: "Archive an episode",
    description: "Archives one episode: no search finds it unless archived ones are asked for.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<OneEpisode>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<ArchivedEpisode>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let (id, workspace) = OneEpisode::of(calling).await?;
    document(&calling.episodes().archive(id, &workspace, calling.deadline).await?)
}
