//! The words of each thing that was found. All of them are quoted, so that no line of a stored text passes for a line
//! of ours.

use std::fmt::Write;

use uuid::Uuid;

use super::bank_section::FoundSection;
use crate::episode::EpisodeFound;
use crate::memory::pattern::{PatternCondition, PatternContent, PatternPart, PatternStage, PatternStep};
use crate::pattern::finding::SuggestedPattern;
use crate::prompt::{one_line, quoted_lines};
use crate::retrieval::recalled::Recalled;
use crate::text::{shortened, tokens};

/// The longest text of an episode in brief, in characters.
const BRIEF_CHARS: usize = 200;

/// One thing with its words: all of them, and in brief.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextEntry {
    pub id: Uuid,
    /// The line above the quoted words. It holds no text that others wrote.
    heading: String,
    whole: String,
    /// The part of it that tells most. It is none where that is its beginning.
    core: Option<String>,
    brief: String,
}

impl ContextEntry {
    /// Makes the entry of a pattern.
    pub fn of_pattern(pattern: &SuggestedPattern) -> Self {
        let SuggestedPattern { memory, part, .. } = pattern;
        let (category, stage, trust) = (part.category.as_str(), part.stage.as_str(), memory.trust.as_str());
        let is_accepted =
            part.lifecycle.validation.as_ref().is_some_and(|validation| validation.accepted_because.is_some());
        let proof = match part.stage {
            PatternStage::Candidate => "unproven".to_owned(),
            _ if is_accepted => "accepted by a person".to_owned(),
            _ => format!("confidence: {:.2}", part.statistics.confidence),
        };
        let brief = format!("PATTERN: {}\nWhen: {}\n", one_line(&memory.title), one_line(&memory.description));
        Self {
            id: memory.id.uuid(),
            heading: format!("pattern, {category}, {stage}, trust: {trust}, {proof}"),
            whole: format!("{brief}How: {}\n{}", memory.content, instructions(part)),
            core: None,
            brief,
        }
    }

    /// Makes the entry of a memory.
    pub fn of_memory(recalled: &Recalled) -> Self {
        let memory = &recalled.memory;
        let kind = if memory.is_of_failure() { "warning" } else { "memory" };
        let guidance = memory.error_context.as_ref().map(|error| format!("Guidance: {}\n", error.corrective_guidance));
        let brief = memory.head_for_prompt() + &guidance.unwrap_or_default();
        Self {
            id: memory.id.uuid(),
            heading: format!("{kind}, trust: {}, confidence: {:.2}", memory.trust.as_str(), recalled.score.confidence),
            whole: memory.format_for_prompt(),
            core: None,
            brief,
        }
    }

    /// Makes the entry of a section of a memory bank.
    pub fn of_section(section: &FoundSection) -> Self {
        let trust = if section.is_of_checkout { "tool" } else { "user" };
        Self {
            id: section.id,
            heading: format!("memory bank, trust: {trust}"),
            whole: format!("{}\n{}\n", one_line(&section.name), section.text),
            core: Some(format!("{}\n{}\n", one_line(&section.name), section.nearest)),
            brief: format!("{}\n{}\n", one_line(&section.name), shortened(&section.nearest, BRIEF_CHARS)),
        }
    }

    /// Makes the entry of an episode.
    pub fn of_episode(found: &EpisodeFound) -> Self {
        let episode = &found.episode;
        let kind = if found.why.failure.is_some() { "earlier failure" } else { "earlier task" };
        let of_failure = |max: usize| {
            let failure = found.failure.as_ref()?;
            let mut text = format!("Error: {}\n", shortened(&failure.error, max));
            for (name, said) in [("Cause", &failure.cause), ("Resolved by", &failure.resolution)] {
                if let Some(said) = said {
                    let _ = writeln!(text, "{name}: {}", shortened(said, max));
                }
            }
            if failure.resolution.is_none() {
                match failure.resolved_by {
                    Some(id) => {
                        let _ = writeln!(text, "Resolved in the episode {id}");
                    }
                    None => text.push_str("Nothing is known to have resolved it.\n"),
                }
            }
            Some(text)
        };
        let task = format!("TASK: {}\n", one_line(&episode.task));
        let mut whole = task.clone();
        if !episode.tools_used.is_empty() {
            let tools: Vec<String> = episode.tools_used.iter().map(|tool| one_line(tool)).collect();
            let _ = writeln!(whole, "Tools: {}", tools.join(", "));
        }
        whole.extend(of_failure(usize::MAX));
        let outcome = episode.output.as_deref().map(|output| format!("Outcome: {}\n", one_line(output)));
        whole.extend(outcome.clone());
        for insight in &episode.insights {
            let _ = writeln!(whole, "Insight: {insight}");
        }
        Self {
            id: episode.episode_id.uuid(),
            heading: format!(
                "{kind}, {}, {}, {}",
                episode.status.as_str(),
                episode.verdict_source.as_str(),
                episode.timestamp.strftime("%Y-%m-%d")
            ),
            whole,
            core: None,
            brief: task + &of_failure(BRIEF_CHARS).or(outcome).unwrap_or_default(),
        }
    }

    /// Writes the entry with all of its words.
    pub(super) fn whole(&self, number: usize) -> String {
        format!("\n[{number}] {}\n{}", self.heading, quoted_lines(&self.whole))
    }

