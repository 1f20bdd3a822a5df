mod contrast;
mod drafting;
mod ending;
mod learning;
mod verifying;

use uuid::Uuid;

use super::*;
use crate::learning::lesson::LessonError;
use crate::memory::observation::EvidenceKind;
use crate::memory::trace::{Outcome, VerdictSource};
use crate::solve::answer::{Evaluation, FinishReason, Verdict};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn spec(k: u32) -> RunSpec {
    RunSpec {
        task: SolveTask {
            task: "write a binary search".into(),
            use_memory: false,
            k,
            mode: MattsMode::Parallel,
            store_result: true,
            domain: None,
        },
        trace_id: Uuid::from_u128(1).into(),
        parent_trace_id: None,
        session: None,
        workspace_id: WorkspaceId::of_root("/p"),
        model: "simulated".into(),
        reasoning_effort: "medium".into(),
        verify: false,
        prompts: Arc::default(),
    }
}

fn lesson(title: &str, error: bool) -> Lesson {
    Lesson {
        title: title.into(),
        description: "when".into(),
        content: "how".into(),
        pattern_tags: vec![],
        domain_category: None,
        difficulty_level: None,
        error_context: error.then(|| LessonError {
            error_type: "OffByOne".into(),
            failure_pattern: "p".into(),
            corrective_guidance: "g".into(),
        }),
    }
}

/// A model that answers by rule; plays a run to its end and counts what was asked.
struct Player<F> {
    asked: Vec<(Purpose, Option<u32>)>,
    answer: F,
    tokens_per_call: u64,
    /// The purposes whose answers are cut off, and the reason that each answer ends with.
    cut_off: Vec<(Purpose, FinishReason)>,
}

impl<F: FnMut(&ModelCall) -> Result<Answer, CallFailure>> Player<F> {
    fn new(answer: F) -> Self {
        Self { asked: Vec::new(), answer, tokens_per_call: 10, cut_off: vec![] }
    }

    fn play(&mut self, spec: RunSpec, limits: RunLimits) -> (Conclusion, AgentLoop) {
        let (mut run, mut effects) = AgentLoop::start(spec, limits, NOW);
        loop {
            let effect = effects.remove(0);
            match effect {
                Effect::Recall => effects.extend(
                    run.on(Input::Recalled { prompt_memories: Some(PromptMemories::default()), notes: vec![] }, NOW),
                ),
                Effect::Call(call) => {
                    self.asked.push((call.purpose, call.attempt));
                    let spent =
                        SolveUsage { input_tokens: self.tokens_per_call, llm_calls: 1, ..SolveUsage::default() };
                    let (purpose, attempt) = (call.purpose, call.attempt);
                    let cut_off = self.cut_off.iter().find(|(cut, _)| *cut == purpose);
                    let ended = cut_off.map_or(FinishReason::Whole, |(_, ended)| *ended);
                    let result = (self.answer)(&call);
                    effects.extend(run.on(Input::Answered { purpose, attempt, result, ended, spent }, NOW));
                }
                Effect::Verify { .. } => panic!("there is no check"),
                Effect::Conclude(conclusion) => return (*conclusion, run),
            }
        }
    }

    fn count(&self, purpose: Purpose) -> usize {
        self.asked.iter().filter(|(asked, _)| *asked == purpose).count()
    }
}

fn draft(text: impl Into<String>) -> Result<Answer, CallFailure> {
    Ok(Answer::Draft(text.into()))
}

fn evaluation(score: f64) -> Result<Answer, CallFailure> {
    Ok(Answer::Evaluation(Evaluation { score, feedback: "more".into() }))
}

fn judgement(verdict: Verdict, learnings: Vec<Lesson>) -> Result<Answer, CallFailure> {
    Ok(Answer::Judgement(Judgement { verdict, score: 0.9, reasoning: "r".into(), learnings }))
}

fn broken(code: Code) -> Result<Answer, CallFailure> {
    Err(CallFailure::new(code, "no"))
}

/// Answers with the given score for attempt n (or the refinement: 0) and a success verdict.
fn scores(by_attempt: &'static [f64]) -> impl FnMut(&ModelCall) -> Result<Answer, CallFailure> {
    let mut refinements = 0;
    move |call| match call.purpose {
        Purpose::Think => draft(format!("draft {}", call.attempt.unwrap_or(0))),
        Purpose::Refine => {
            refinements += 1;
            draft(format!("refined {refinements}"))
        }
        Purpose::Evaluate => evaluation(by_attempt[call.attempt.unwrap_or(0) as usize]),
        Purpose::Judge => judgement(Verdict::Success, vec![lesson("from judge", false)]),
        _ => Ok(Answer::Lessons(vec![lesson("learned", false)])),
    }
}
