//! The tool `list_bank_versions` lists the versions of a memory bank that are kept. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::banks::existing;
use super::{Permission, ToolEffect, ToolSpec};
use crate::banks::BankVersions;
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_bank_versions",
    title: "List the versions of a memory bank",
    description: "Lists the versions of a memory bank that are kept, the newest first.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<BankVersions>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { bank } = calling.extract()?;
    let bank = existing(calling, &bank).await?;
    document(&BankVersions::of(calling.system.banks.history(&bank.place, calling.deadline).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The bank as type:id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    bank: String,
}
