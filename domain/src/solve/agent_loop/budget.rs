//! The token budget of a run: what it has room for. Every call reads the task, so a long task costs its tokens again at
//! every call.

use super::AgentLoop;
use crate::note::{Code, Note};
use crate::solve::task::SolveTask;
use crate::text::tokens;

/// The number of quarters of the total budget that prompts may take at the start. Answers take the rest.
const QUARTERS_FOR_PROMPTS: u64 = 3;
/// The number of calls after the attempts: the judge is called, and a model is asked for lessons.
const CALLS_AFTER_ATTEMPTS: u64 = 2;
/// The number of calls that a refinement needs: its own, its evaluation, and the calls after the attempts.
const CALLS_OF_REFINEMENT: u64 = 2 + CALLS_AFTER_ATTEMPTS;

/// The bounds of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLimits {
    /// The most iterations of a run, in 1..=10. Drafting is the first, so there are at most `max_iterations - 1`
    /// refinements.
    pub max_iterations: u32,
    /// The least score of a solution that is good enough, in 0..1.
    pub success_threshold: f64,
    /// The most tokens of one prompt, at least [`Self::LEAST_PROMPT_TOKENS`].
    pub prompt_token_budget: usize,
    /// The most tokens of all calls together, input and output.
    pub total_token_budget: u64,
}

impl RunLimits {
    /// The least prompt budget, in tokens. With less, the comparison of eight attempts would not show each of them with
    /// its head and its tail.
    pub const LEAST_PROMPT_TOKENS: usize = 1_500;
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { max_iterations: 3, success_threshold: 0.8, prompt_token_budget: 32_000, total_token_budget: 200_000 }
    }
}

/// Reduces the attempts to as many as the budget has room for, at least one. Each attempt is drafted and evaluated.
/// Returns a warning where they are fewer than was asked for.
pub(super) fn reduce_attempts(task: &mut SolveTask, limits: &RunLimits) -> Option<Note> {
    let asked = task.k.max(1);
    let calls = 2 * u64::from(asked) + CALLS_AFTER_ATTEMPTS;
    let room = limits.total_token_budget / 4 * QUARTERS_FOR_PROMPTS;
    task.k = asked;
    // Counting tokens takes time, and no text has more tokens than bytes.
    if calls.saturating_mul(task.task.len() as u64) <= room {
        return None;
    }
    let per_call = tokens::estimate(&task.task).clamp(1, limits.prompt_token_budget.max(1)) as u64;
    let attempts = (room / per_call).saturating_sub(CALLS_AFTER_ATTEMPTS) / 2;
    task.k = u32::try_from(attempts).unwrap_or(u32::MAX).clamp(1, asked);
    let k = task.k;
    let room = || format!("the token budget has room for {k} of {asked} attempts at a task this long");
    (k < asked).then(|| Note::new(Code::AttemptsReduced, room()))
}

impl AgentLoop {
    /// Tells whether the budget has room to refine a solution, to evaluate it and to end the run, at the average cost
    /// of the calls so far. Adds a warning where it has none.
    pub(super) fn may_refine(&mut self) -> bool {
        let left = self.limits.total_token_budget.saturating_sub(self.usage.total_tokens());
        let per_call = self.usage.total_tokens() / self.usage.llm_calls.max(1);
        let has_room = CALLS_OF_REFINEMENT.saturating_mul(per_call) <= left;
        if !has_room {
            let no_room = "the token budget has no room to refine the solution";
            self.warnings.push(Note::new(Code::RefinementSkipped, no_room));
        }
        has_room
    }
}
