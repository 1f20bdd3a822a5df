//! The tools: their names, how clients see them, and the way from arguments to a request of the system.

pub(super) mod record;
pub(super) mod retrieve;
pub(super) mod solve;

use reasoning_bank_domain::matts::MattsMode;
use rmcp::model::{JsonObject, Tool};
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
    /// Every tool.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Solve,
    Retrieve,
    Record,
}

impl ToolKind {
    /// In the order they are listed.
    pub(super) const ALL: [Self; 3] = [Self::Solve, Self::Retrieve, Self::Record];

    /// Whether one of these groups has it.
    pub(super) fn is_in(self, toolsets: &[Toolset]) -> bool {
        let own = match self {
            Self::Solve | Self::Retrieve | Self::Record => Toolset::Core,
        };
        toolsets.iter().any(|toolset| *toolset == Toolset::All || *toolset == own)
    }

    pub(super) fn definition(self, defaults: &ToolDefaults) -> Tool {
        match self {
            Self::Solve => solve::definition(defaults),
            Self::Retrieve => retrieve::definition(defaults),
            Self::Record => record::definition(),
        }
    }
}

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
