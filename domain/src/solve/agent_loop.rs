//! The agent loop as a state machine: inputs go in, effects come out, and it performs nothing itself.
//!
//! It recalls memories and makes k drafts, each of which is evaluated as it arrives (the MaTTS round, which is
//! iteration 1). It refines the best while that is below the threshold. The best of all is checked, where the caller
//! has a check, and judged. Then a model is asked for lessons, and the run concludes.
//!
//! This file holds the steps up to the choice of a solution. Calls and their failures are in `call`, what follows the
//! choice is in `verify`, what follows a judgement in `learn` and `contrast`, and the end of a run in `conclude`.

mod budget;
mod call;
mod conclude;
mod contrast;
mod learn;
mod progress;
mod verify;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::access::ClientSession;
use crate::learning::lesson::Lesson;
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::observation::Observed;
use crate::memory::trace::MattsMode;
use crate::memory::trace::{Action, Step, Trace};
use crate::memory::workspace::WorkspaceId;
use crate::note::{Code, Note};
use crate::prompt::Purpose;
use crate::prompt::{self, Prompt, Prompts, Template};
use crate::retrieval::prompt_memories::PromptMemories;
use crate::solve::answer::{Answer, FinishReason, Judgement};
use crate::solve::matts::select;
use crate::solve::stage::Stage;
use crate::solve::task::{Progress, SolveReport, SolveTask, SolveUsage};

pub use budget::RunLimits;
use budget::reduce_attempts;
pub use call::{CallFailure, ModelCall};
use call::{draft_of, failure_of, no_answer};
pub use conclude::{Conclusion, RunFailure, RunRecord};

/// The description of a run: its task, where it belongs, its model and its prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSpec {
    pub task: SolveTask,
    pub trace_id: TraceId,
    /// The trace that the same session left before this run.
    pub parent_trace_id: Option<TraceId>,
    /// The session of the client that asks.
    pub session: Option<ClientSession>,
    pub workspace_id: WorkspaceId,
    /// The name of the model, as the trace shows it.
    pub model: String,
    pub reasoning_effort: String,
    /// True where the caller has a check for the chosen solution. The check wins over the judge.
    pub verify: bool,
    /// The prompts of the calls.
    pub prompts: Arc<Prompts>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Find what was learned that fits the task; answer with [`Input::Recalled`].
    Recall,
    /// Make a model call; answer with [`Input::Answered`].
    Call(ModelCall),
    /// Check the chosen solution; answer with [`Input::Verified`].
    Verify { solution: String },
    /// The run is over: stop what still runs, store what is to be stored, reply.
    Conclude(Box<Conclusion>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The memories for the prompts; none where nothing could be searched. Each of the `notes` says what was degraded
    /// and starts with an error code.
    Recalled {
        prompt_memories: Option<PromptMemories>,
        notes: Vec<Note>,
    },
    Answered {
        purpose: Purpose,
        attempt: Option<u32>,
        result: Result<Answer, CallFailure>,
        /// The reason why the model stopped writing. It is `Whole` where there is no answer.
        ended: FinishReason,
        spent: SolveUsage,
    },
    /// The check has ended. This is what it observed, or the reason why it could not be made.
    Verified(Result<Observed, String>),
    DeadlinePassed,
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Recalling,
    Drafting,
    Refining,
    Verifying,
    Judging,
    Learning,
    Concluded,
}

#[derive(Debug, Clone, PartialEq)]
struct Attempt {
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    solution: Option<String>,
    score: Option<f64>,
    feedback: String,
    error: Option<CallFailure>,
}

/// A solution and what its evaluation said.
#[derive(Debug, Clone, PartialEq)]
struct Scored {
    solution: String,
    score: Option<f64>,
    feedback: String,
}

/// One run, from the task to its conclusion.
#[derive(Debug)]
pub struct AgentLoop {
    spec: RunSpec,
    limits: RunLimits,
    phase: Phase,
    prompt_memories: PromptMemories,
    memories: String,
    /// The prompt of the drafts, which is the same for every attempt.
    think_prompt: Option<Prompt>,
    attempts: Vec<Attempt>,
    /// The index of the chosen attempt.
    selected: usize,
    best: Option<Scored>,
    /// A refinement that is being evaluated.
    candidate: Option<String>,
    iteration: u32,
    seen: BTreeSet<[u8; 32]>,
    early_exit: bool,
    loop_detected: bool,
    observed: Option<Observed>,
    judgement: Option<Judgement>,
    /// The lessons of the comparison, while a model is asked for the warning that they lack.
    compared: Vec<Lesson>,
    usage: SolveUsage,
    progress: Progress,
    truncated: bool,
    warnings: Vec<Note>,
    notes: Vec<Note>,
    trajectory: Vec<Step>,
    started: Timestamp,
}