    /// Writes the entry as a note without a number, of at most this many characters of its words.
    pub(super) fn note(&self, max_chars: usize) -> String {
        format!("{} {}\n{}", self.heading, self.id, quoted_lines(&shortened(&self.whole, max_chars)))
    }

    /// Writes the entry in brief as a note without a number.
    pub(super) fn brief_note(&self) -> String {
        format!("{} {}\n{}", self.heading, self.id, quoted_lines(&self.brief))
    }

    /// Writes the entry in brief.
    pub(super) fn brief(&self, number: usize) -> String {
        format!("\n[{number}] {}, in brief\n{}", self.heading, quoted_lines(&self.brief))
    }

    /// Writes as much of the entry as about `most` tokens hold, and counts its tokens.
    pub(super) fn beginning(&self, number: usize, most: usize) -> (String, usize) {
        let text = self.core.as_ref().unwrap_or(&self.whole);
        let written = |chars: usize| {
            let part = format!("\n[{number}] {}, in part\n{}", self.heading, quoted_lines(&shortened(text, chars)));
            let tokens = tokens::estimate(&part);
            (part, tokens)
        };
        let mut chars = most * tokens::CHARS_A_TOKEN;
        loop {
            let (part, tokens) = written(chars);
            if tokens <= most || chars <= 1 {
                return (part, tokens);
            }
            // Each step is at least a twentieth shorter.
            chars = (chars * most / tokens).min(chars - chars / 20 - 1);
        }
    }
}

/// Writes what a pattern says in its form that rules read, and how it is used.
fn instructions(part: &PatternPart) -> String {
    let mut text = String::new();
    let mut list = |name: &str, items: &[String]| {
        for item in items.iter().filter(|item| !item.trim().is_empty()) {
            let _ = writeln!(text, "{name}: {item}");
        }
    };
    let one = std::slice::from_ref;
    match &part.content {
        PatternContent::Strategy { approach, key_principles, trade_offs } => {
            list("Approach", one(approach));
            list("Principle", key_principles);
            list("Trade-offs", one(trade_offs));
        }
        PatternContent::Heuristic { condition, action, rationale } => {
            list("If", one(condition));
            list("Then", one(&action.text));
            list("Tools", &if action.tools.is_empty() { Vec::new() } else { vec![action.tools.join(", ")] });
            list("Because", one(rationale));
        }
        PatternContent::Template { structure: steps, parameters: more, instantiation_rules: rules }
        | PatternContent::Procedure { steps, branching: more, termination: rules } => {
            let step = |step: &PatternStep| match &step.tool {
                Some(tool) => format!("{} ({tool})", step.title),
                None => step.title.clone(),
            };
            list("Step", &steps.iter().map(step).collect::<Vec<_>>());
            let is_template = matches!(part.content, PatternContent::Template { .. });
            list(if is_template { "Parameter" } else { "Branch" }, more);
            list(if is_template { "Rule" } else { "Stop when" }, rules);
        }
    }
    let said = |conditions: &[PatternCondition]| conditions.iter().map(ToString::to_string).collect::<Vec<_>>();
    list("Only if", &said(&part.applicability.context_conditions));
    list("Not if", &said(&part.applicability.anti_conditions));
    list("Use", one(&part.guidance.how_to_apply));
    list("Risk", &part.guidance.potential_risks);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::samples::{failed, similar, suggested};
    use crate::memory::samples::{strategy, warning};
    use crate::prompt::recalled_notes;
    use crate::retrieval::prompt_memories::samples::recalled;

    #[test]
    fn each_kind_is_quoted_below_a_line_that_says_what_it_is() {
        let entries = [
            ContextEntry::of_pattern(&suggested(1)),
            ContextEntry::of_memory(&recalled(warning(2), 0.9, 0.9)),
            ContextEntry::of_memory(&recalled(strategy(3), 0.9, 0.9)),
            ContextEntry::of_episode(&similar(4, 0.8)),
            ContextEntry::of_episode(&failed(5, Some("use get"))),
            ContextEntry::of_episode(&failed(6, None)),
        ];
        let whole: String = entries.iter().enumerate().map(|(n, entry)| entry.whole(n + 1)).collect();
        let brief: String = entries.iter().enumerate().map(|(n, entry)| entry.brief(n + 1)).collect();
        insta::assert_snapshot!(recalled_notes(&whole));
        insta::assert_snapshot!(brief);
    }

    #[test]
    fn an_earlier_task_tells_its_failure_what_resolved_it_and_its_outcome() {
        let mut found = similar(1, 0.8);
        found.episode.output = Some("Dates with a shift are read.".into());
        found.failure = failed(2, Some("use %z in the format")).failure;
        let text = ContextEntry::of_episode(&found).whole(1);
        for line in
            ["[1] earlier task", "> Resolved by: use %z in the format", "> Outcome: Dates with a shift are read."]
        {
            assert!(text.contains(line), "{line}: {text}");
        }
        found.failure = None;
        assert!(ContextEntry::of_episode(&found).brief(1).contains("> Outcome: Dates"));
    }

    #[test]
    fn a_pattern_tells_the_conditions_that_it_has() {
        let mut pattern = suggested(1);
        pattern.part.applicability.context_conditions = vec![PatternCondition::is("language", "rust")];
        pattern.part.applicability.anti_conditions = vec![PatternCondition::is("domain", "web")];
        let text = ContextEntry::of_pattern(&pattern).whole(1);
        assert!(text.contains("> Only if: language is rust\n> Not if: domain is web\n"), "{text}");
    }
}
