//! The tool `record_pattern` keeps a pattern that the agent words itself.

use futures::FutureExt;
use reasoning_bank_actors::memories::NewPattern;
use reasoning_bank_domain::memory::{Scope, Trust};
use reasoning_bank_domain::pattern::document::PatternAdded;
use reasoning_bank_domain::pattern::input::PatternInput;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "record_pattern",
    title: "Record a pattern",
    description: "Keeps a pattern: what to do for a kind of task, and when. Call it when the same way worked again. It \
                  is a candidate that no search finds until its applications prove it.",
    toolsets: |_| &[Toolset::Patterns],
    arguments: |_| schema::of_arguments::<PatternInput>(),
    judged_elsewhere: &PatternInput::JUDGED,
    answer: schema::of_answer::<PatternAdded>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let input: PatternInput = calling.extract()?;
    let workspace = calling.workspace(input.workspace.as_deref()).await?;
    calling.may_write_to(Scope::Project)?;
    let session = Some(calling.caller.source().to_owned());
    let new = NewPattern { input, workspace, trust: Trust::Agent, session };
    document(&calling.memories().add_pattern(new, calling.deadline).await?)
}
