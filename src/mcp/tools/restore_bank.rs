//! The tool `restore_bank` brings a version of a memory bank back. It is for scripts alone.

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::bank::BankPath;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::banks::existing;
use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "restore_bank",
    title: "Restore a memory bank",
    description: "Brings a version of a memory bank back. The bank as it was is kept as a version, too. Files that came \
                  later stay, and are named.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<RestoredBank>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { bank, version } = calling.extract()?;
    let version: Timestamp = version.parse().map_err(|_| {
        Error::invalid("version", "is no time; name it as the list of versions does, such as 2026-11-28T09:30:00Z")
    })?;
    let called = existing(calling, &bank).await?;
    called.register(calling).await?;
    let restored = calling.banks().restore(&called.place, version, calling.deadline).await?;
    let added_since = restored.added_since.iter().map(BankPath::to_string).collect();
    document(&RestoredBank { bank, version: version.to_string(), kept: restored.kept.to_string(), added_since })
}

#[derive(Debug, Serialize, JsonSchema)]
struct RestoredBank {
    bank: String,
    version: String,
    /// The version that brings back the bank as it was before this call.
    kept: String,
    /// The files that came later than the version, and stay as they are.
    added_since: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The bank as type:id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    bank: String,
    /// The version, as the list of versions has it.
    #[schemars(length(max = 40))]
    version: String,
}
