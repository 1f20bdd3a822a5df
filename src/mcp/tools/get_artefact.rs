//! The tool `get_artefact` reads a part of what is kept beside an episode.

use futures::FutureExt;
use reasoning_bank_domain::episode::ArtefactText;
use reasoning_bank_domain::memory::LABEL_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_artefact",
    title: "Read what an earlier task left",
    description: "Reads a file or a long text of an earlier task, in parts of 64 KiB. Call it when an episode lists it among \
                  its artefacts, or says [artefact:...] in a text.",
    toolsets: |_| &[Toolset::Episodes],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<ArtefactText>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { episode_id, artefact, from, workspace } = calling.extract()?;
    let workspace = calling.workspace(workspace.as_deref()).await?;
    let episodes = &calling.system.episodes;
    let text = episodes.artefact_text(episode_id.into(), &workspace, &artefact, from, calling.deadline).await?;
    document(&text).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    episode_id: Uuid,
    /// Its sha256, or its name.
    #[schemars(length(min = 1, max = LABEL_MAX_CHARS))]
    artefact: String,
    /// The first byte to read: `next` of the part before.
    #[serde(default)]
    from: u64,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
