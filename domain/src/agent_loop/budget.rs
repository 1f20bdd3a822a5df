//! What the token budget of a run has room for. Every call reads the task, so a long task takes its tokens at every call.

use super::{AgentLoop, Limits};
use crate::solve::SolveTask;
use crate::tokens;

/// The part of the total budget, in quarters, that prompts may take at the start; answers take the rest.
const QUARTERS_FOR_PROMPTS: u64 = 3;
/// The calls after the attempts: the judge's, and the one that asks for lessons.
const CALLS_AFTER_ATTEMPTS: u64 = 2;
/// A refinement and its evaluation, and the calls after them.
const CALLS_OF_REFINEMENT: u64 = 2 + CALLS_AFTER_ATTEMPTS;

/// The attempts that the budget has room for, at most as many as the task asks for and at least one. An attempt is drafted
/// and evaluated.
pub(super) fn affordable_attempts(task: &SolveTask, limits: &Limits) -> u32 {
    let per_call = tokens::estimate(&task.task).clamp(1, limits.prompt_token_budget.max(1)) as u64;
    let calls = limits.total_token_budget / 4 * QUARTERS_FOR_PROMPTS / per_call;
    let attempts = calls.saturating_sub(CALLS_AFTER_ATTEMPTS) / 2;
    u32::try_from(attempts).unwrap_or(u32::MAX).clamp(1, task.k.max(1))
}

impl AgentLoop {
    /// Whether what is left has room to refine a solution, to evaluate it and to come to an end, at what the calls so far
    /// took on average.
    pub(super) fn may_refine(&self) -> bool {
        let left = self.limits.total_token_budget.saturating_sub(self.usage.total_tokens());
        let per_call = self.usage.total_tokens() / self.usage.llm_calls.max(1);
        CALLS_OF_REFINEMENT.saturating_mul(per_call) <= left
    }
}
