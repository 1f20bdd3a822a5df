//! A simulated model. It runs in-process, is deterministic for a seed, and has latency and failures to order. It is for
//! the demo, tests and benches. Every answer says that it is simulated.
//!
//! It plays a model that profits from memory: it knows a few kinds of tasks (`subjects`), solves a task better when a
//! strategy of its kind is in the prompt, and falls into the trap of a kind unless a warning of that kind is.

mod subjects;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_domain::bank::BankProposal;
use reasoning_bank_domain::consolidation::PatternProposals;
use reasoning_bank_domain::learning::lesson::{Lesson, LessonError};
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::prompt::{FENCE, TEXT_FENCE};
use reasoning_bank_domain::solve::answer::{Contrasted, Evaluation, Extracted, FinishReason, Judgement, Verdict};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError, Usage};
use crate::runtime::Deadline;
use subjects::Subject;

/// The latency of a call: `base`, more or less by up to `jitter` of it, evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedLatency {
    pub base: Duration,
    /// The share of `base`, in 0..=1.
    pub jitter: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedBehaviour {
    pub seed: u64,
    pub latency: SimulatedLatency,
    /// The share of calls that fail as an overloaded provider would, in 0..1.
    pub failure_rate: f64,
}

impl Default for SimulatedBehaviour {
    fn default() -> Self {
        Self { seed: 0, latency: SimulatedLatency { base: Duration::ZERO, jitter: 0.0 }, failure_rate: 0.0 }
    }
}

pub struct Simulated {
    settings: SimulatedBehaviour,
    calls: AtomicU64,
}

impl Simulated {
    pub fn new(settings: SimulatedBehaviour) -> Self {
        Self { settings, calls: AtomicU64::new(0) }
    }

