//! The applicability of a pattern: the tasks that it is for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::signature::Signature;
use super::condition::PatternCondition;
use crate::memory::kinds::Complexity;

/// The tasks of a pattern. An empty list means any.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Applicability {
    /// Types of tasks.
    #[serde(default)]
    pub problem_types: Vec<String>,
    #[serde(default)]
    pub domains: Vec<String>,
    #[serde(default, skip_serializing_if = "ComplexityRange::is_any")]
    pub complexity: ComplexityRange,
    /// Tools that have to be at hand.
    #[serde(default)]
    pub required_capabilities: Vec<String>,
    /// Conditions that must hold. An unknown feature leaves them open.
    #[serde(default)]
    pub context_conditions: Vec<PatternCondition>,
    /// Conditions that keep it out. An unknown feature does not.
    #[serde(default)]
    pub anti_conditions: Vec<PatternCondition>,
}

/// The complexities of the tasks that a pattern is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ComplexityRange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Complexity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Complexity>,
}

impl ComplexityRange {
    pub fn is_any(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    pub fn contains(self, complexity: Complexity) -> bool {
        self.min.is_none_or(|min| complexity >= min) && self.max.is_none_or(|max| complexity <= max)
    }
}

impl Applicability {
    /// Tells whether nothing is demanded of a task: then the pattern applies to any, and says of none that it is about
    /// it.
    pub fn demands_nothing(&self) -> bool {
        let lists = [&self.problem_types, &self.domains, &self.required_capabilities];
        lists.into_iter().all(Vec::is_empty) && self.complexity.is_any() && self.context_conditions.is_empty()
    }

    /// Returns the signatures of the errors that the pattern is about: those that its context conditions name.
    pub fn signatures(&self) -> Vec<Signature> {
        let about = self.context_conditions.iter().filter(|condition| condition.feature == "error_signature");
        about.flat_map(PatternCondition::wanted_texts).map(|text| Signature::of(text, None)).collect()
    }
}
