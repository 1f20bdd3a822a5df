//! Episodes and patterns for the tests of this room.

use std::collections::BTreeMap;

use super::facts::{EpisodeFacts, EpisodeMeasures};
use crate::memory::pattern::{PatternAction, PatternCategory, PatternContent, PatternPart};
use crate::memory::samples::{now, trace};
use crate::memory::workspace::WorkspaceId;

/// Makes an episode of just now, in a session of its own.
pub(crate) fn episode(n: u128, succeeded: Option<bool>) -> EpisodeFacts {
    EpisodeFacts {
        id: trace(n),
        session: format!("session {n}"),
        workspace: WorkspaceId::of_root("/home/ann/project"),
        at: now(),
        task_type: "debugging".into(),
        domain: None,
        complexity: None,
        language: None,
        framework: None,
        context: BTreeMap::new(),
        steps: Vec::new(),
        tools_without_order: Vec::new(),
        plan: Vec::new(),
        succeeded,
        failures: Vec::new(),
        measures: EpisodeMeasures::default(),
        is_original: true,
    }
}

/// Makes a candidate that says to use these tools.
pub(crate) fn tool_pattern(tools: &[&str]) -> PatternPart {
    let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
    let action = PatternAction { text: "Use these tools".into(), tools };
    let content = PatternContent::Heuristic { condition: "Always".into(), action, rationale: String::new() };
    PatternPart::new(PatternCategory::ToolSelection, content)
}
