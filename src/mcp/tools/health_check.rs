//! The tool `health_check` tells whether the system works.

use futures::FutureExt;
use reasoning_bank_domain::system::health::Health;
use serde_json::Value;

use super::{Nothing, Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;
use crate::remedies;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "health_check",
    title: "Check health",
    description: "Checks the store, the embedding model, the language model and the server's actors. Call it when \
                  calls fail or are slow. Calls no model.",
    toolsets: |_| &[Toolset::Admin],
    arguments: |_| schema::of_arguments::<Nothing>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<Health>,
    effect: ToolEffect::Reads,
    permission: Permission::AdminAll,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Nothing {} = calling.extract()?;
    document(&calling.system.health(remedies::of, calling.deadline).await)
}
