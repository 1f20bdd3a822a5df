//! The comparison of all attempts. One call shows each of them with its label, its score and its own text. However long
//! they or the task are, none is dropped, as they share the budget.

use super::{AgentLoop, Attempt, Effect, ModelCall};
use crate::prompt::Purpose;
use crate::prompt::{self, ATTEMPT_FENCE, Prompt, Prompts, Template, fenced, quoted};
use crate::solve::answer::Verdict;

/// The outcome of a solution, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Success,
    Failure,
    Unknown,
}

impl Label {
    fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Unknown => "unknown",
        }
    }
}

/// A solution as it is shown: a heading and two texts that may lose their middle.
struct Exhibit {
    heading: String,
    solution: String,
    evaluation: String,
}

impl AgentLoop {
    pub(super) fn contrast(&mut self) -> Effect {
        let exhibits = self.exhibits();
        let (verdict, reasoning) = self.verdict_text();
        let refined = if self.is_refined() { ", refined" } else { "" };
        let selected = format!("{}{refined}", self.selected + 1);
        let given = [("selected", &*selected), ("verdict", &*verdict)];
        let (spec, budget) = (&self.spec, self.limits.prompt_token_budget);
        let prompt = fitted(&spec.prompts, &spec.task.task, &reasoning, &exhibits, &given, budget);
        if prompt.cut.is_some() {
            self.note_truncated("a contrast prompt was over its budget".into());
        }
        Effect::Call(ModelCall { purpose: Purpose::Contrast, attempt: None, prompt })
    }

    /// Returns every attempt, and after them the final solution where it differs from the chosen attempt.
    fn exhibits(&self) -> Vec<Exhibit> {
        let refined = self.is_refined();
        let mut exhibits: Vec<Exhibit> = self
            .attempts
            .iter()
            .enumerate()
            .map(|(index, attempt)| {
                let is_final = index == self.selected && !refined;
                let label = match (&attempt.solution, is_final) {
                    (None, _) => Label::Failure,
                    (Some(_), true) => self.label_of_final(attempt.score),
                    (Some(_), false) => self.label(attempt.score),
                };
                let note = match (index == self.selected, refined) {
                    (false, _) => "",
                    (true, false) => ", chosen",
                    (true, true) => ", chosen and refined: this is its draft",
                };
                Exhibit::of(&format!("Attempt {}", index + 1), label, attempt.score, note, attempt)
            })
            .collect();
        if let Some(best) = self.best.as_ref().filter(|_| refined) {
            let name = format!("Attempt {}, refined: the final solution", self.selected + 1);
            let label = self.label_of_final(best.score);
            exhibits.push(Exhibit {
                heading: heading(&name, label, best.score, ""),
                solution: best.solution.clone(),
                evaluation: best.feedback.clone(),
            });
        }
        exhibits
    }

    /// Tells whether the final solution differs from the chosen attempt.
    fn is_refined(&self) -> bool {
        let draft = self.attempts.get(self.selected).and_then(|attempt| attempt.solution.as_ref());
        self.best.as_ref().is_some_and(|best| Some(&best.solution) != draft)
    }

    /// Tells whether an attempt that was not chosen passed, so that a strategy may be learned from it.
    pub(super) fn has_another_success(&self) -> bool {
        let others = self.attempts.iter().enumerate().filter(|(index, _)| *index != self.selected);
        others
            .map(|(_, attempt)| attempt)
            .any(|attempt| attempt.solution.is_some() && self.label(attempt.score) == Label::Success)
    }

    /// Returns the label that follows from a score.
    fn label(&self, score: Option<f64>) -> Label {
        match score {
            Some(score) if score >= self.limits.success_threshold => Label::Success,
            Some(_) => Label::Failure,
            None => Label::Unknown,
        }
    }

    /// Returns the label of the final solution. The verdict decides it, and without one the evaluation.
    pub(super) fn label_of_final(&self, score: Option<f64>) -> Label {
        match self.verdict() {
            Some(Verdict::Success) => Label::Success,
            Some(Verdict::Failure) => Label::Failure,
            None => self.label(score),
        }
    }
}

impl Exhibit {
    fn of(name: &str, label: Label, score: Option<f64>, note: &str, attempt: &Attempt) -> Self {
        let failed = || match &attempt.error {
            Some(failure) => format!("(no solution: {})", failure.message),
            None => "(no solution)".into(),
        };
        Self {
            heading: heading(name, label, score, note),
            solution: attempt.solution.clone().unwrap_or_else(failed),
            evaluation: attempt.feedback.clone(),
        }
    }
}

fn heading(name: &str, label: Label, score: Option<f64>, note: &str) -> String {
    let score = score.map_or("none".to_owned(), |score| format!("{score:.3}"));
    format!("### {name} (label: {}, score: {score}{note})", label.as_str())
}

/// Makes a prompt that shows every exhibit, however long the texts are.
fn fitted(
    prompts: &Prompts,
    task: &str,
    reasoning: &str,
    exhibits: &[Exhibit],
    given: &[(&str, &str)],
    budget: usize,
) -> Prompt {
    let mut texts: Vec<&str> = vec![task, reasoning];
    texts.extend(exhibits.iter().map(|exhibit| &*exhibit.solution));
    texts.extend(exhibits.iter().map(|exhibit| &*exhibit.evaluation));
    prompt::fitted(prompts.instructions(Template::Contrast), &texts, budget, |texts| {
        let (solutions, evaluations) = texts[2..].split_at(exhibits.len());
        let each = exhibits.iter().zip(solutions.iter().zip(evaluations));
        let attempts: String = each
            .map(|(exhibit, (solution, evaluation))| exhibit_text(&exhibit.heading, solution, evaluation))
            .collect();
        let own = [("task", texts[0]), ("reasoning", texts[1]), ("attempts", &*attempts)];
        prompts.fill(Template::Contrast, &own.iter().chain(given).copied().collect::<Vec<_>>())
    })
}

fn exhibit_text(heading: &str, solution: &str, evaluation: &str) -> String {
    let evaluated =
        if evaluation.is_empty() { String::new() } else { format!("Evaluation:\n{}\n", fenced(evaluation)) };
    format!("{heading}\n<{ATTEMPT_FENCE}>\n{}\n</{ATTEMPT_FENCE}>\n{evaluated}\n", quoted(solution))
}
