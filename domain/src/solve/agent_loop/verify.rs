//! The steps that follow the choice of a solution: the caller's check, where there is one, and then the judge, who is
//! told what the check found. An observation wins over the judge's opinion.

use jiff::Timestamp;

use super::{AgentLoop, Effect, Phase, RunFailure, no_answer};
use crate::memory::observation::Observed;
use crate::memory::trace::VerdictSource;
use crate::note::{Code, Note};
use crate::prompt::{Template, fenced};
use crate::solve::answer::Verdict;
use crate::text::tokens;

impl AgentLoop {
    pub(super) fn verify_or_judge(&mut self, now: Timestamp) -> Vec<Effect> {
        let Some(best) = &self.best else { return self.fail(RunFailure::AllDraftsFailed(no_answer()), now) };
        if self.spec.verify {
            self.phase = Phase::Verifying;
            return vec![Effect::Verify { solution: best.solution.clone() }];
        }
        self.judge(now)
    }

    pub(super) fn verified(&mut self, result: Result<Observed, String>, now: Timestamp) -> Vec<Effect> {
        match result {
            Ok(observed) => self.observed = Some(observed),
            Err(reason) => self.warnings.push(Note::new(Code::NotVerified, reason)),
        }
        self.judge(now)
    }

    fn judge(&mut self, now: Timestamp) -> Vec<Effect> {
        let Some(best) = self.best.clone() else { return self.fail(RunFailure::AllDraftsFailed(no_answer()), now) };
        self.phase = Phase::Judging;
        let most = self.limits.prompt_token_budget / 4;
        let (evidence, lost) = self.observed.as_ref().map(|observed| evidence(observed, most)).unwrap_or_default();
        let mut effect = self.call(Template::Judge, None, &[("solution", &best.solution), ("evidence", &evidence)]);
        if let Effect::Call(call) = &mut effect {
            call.prompt.cut_before(lost);
        }
        vec![effect]
    }

    /// Returns the verdict of the check, or else of the judge.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let observed = self.observed.as_ref().map(|observed| match observed.passed {
            true => Verdict::Success,
            false => Verdict::Failure,
        });
        observed.or(self.judgement.as_ref().map(|judgement| judgement.verdict))
    }

    pub(super) fn verdict_source(&self) -> VerdictSource {
        match (&self.observed, &self.judgement) {
            (Some(_), _) => VerdictSource::Evidence,
            (None, Some(_)) => VerdictSource::Judge,
            (None, None) => VerdictSource::None,
        }
    }

    /// Tells whether an observation contradicts the judge. Lessons from a wrong judgement are not kept.
    pub(super) fn judge_was_wrong(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judgement| self.verdict() != Some(judgement.verdict))
    }
}

/// Returns the section of the judge's prompt about the check, and how many tokens of its output were cut. What the
/// check printed stands in a fence and takes at most `most` tokens.
fn evidence(observed: &Observed, most: usize) -> (String, usize) {
    let Observed { kind, passed, detail } = observed;
    let result = format!("{} {}", kind.as_str(), if *passed { "passed" } else { "failed" });
    let detail = detail.as_deref();
    let shown = detail.and_then(|detail| tokens::truncate(detail, most));
    let lost = shown
        .as_ref()
        .zip(detail)
        .map_or(0, |(shown, detail)| tokens::estimate(detail).saturating_sub(tokens::estimate(shown)));
    let said = shown.as_deref().or(detail).map(|said| format!("\n{}", fenced(said))).unwrap_or_default();
    let section =
        format!("\n\n## Evidence\nThe solution was checked, and the check decides the verdict: {result}.{said}");
    (section, lost)
}
