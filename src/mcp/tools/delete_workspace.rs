//! The tool `delete_workspace` erases a workspace, after the user's consent.

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Erasure;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::evidence::promotion::PromotedCopy;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_store::backup::KnownBackup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::delete_memory::RemovedCounts;
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::caller::Caller;
use crate::mcp::calls::{Calling, ERASE_DEADLINE, Interrupted, document};
use crate::mcp::schema;
use crate::settings;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "delete_workspace",
    title: "Delete a project's memories",
    description: "Erases a project's memories, traces and evidence for good. Copies that a team has stay, unless \
                  with_promoted. Call it only when the user asks for exactly this.",
    toolsets: |_| &[Toolset::Workspace],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<DeletedWorkspace>,
    effect: ToolEffect::Erases,
    permission: Permission::Admin,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let (system, options, deadline) = (calling.system, calling.options, calling.deadline);
    let (workspace, found) = calling.registered("path", &arguments.path).await?;
    let detail = system.workspaces.show(&workspace, deadline).await?;
    let mut copies = system.memories.promoted_copies(&workspace, deadline).await?;
    if matches!(calling.caller, Caller::User { .. }) {
        copies = copies.in_own_bank();
    }
    let all_copies = copies.count();
    if !arguments.with_promoted {
        copies.within_reach.clear();
    }
    for copy in &copies.within_reach {
        calling.may_write_to(copy.scope)?;
    }
    let deleted_copies = copies.within_reach.len();
    let mut what = format!(
        "Delete the workspace {:?} at {:?} for good, with {} memories and {} traces",
        found.name,
        found.place(),
        detail.memories,
        detail.traces
    );
    let mut command = vec!["workspace", "delete", found.id.as_str()];
    if arguments.with_promoted {
        what.push_str(&format!(", and {deleted_copies} promoted copies of its memories"));
        command.push("--with-promoted");
    }
    calling.consent(what, calling.command(&command)).await?;
    let until = Deadline::after(ERASE_DEADLINE);
    let Erasure { removed, reinstated } = system.memories.delete_workspace_with(&copies, &workspace, until).await?;
    settings::forget(&options.data_dir, &found).map_err(Error::internal)?;
    let promoted_kept = all_copies - deleted_copies;
    let (backups, backups_unknown) = match calling.backups_with(found).await? {
        Ok(backups) => (backups, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    document(&DeletedWorkspace {
        removed: removed.into(),
        promoted_removed: copies.within_reach,
        promoted_kept,
        reinstated,
        backups,
        backups_unknown,
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Path or id of a project.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    path: String,
    /// That it cannot be undone is understood.
    #[schemars(extend("enum" = [true]))]
    #[expect(dead_code, reason = "its schema allows one value alone")]
    confirm: bool,
    /// Also erase the copies of its memories that its team and its organisation have.
    #[serde(default)]
    with_promoted: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DeletedWorkspace {
    #[serde(flatten)]
    removed: RemovedCounts,
    /// The copies of its memories that were erased along with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>", extend("x-program" = true))]
    promoted_removed: Vec<PromotedCopy>,
    /// The copies of its memories that teams and organisations keep.
    promoted_kept: usize,
    /// The memories of its team and its organisation that its own had superseded, which are back in search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    reinstated: Vec<MemoryId>,
    /// The backups that still have something of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Value>", extend("x-program" = true))]
    backups: Vec<KnownBackup>,
    /// The reason why it is not known which backups still have something of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-program" = true))]
    backups_unknown: Option<String>,
}
