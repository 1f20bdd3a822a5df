//! The input of a caller: a pattern to keep, and the features of a task.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::features::TaskFeatures;
use crate::memory::Complexity;
use crate::memory::pattern::{
    Applicability, FeatureValue, PatternCategory, PatternContent, PatternGuidance, PatternPart, PatternRelationships,
};
use crate::memory::workspace::ROOT_MAX_BYTES;
use crate::memory::{
    CONTENT_MAX_CHARS, DESCRIPTION_MAX_CHARS, FieldProblem, LABEL_MAX_CHARS, TITLE_MAX_CHARS, check_count, check_length,
};

/// The most features of a caller's own context.
const CONTEXT_MAX: usize = 50;
/// The most tools of a task.
const TOOLS_MAX: usize = 200;
/// The longest text of a feature, in characters.
const FEATURE_MAX_CHARS: usize = 2_000;

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

    /// Returns the part of the memory.
    pub fn part(&self) -> PatternPart {
        PatternPart {
            applicability: self.applicability.clone(),
            guidance: self.guidance.clone(),
            relationships: self.relationships.clone(),
            ..PatternPart::new(self.category, self.content.clone())
        }
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
    /// A context with too many features or too long ones.
    pub fn features(self) -> Result<TaskFeatures, FieldProblem> {
        check_count("context", self.context.len(), "features", CONTEXT_MAX)?;
        for (name, value) in &self.context {
            check_length("context", name, LABEL_MAX_CHARS)?;
            match value {
                FeatureValue::Text(text) => check_length("context", text, FEATURE_MAX_CHARS)?,
                FeatureValue::Texts(texts) => {
                    check_count("context", texts.len(), "texts", TOOLS_MAX)?;
                    texts.iter().try_for_each(|text| check_length("context", text, FEATURE_MAX_CHARS))?;
                }
                FeatureValue::Truth(_) | FeatureValue::Number(_) => {}
            }
        }
        let full = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Ok(TaskFeatures {
            domain: full(self.domain),
            task_type: full(self.task_type),
            complexity: self.complexity,
            tools: self.tools,
            language: full(self.language),
            framework: full(self.framework),
            error_signature: full(self.error),
            context: self.context,
        })
    }
}
