//! The tool `update_memory` changes fields of a memory.

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::UpdateRequest;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::memory::{
    CONTENT_MAX_CHARS, Changes, DESCRIPTION_MAX_CHARS, LABEL_MAX_CHARS, Status, TAGS_MAX, TITLE_MAX_CHARS,
};
use reasoning_bank_domain::retrieval::responses::Updated;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::record_memory::JUDGED_BY_THE_MEMORY;
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "update_memory",
    title: "Change a memory",
    description: "Changes a memory: its text, tags, status or pin. Call it when a memory is wrong in part or out \
                  of date; what is left out stays. Answers the memory as it then is.",
    toolsets: |_| &[Toolset::Admin],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &JUDGED_BY_THE_MEMORY,
    answer: schema::of_quoting_answer::<Updated>,
    effect: ToolEffect::Erases,
    permission: Permission::Admin,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let if_revisions = calling.client.if_revisions().map(<[u64]>::to_vec);
    let if_revisions = if_revisions.or_else(|| Some(vec![arguments.if_revision?]));
    let request = arguments.into_request(workspace, if_revisions);
    // The change itself says what is not there, or cannot be changed like this.
    match calling.may_change(request.id, &request.workspace).await {
        Ok(_) | Err(Error::NotFound(_)) => {}
        Err(error) => return Err(error.into()),
    }
    document(&calling.memories().update(request, calling.deadline).await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    memory_id: Uuid,
    #[schemars(length(min = 1, max = TITLE_MAX_CHARS))]
    title: Option<String>,
    #[schemars(length(min = 1, max = DESCRIPTION_MAX_CHARS))]
    description: Option<String>,
    #[schemars(length(min = 1, max = CONTENT_MAX_CHARS))]
    content: Option<String>,
    /// In place of all there are.
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = LABEL_MAX_CHARS)))]
    pattern_tags: Option<Vec<String>>,
    /// Empty: none.
    #[schemars(length(max = LABEL_MAX_CHARS))]
    domain_category: Option<String>,
    /// Empty: none.
    #[schemars(length(max = LABEL_MAX_CHARS))]
    difficulty_level: Option<String>,
    /// Only active memories are recalled.
    status: Option<Status>,
    /// Pinned memories do not lose confidence with age.
    pinned: Option<bool>,
    /// Refuses the change where the memory has another revision.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    if_revision: Option<u64>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

impl Arguments {
    fn into_request(self, workspace: WorkspaceRef, if_revisions: Option<Vec<u64>>) -> UpdateRequest {
        let changes = Changes {
            title: self.title,
            description: self.description,
            content: self.content,
            pattern_tags: self.pattern_tags,
            domain_category: self.domain_category,
            difficulty_level: self.difficulty_level,
            status: self.status,
            pinned: self.pinned,
        };
        UpdateRequest { id: MemoryId::from(self.memory_id), workspace, changes, if_revisions }
    }
}
