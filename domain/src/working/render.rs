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
    /// The place of its entry among all, where it is a whole one.
    whole_entry: Option<usize>,
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
            let waits = |(_, part): &&(Temperature, ShownPart)| !part.is_shown && part.whole_entry.is_some();
            let mut waiting = parts.iter().filter(waits).count();
            for index in &order {
                let (temperature, part) = &mut parts[*index];
                let room = scaled(part.section.budget(), budget).saturating_sub(used[part.section as usize]);
                // What is lent leaves a line for each of the others.
                let others = if lends { waiting.saturating_sub(1) * LINE_TOKENS } else { 0 };
                let has_room = *temperature == Temperature::Hot || part.tokens <= room || lends;
                if !part.is_shown && has_room && part.tokens + others <= left {
                    waiting -= usize::from(part.whole_entry.is_some());
                    part.is_shown = true;
                    left -= part.tokens;
                    used[part.section as usize] += part.tokens;
                }
            }
        }
        // A whole entry for which there is no room may still be a line.
        for index in order {
            let part = &mut parts[index].1;
            let Some(entry) = part.whole_entry.filter(|_| !part.is_shown) else { continue };
            let line = self.state.entries[entry].line();
            let tokens = estimate(&line);
            if tokens <= left {
                left -= tokens;
                (part.text, part.tokens, part.is_shown) = (line, tokens, true);
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
        let entries = self.entry_parts(budget);
        let mut parts = self.fixed_parts(budget, &entries);
        parts.extend(entries);
        parts
    }

    /// Makes the parts that there is one of. Each has the budget of its section and what the other sections leave of
    /// theirs; what is too long then is shown with its head and its tail. The critical constraints come first.
    fn fixed_parts(&self, budget: usize, entries: &[(Temperature, ShownPart)]) -> Vec<(Temperature, ShownPart)> {
        let state = &self.state;
        let fixed = [
            (Section::Task, state.task.critical_text()),
            (Section::System, state.system.to_string()),
            (Section::Task, state.task.other_text()),
            (Section::Execution, state.execution.text(&state.task)),
        ];
        let fixed: Vec<ShownPart> = fixed
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(section, text)| part(section, 0, text))
            .collect();
        let of = |section: Section| {
            let all = fixed.iter().chain(entries.iter().map(|(_, part)| part));
            all.filter(|part| part.section == section).map(|part| part.tokens).sum::<usize>()
        };
        let taken = Section::ALL.map(|section| of(section).min(scaled(section.budget(), budget)));
        let mut left = budget.saturating_sub(FRAME_TOKENS).saturating_sub(taken.iter().sum());
        let mut shown = Vec::new();
        for ShownPart { section, place, text, tokens, .. } in fixed {
            // The task has two parts, which share the budget of their section.
            let of_section = shown.iter().filter(|(_, part): &&(_, ShownPart)| part.section == section);
            let used: usize = of_section.map(|(_, part)| part.tokens).sum();
            let own = scaled(section.budget(), budget).saturating_sub(used);
            let most = (own + left).min(section.budget().saturating_sub(used));
            let cut = truncate(&text, most);
            left -= tokens.min(most).saturating_sub(own);
            shown.push((Temperature::Hot, part(section, place, cut.unwrap_or(text))));
        }
        shown
    }

    /// Makes a part of each entry, the newest first.
    fn entry_parts(&self, budget: usize) -> Vec<(Temperature, ShownPart)> {
        let state = &self.state;
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
            let whole_entry = (entry.form == EntryForm::Whole).then_some(state.entries.len() - 1 - place);
            (temperature, ShownPart { whole_entry, ..part(entry.section(), place + 1, text) })
        });
        entries.collect()
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
    ShownPart { section, place, text, tokens, whole_entry: None, is_shown: false }
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
    /// Writes the constraints that hold whatever happens.
    pub(super) fn critical_text(&self) -> String {
        let critical = self.constraints.iter().filter(|of| of.critical);
        critical.map(|of| format!("- always: {}\n", quoted(&one_line(&of.text)))).collect()
    }

    /// Writes everything but the critical constraints.
    pub(super) fn other_text(&self) -> String {
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
        let others = self.constraints.iter().filter(|of| !of.critical).map(|of| &of.text);
        list("constraint", &others.collect::<Vec<_>>());
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
