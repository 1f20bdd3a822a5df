//! The text that is shown of a working memory, within a budget of tokens. Hot parts come first: the task, its state,
//! and the newest result, with head and tail where one is too long. Then each section fills its own budget with its
//! newest parts, and what a section does not need is lent to the others.

use std::fmt::Write as _;

use super::budget::{FRAME_TOKENS, HOT_RESULT_TOKENS, LINE_TOKENS, Section};
use super::entry::{Entry, EntryForm, EntryKind};
use super::task::{ExecutionState, TaskContext};
use super::{TOTAL_TOKENS, WorkingMemory};
use crate::prompt::{one_line, quoted};
use crate::text::tokens::{estimate, truncate};

/// The text that is shown of a working memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedContext {
    pub text: String,
    /// About how many tokens the text has.
    pub tokens: usize,
    pub sections: Vec<RenderedSection>,
    /// The number of entries that are not even shown as a line. Their references are good all the same.
    pub not_shown: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderedSection {
    pub section: Section,
    pub tokens: usize,
}

/// Something that may be shown.
struct ShownPart {
    section: Section,
    /// Its place within the section.
    place: usize,
    text: String,
    tokens: usize,
    is_shown: bool,
}

/// The order in which parts are chosen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Temperature {
    Hot,
    Warm,
    Cold,
}

impl WorkingMemory {
    /// Renders what is in the foreground with at most `budget` tokens, [`TOTAL_TOKENS`] at most.
    pub fn context(&self, budget: usize) -> RenderedContext {
        let budget = budget.min(TOTAL_TOKENS);
        let mut parts = self.parts(budget);
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|part| parts[*part].0);
        let mut left = budget.saturating_sub(FRAME_TOKENS);
        let mut used = [0; Section::ALL.len()];
        for lends in [false, true] {
            for index in &order {
                let (temperature, part) = &mut parts[*index];
                let room = scaled(part.section.budget(), budget).saturating_sub(used[part.section as usize]);
                let fits = part.tokens <= left && (lends || *temperature == Temperature::Hot || part.tokens <= room);
                if !part.is_shown && fits {
                    part.is_shown = true;
                    left -= part.tokens;
                    used[part.section as usize] += part.tokens;
                }
            }
        }
        let mut parts: Vec<ShownPart> = parts.into_iter().map(|(_, part)| part).collect();
        parts.sort_by_key(|part| (part.section, part.place));
        self.written(&parts)
    }

    fn written(&self, parts: &[ShownPart]) -> RenderedContext {
        let (mut text, mut sections) = (String::new(), Vec::new());
        for section in Section::ALL {
            let shown: Vec<&ShownPart> = parts.iter().filter(|part| part.section == section && part.is_shown).collect();
            if shown.is_empty() {
                continue;
            }
            let _ = writeln!(text, "## {}", section.title());
            shown.iter().for_each(|part| text.push_str(&part.text));
            sections.push(RenderedSection { section, tokens: shown.iter().map(|part| part.tokens).sum() });
        }
        let entries = |part: &&ShownPart| part.section >= Section::Results || part.place > 0;
        let not_shown = self.entries().len() - parts.iter().filter(|part| part.is_shown).filter(entries).count();
        if not_shown > 0 {
            let _ = writeln!(text, "({not_shown} more entries are not shown)");
        }
        RenderedContext { tokens: estimate(&text), text, sections, not_shown }
    }

    /// Makes everything that may be shown, the parts that are to be chosen first at the front.
    fn parts(&self, budget: usize) -> Vec<(Temperature, ShownPart)> {
        let state = &self.state;
        let fixed = [
            (Section::System, state.system.to_string()),
            (Section::Task, state.task.text()),
            (Section::Execution, state.execution.text(&state.task)),
        ];
        let fixed = fixed.into_iter().filter(|(_, text)| !text.is_empty()).map(|(section, text)| {
            let cut = truncate(&text, scaled(section.budget(), budget));
            (Temperature::Hot, part(section, 0, cut.unwrap_or(text)))
        });
        let (hot, recent) = (state.hot(), state.recent_subtasks());
        let entries = state.entries.iter().rev().enumerate().filter(|(_, entry)| entry.form != EntryForm::Counted);
        let entries = entries.map(|(place, entry)| {
            let is_hot = Some(entry.id) == hot;
            let is_recent = match &entry.kind {
                EntryKind::Result { subtask } => recent.contains(subtask),
                _ => true,
            };
            let temperature = match entry.form {
                _ if is_hot => Temperature::Hot,
                EntryForm::Whole if is_recent => Temperature::Warm,
                _ => Temperature::Cold,
            };
            let text = match entry.form {
                EntryForm::Whole if is_hot => entry.whole(scaled(HOT_RESULT_TOKENS, budget)),
                EntryForm::Whole => entry.whole(usize::MAX),
                _ => entry.line(),
            };
            (temperature, part(entry.section(), place + 1, text))
        });
        fixed.chain(entries).collect()
    }
}

