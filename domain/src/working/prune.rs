//! What gives way when the budget is used up, each step only as far as needed: results that nothing planned needs, notes
//! of former states, retrieved texts that nobody read, and at last everything that is not hot, with a warning.

use std::sync::Arc;

use jiff::Timestamp;

use super::budget::{HOT_RESULT_TOKENS, LINE_TOKENS, Section};
use super::entry::{Entry, EntryForm, EntryKind, WorkingValueKind};
use super::operation::{SetValue, WorkingWarning, text_of};
use super::task::ExecutionState;
use super::{TOTAL_TOKENS, TaskState};
use crate::text::tokens::estimate;

/// The results of so many subtasks are recent.
const RECENT_SUBTASKS: usize = 5;
/// The label of an entry that is shown whole.
const LABEL_TOKENS: usize = 48;
/// Headings, and the line that counts what is not shown.
const FRAME_TOKENS: usize = 120;

impl TaskState {
    pub(super) fn add(&mut self, kind: EntryKind, text: Arc<str>, at: Timestamp) {
        self.entries.push(Entry::new(self.next_entry, kind, text, at));
        self.next_entry += 1;
    }

    pub(super) fn set(&mut self, set: &SetValue, at: Timestamp) {
        self.entries.retain(|entry| !entry.is_value(set.scope, &set.key));
        let kind = EntryKind::Value { scope: set.scope, key: set.key.clone(), kind: set.kind };
        self.add(kind, text_of(&set.value).into(), at);
    }

    pub(super) fn push_state(&mut self, state: Option<&ExecutionState>, note: Option<&str>, at: Timestamp) {
        if let Some(state) = state {
            if self.execution.current != state.current {
                let steers =
                    |entry: &Entry| matches!(entry.kind, EntryKind::Value { kind: WorkingValueKind::ControlFlow, .. });
                self.entries.retain(|entry| !steers(entry));
            }
            self.execution = state.clone();
        }
        if let Some(note) = note {
            self.add(EntryKind::State { phase: self.execution.phase.clone() }, note.into(), at);
        }
    }

    pub(super) fn add_result(&mut self, subtask: &str, output: &serde_json::Value, at: Timestamp) {
        self.add(EntryKind::Result { subtask: subtask.to_owned() }, text_of(output).into(), at);
    }

    /// Says which entry is the newest result, which is always shown.
    pub(super) fn hot(&self) -> Option<u32> {
        self.entries.iter().rev().find(|entry| entry.is_result()).map(|entry| entry.id)
    }

    /// Brings what is in the foreground within the budget.
    pub(super) fn prune(&mut self) -> Vec<WorkingWarning> {
        self.raise_hot();
        self.prune_to(TOTAL_TOKENS);
        if self.foreground() <= TOTAL_TOKENS {
            return Vec::new();
        }
        let hot = self.hot();
        for form in [EntryForm::Line, EntryForm::Counted] {
            self.lower(TOTAL_TOKENS, form, |entry| Some(entry.id) != hot);
        }
        vec![WorkingWarning::ShortenedMuch]
    }

    /// Makes room by what can be spared, as far as that goes.
    pub(super) fn prune_to(&mut self, limit: usize) {
        let (task, execution) = (self.task.clone(), self.execution.clone());
        let recent = self.recent_subtasks();
        let is_old = |entry: &Entry| match &entry.kind {
            EntryKind::Result { subtask } => !recent.contains(subtask) && !task.is_needed(subtask, &execution),
            _ => false,
        };
        self.lower(limit, EntryForm::Line, is_old);
        let is_state = |entry: &Entry| matches!(entry.kind, EntryKind::State { .. });
        let newest = self.entries.iter().rev().find(|entry| is_state(entry)).map(|entry| entry.id);
        self.lower(limit, EntryForm::Line, |entry| is_state(entry) && Some(entry.id) != newest);
        let mut foreground = self.foreground();
        self.entries.retain(|entry| {
            let goes = foreground > limit && !entry.is_read && matches!(entry.kind, EntryKind::Retrieved { .. });
            if goes {
                foreground -= cost(entry, None);
            }
            !goes
        });
    }

    /// Returns the subtasks with the newest results.
    pub(super) fn recent_subtasks(&self) -> Vec<String> {
        let mut recent: Vec<String> = Vec::new();
        for entry in self.entries.iter().rev() {
            if let EntryKind::Result { subtask } = &entry.kind
                && !recent.contains(subtask)
            {
                if recent.len() == RECENT_SUBTASKS {
                    break;
                }
                recent.push(subtask.clone());
            }
        }
        recent
    }

    /// Shows the newest result whole again, which a restored snapshot or a prune may have left as a line.
    fn raise_hot(&mut self) {
        let hot = self.hot();
        for entry in self.entries.iter_mut().filter(|entry| Some(entry.id) == hot) {
            entry.form = EntryForm::Whole;
        }
    }

    /// Gives entries a lower form, oldest first, until the foreground is within `limit`.
    fn lower(&mut self, limit: usize, form: EntryForm, may_go: impl Fn(&Entry) -> bool) {
        let (mut foreground, hot) = (self.foreground(), self.hot());
        for entry in &mut self.entries {
            if foreground <= limit {
                return;
            }
            if entry.form > form && may_go(entry) {
                foreground -= cost(entry, hot);
                entry.form = form;
                foreground += cost(entry, hot);
            }
        }
    }

    /// About how many tokens are in the foreground: never less than what is shown of it.
    pub(super) fn foreground(&self) -> usize {
        let fixed = self.fixed_tokens();
        let hot = self.hot();
        FRAME_TOKENS + fixed + self.entries.iter().map(|entry| cost(entry, hot)).sum::<usize>()
    }

    fn fixed_tokens(&self) -> usize {
        let of = |section: Section, text: &str| estimate(text).min(section.budget());
        of(Section::System, &self.system)
            + of(Section::Task, &self.task.text())
            + of(Section::Execution, &self.execution.text(&self.task))
    }
}

fn cost(entry: &Entry, hot: Option<u32>) -> usize {
    match entry.form {
        EntryForm::Whole if Some(entry.id) == hot => entry.tokens.min(HOT_RESULT_TOKENS) + LABEL_TOKENS,
        EntryForm::Whole => entry.tokens + LABEL_TOKENS,
        EntryForm::Line => LINE_TOKENS,
        EntryForm::Counted => 0,
    }
}
