//! The input of a caller: a pattern to keep, and the features of a task.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::features::TaskFeatures;
use crate::episode::tool_name;
use crate::memory::Complexity;
use crate::memory::pattern::{
    Applicability, ConditionOp, FEATURE_MAX_CHARS, FEATURE_TEXTS_MAX, FeatureValue, PatternCategory, PatternContent,
    PatternGuidance, PatternPart, PatternRelationships, check_features,
};
use crate::memory::workspace::ROOT_MAX_BYTES;
use crate::memory::{
    CONTENT_MAX_CHARS, DESCRIPTION_MAX_CHARS, FieldProblem, LABEL_MAX_CHARS, TITLE_MAX_CHARS, check_length,
};

/// The most tools of a task.
const TOOLS_MAX: usize = FEATURE_TEXTS_MAX;

/// A pattern to keep: the arguments of `record_pattern`, and the file of `pattern add`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatternInput {
    #[schemars(length(min = 1, max = TITLE_MAX_CHARS))]
    pub title: String,
    /// Its use cases.
    #[schemars(length(min = 1, max = DESCRIPTION_MAX_CHARS))]
    pub description: String,
    /// Its content, in words.
    #[schemars(length(min = 1, max = CONTENT_MAX_CHARS))]
    pub explanation: String,
    pub category: PatternCategory,
    /// The same in a form that rules read.
    pub content: PatternContent,
    #[serde(default)]
    pub applicability: Applicability,
    #[serde(default)]
    pub guidance: PatternGuidance,
    #[serde(default)]
    pub relationships: PatternRelationships,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    pub workspace: Option<String>,
}

impl PatternInput {
    /// The arguments whose fields the pattern checks itself. It says all at once what is wrong with them.
    pub const JUDGED: [&'static str; 7] =
        ["title", "description", "explanation", "content", "applicability", "guidance", "relationships"];

    /// Returns the part of the memory. Its tools have the names that episodes give them.
    pub fn part(&self) -> PatternPart {
        let (mut content, mut applicability) = (self.content.clone(), self.applicability.clone());
        content.tools_mut().into_iter().for_each(name_as_episodes_do);
        applicability.required_capabilities.iter_mut().for_each(name_as_episodes_do);
        let Applicability { context_conditions, anti_conditions, .. } = &mut applicability;
        for condition in context_conditions.iter_mut().chain(anti_conditions).filter(|one| one.feature == "tools") {
            match &mut condition.value {
                // A regular expression is no name.
                _ if condition.op == ConditionOp::Matches => {}
                Some(FeatureValue::Text(tool)) => name_as_episodes_do(tool),
                Some(FeatureValue::Texts(tools)) => tools.iter_mut().for_each(name_as_episodes_do),
                Some(FeatureValue::Truth(_) | FeatureValue::Number(_)) | None => {}
            }
        }
        PatternPart {
            applicability,
            guidance: self.guidance.clone(),
            relationships: self.relationships.clone(),
            ..PatternPart::new(self.category, content)
        }
    }
}

/// Gives a tool the name that it has in episodes. A name that is too long stays, so that it is refused.
fn name_as_episodes_do(tool: &mut String) {
    if tool.chars().count() <= LABEL_MAX_CHARS {
        *tool = tool_name(tool, None);
    }
}

/// The features of a task that a caller knows.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FeaturesInput {
    #[schemars(length(max = LABEL_MAX_CHARS))]
    pub domain: Option<String>,
    /// Such as debugging or testing.
    #[schemars(length(max = LABEL_MAX_CHARS))]
    pub task_type: Option<String>,
    pub complexity: Option<Complexity>,
    /// At hand.
    #[schemars(length(max = TOOLS_MAX), inner(length(max = LABEL_MAX_CHARS)))]
    pub tools: Vec<String>,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    pub language: Option<String>,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    pub framework: Option<String>,
    /// The error that was met.
    #[schemars(length(max = FEATURE_MAX_CHARS))]
    pub error: Option<String>,
    /// More features by name, which conditions may ask for.
    pub context: BTreeMap<String, FeatureValue>,
}

impl FeaturesInput {
    /// Returns the features.
    ///
    /// # Errors
    /// A label that is too long, or a context with too many features or too long ones.
    pub fn features(self) -> Result<TaskFeatures, FieldProblem> {
        for (field, label) in [
            ("domain", &self.domain),
            ("task_type", &self.task_type),
            ("language", &self.language),
            ("framework", &self.framework),
        ] {
            check_length(field, label.as_deref().unwrap_or_default(), LABEL_MAX_CHARS)?;
        }
        check_features("context", &self.context)?;
        let full = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Ok(TaskFeatures {
            domain: full(self.domain),
            task_type: full(self.task_type),
            complexity: self.complexity,
            tools: self.tools.iter().map(|tool| tool_name(tool, None)).collect(),
            language: full(self.language),
            framework: full(self.framework),
            error_signature: full(self.error),
            context: self.context,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OF_CLIENT: &str = "mcp__github__create_issue";
    const OF_EPISODES: &str = "github.create_issue";

    #[test]
    fn the_tools_of_a_pattern_have_the_names_that_episodes_give_them() {
        let input: PatternInput = serde_json::from_value(json!({
            "title": "t", "description": "d", "explanation": "e", "category": "tool_selection",
            "content": {
                "type": "heuristic", "condition": "c", "rationale": "",
                "action": {"text": "Use it", "tools": [OF_CLIENT]},
            },
            "applicability": {
                "required_capabilities": [OF_CLIENT],
                "context_conditions": [
                    {"feature": "tools", "op": "contains", "value": OF_CLIENT},
                    {"feature": "tools", "op": "matches", "value": "^mcp__a__b"},
                    {"feature": "branch", "op": "is", "value": OF_CLIENT},
                ],
                "anti_conditions": [{"feature": "tools", "op": "in", "value": [OF_CLIENT, "rg"]}],
            },
        }))
        .unwrap();
        let part = input.part();
        let Applicability { required_capabilities, context_conditions, anti_conditions, .. } = &part.applicability;
        assert_eq!(part.content.tools().collect::<Vec<_>>(), [OF_EPISODES]);
        assert_eq!(*required_capabilities, [OF_EPISODES]);
        let values: Vec<String> = context_conditions
            .iter()
            .chain(anti_conditions)
            .map(|one| one.value.as_ref().unwrap().to_string())
            .collect();
        assert_eq!(values, [OF_EPISODES, "^mcp__a__b", OF_CLIENT, "github.create_issue, rg"]);
    }

    #[test]
    fn the_tools_of_a_task_have_the_names_that_episodes_give_them() {
        let known = FeaturesInput { tools: vec![OF_CLIENT.into(), "Edit".into()], ..FeaturesInput::default() };
        assert_eq!(known.features().unwrap().tools, [OF_EPISODES, "Edit"]);
    }

    #[test]
    fn a_label_of_a_task_that_is_too_long_is_refused_by_name() {
        let long = || Some("x".repeat(LABEL_MAX_CHARS + 1));
        let of = |input: FeaturesInput| input.features().unwrap_err().field;
        assert_eq!(of(FeaturesInput { domain: long(), ..FeaturesInput::default() }), "domain");
        assert_eq!(of(FeaturesInput { task_type: long(), ..FeaturesInput::default() }), "task_type");
        assert_eq!(of(FeaturesInput { language: long(), ..FeaturesInput::default() }), "language");
        assert_eq!(of(FeaturesInput { framework: long(), ..FeaturesInput::default() }), "framework");
    }
}
