//! A candidate that mining found, in words and in a form that rules can read.

use jiff::Timestamp;

use super::hypotheses::Claim;
use crate::evidence::confidence::prior;
use crate::memory::ids::{MemoryId, TraceId, derived};
use crate::memory::label::label_key;
use crate::memory::pattern::{
    LABELS_MAX, PHRASE_MAX_CHARS, PatternAction, PatternCategory, PatternCondition, PatternContent, PatternPart,
    PatternStep, STEPS_MAX,
};
use crate::memory::signature::Signature;
use crate::memory::workspace::WorkspaceId;
use crate::memory::{
    DESCRIPTION_MAX_CHARS, LABEL_MAX_CHARS, Memory, MemoryOutcome, NewMemory, SourceType, TITLE_MAX_CHARS, Trust,
};
use crate::pattern::facts::EpisodeFacts;
use crate::pattern::wording::title_key;

/// A candidate with the episodes that it was found in. They never count as its applications.
#[derive(Debug, Clone, PartialEq)]
pub struct MinedPattern {
    /// It follows from workspace, category and content.
    pub id: MemoryId,
    pub workspace: WorkspaceId,
    pub title: String,
    pub description: String,
    pub content: String,
    pub part: PatternPart,
    pub supporting: Vec<TraceId>,
    pub successes: usize,
    /// The p-value of Fisher's exact test against the episodes without it, before the correction for all that was
    /// tested. It is 1 where something was counted and not tested.
    pub p_value: f64,
}

impl MinedPattern {
    pub(super) fn tested(task_type: &str, claim: &Claim, episodes: &[&EpisodeFacts], p_value: f64) -> Self {
        let (category, content, title, key) = match claim {
            Claim::Plan(titles) => {
                let steps: Vec<PatternStep> =
                    titles.iter().take(STEPS_MAX).map(|title| step(short(title, PHRASE_MAX_CHARS), None)).collect();
                let said = format!("Plan of {} steps for {task_type}: {}", titles.len(), titles.join(", "));
                let key = titles.iter().map(|title| title_key(title)).collect();
                let content =
                    PatternContent::Template { structure: steps, parameters: vec![], instantiation_rules: vec![] };
                (PatternCategory::Decomposition, content, said, key)
            }
            Claim::Order(a, b) => {
                let of = |tool: &String| step(format!("Use {tool}"), Some(short(tool, LABEL_MAX_CHARS)));
                let content =
                    PatternContent::Procedure { steps: vec![of(a), of(b)], branching: vec![], termination: vec![] };
                (
                    PatternCategory::Sequence,
                    content,
                    format!("{a} before {b} for {task_type}"),
                    vec![a.clone(), b.clone()],
                )
            }
            Claim::Tools(tools) => {
                let names: Vec<String> = tools.iter().cloned().collect();
                let content = heuristic(
                    &format!("The task is of the type {task_type}"),
                    &format!("Use {}", names.join(", ")),
                    names.clone(),
                );
                (PatternCategory::ToolSelection, content, format!("{} for {task_type}", names.join(", ")), names)
            }
        };
        let mut part = PatternPart::new(category, content);
        part.applicability.problem_types = vec![short(task_type, LABEL_MAX_CHARS)];
        let successes = episodes.iter().filter(|episode| episode.succeeded == Some(true)).count();
        let description = format!("Use it for tasks of the type {task_type}.");
        let content = format!(
            "{successes} of {} episodes that did so succeeded (p = {p_value:.2e} against the episodes of this type that \
             did not).",
            episodes.len()
        );
        let key: Vec<String> = std::iter::once(label_key(task_type)).chain(key).collect();
        Self { p_value, ..Self::new(part, &key, title, description, content, episodes) }
    }

    pub(super) fn failure(signature: &Signature, episodes: &[&EpisodeFacts]) -> Self {
        let error = signature.error();
        let content = heuristic(&format!("{error} may come"), &format!("Watch for {error}"), vec![]);
        let title = format!("{error} comes again and again");
        let said = format!("{error} came in {} episodes.", episodes.len());
        Self::about(PatternCategory::Failure, signature, content, &[], title, said, episodes)
    }

