//! The steps after a judgement. A model is asked for lessons where the judge gave none that are fit to keep, or it
//! compares several attempts. Both happen only while the budget has room for another call.

use jiff::Timestamp;

use super::contrast::Label;
use super::{AgentLoop, CallFailure, Effect, ModelCall, Phase, RunFailure, failure_of};
use crate::learning::lesson::{self, Lesson, LessonContext, MAX_FROM_CONTRAST, MAX_FROM_ONE};
use crate::memory::trace::Action;
use crate::note::{Code, Note};
use crate::prompt::Purpose;
use crate::prompt::Template;
use crate::solve::answer::{Answer, Verdict};
use crate::solve::stage::Stage;
use crate::text::tokens;

/// The source that lessons were drawn from. It decides how many are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LessonSource {
    OneSolution,
    Comparison,
}

impl AgentLoop {
    pub(super) fn judged(&mut self, result: Result<Answer, CallFailure>, now: Timestamp) -> Vec<Effect> {
        match result {
            Ok(Answer::Judgement(judgement)) => {
                let step = self.step(Action::Judge, None, now);
                (step.score, step.content) = (Some(judgement.score), Some(judgement.reasoning.clone()));
                self.judgement = Some(judgement);
            }
            other => self.warn("judge", &failure_of(other)),
        }
        let score = self.judgement.as_ref().map(|judgement| judgement.score);
        self.reached(Stage::Judged { verdict: self.verdict(), score });
        let over_budget = self.usage.total_tokens() > self.limits.total_token_budget;
        if over_budget {
            let (used, limit) = (self.usage.total_tokens(), self.limits.total_token_budget);
            return self.fail(RunFailure::Budget { used, limit }, now);
        }
        if !self.spec.task.store_result {
            return self.conclude(Vec::new(), now);
        }
        self.phase = Phase::Learning;
        let effect = if self.attempts.len() > 1 {
            self.contrast()
        } else {
            let kept = self.kept_of_judgement();
            if !kept.is_empty() || self.is_success_without_lessons() {
                return self.conclude(kept, now);
            }
            self.extract()
        };
        if let Effect::Call(call) = &effect
            && !self.is_affordable(call)
        {
            let no_room = "no lessons were asked for, the budget has no room left";
            self.warnings.push(Note::new(Code::TokenBudgetExceeded, no_room));
            let kept = if self.attempts.len() > 1 { self.kept_of_judgement() } else { Vec::new() };
            return self.conclude_with_a_warning(kept, now);
        }
        vec![effect]
    }

    /// Tells whether the solution succeeded and the judge drew no lesson from it, which is a fine answer. A failure has
    /// a cause, so a model is asked for it where the judge names none.
    fn is_success_without_lessons(&self) -> bool {
        let offered = self.judgement.as_ref().filter(|_| !self.judge_was_wrong()).map(|judged| judged.learnings.len());
        offered == Some(0) && self.verdict() == Some(Verdict::Success)
    }

    /// Tells whether the prompt of a call fits into what the run may still use.
    fn is_affordable(&self, call: &ModelCall) -> bool {
        let left = self.limits.total_token_budget.saturating_sub(self.usage.total_tokens());
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let instructions = tokens::estimate(&call.prompt.instructions);
        tokens::fits(&call.prompt.input, left.saturating_sub(instructions))
    }

    pub(super) fn learned(
        &mut self,
        purpose: Purpose,
        result: Result<Answer, CallFailure>,
        now: Timestamp,
    ) -> Vec<Effect> {
        let (used, limit) = (self.usage.total_tokens(), self.limits.total_token_budget);
        if used > limit {
            let over = format!("learning took it to {used} tokens of {limit} allowed");
            self.warnings.push(Note::new(Code::TokenBudgetExceeded, over));
        }
        let source = if purpose == Purpose::Contrast { LessonSource::Comparison } else { LessonSource::OneSolution };
        let mut lessons = std::mem::take(&mut self.compared);
        match result {
            Ok(Answer::Lessons(learned)) => add(&mut lessons, self.accept(learned, source)),
            other => self.warn(purpose.as_str(), &failure_of(other)),
        }
        if self.lacks(&lessons) {
            add(&mut lessons, self.kept_of_judgement());
        }
        if self.has_failed() && self.lacks(&lessons) && source == LessonSource::Comparison {
            let effect = self.extract();
            if matches!(&effect, Effect::Call(call) if self.is_affordable(call)) {
                self.compared = lessons;
                self.progress.total += 1;
                return vec![effect];
            }
        }
        self.conclude_with_a_warning(lessons, now)
    }

