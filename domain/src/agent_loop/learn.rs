//! What follows a judgement: lessons are asked for where the judge gave none that are fit, or compared over attempts.

use jiff::Timestamp;

use super::contrast::Label;
use super::{AgentLoop, CallFailure, Effect, Failure, Phase, failure_of};
use crate::answer::{Answer, Purpose, Verdict};
use crate::lesson::{self, Lesson, MAX_FROM_CONTRAST, MAX_FROM_ONE, Shown};
use crate::prompt::Template;
use crate::trace::Action;

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
        let over_budget = self.usage.total_tokens() > self.limits.total_token_budget;
        if over_budget {
            let (used, limit) = (self.usage.total_tokens(), self.limits.total_token_budget);
            return self.fail(Failure::Budget { used, limit }, now);
        }
        if !self.job.task.store_result {
            return self.conclude(Vec::new(), now);
        }
        self.phase = Phase::Learning;
        if self.attempts.len() > 1 {
            return vec![self.contrast()];
        }
        let nothing_offered = self.judgement.as_ref().is_some_and(|judgement| judgement.learnings.is_empty());
        let nothing_offered = nothing_offered && !self.judge_was_wrong();
        let kept = self.kept_of_judgement();
        if kept.is_empty() && !nothing_offered { vec![self.extract()] } else { self.conclude(kept, now) }
    }

    pub(super) fn learned(
        &mut self,
        purpose: Purpose,
        result: Result<Answer, CallFailure>,
        now: Timestamp,
    ) -> Vec<Effect> {
        let lessons = match result {
            Ok(Answer::Lessons(lessons)) => self.keep(lessons),
            other => {
                self.warn(purpose.as_str(), &failure_of(other));
                self.kept_of_judgement()
            }
        };
        self.conclude(lessons, now)
    }

    /// A verdict of none leaves the evaluation to choose what is asked for, and where there is none either, what is true
    /// of a good solution is the safer thing to ask: a warning would claim a failure that nobody saw.
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

    /// The verdict, and what it rests on: what was observed, what the judge said, else what the evaluation said.
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
        self.keep(learnings)
    }

    /// The lessons fit to keep; the reasons for the others become a warning.
    fn keep(&mut self, lessons: Vec<Lesson>) -> Vec<Lesson> {
        let several = self.attempts.len() > 1;
        let failed = self.verdict() == Some(Verdict::Failure);
        let max = if several { MAX_FROM_CONTRAST } else { MAX_FROM_ONE };
        let drafts = self.attempts.iter().filter_map(|attempt| attempt.solution.as_deref());
        let solutions = drafts.chain(self.best.as_ref().map(|best| &*best.solution)).collect();
        let shown = Shown { task: &self.job.task.task, solutions };
        let kept = lesson::keep(lessons, &shown, failed && !several, max);
        if !kept.refused.is_empty() {
            let reasons: Vec<String> =
                kept.refused.iter().map(|(reason, count)| format!("{count} {}", reason.as_str())).collect();
            self.warnings.push(format!("lessons_refused: {}", reasons.join(", ")));
        }
        kept.lessons
    }
}