fn scaled(tokens: usize, budget: usize) -> usize {
    tokens * budget / TOTAL_TOKENS
}

fn part(section: Section, place: usize, mut text: String) -> ShownPart {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let tokens = estimate(&text);
    ShownPart { section, place, text, tokens, is_shown: false }
}

impl Entry {
    fn section(&self) -> Section {
        match self.kind {
            EntryKind::Value { .. } | EntryKind::Result { .. } => Section::Results,
            EntryKind::State { .. } => Section::Execution,
            EntryKind::Retrieved { .. } => Section::Retrieved,
        }
    }

    fn label(&self) -> String {
        let label = match &self.kind {
            EntryKind::Value { scope, key, .. } => format!("{}.{}", scope.as_str(), one_line(key)),
            EntryKind::Result { subtask } => one_line(subtask),
            EntryKind::State { phase } => one_line(phase),
            EntryKind::Retrieved { source } => one_line(source),
        };
        let short: String = label.chars().take(60).collect();
        format!("{short} [{}]", self.reference())
    }

    /// Writes the entry with its head and tail where it has more than `most` tokens.
    pub(super) fn whole(&self, most: usize) -> String {
        let cut = if most == usize::MAX { None } else { truncate(&self.text, most) };
        let text = cut.as_deref().unwrap_or(&self.text);
        format!("- {}: {}\n", self.label(), quoted(text))
    }

    /// Writes the entry as one line, or whole where it is no longer than a line may be.
    pub(super) fn line(&self) -> String {
        if self.tokens.whole <= LINE_TOKENS {
            return self.whole(usize::MAX);
        }
        let label = self.label();
        let words = one_line(&self.text.chars().take(120).collect::<String>());
        let line = |words: &str| format!("- {label}: {}…\n", quoted(words));
        let mut shown = words.as_str();
        while estimate(&line(shown)) > LINE_TOKENS && !shown.is_empty() {
            let half = shown.chars().count() / 2;
            shown = shown.char_indices().nth(half).map_or("", |(at, _)| &shown[..at]);
        }
        line(shown)
    }
}

impl TaskContext {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if !self.description.is_empty() {
            let _ = writeln!(text, "{}", quoted(&self.description));
        }
        let mut list = |title: &str, items: &[&String]| {
            for item in items {
                let _ = writeln!(text, "- {title}: {}", quoted(&one_line(item)));
            }
        };
        list("goal", &self.goals.iter().collect::<Vec<_>>());
        list("done when", &self.success_criteria.iter().collect::<Vec<_>>());
        let of = |critical: bool| self.constraints.iter().filter(move |of| of.critical == critical).map(|of| &of.text);
        list("always", &of(true).collect::<Vec<_>>());
        list("constraint", &of(false).collect::<Vec<_>>());
        for step in &self.plan {
            let needs = if step.depends_on.is_empty() {
                String::new()
            } else {
                format!(" (needs {})", step.depends_on.join(", "))
            };
            let _ = writeln!(text, "- step {}: {}{}", quoted(&step.id), quoted(&one_line(&step.title)), quoted(&needs));
        }
        text
    }
}

impl ExecutionState {
    pub(super) fn text(&self, task: &TaskContext) -> String {
        let mut text = String::new();
        if !self.phase.is_empty() {
            let _ = writeln!(text, "- phase: {}", quoted(&one_line(&self.phase)));
        }
        if let Some(current) = &self.current {
            let title = task.plan.iter().find(|step| step.id == *current).map_or("", |step| &step.title);
            let _ = writeln!(text, "- in work: {} {}", quoted(current), quoted(&one_line(title)));
        }
        if !self.completed.is_empty() {
            let _ = writeln!(text, "- done: {}", quoted(&self.completed.join(", ")));
        }
        for failed in &self.failed {
            let _ = writeln!(text, "- failed: {}: {}", quoted(&failed.id), quoted(&one_line(&failed.error)));
        }
        text
    }
}