    /// Returns a number in 0..1 that the seed and `key` decide.
    fn chance(&self, key: impl Hash) -> f64 {
        // This is SipHash with fixed keys, which gives the same on every run.
        let mut hasher = DefaultHasher::new();
        (self.settings.seed, key).hash(&mut hasher);
        (hasher.finish() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn answer(&self, request: &Completion) -> String {
        let prompt = Sections::of(&request.input);
        let subject = Subject::of(prompt.task);
        match request.purpose {
            Purpose::Think => self.think(&prompt, &subject, request.attempt.unwrap_or(1)),
            Purpose::Refine => self.refine(&prompt, &subject),
            Purpose::Evaluate => json(&evaluation(prompt.solution)),
            Purpose::Judge => json(&judgement(prompt.task, prompt.solution, &subject)),
            Purpose::Extract => json(&Extracted { learnings: lessons(&subject, quality(prompt.solution) >= 0.5) }),
            Purpose::Capture | Purpose::Distill => {
                json(&Extracted { learnings: lessons(&subject, !prompt.session_failed) })
            }
            // Invented operations would be filed as if somebody had said them; from no answer, the rules go on.
            Purpose::Bank => json(&BankProposal { operations: Vec::new() }),
            // An invented pattern would wait for evidence as if episodes had shown it.
            Purpose::Patterns => json(&PatternProposals { patterns: Vec::new() }),
            Purpose::Contrast => json(&Contrasted {
                best_index: 1,
                analysis: "simulated: the attempts that named the edge cases first scored higher".into(),
                learnings: lessons(&subject, prompt.verdict_is_success),
            }),
        }
    }

    fn think(&self, prompt: &Sections<'_>, subject: &Subject, attempt: u32) -> String {
        let knows = |text: &str| prompt.memories.contains(text);
        let (strategy, warning) = (knows(&subject.strategy_title), knows(&subject.warning_title));
        let luck = self.chance((prompt.task, attempt));
        let mut quality = 0.5 + 0.25 * luck;
        if strategy || warning {
            quality += 0.2;
        }
        if subject.trap && !warning {
            quality = 0.1 + 0.2 * luck;
        }
        if prompt.task.contains("[fail]") {
            quality = 0.1;
        }
        solution(subject, quality, strategy, warning)
    }

    fn refine(&self, prompt: &Sections<'_>, subject: &Subject) -> String {
        let knows = |text: &str| prompt.memories.contains(text);
        let stuck = subject.trap && !knows(&subject.warning_title) || prompt.task.contains("[fail]");
        let before = quality(prompt.solution);
        let gain = if stuck { 0.05 } else { 0.1 + 0.1 * self.chance(prompt.solution) };
        solution(subject, (before + gain).min(0.98), knows(&subject.strategy_title), knows(&subject.warning_title))
    }

    fn latency(&self, call: u64) -> Duration {
        let SimulatedLatency { base, jitter } = self.settings.latency;
        base.mul_f64(1.0 + jitter.clamp(0.0, 1.0) * (2.0 * self.chance(("latency", call)) - 1.0))
    }
}

impl LanguageModel for Simulated {
    fn name(&self) -> &str {
        "simulated"
    }

    fn complete(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        async move {
            let latency = self.latency(call);
            if !latency.is_zero() {
                tokio::select! {
                    () = tokio::time::sleep(latency) => {}
                    () = cancel.cancelled() => return Err(ModelError::Cancelled.into()),
                    () = tokio::time::sleep_until(deadline.instant()) => return Err(ModelError::TimedOut.into()),
                }
            }
            if self.chance(("failure", call)) < self.settings.failure_rate {
                let message = "simulated overload".into();
                return Err(ModelError::Transient { message, retry_after: None }.into());
            }
            let text = self.answer(&request);
            let usage = Usage {
                input_tokens: tokens(&request.instructions) + tokens(&request.input),
                output_tokens: tokens(&text),
                ..Usage::default()
            };
            Ok(CompletionReply { text, usage, cached: false, ended: FinishReason::Whole })
        }
        .boxed()
    }
}

/// Counts four characters as a token, because a simulated model has no tokenizer.
fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

fn json<T: Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

/// The sections of a prompt that the simulation reads.
struct Sections<'a> {
    task: &'a str,
    memories: &'a str,
    solution: &'a str,
    verdict_is_success: bool,
    session_failed: bool,
}

impl<'a> Sections<'a> {
    fn of(input: &'a str) -> Self {
        let section = |name: &str| {
            let start = input.find(name).map_or(input.len(), |at| at + name.len());
            let rest = &input[start..];
            let text = rest[rest.find('\n').map_or(0, |at| at + 1)..].split("\n## ").next().unwrap_or_default().trim();
            unfenced(text)
        };
        let memories = section("## Experience");
        Self {
            task: ["## Task", "## Transcript", "## Question"]
                .map(section)
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or_default(),
            memories: if memories.contains(FENCE) { memories } else { "" },
            solution: section("## Solution"),
            verdict_is_success: input.lines().any(|line| line.starts_with("## Verdict") && line.ends_with(": success")),
            session_failed: input.lines().any(|line| line.starts_with("## Outcome") && line.ends_with(": failure")),
        }
    }
}

/// Returns what stands in the fence around the whole of a section. A section without a fence stays as it is.
fn unfenced(section: &str) -> &str {
    let (open, close) = (format!("<{TEXT_FENCE}>"), format!("</{TEXT_FENCE}>"));
    let inner = section.strip_prefix(&*open).map(|inner| inner.split(&*close).next().unwrap_or_default());
    inner.map_or(section, str::trim)
}

const QUALITY: &str = "simulated quality: ";

fn solution(subject: &Subject, quality: f64, strategy: bool, warning: bool) -> String {
    let used = match (strategy, warning) {
        (true, true) => "a recalled strategy was applied and a recalled warning heeded",
        (true, false) => "a recalled strategy was applied",
        (false, true) => "a recalled warning was heeded",
        (false, false) => "nothing was recalled that fits",
    };
    format!(
        "This is a simulated solution about {}.\nApproach: {}\nExperience: {used}.\n{QUALITY}{quality:.3}",
        subject.name, subject.approach
    )
}

/// Reads the quality, in 0..=1, that a simulated solution states of itself. It is 0.5 for any other text.
fn quality(solution: &str) -> f64 {
    let at = solution.rfind(QUALITY).map(|at| &solution[at + QUALITY.len()..]);
    let number = at.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|text| text.parse::<f64>().ok()).filter(|q| (0.0..=1.0).contains(q)).unwrap_or(0.5)
}

fn evaluation(solution: &str) -> Evaluation {
    let score = quality(solution);
    let feedback = match score {
        score if score >= 0.8 => "simulated: nothing left to change",
        score if score >= 0.5 => "simulated: handle the edge cases and say how the result was checked",
        _ => "simulated: it falls into the known trap of this kind of task",
    };
    Evaluation { score, feedback: feedback.into() }
}

fn judgement(task: &str, solution: &str, subject: &Subject) -> Judgement {
    let score = quality(solution);
    let success = score >= 0.5 && !task.contains("[fail]");
    let (verdict, reasoning) = if success {
        (Verdict::Success, "simulated: the solution does what the task asks")
    } else {
        (Verdict::Failure, "simulated: the solution does not do what the task asks")
    };
    Judgement { verdict, score, reasoning: reasoning.into(), learnings: lessons(subject, success) }
}

fn lessons(subject: &Subject, success: bool) -> Vec<Lesson> {
    let lesson = |title: &str, description: &str, content: &str, error_context| Lesson {
        title: title.into(),
        description: description.into(),
        content: content.into(),
        pattern_tags: vec![subject.domain.clone(), "simulated".into()],
        domain_category: Some(subject.domain.clone()),
        difficulty_level: Some("moderate".into()),
        error_context,
    };
    if success {
        return vec![lesson(&subject.strategy_title, &subject.when, &subject.approach, None)];
    }
    let error = LessonError {
        error_type: subject.error_type.clone(),
        failure_pattern: subject.failure.clone(),
        corrective_guidance: subject.guidance.clone(),
    };
    vec![lesson(&subject.warning_title, &subject.when, &subject.failure, Some(error))]
}

#[cfg(test)]
mod tests;
