//! The patterns that a model proposes: what it is shown of episodes that are alike and succeeded, and which of its
//! answers become candidates. The validator of lessons decides what is fit to keep.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::episode::EpisodeTexts;
use crate::learning::distill::prompt_tokens;
use crate::learning::lesson::{Lesson, LessonContext, LessonOrigin, LessonRefusal, PrintedError, accept};
use crate::memory::ids::MemoryId;
use crate::memory::label::label_key;
use crate::memory::pattern::{LABELS_MAX, PHRASE_MAX_CHARS, PatternCategory, PatternContent, PatternPart, PatternStep};
use crate::memory::trace::{Outcome, Trace};
use crate::memory::{Memory, SourceType, normalised};
use crate::pattern::facts::EpisodeFacts;
use crate::pattern::mining::mined_id;
use crate::prompt::{self, Prompt, Prompts, Purpose, Template};
use crate::retrieval::prompt_memories::PromptMemories;
use crate::safety::secrets::Scrub;
use crate::text::tokens;

/// The most patterns from one cluster.
pub const PROPOSALS_MAX: usize = 2;
/// The most episodes of a cluster that a model is shown, the newest ones.
const EPISODES_SHOWN: usize = 8;
/// The longest prompt, in tokens.
const PROMPT_MAX_TOKENS: usize = 6_000;
/// The most steps of a pattern that a model proposes.
const STEPS_MAX: usize = 12;
/// A pattern that is known already, or was rejected, is refused by this name.
const KNOWN: &str = "known";

/// The answer of a model to a cluster of episodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PatternProposals {
    pub patterns: Vec<PatternProposal>,
}

/// One pattern that a model proposes: a lesson with a category and steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PatternProposal {
    #[serde(flatten)]
    pub lesson: Lesson,
    pub category: ProposedCategory,
    pub steps: Vec<String>,
}

/// The categories that a model may propose. Rules find the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ProposedCategory {
    Strategy,
    Optimization,
    Domain,
}

impl From<ProposedCategory> for PatternCategory {
    fn from(category: ProposedCategory) -> Self {
        match category {
            ProposedCategory::Strategy => Self::Strategy,
            ProposedCategory::Optimization => Self::Optimization,
            ProposedCategory::Domain => Self::Domain,
        }
    }
}

/// The candidates of one answer, and how many patterns were refused for which reason.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AcceptedPatterns {
    pub candidates: Vec<Memory>,
    pub refused: BTreeMap<&'static str, u64>,
}

/// Episodes of one workspace, domain and type that are alike and succeeded, as a model reads them.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeCluster {
    facts: EpisodeFacts,
    task: String,
    /// The number of its episodes, those that are not shown among them.
    size: usize,
    /// The episodes that are shown, in short.
    texts: Vec<String>,
}

impl EpisodeCluster {
    /// Returns which of these ids, in the order of time, are shown.
    pub fn shown<T>(ids: &[T]) -> &[T] {
        &ids[ids.len().saturating_sub(EPISODES_SHOWN)..]
    }

    /// Makes the cluster of `size` episodes of which these are shown. None where there are none.
    pub fn of(size: usize, shown: &[Trace]) -> Option<Self> {
        let first = shown.first()?;
        let texts = shown.iter().map(text_of).collect();
        Some(Self { facts: EpisodeFacts::of_trace(first), task: first.task.clone(), size, texts })
    }

    /// Makes the prompt. None where the tokens of a day are too few to be of use. Episodes that are too long together
    /// keep their heads and tails.
    pub fn prompt(
        &self,
        prompts: &Prompts,
        prompt_budget: usize,
        max_output_tokens: u32,
        daily_cap: u64,
    ) -> Option<Prompt> {
        let budget = prompt_budget.min(PROMPT_MAX_TOKENS);
        let budget = prompt_tokens(Purpose::Patterns, budget, max_output_tokens, daily_cap)?;
        let budget = usize::try_from(budget).unwrap_or(PROMPT_MAX_TOKENS);
        let kind = self.facts.domain.as_deref().map(|domain| format!(", domain: {domain}")).unwrap_or_default();
        let head = format!("Type of the tasks: {}{kind}", self.facts.task_type);
        let around = prompt::render(prompts, Template::Patterns, &[("episodes", &head)], budget);
        let used = tokens::estimate(&around.instructions) + tokens::estimate(&around.input);
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let shown = tokens::fit_all(&texts, budget.saturating_sub(used) * 7 / 8);
        let told = shown.iter().enumerate().map(|(place, text)| format!("\n\nTask {}:\n{text}", place + 1));
        let episodes = std::iter::once(head.clone()).chain(told).collect::<String>();
        Some(prompt::render(prompts, Template::Patterns, &[("episodes", &episodes)], budget))
    }