impl AgentLoop {
    pub fn start(mut spec: RunSpec, limits: RunLimits, now: Timestamp) -> (Self, Vec<Effect>) {
        let empty =
            Attempt { started: None, ended: None, solution: None, score: None, feedback: String::new(), error: None };
        let warnings = reduce_attempts(&mut spec.task, &limits).into_iter().collect();
        let k = spec.task.k;
        let total = 2 * k + 2 * limits.max_iterations.saturating_sub(1) + 1 + u32::from(spec.task.store_result);
        let mut run = Self {
            attempts: vec![empty; k as usize],
            progress: Progress { total, ..Progress::default() },
            spec,
            limits,
            phase: Phase::Recalling,
            prompt_memories: PromptMemories::default(),
            memories: String::new(),
            think_prompt: None,
            selected: 0,
            best: None,
            candidate: None,
            iteration: 1,
            seen: BTreeSet::new(),
            early_exit: false,
            loop_detected: false,
            observed: None,
            judgement: None,
            compared: Vec::new(),
            usage: SolveUsage::default(),
            truncated: false,
            warnings,
            notes: Vec::new(),
            trajectory: Vec::new(),
            started: now,
        };
        let effects = if run.spec.task.use_memory { vec![Effect::Recall] } else { run.draft(now) };
        (run, effects)
    }

    /// Takes an input and returns what is to be done next. An input that comes after the conclusion changes nothing.
    /// Neither does one that was not asked for, except that a model's answer is counted with what it spent.
    pub fn on(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        if self.phase == Phase::Concluded {
            return Vec::new();
        }
        match input {
            Input::Recalled { prompt_memories, notes } if self.phase == Phase::Recalling => {
                if prompt_memories.as_ref().is_some_and(PromptMemories::is_empty) {
                    let none = "no memory is relevant enough to be put into the prompts";
                    self.notes.push(Note::new(Code::NothingRelevant, none));
                }
                self.prompt_memories = prompt_memories.unwrap_or_default();
                self.warnings.extend(notes);
                let found = self.prompt_memories.ids();
                self.step(Action::Recall, None, now).content = Some(ids(&found));
                self.reached(Stage::Recalled { memories: found.len() });
                self.draft(now)
            }
            Input::Recalled { .. } => Vec::new(),
            Input::Answered { purpose, attempt, result, ended, spent } => {
                if let Some(cut_off) = ended.cut_off().filter(|_| purpose.is_draft()) {
                    self.note_truncated(format!("the answer of {} was cut off {cut_off}", purpose.as_str()));
                }
                self.answered(purpose, attempt, result, spent, now)
            }
            Input::Verified(result) if self.phase == Phase::Verifying => self.verified(result, now),
            Input::Verified(_) => Vec::new(),
            Input::DeadlinePassed => self.cut_short(now),
            Input::Cancelled => self.fail(RunFailure::Cancelled, now),
        }
    }

    fn answered(
        &mut self,
        purpose: Purpose,
        attempt: Option<u32>,
        result: Result<Answer, CallFailure>,
        spent: SolveUsage,
        now: Timestamp,
    ) -> Vec<Effect> {
        self.progress.completed = (self.progress.completed + 1).min(self.progress.total);
        self.usage += spent;
        self.progress.tokens = self.usage.total_tokens();
        // A deadline or a cancellation also ends the calls, so their failures arrive around `DeadlinePassed` or
        // `Cancelled`.
        match result.as_ref().map_err(|failure| failure.code) {
            Err(Code::DeadlineExceeded) => return self.cut_short(now),
            Err(Code::Cancelled) => return self.fail(RunFailure::Cancelled, now),
            _ => {}
        }
        let index = attempt.map_or(0, |number| number as usize - 1);
        let effects = match (self.phase, purpose) {
            (Phase::Drafting, Purpose::Think) if index < self.attempts.len() => self.drafted(index, result, now),
            (Phase::Drafting, Purpose::Evaluate) if index < self.attempts.len() => self.evaluated(index, result, now),
            (Phase::Refining, Purpose::Refine) => self.refined(result, now),
            (Phase::Refining, Purpose::Evaluate) => self.refinement_evaluated(result, now),
            (Phase::Judging, Purpose::Judge) => return self.judged(result, now),
            (Phase::Learning, Purpose::Extract | Purpose::Contrast) => return self.learned(purpose, result, now),
            _ => Vec::new(),
        };
        let (used, limit) = (self.usage.total_tokens(), self.limits.total_token_budget);
        if used > limit && self.phase != Phase::Concluded {
            return self.fail(RunFailure::Budget { used, limit }, now);
        }
        effects
    }