    /// Concludes the run. Where it failed and no lesson warns of that, rules make the warning.
    fn conclude_with_a_warning(&mut self, mut lessons: Vec<Lesson>, now: Timestamp) -> Vec<Effect> {
        if self.has_failed() && self.lacks(&lessons) {
            let (_, reasons) = self.verdict_text();
            // What is said of a solution that was thought good enough tells nothing of why it failed.
            let criticised = self.best.as_ref().filter(|_| !self.good_enough());
            let feedback = criticised.map(|best| best.feedback.clone()).unwrap_or_default();
            add(&mut lessons, lesson::from_failed_solution(&reasons, &feedback).into_iter().collect());
        }
        self.conclude(lessons, now)
    }

    /// Tells whether the lessons lack what they are for: a warning where the final solution failed, any lesson
    /// otherwise.
    fn lacks(&self, lessons: &[Lesson]) -> bool {
        match self.has_failed() {
            true => lessons.iter().all(|lesson| lesson.error_context.is_none()),
            false => lessons.is_empty(),
        }
    }

    fn has_failed(&self) -> bool {
        self.label_of_final(self.best.as_ref().and_then(|best| best.score)) == Label::Failure
    }

    /// Asks for lessons from the final solution. The verdict decides which question is asked, and without one the
    /// evaluation decides. Without both, the question for a good solution is the safer one, as a warning would claim a
    /// failure that nobody saw.
    fn extract(&mut self) -> Effect {
        let (verdict, reasoning) = self.verdict_text();
        let best = self.best.clone();
        let template = match self.label_of_final(best.as_ref().and_then(|best| best.score)) {
            Label::Failure => Template::ExtractFailure,
            Label::Success | Label::Unknown => Template::ExtractSuccess,
        };
        let solution = best.map(|best| best.solution).unwrap_or_default();
        let values = [("solution", &*solution), ("verdict", &*verdict), ("reasoning", &*reasoning)];
        self.call(template, None, &values)
    }

    /// Returns the verdict in words, and what it rests on: the observation, the judge's reasoning, or the evaluation.
    pub(super) fn verdict_text(&self) -> (String, String) {
        let verdict = match self.verdict() {
            Some(Verdict::Success) => "success",
            Some(Verdict::Failure) => "failure",
            None => "unknown: it could not be judged",
        };
        let evidence = self.observed.as_ref().map(|observed| format!("Evidence: {}", observed.words()));
        let judged = self.judgement.as_ref().filter(|_| !self.judge_was_wrong()).map(|j| j.reasoning.clone());
        let evaluated = || {
            let best = self.best.as_ref().filter(|best| self.judgement.is_none() && best.score.is_some());
            best.map(|best| format!("Evaluation: {}", best.feedback))
        };
        let reasons: Vec<String> = evidence.into_iter().chain(judged.or_else(evaluated)).collect();
        (verdict.into(), reasons.join("\n"))
    }

    pub(super) fn kept_of_judgement(&mut self) -> Vec<Lesson> {
        let sound = self.judgement.as_ref().filter(|_| !self.judge_was_wrong());
        let learnings = sound.map(|judgement| judgement.learnings.clone()).unwrap_or_default();
        self.accept(learnings, LessonSource::OneSolution)
    }

    /// Returns the lessons that are fit to keep. The reasons why others were refused become a warning.
    fn accept(&mut self, lessons: Vec<Lesson>, source: LessonSource) -> Vec<Lesson> {
        let (max, warnings_only) = match source {
            LessonSource::Comparison => (MAX_FROM_CONTRAST, self.has_failed() && !self.has_another_success()),
            LessonSource::OneSolution => (MAX_FROM_ONE, self.has_failed()),
        };
        let drafts = self.attempts.iter().filter_map(|attempt| attempt.solution.as_deref());
        let solutions = drafts.chain(self.best.as_ref().map(|best| &*best.solution)).collect();
        let shown = LessonContext { task: &self.spec.task.task, solutions, prompts: &self.spec.prompts };
        let kept = lesson::accept(lessons, &shown, warnings_only, max);
        if !kept.refused.is_empty() {
            let reasons: Vec<String> =
                kept.refused.iter().map(|(reason, count)| format!("{count} {}", reason.as_str())).collect();
            self.warnings.push(Note::new(Code::LessonsRefused, reasons.join(", ")));
        }
        kept.lessons
    }
}

/// Adds lessons. Where there are too many, the last of the earlier ones give way.
fn add(lessons: &mut Vec<Lesson>, more: Vec<Lesson>) {
    lessons.truncate(MAX_FROM_CONTRAST.saturating_sub(more.len()));
    lessons.extend(more);
}
