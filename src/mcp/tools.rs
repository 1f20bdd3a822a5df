//! The tools: their names, how clients see them, and the way from arguments to a request of the system.

pub(super) mod admin;
pub(super) mod capture;
pub(super) mod genealogy;
pub(super) mod jobs;
pub(super) mod record;
pub(super) mod report;
pub(super) mod retrieve;
pub(super) mod solve;
mod statistics;
pub(super) mod workspaces;

use reasoning_bank_domain::matts::MattsMode;
use rmcp::model::{JsonObject, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// What the configuration says about arguments that a caller leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolDefaults {
    pub enable_matts: bool,
    /// 1..=8.
    pub matts_k: u32,
    pub matts_mode: MattsMode,
    /// 1..=50.
    pub n_results: usize,
}

impl Default for ToolDefaults {
    fn default() -> Self {
        Self { enable_matts: true, matts_k: 5, matts_mode: MattsMode::Parallel, n_results: 5 }
    }
}

/// A group of tools that the configuration can have listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Toolset {
    Core,
    Learning,
    Workspace,
    Admin,
    /// Every tool.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Solve,
    Retrieve,
    Record,
    Report,
    Genealogy,
    Statistics,
    DistillSession,
    GetJob,
    Capture,
    ListWorkspaces,
    SwitchWorkspace,
    DeleteWorkspace,
    HealthCheck,
    ResetStatistics,
    GetMemory,
    UpdateMemory,
    DeleteMemory,
}

impl ToolKind {
    /// In the order they are listed.
    pub(super) const ALL: [Self; 17] = [
        Self::Solve,
        Self::Retrieve,
        Self::Record,
        Self::Report,
        Self::Genealogy,
        Self::Statistics,
        Self::Capture,
        Self::DistillSession,
        Self::GetJob,
        Self::ListWorkspaces,
        Self::SwitchWorkspace,
        Self::DeleteWorkspace,
        Self::HealthCheck,
        Self::ResetStatistics,
        Self::GetMemory,
        Self::UpdateMemory,
        Self::DeleteMemory,
    ];

    /// Whether one of these groups has it; the core has `capture_exchange` while exchanges are captured.
    pub(super) fn is_in(self, toolsets: &[Toolset], captures: bool) -> bool {
        let also_core = self == Self::Capture && captures;
        toolsets.iter().any(|toolset| match toolset {
            Toolset::All => true,
            Toolset::Core if also_core => true,
            toolset => *toolset == self.toolset(),
        })
    }

    fn toolset(self) -> Toolset {
        match self {
            Self::Solve | Self::Retrieve | Self::Record | Self::Report | Self::Genealogy | Self::Statistics => {
                Toolset::Core
            }
            Self::DistillSession | Self::GetJob => Toolset::Learning,
            Self::Capture => Toolset::Learning,
            Self::ListWorkspaces | Self::SwitchWorkspace | Self::DeleteWorkspace => Toolset::Workspace,
            Self::HealthCheck | Self::ResetStatistics | Self::GetMemory | Self::UpdateMemory | Self::DeleteMemory => {
                Toolset::Admin
            }
        }
    }

    pub(super) fn definition(self, defaults: &ToolDefaults) -> Tool {
        match self {
            Self::Solve => solve::definition(defaults),
            Self::Retrieve => retrieve::definition(defaults),
            Self::Record => record::definition(),
            Self::Report => report::definition(),
            Self::Genealogy => genealogy::definition(),
            Self::Statistics => statistics::definition(),
            Self::DistillSession => jobs::distill_definition(),
            Self::GetJob => jobs::job_definition(),
            Self::Capture => capture::definition(),
            Self::ListWorkspaces => workspaces::list_definition(),
            Self::SwitchWorkspace => workspaces::switch_definition(),
            Self::DeleteWorkspace => workspaces::delete_definition(),
            Self::HealthCheck => admin::health_definition(),
            Self::ResetStatistics => statistics::reset_definition(),
            Self::GetMemory => admin::get_definition(),
            Self::UpdateMemory => admin::update_definition(),
            Self::DeleteMemory => admin::delete_definition(),
        }
    }
}

/// The arguments of a tool that takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// The default of arguments that are true when left out.
fn yes() -> bool {
    true
}

/// Models fill optional texts that they do not need with nothing.
fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Says in the schema what an argument is when it is left out.
fn set_default(schema: &mut JsonObject, argument: &str, default: Value) {
    let argument = schema.get_mut("properties").and_then(|properties| properties.get_mut(argument));
    if let Some(Value::Object(argument)) = argument {
        argument.insert("default".into(), default);
    }
}

#[cfg(test)]
mod tests;