    /// Returns the candidates of an answer, at most `max`. `known` are the ids of patterns that there are, rejected
    /// ones too: they do not come back.
    pub fn accept(
        &self,
        proposed: Vec<PatternProposal>,
        prompts: &Prompts,
        known: &HashSet<MemoryId>,
        max: usize,
        now: Timestamp,
    ) -> AcceptedPatterns {
        let solutions = self.texts.iter().map(String::as_str).collect();
        let shown = LessonContext { task: &self.task, solutions, prompts };
        let mut accepted = AcceptedPatterns::default();
        for proposal in proposed {
            let is_full = accepted.candidates.len() >= max.min(PROPOSALS_MAX);
            let judged = if is_full {
                Err(LessonRefusal::TooMany.as_str())
            } else {
                self.candidate(proposal, &shown, now).and_then(|memory| {
                    let is_known =
                        known.contains(&memory.id) || accepted.candidates.iter().any(|other| other.id == memory.id);
                    if is_known { Err(KNOWN) } else { Ok(memory) }
                })
            };
            match judged {
                Ok(memory) => accepted.candidates.push(memory),
                Err(reason) => *accepted.refused.entry(reason).or_default() += 1,
            }
        }
        accepted
    }

    /// Makes the candidate of a proposal, or says why it is not fit to keep.
    fn candidate(
        &self,
        proposal: PatternProposal,
        shown: &LessonContext<'_>,
        now: Timestamp,
    ) -> Result<Memory, &'static str> {
        let PatternProposal { lesson, category, steps } = proposal;
        let steps: Vec<String> = steps.iter().map(|step| step.trim().to_owned()).collect();
        let lesson = Lesson { error_context: None, ..lesson };
        // The steps are read with what they explain, so that no rule for texts is written twice.
        let whole = Lesson { content: format!("{}\n{}", lesson.content, steps.join("\n")), ..lesson.clone() };
        for judged in [&lesson, &whole] {
            if let Some(reason) = accept(vec![judged.clone()], shown, false, 1).refused.into_keys().next() {
                return Err(reason.as_str());
            }
        }
        if steps.is_empty() || steps.iter().any(|step| !step.chars().any(char::is_alphanumeric)) {
            return Err(LessonRefusal::Blank.as_str());
        }
        if steps.len() > STEPS_MAX || steps.iter().any(|step| step.chars().count() > PHRASE_MAX_CHARS) {
            return Err(LessonRefusal::TooLong.as_str());
        }
        let (workspace, category) = (&self.facts.workspace, category.into());
        let said = std::iter::once(label_key(&self.facts.task_type)).chain(steps.iter().map(|step| normalised(step)));
        let id = mined_id(workspace, category, &said.collect::<Vec<_>>());
        let structure = steps.into_iter().map(|title| PatternStep { title, ..PatternStep::default() }).collect();
        let content = PatternContent::Procedure { steps: structure, branching: vec![], termination: vec![] };
        let mut part = PatternPart::new(category, content);
        part.applicability.problem_types = vec![self.facts.task_type.clone()];
        part.applicability.domains = self.facts.domain.iter().cloned().collect();
        let mut memory = lesson.into_memory(id, &self.origin(now), &PromptMemories::default());
        memory.content.push_str(&format!("\n\nA model found it in {} episodes that succeeded.", self.size));
        memory.pattern = Some(Box::new(part));
        memory.scrub();
        memory.validate().map_err(|_| LessonRefusal::TooLong.as_str())?;
        Ok(memory)
    }

    fn origin(&self, now: Timestamp) -> LessonOrigin {
        LessonOrigin {
            task: String::new(),
            domain: self.facts.domain.clone(),
            workspace_id: self.facts.workspace.clone(),
            source_type: SourceType::Consolidated,
            source_session: None,
            trace_id: None,
            outcome: Outcome::Success,
            printed: PrintedError::default(),
            said_at: None,
            at: now,
        }
    }
}

/// Returns what an episode tells, in short, with its tools in the order of their first calls.
fn text_of(trace: &Trace) -> String {
    let EpisodeTexts { task, whole, .. } = EpisodeTexts::of(trace);
    let facts = EpisodeFacts::of_trace(trace);
    let mut tools: Vec<&str> = Vec::new();
    for tool in facts.steps.iter().chain(&facts.tools_without_order) {
        if tools.len() < LABELS_MAX && !tools.contains(&tool.as_str()) {
            tools.push(tool);
        }
    }
    let told = if whole.is_empty() { task } else { whole };
    if tools.is_empty() { told } else { format!("{told}\nTools: {}", tools.join(", ")) }
}

#[cfg(test)]
mod tests;
