//! The tool `search_episodes` finds what happened in earlier tasks.

use futures::FutureExt;
use reasoning_bank_actors::episodes::{EpisodeQuery, MAX_HITS};
use reasoning_bank_domain::episode::{EpisodeHits, EpisodeStatus, Strategy};
use reasoning_bank_domain::memory::LABEL_MAX_CHARS;
use reasoning_bank_domain::memory::trace::TASK_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::retrieval::conditions::TimeRange;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset, present};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "search_episodes",
    title: "Find earlier tasks",
    description: "Finds what happened in earlier tasks, and why each is an answer. Call it before a task like an earlier one, \
                  or with strategy failure and the error when something fails: it says how that was resolved.",
    toolsets: |_| &[Toolset::Episodes],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<EpisodeHits>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let request = EpisodeQuery {
        min_relevance: arguments.min_relevance,
        domain: present(arguments.domain),
        task_type: present(arguments.task_type),
        status: arguments.status.map(Into::into),
        tools: arguments.tools,
        tags: arguments.tags,
        session: present(arguments.session_id),
        made: TimeRange { since: present(arguments.since), until: present(arguments.until) },
        prefer_recent: arguments.prefer_recent,
        only_successful: arguments.only_successful,
        include_archived: arguments.include_archived,
        embedding_timeout: calling.caller.embedding_timeout(),
        ..EpisodeQuery::new(workspace, arguments.strategy, present(arguments.query), arguments.k)
    };
    document(&calling.system.episodes.search(request, calling.deadline).await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The task, or the error that was met. Left out only with structured and temporal.
    #[schemars(length(max = TASK_MAX_CHARS))]
    query: Option<String>,
    #[serde(default)]
    strategy: Strategy,
    /// The most answers.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = MAX_HITS))]
    k: usize,
    /// Least score.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    min_relevance: f64,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    domain: Option<String>,
    /// Such as debugging, feature, testing.
    #[schemars(length(max = LABEL_MAX_CHARS))]
    task_type: Option<String>,
    status: Option<EpisodeStatus>,
    /// All of them were used.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = LABEL_MAX_CHARS)))]
    tools: Vec<String>,
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = LABEL_MAX_CHARS)))]
    tags: Vec<String>,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    session_id: Option<String>,
    /// RFC 3339, a date, or an age: 7d.
    #[schemars(length(max = 40))]
    since: Option<String>,
    #[schemars(length(max = 40))]
    until: Option<String>,
    /// The last 30 days only.
    #[serde(default)]
    prefer_recent: bool,
    #[serde(default)]
    only_successful: bool,
    #[serde(default)]
    include_archived: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

fn five() -> usize {
    5
}
