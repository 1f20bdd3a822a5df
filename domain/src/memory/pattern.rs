//! The part that makes a memory a pattern: when it applies, what it says in a form that rules can read, and how it has
//! stood the test. What is done with patterns is in the room `pattern`.
//!
//! `content` is what the pattern says, `applicability` and `condition` say when, `stage` how far it is proven, and
//! `application` is one use of it. `checks` has the bounds of all of them.

mod applicability;
mod application;
mod checks;
mod condition;
mod content;
mod stage;
mod texts;

pub use applicability::{Applicability, ComplexityRange};
pub use application::{ApplicationKind, ApplicationResult, PatternApplication, SignalledApplication, application_id};
pub use checks::{
    CONDITIONS_MAX, FEATURE_MAX_CHARS, FEATURE_TEXTS_MAX, IDS_MAX, LABELS_MAX, PHRASE_MAX_CHARS, PHRASES_MAX,
    REGEX_MAX_CHARS, STEPS_MAX, TEXT_MAX_CHARS,
};
pub(crate) use checks::{add_features, check_features, compiled};
pub use condition::{ConditionOp, FeatureValue, PatternCondition};
pub use content::{PatternAction, PatternCategory, PatternContent, PatternStep};
pub use stage::{PatternLifecycle, PatternStage, PatternStatistics, PatternValidation};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ids::MemoryId;

/// The part of a memory that makes it a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternPart {
    pub category: PatternCategory,
    pub content: PatternContent,
    #[serde(default)]
    pub applicability: Applicability,
    #[serde(default)]
    pub guidance: PatternGuidance,
    #[serde(default)]
    pub relationships: PatternRelationships,
    #[serde(default)]
    pub stage: PatternStage,
    #[serde(default)]
    pub statistics: PatternStatistics,
    #[serde(default)]
    pub lifecycle: PatternLifecycle,
    /// Counts what was said and when it applies, from 1.
    #[serde(default = "first_version")]
    pub version: u32,
}

fn first_version() -> u32 {
    1
}

/// The use of a pattern, in words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PatternGuidance {
    #[serde(default)]
    pub when_to_apply: String,
    #[serde(default)]
    pub how_to_apply: String,
    #[serde(default)]
    pub expected_benefits: Vec<String>,
    #[serde(default)]
    pub potential_risks: Vec<String>,
    #[serde(default)]
    pub alternative_patterns: Vec<MemoryId>,
}

/// The links to other patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PatternRelationships {
    /// The pattern that this one makes more specific.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specializes: Option<MemoryId>,
    #[serde(default)]
    pub generalizes: Vec<MemoryId>,
    /// Patterns that contradict it. Only the better one of two is suggested.
    #[serde(default)]
    pub contradicts: Vec<MemoryId>,
    #[serde(default)]
    pub complements: Vec<MemoryId>,
}

impl PatternPart {
    /// Makes a candidate that applies everywhere.
    pub fn new(category: PatternCategory, content: PatternContent) -> Self {
        Self {
            category,
            content,
            applicability: Applicability::default(),
            guidance: PatternGuidance::default(),
            relationships: PatternRelationships::default(),
            stage: PatternStage::Candidate,
            statistics: PatternStatistics::default(),
            lifecycle: PatternLifecycle::default(),
            version: first_version(),
        }
    }

    /// Returns the pattern as a candidate at its first version, which nothing is known of.
    pub fn as_candidate(self) -> Self {
        let Self { applicability, guidance, relationships, .. } = self;
        Self { applicability, guidance, relationships, ..Self::new(self.category, self.content) }
    }

    /// Returns what tells two patterns with the same words apart: category, content and applicability.
    pub fn key_text(&self) -> String {
        serde_json::to_string(&(self.category, &self.content, &self.applicability)).unwrap_or_default()
    }

    /// Tells whether any search may find the pattern without being asked for its stage.
    pub fn is_validated(&self) -> bool {
        self.stage == PatternStage::Validated
    }
}

#[cfg(test)]
mod tests;
