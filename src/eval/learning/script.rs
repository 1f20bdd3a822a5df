//! The model of a scenario. It answers what the present step says, whatever it is asked.

use std::sync::{Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::ports::{Completion, CompletionReply, FailedCall, LanguageModel, Usage};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::learning::lesson::Lesson;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::solve::answer::{Contrasted, Evaluation, Extracted, FinishReason, Judgement, Verdict};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::scenario::{DistillStep, PlantedLesson, SolveStep};

/// The answers of the model during one step.
#[derive(Debug, Clone, Default)]
pub(super) struct ScriptedAnswers {
    /// The answers of attempts with their evaluations; the last one stands for all further attempts.
    attempts: Vec<(String, Evaluation)>,
    passes: bool,
    reason: String,
    judged: Vec<Lesson>,
    compared: Vec<Lesson>,
    extracted: Vec<Lesson>,
    distilled: Vec<Lesson>,
    tokens_per_call: Option<u64>,
}

impl From<&SolveStep> for ScriptedAnswers {
    fn from(solve: &SolveStep) -> Self {
        let attempts = solve.attempts.iter().map(|attempt| {
            let evaluation = Evaluation { score: attempt.score, feedback: attempt.feedback.clone() };
            (attempt.answer.written_out(), evaluation)
        });
        Self {
            attempts: attempts.collect(),
            passes: solve.passes,
            reason: solve.reason.clone(),
            judged: lessons(&solve.judged),
            compared: lessons(&solve.compared),
            extracted: lessons(&solve.extracted),
            distilled: Vec::new(),
            tokens_per_call: solve.tokens_per_call,
        }
    }
}

impl From<&DistillStep> for ScriptedAnswers {
    fn from(distill: &DistillStep) -> Self {
        Self { distilled: lessons(distill.lessons.as_deref().unwrap_or_default()), ..Self::default() }
    }
}

fn lessons(planted: &[PlantedLesson]) -> Vec<Lesson> {
    planted.iter().map(Lesson::from).collect()
}

impl ScriptedAnswers {
    fn attempt(&self, number: u32) -> Option<&(String, Evaluation)> {
        self.attempts.get(number.saturating_sub(1) as usize).or_else(|| self.attempts.last())
    }

    fn best(&self) -> Option<&(String, Evaluation)> {
        self.attempts.iter().max_by(|(_, a), (_, b)| a.score.total_cmp(&b.score))
    }

    fn answer(&self, purpose: Purpose, attempt: Option<u32>) -> String {
        let of_attempt = attempt.map_or_else(|| self.best(), |number| self.attempt(number));
        match purpose {
            Purpose::Think | Purpose::Refine => of_attempt.map(|(answer, _)| answer.clone()).unwrap_or_default(),
            Purpose::Evaluate => of_attempt.map(|(_, evaluation)| json(evaluation)).unwrap_or_default(),
            Purpose::Judge => json(&Judgement {
                verdict: if self.passes { Verdict::Success } else { Verdict::Failure },
                score: self.best().map_or(0.0, |(_, evaluation)| evaluation.score),
                reasoning: self.reason.clone(),
                learnings: self.judged.clone(),
            }),
            Purpose::Contrast => {
                json(&Contrasted { best_index: 1, analysis: String::new(), learnings: self.compared.clone() })
            }
            Purpose::Extract => json(&Extracted { learnings: self.extracted.clone() }),
            Purpose::Capture | Purpose::Distill => json(&Extracted { learnings: self.distilled.clone() }),
            // No task of the evaluation has a memory bank, or a run of consolidation.
            Purpose::Bank | Purpose::Patterns => String::new(),
        }
    }
}

fn json<T: Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

#[derive(Default)]
pub(super) struct ScriptedModel {
    script: Mutex<ScriptedAnswers>,
}

impl ScriptedModel {
    pub(super) fn follow(&self, script: ScriptedAnswers) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = script;
    }
}

impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn complete(
        &self,
        request: Completion,
        _: Deadline,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        async move {
            let script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            let text = script.answer(request.purpose, request.attempt);
            // Four characters a token, as is usual for English.
            let tokens = |text: &str| text.chars().count().div_ceil(4) as u64;
            let said = tokens(&request.instructions) + tokens(&request.input);
            let input_tokens = script.tokens_per_call.unwrap_or(said);
            let usage = Usage { input_tokens, output_tokens: tokens(&text), ..Usage::default() };
            Ok(CompletionReply { text, usage, cached: false, ended: FinishReason::Whole })
        }
        .boxed()
    }
}
