//! The memories in the solver's prompts: which of the memories that were found go into them, which do not and why, and
//! how they read there. `ranking` has ordered them.

use std::cmp::{Ordering, Reverse};
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::{Memory, normalised};
use crate::prompt::{quoted_lines, recalled_notes};
use crate::retrieval::recalled::Recalled;
use crate::text::tokens;

/// The reason why a memory that was found is not put into a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// A newer memory that is in the prompt says something else of the same thing.
    Outdated,
    /// Its relevance is below the floor.
    BelowFloor,
    /// It is a strategy of another trace than the best strategy.
    NotOfBestTrace,
    /// There is no room left for its kind beside better ones.
    NoRoom,
    /// The memories, or the prompt, would be too long with it.
    OverTokens,
}

impl LeftOut {
    /// Returns the reason in words that follow the memory's name.
    pub fn words(self) -> &'static str {
        match self {
            Self::Outdated => "outdated by a newer one",
            Self::BelowFloor => "not relevant enough",
            Self::NotOfBestTrace => "not of the best trace",
            Self::NoRoom => "enough of its kind",
            Self::OverTokens => "too long",
        }
    }
}

impl Recalled {
    fn is_of_the_very_error(&self) -> bool {
        self.score.error_context >= 1.0
    }
}

/// The memories in a prompt, each list best first, and those that were found and left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PromptMemories {
    pub strategies: Vec<Recalled>,
    pub warnings: Vec<Recalled>,
    pub left_out: Vec<(Recalled, LeftOut)>,
}

impl PromptMemories {
    pub const MAX_STRATEGIES: usize = 3;
    pub const MAX_WARNINGS: usize = 2;
    /// The most tokens of the whole text with its fence.
    pub const MAX_TOKENS: usize = 2_000;

    /// Chooses strategies and warnings for the prompt. `recalled` is best first. A memory whose relevance is below the
    /// floor, in 0..=1, is left out: more memory is not better memory.
    ///
    /// Strategies are all of one trace: that of the best strategy for which there is room. A memory without a trace is
    /// a trace of its own. Warnings that are above the floor may be of any trace, and those of the very error that was
    /// asked for come first. A warning never decides the trace, wherever it ranks, because that would keep out what is
    /// known to work.
    pub fn choose(mut recalled: Vec<Recalled>, floor: f64, task: &str) -> Self {
        let mut chosen = Self::default();
        let mut best: Option<Option<TraceId>> = None;
        recalled.sort_by_key(|entry| !entry.is_of_the_very_error());
        // Outdated memories come last, the newest first: one has a place only where the memory that outdates it has
        // none.
        recalled.sort_by_key(|entry| entry.outdated_by.map(|_| Reverse(entry.memory.said_at())));
        // What outdates a relevant memory is as relevant: it says what now holds instead.
        let outdated: Vec<(MemoryId, f64)> =
            recalled.iter().filter_map(|entry| Some((entry.outdated_by?, entry.relevance))).collect();
        let relevance = |entry: &Recalled| {
            let inherited = outdated.iter().filter(|(newer, _)| *newer == entry.memory.id);
            inherited.map(|(_, relevance)| *relevance).fold(entry.relevance, f64::max)
        };
        for entry in recalled {
            if entry.outdated_by.is_some_and(|newer| chosen.speaks_for(newer)) {
                chosen.left_out.push((entry, LeftOut::Outdated));
                continue;
            }
            let (trace, warns) = (entry.memory.trace_id, entry.memory.is_of_failure());
            if relevance(&entry) < floor {
                chosen.left_out.push((entry, LeftOut::BelowFloor));
                continue;
            }
            let belongs = warns || best.is_none_or(|best| trace.is_some() && trace == best);
            let room = if warns { Self::MAX_WARNINGS } else { Self::MAX_STRATEGIES };
            if !belongs {
                chosen.left_out.push((entry, LeftOut::NotOfBestTrace));
            } else if chosen.list(warns).len() == room {
                chosen.left_out.push((entry, LeftOut::NoRoom));
            } else {
                chosen.list(warns).push(entry);
                if !tokens::fits(&chosen.text(task), Self::MAX_TOKENS) {
                    let too_long = chosen.list(warns).pop();
                    chosen.left_out.extend(too_long.map(|entry| (entry, LeftOut::OverTokens)));
                } else if !warns {
                    best.get_or_insert(trace);
                }
            }
        }
        chosen
    }

    /// Leaves all memories out, because the prompt that they were chosen for has no room for them.
    pub fn leave_all_out(&mut self) {
        let chosen = std::mem::take(&mut self.strategies).into_iter().chain(std::mem::take(&mut self.warnings));
        let mut all: Vec<(Recalled, LeftOut)> = chosen.map(|entry| (entry, LeftOut::OverTokens)).collect();
        all.append(&mut self.left_out);
        all.sort_by(|(a, _), (b, _)| better(a, b));
        self.left_out = all;
    }

    /// Tells whether this memory is in the prompt, or a newer one that speaks of the same thing.
    fn speaks_for(&self, id: MemoryId) -> bool {
        let outdated = self.left_out.iter().filter(|(_, reason)| *reason == LeftOut::Outdated);
        self.iter().chain(outdated.map(|(entry, _)| entry)).any(|entry| entry.memory.id == id)
    }

    fn list(&mut self, warnings: bool) -> &mut Vec<Recalled> {
        if warnings { &mut self.warnings } else { &mut self.strategies }
    }

    pub fn is_empty(&self) -> bool {
        self.strategies.is_empty() && self.warnings.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Recalled> {
        self.strategies.iter().chain(&self.warnings)
    }

    /// Returns the ids of both kinds, best first.
    pub fn ids(&self) -> Vec<MemoryId> {
        let mut entries: Vec<&Recalled> = self.iter().collect();
        entries.sort_by(|a, b| better(a, b));
        entries.into_iter().map(|entry| entry.memory.id).collect()
    }

    /// Returns the text in a prompt for `task`. It is quoted data in a fence, strategies and warnings apart. Each
    /// memory has its trust, and all of its lines are marked, so that none passes for another memory. The text says so
    /// when there are no memories.
    pub fn text(&self, task: &str) -> String {
        if self.is_empty() {
            return "No experience in the memory is relevant to this task.".into();
        }
        let mut text = String::new();
        let mut number = 0;
        for (heading, entries) in [("Strategies", &self.strategies), ("Warnings from past failures", &self.warnings)] {
            if !entries.is_empty() {
                let _ = write!(text, "\n### {heading}\n");
            }
            for Recalled { memory, score, .. } in entries {
                number += 1;
                let (trust, note) = (memory.trust.as_str(), quoted_lines(&memory.format_for_prompt()));
                let same_task = if learned_from_same_task(memory, task) { ", learned from this very task" } else { "" };
                let _ =
                    write!(text, "\n[{number}] trust: {trust}, confidence: {:.2}{same_task}\n{note}", score.confidence);
            }
        }
        recalled_notes(&text)
    }
}

fn better(a: &Recalled, b: &Recalled) -> Ordering {
    b.score.composite.total_cmp(&a.score.composite).then_with(|| a.memory.id.cmp(&b.memory.id))
}

/// Tells whether a memory was learned from this very task. Evaluations can exclude such memories.
pub fn learned_from_same_task(memory: &Memory, task: &str) -> bool {
    !memory.task.is_empty() && normalised(&memory.task) == normalised(task)
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
