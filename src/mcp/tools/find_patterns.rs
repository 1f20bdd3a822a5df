//! The tool `find_patterns` suggests patterns for a task.

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::PatternQuery;
use reasoning_bank_domain::memory::FieldProblem;
use reasoning_bank_domain::memory::pattern::{PatternCategory, PatternStage};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::pattern::document::PatternsFound;
use reasoning_bank_domain::pattern::finding::{PatternQuestion, SUGGESTED};
use reasoning_bank_domain::pattern::input::FeaturesInput;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "find_patterns",
    title: "Find patterns",
    description: "Finds proven patterns for a task by what is known of it. Call it before planning. With explain it says \
                  of each other pattern what keeps it out.",
    toolsets: |_| &[Toolset::Patterns],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<PatternsFound>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

/// The most patterns of an answer.
const PATTERNS_MAX: usize = 50;

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let features = arguments
        .task
        .features()
        .map_err(|FieldProblem { field, problem }| Error::invalid(format!("task.{field}"), problem))?;
    let question = PatternQuestion {
        features,
        stages: arguments.stages,
        categories: arguments.categories,
        limit: arguments.n_results,
    };
    let query = PatternQuery { workspace, question, explain: arguments.explain };
    document(&calling.system.memories.find_patterns(query, calling.deadline).await?).map(quoted)
}

fn suggested() -> usize {
    SUGGESTED
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The features of the task.
    #[serde(default)]
    task: FeaturesInput,
    /// Default: validated alone.
    #[serde(default)]
    #[schemars(length(max = 4))]
    stages: Vec<PatternStage>,
    /// Default: all.
    #[serde(default)]
    #[schemars(length(max = 8))]
    categories: Vec<PatternCategory>,
    #[serde(default = "suggested")]
    #[schemars(range(min = 1, max = PATTERNS_MAX))]
    n_results: usize,
    #[serde(default)]
    explain: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