    pub(super) fn recovery(signature: &Signature, by: &str, episodes: &[&EpisodeFacts]) -> Self {
        let error = signature.error();
        // `by` is the name of a tool where one of the episodes used a tool of that name.
        let is_tool = episodes.iter().any(|episode| episode.tools().contains(&label_key(by)));
        let tools = if is_tool { vec![short(by, LABEL_MAX_CHARS)] } else { vec![] };
        let content = heuristic(&format!("{error} came"), by, tools);
        let title = format!("After {error}: {by}");
        let said = format!("{by} ended {error} in {} episodes.", episodes.len());
        Self::about(PatternCategory::Recovery, signature, content, &[title_key(by)], title, said, episodes)
    }

    fn about(
        category: PatternCategory,
        signature: &Signature,
        content: PatternContent,
        more: &[String],
        title: String,
        said: String,
        episodes: &[&EpisodeFacts],
    ) -> Self {
        let mut part = PatternPart::new(category, content);
        let value = short(signature.as_str(), PHRASE_MAX_CHARS);
        part.applicability.context_conditions = vec![PatternCondition::is("error_signature", &value)];
        let key: Vec<String> = std::iter::once(signature.to_string()).chain(more.iter().cloned()).collect();
        let description = format!("Use it when {} is met or likely.", signature.error());
        Self::new(part, &key, title, description, said, episodes)
    }

    /// Makes the memory that the candidate is. Rules made it of what agents told, so it is trusted as a
    /// tool is.
    pub fn memory(&self, at: Timestamp) -> Memory {
        let is_warning = self.part.category == PatternCategory::Failure;
        let memory = Memory::new(NewMemory {
            id: self.id,
            title: self.title.clone(),
            description: self.description.clone(),
            content: self.content.clone(),
            outcome: if is_warning { MemoryOutcome::Failure } else { MemoryOutcome::Success },
            workspace_id: self.workspace.clone(),
            source_type: SourceType::Consolidated,
            trust: Trust::Tool,
            prior: prior(SourceType::Consolidated, None),
            at,
        });
        Memory { pattern: Some(Box::new(self.part.clone())), ..memory }
    }

    fn new(
        part: PatternPart,
        key: &[String],
        title: String,
        description: String,
        content: String,
        episodes: &[&EpisodeFacts],
    ) -> Self {
        let workspace = episodes.first().map(|episode| episode.workspace.clone());
        let workspace = workspace.unwrap_or_else(|| WorkspaceId::of_root(""));
        Self {
            id: mined_id(&workspace, part.category, key),
            workspace,
            title: short(&title, TITLE_MAX_CHARS),
            description: short(&description, DESCRIPTION_MAX_CHARS),
            content,
            part,
            supporting: episodes.iter().map(|episode| episode.id).collect(),
            successes: episodes.iter().filter(|episode| episode.succeeded == Some(true)).count(),
            p_value: 1.0,
        }
    }
}

/// Returns the id of a pattern that was found in episodes. The same content gives the same id, so that a run finds
/// nothing twice, and what was rejected does not come back.
pub(crate) fn mined_id(workspace: &WorkspaceId, category: PatternCategory, key: &[String]) -> MemoryId {
    let head: [&[u8]; 3] = [b"mined pattern", workspace.as_str().as_bytes(), category.as_str().as_bytes()];
    let parts: Vec<&[u8]> = head.into_iter().chain(key.iter().map(String::as_bytes)).collect();
    derived(&parts).into()
}

fn heuristic(condition: &str, action: &str, tools: Vec<String>) -> PatternContent {
    let tools = tools.iter().take(LABELS_MAX).map(|tool| short(tool, LABEL_MAX_CHARS)).collect();
    let action = PatternAction { text: short(action, PHRASE_MAX_CHARS), tools };
    PatternContent::Heuristic { condition: short(condition, PHRASE_MAX_CHARS), action, rationale: String::new() }
}

fn step(title: String, tool: Option<String>) -> PatternStep {
    PatternStep { title, tool, ..PatternStep::default() }
}

fn short(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}
