//! The task of a working memory, and how far it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The definition of a task: its goals, success criteria, constraints and plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskContext {
    /// The task as it was given.
    #[schemars(length(min = 1))]
    pub description: String,
    #[serde(default)]
    pub goals: Vec<String>,
    /// The signs that the task is done.
    #[serde(default)]
    pub success_criteria: Vec<String>,
    #[serde(default)]
    pub constraints: Vec<Constraint>,
    #[serde(default)]
    pub plan: Vec<PlannedSubtask>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    pub text: String,
    /// A critical constraint is always shown.
    #[serde(default)]
    pub critical: bool,
}

/// A subtask that is planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlannedSubtask {
    pub id: String,
    pub title: String,
    /// The ids of the steps whose results it needs.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// The progress of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecutionState {
    /// The work at the moment, such as analysis, planning or execution.
    pub phase: String,
    /// The id of the subtask in work.
    pub current: Option<String>,
    /// The ids of the subtasks that are done.
    pub completed: Vec<String>,
    pub failed: Vec<FailedSubtask>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailedSubtask {
    pub id: String,
    pub error: String,
}

impl TaskContext {
    /// Returns all texts, for whoever bounds or scrubs them.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let steps = self
            .plan
            .iter_mut()
            .flat_map(|step| [&mut step.id, &mut step.title].into_iter().chain(&mut step.depends_on));
        std::iter::once(&mut self.description)
            .chain(&mut self.goals)
            .chain(&mut self.success_criteria)
            .chain(self.constraints.iter_mut().map(|constraint| &mut constraint.text))
            .chain(steps)
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self.goals.iter().chain(&self.success_criteria).chain(self.constraints.iter().map(|of| &of.text));
        let steps = self.plan.iter().flat_map(|step| [&step.id, &step.title].into_iter().chain(&step.depends_on));
        self.description.len() + lists.chain(steps).map(String::len).sum::<usize>()
    }

    /// Says whether a step that is neither done nor failed needs the result of a subtask.
    pub(super) fn is_needed(&self, subtask: &str, execution: &ExecutionState) -> bool {
        let is_over = |step: &PlannedSubtask| {
            execution.completed.contains(&step.id) || execution.failed.iter().any(|failed| failed.id == step.id)
        };
        self.plan.iter().filter(|step| !is_over(step)).any(|step| step.depends_on.iter().any(|id| id == subtask))
    }
}

impl ExecutionState {
    /// Returns all texts, for whoever bounds or scrubs them.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        std::iter::once(&mut self.phase)
            .chain(&mut self.current)
            .chain(&mut self.completed)
            .chain(self.failed.iter_mut().flat_map(|failed| [&mut failed.id, &mut failed.error]))
    }

    /// Returns the state without the steps that a plan does not have. Without a plan it may name any.
    pub(super) fn within(&self, plan: &[PlannedSubtask]) -> Self {
        let has = |id: &String| plan.is_empty() || plan.iter().any(|step| step.id == *id);
        Self {
            phase: self.phase.clone(),
            current: self.current.clone().filter(has),
            completed: self.completed.iter().filter(|id| has(id)).cloned().collect(),
            failed: self.failed.iter().filter(|failed| has(&failed.id)).cloned().collect(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let failed = self.failed.iter().flat_map(|failed| [&failed.id, &failed.error]);
        let texts = std::iter::once(&self.phase).chain(&self.current).chain(&self.completed).chain(failed);
        texts.map(String::len).sum()
    }
}
