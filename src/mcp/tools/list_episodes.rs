//! The tool `list_episodes` lists what happened in tasks, the newest first. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_actors::episodes::{EpisodeListRequest, Shown};
use reasoning_bank_actors::pages::MAX_LISTED;
use reasoning_bank_domain::episode::{EpisodeList, EpisodeStatus};
use reasoning_bank_domain::memory::LABEL_MAX_CHARS;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, page_size, present};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_episodes",
    title: "List episodes",
    description: "Lists the episodes of a project, which say what happened in tasks, the newest first, a page at a time.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<EpisodeList>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let request = EpisodeListRequest {
        shown: match arguments.show {
            ShowArgument::Current => Shown::Current,
            ShowArgument::All => Shown::WithArchived,
            ShowArgument::Deleted => Shown::Deleted,
        },
        domain: present(arguments.domain),
        task_type: present(arguments.task_type),
        status: arguments.status.map(Into::into),
        after: arguments.after.map(TraceId::from),
        ..EpisodeListRequest::new(workspace, arguments.limit)
    };
    document(&calling.system.episodes.list(request, calling.deadline).await?).map(quoted)
}

/// The episodes on the list.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ShowArgument {
    #[default]
    Current,
    /// Archived ones as well.
    All,
    /// Those that can be restored.
    Deleted,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    show: ShowArgument,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    domain: Option<String>,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    task_type: Option<String>,
    status: Option<EpisodeStatus>,
    /// The most episodes on a page.
    #[serde(default = "page_size")]
    #[schemars(range(min = 1, max = MAX_LISTED))]
    limit: usize,
    /// The `next` of the page before.
    after: Option<Uuid>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