    // ---- drafts ----

    fn draft(&mut self, now: Timestamp) -> Vec<Effect> {
        self.phase = Phase::Drafting;
        self.memories = self.prompt_memories.text(&self.spec.task.task);
        match self.spec.task.mode {
            MattsMode::Parallel => (0..self.attempts.len()).map(|index| self.think(index, now)).collect(),
            MattsMode::Sequential => vec![self.think(0, now)],
        }
    }

    fn think(&mut self, index: usize, now: Timestamp) -> Effect {
        self.attempts[index].started = Some(now);
        self.reached(Stage::AttemptStarted { attempt: index as u32 + 1 });
        if let Some(prompt) = self.think_prompt.clone() {
            return Effect::Call(ModelCall { purpose: Purpose::Think, attempt: Some(index as u32 + 1), prompt });
        }
        let memories = std::mem::take(&mut self.memories);
        let effect = self.call(Template::Think, Some(index), &[("memories", &memories)]);
        self.memories = memories;
        if let Effect::Call(call) = &effect {
            self.think_prompt = Some(call.prompt.clone());
            if !call.prompt.has_memories() {
                self.leave_memories_out();
            }
        }
        effect
    }

    /// Leaves out memories that no draft was shown. The report says so, and nothing is concluded about them.
    fn leave_memories_out(&mut self) {
        if !self.prompt_memories.is_empty() {
            self.prompt_memories.leave_all_out();
            self.memories = self.prompt_memories.text(&self.spec.task.task);
            let no_room = "beside this task the prompts have no room for memories";
            self.notes.push(Note::new(Code::MemoriesLeftOut, no_room));
        }
    }

    fn drafted(&mut self, index: usize, result: Result<Answer, CallFailure>, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        match draft_of(result) {
            Ok(solution) => {
                self.step(Action::Think, Some(index), now).content = Some(solution.clone());
                effects.push(self.call(Template::Evaluate, Some(index), &[("solution", &solution)]));
                self.attempts[index].solution = Some(solution);
            }
            Err(failure) => {
                self.attempts[index].error = Some(failure);
                self.end_attempt(index, now);
            }
        }
        let next = self.attempts.iter().position(|attempt| attempt.started.is_none());
        match next {
            Some(next) => effects.push(self.think(next, now)),
            None => effects.extend(self.choose(now)),
        }
        effects
    }

    fn evaluated(&mut self, index: usize, result: Result<Answer, CallFailure>, now: Timestamp) -> Vec<Effect> {
        match result {
            Ok(Answer::Evaluation(evaluation)) => {
                self.attempts[index].score = Some(evaluation.score);
                self.attempts[index].feedback = evaluation.feedback.clone();
                let step = self.step(Action::Evaluate, Some(index), now);
                (step.score, step.feedback) = (Some(evaluation.score), Some(evaluation.feedback));
            }
            other => {
                let failure = failure_of(other);
                self.warn("evaluate", &failure);
                self.attempts[index].error = Some(failure);
            }
        }
        self.end_attempt(index, now);
        self.choose(now)
    }

    /// Chooses the best attempt, once every attempt has ended.
    fn choose(&mut self, now: Timestamp) -> Vec<Effect> {
        if self.attempts.iter().any(|attempt| attempt.ended.is_none()) {
            return Vec::new();
        }
        if !self.take_best_attempt() {
            return self.fail(RunFailure::AllDraftsFailed(self.why_no_draft()), now);
        }
        self.early_exit = self.good_enough() && self.limits.max_iterations > 1;
        self.refine_or_judge(now)
    }

    /// Returns the failure that explains best why there is no draft. That is the first that is neither a refusal nor an
    /// unavailable model. Without one it is the first refusal, and without that the first failure.
    fn why_no_draft(&self) -> CallFailure {
        let failures = || self.attempts.iter().filter_map(|attempt| attempt.error.as_ref());
        let telling = || failures().filter(|failure| failure.code != Code::LlmUnavailable);
        let passing = telling().find(|failure| !failure.refused);
        passing.or_else(|| telling().next()).or_else(|| failures().next()).cloned().unwrap_or_else(no_answer)
    }

    /// Takes the best of the attempts that have a solution. Returns false when none has one.
    fn take_best_attempt(&mut self) -> bool {
        let drafted: Vec<usize> = (0..self.attempts.len()).filter(|i| self.attempts[*i].solution.is_some()).collect();
        let scores: Vec<Option<f64>> = drafted.iter().map(|index| self.attempts[*index].score).collect();
        let Some(chosen) = select(&scores) else { return false };
        self.selected = drafted[chosen];
        let attempt = &self.attempts[self.selected];
        self.best = attempt.solution.clone().map(|solution| Scored {
            solution,
            score: attempt.score,
            feedback: attempt.feedback.clone(),
        });
        true
    }

