//! The check of whether a pattern applies to a task, and the reasons that keep it out.

use super::PatternQuestion;
use crate::memory::ids::MemoryId;
use crate::memory::label::label_key;
use crate::memory::pattern::{PatternPart, PatternStage};
use crate::pattern::features::{PreparedCondition, TaskFeatures, Truth};

/// The reason why a pattern is not suggested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeptOut {
    #[error("its stage is {}", .0.as_str())]
    Stage(PatternStage),
    #[error("its category is not asked for")]
    Category,
    #[error("problem_types: it is for {0}")]
    ProblemType(String),
    #[error("domains: it is for {0}")]
    Domain(String),
    #[error("complexity: the task is too simple or too complex for it")]
    Complexity,
    #[error("required_capabilities: {0} is not at hand")]
    Capability(String),
    #[error("context_conditions: {0} does not hold")]
    ContextCondition(String),
    #[error("anti_conditions: {0} holds")]
    AntiCondition(String),
    #[error("it contradicts {0}, which is better")]
    Contradicts(MemoryId),
    #[error("better ones fill the answer")]
    Rank,
}

/// The number of demands of a pattern that a task meets, and of those that stay open because nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Match {
    pub met: usize,
    pub open: usize,
}

impl Match {
    /// Returns the share of demands that are met, in 0..=1. A pattern that demands nothing has 0.5, because nothing
    /// says that it is about this task.
    pub fn quality(self) -> f64 {
        let all = self.met + self.open;
        if all == 0 { 0.5 } else { self.met as f64 / all as f64 }
    }
}

/// A pattern as it is compared with tasks.
#[derive(Debug, Clone)]
pub struct PreparedPattern {
    pub id: MemoryId,
    pub part: PatternPart,
    problem_types: Vec<String>,
    domains: Vec<String>,
    capabilities: Vec<String>,
    context_conditions: Vec<PreparedCondition>,
    anti_conditions: Vec<PreparedCondition>,
}

impl PreparedPattern {
    pub fn new(id: MemoryId, part: &PatternPart) -> Self {
        let applicability = &part.applicability;
        let keys = |labels: &[String]| labels.iter().map(|label| label_key(label)).collect();
        Self {
            id,
            problem_types: keys(&applicability.problem_types),
            domains: keys(&applicability.domains),
            capabilities: keys(&applicability.required_capabilities),
            context_conditions: applicability.context_conditions.iter().map(PreparedCondition::from).collect(),
            anti_conditions: applicability.anti_conditions.iter().map(PreparedCondition::from).collect(),
            part: part.clone(),
        }
    }

    /// Tells whether one of two patterns says that it contradicts the other.
    pub fn contradicts(&self, other: &Self) -> bool {
        self.part.relationships.contradicts.contains(&other.id)
            || other.part.relationships.contradicts.contains(&self.id)
    }

    pub(super) fn answers(&self, question: &PatternQuestion) -> Result<Match, KeptOut> {
        let stage = self.part.stage;
        let is_asked =
            if question.stages.is_empty() { self.part.is_validated() } else { question.stages.contains(&stage) };
        if !is_asked {
            return Err(KeptOut::Stage(stage));
        }
        if !question.categories.is_empty() && !question.categories.contains(&self.part.category) {
            return Err(KeptOut::Category);
        }
        self.applies(&question.features)
    }

    /// Compares the pattern with a task. An unknown feature of the task does not keep the pattern out.
    pub fn applies(&self, features: &TaskFeatures) -> Result<Match, KeptOut> {
        let mut found = Match::default();
        one_of(&self.problem_types, features.task_type.as_deref(), &mut found).map_err(KeptOut::ProblemType)?;
        one_of(&self.domains, features.domain.as_deref(), &mut found).map_err(KeptOut::Domain)?;
        if !self.part.applicability.complexity.is_any() {
            match features.complexity {
                Some(complexity) if !self.part.applicability.complexity.contains(complexity) => {
                    return Err(KeptOut::Complexity);
                }
                Some(_) => found.met += 1,
                None => found.open += 1,
            }
        }
        for wanted in &self.capabilities {
            if features.tools.is_empty() {
                found.open += 1;
            } else if features.tools.iter().any(|tool| label_key(tool) == *wanted) {
                found.met += 1;
            } else {
                return Err(KeptOut::Capability(wanted.clone()));
            }
        }
        for prepared in &self.anti_conditions {
            if features.meets(prepared) == Truth::Holds {
                return Err(KeptOut::AntiCondition(prepared.condition.to_string()));
            }
        }
        for prepared in &self.context_conditions {
            match features.meets(prepared) {
                Truth::Holds => found.met += 1,
                Truth::Open => found.open += 1,
                Truth::Fails => return Err(KeptOut::ContextCondition(prepared.condition.to_string())),
            }
        }
        Ok(found)
    }
}

/// Counts the demand that a label is one of these. The error names those that are wanted.
fn one_of(wanted: &[String], known: Option<&str>, found: &mut Match) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    match known.map(label_key).filter(|known| !known.is_empty()) {
        None => found.open += 1,
        Some(known) if wanted.contains(&known) => found.met += 1,
        Some(_) => return Err(wanted.join(", ")),
    }
    Ok(())
}