    // ---- refinement ----

    fn good_enough(&self) -> bool {
        self.best.as_ref().and_then(|best| best.score).is_some_and(|score| score >= self.limits.success_threshold)
    }

    fn refine_or_judge(&mut self, now: Timestamp) -> Vec<Effect> {
        let Some(best) = self.best.clone() else { return self.fail(RunFailure::AllDraftsFailed(no_answer()), now) };
        let is_last = self.iteration >= self.limits.max_iterations;
        if best.score.is_none() || self.good_enough() || self.loop_detected || is_last || !self.may_refine() {
            return self.verify_or_judge(now);
        }
        if self.phase != Phase::Refining {
            self.seen.insert(loop_hash(&best.solution));
        }
        self.phase = Phase::Refining;
        self.iteration += 1;
        let memories = std::mem::take(&mut self.memories);
        let score = format!("{:.2}", best.score.unwrap_or_default());
        let values: [(&str, &str); 4] =
            [("memories", &memories), ("solution", &best.solution), ("score", &score), ("feedback", &best.feedback)];
        let effect = self.call(Template::Refine, None, &values);
        self.memories = memories;
        vec![effect]
    }

    fn refined(&mut self, result: Result<Answer, CallFailure>, now: Timestamp) -> Vec<Effect> {
        let solution = match draft_of(result) {
            Ok(solution) => solution,
            Err(failure) => {
                self.warn("refine", &failure);
                return self.verify_or_judge(now);
            }
        };
        self.step(Action::Refine, None, now).content = Some(solution.clone());
        if !self.seen.insert(loop_hash(&solution)) {
            self.loop_detected = true;
            return self.verify_or_judge(now);
        }
        let effect = self.call(Template::Evaluate, None, &[("solution", &solution)]);
        self.candidate = Some(solution);
        vec![effect]
    }

    fn refinement_evaluated(&mut self, result: Result<Answer, CallFailure>, now: Timestamp) -> Vec<Effect> {
        let Some(solution) = self.candidate.take() else { return Vec::new() };
        let evaluation = match result {
            Ok(Answer::Evaluation(evaluation)) => evaluation,
            other => {
                self.warn("evaluate", &failure_of(other));
                return self.verify_or_judge(now);
            }
        };
        let step = self.step(Action::Evaluate, None, now);
        (step.score, step.feedback) = (Some(evaluation.score), Some(evaluation.feedback.clone()));
        self.reached(Stage::Refined { iteration: self.iteration, score: evaluation.score });
        let better = self.best.as_ref().and_then(|best| best.score).is_none_or(|score| evaluation.score > score);
        if better {
            let (score, feedback) = (Some(evaluation.score), evaluation.feedback);
            self.best = Some(Scored { solution, score, feedback });
            self.early_exit = self.good_enough() && self.iteration < self.limits.max_iterations;
        }
        self.refine_or_judge(now)
    }

    // ---- helpers ----

    fn call(&mut self, template: Template, attempt: Option<usize>, values: &[(&str, &str)]) -> Effect {
        let mut values = values.to_vec();
        values.push(("task", &self.spec.task.task));
        let prompt = prompt::render(&self.spec.prompts, template, &values, self.limits.prompt_token_budget);
        let purpose = template.purpose();
        if prompt.cut.is_some() {
            self.note_truncated(format!("a {} prompt was over its budget", purpose.as_str()));
        }
        Effect::Call(ModelCall { purpose, attempt: attempt.map(|index| index as u32 + 1), prompt })
    }

    /// Notes that something was cut, and warns of each cut once.
    fn note_truncated(&mut self, what: String) {
        let warning = Note::new(Code::Truncated, what);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
        self.truncated = true;
    }

    fn warn(&mut self, during: &str, failure: &CallFailure) {
        self.warnings.push(Note::new(failure.code, format!("{during}: {}", failure.message)));
    }

    fn step(&mut self, action: Action, attempt: Option<usize>, now: Timestamp) -> &mut Step {
        let attempt = attempt.map(|index| index as u32 + 1);
        let iteration = self.iteration;
        let step = Step { iteration, action, attempt, content: None, score: None, feedback: None, timestamp: now };
        let at = self.trajectory.len();
        self.trajectory.push(step);
        &mut self.trajectory[at]
    }
}

/// Returns the SHA-256 of the solution with its white space collapsed.
fn loop_hash(solution: &str) -> [u8; 32] {
    Sha256::digest(solution.split_whitespace().collect::<Vec<_>>().join(" ").as_bytes()).into()
}

fn ids(ids: &[MemoryId]) -> String {
    ids.iter().map(MemoryId::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
