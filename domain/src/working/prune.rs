//! The rules of what gives way when the budget is used up, each step only as far as needed: results that nothing
//! planned needs, notes of former states, retrieved texts that nobody read, and at last everything that is not hot,
//! with a warning.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::budget::{FRAME_TOKENS, Section};
use super::entry::{Entry, EntryForm, EntryKind, ValueScope, WorkingValueKind};
use super::operation::{SetValue, WorkingWarning, text_of};
use super::task::{ExecutionState, TaskContext};
use super::{TOTAL_TOKENS, TaskState};
use crate::text::tokens::estimate;

/// The number of subtasks whose results are recent.
const RECENT_SUBTASKS: usize = 5;

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

    /// Takes a task in place of the one before. What is known of steps that its plan no longer has goes with them.
    pub(super) fn load_task(&mut self, task: &TaskContext) {
        self.task = task.clone();
        self.reach(self.execution.within(&task.plan));
    }

    /// Takes how far the task is. What steers a subtask ends with it; what steers the whole task stays.
    fn reach(&mut self, state: ExecutionState) {
        if self.execution.current != state.current {
            let of_subtask = |scope: ValueScope| matches!(scope, ValueScope::Execution | ValueScope::Intermediate);
            let steers = |entry: &Entry| match entry.kind {
                EntryKind::Value { kind: WorkingValueKind::ControlFlow, scope, .. } => of_subtask(scope),
                _ => false,
            };
            self.entries.retain(|entry| !steers(entry));
        }
        self.execution = state;
        self.count_fixed();
    }

    pub(super) fn push_state(&mut self, state: Option<&ExecutionState>, note: Option<&str>, at: Timestamp) {
        if let Some(state) = state {
            self.reach(state.clone());
        }
        if let Some(note) = note {
            self.add(EntryKind::State { phase: self.execution.phase.clone() }, note.into(), at);
        }
    }

    pub(super) fn add_result(&mut self, subtask: &str, output: &serde_json::Value, at: Timestamp) {
        self.add(EntryKind::Result { subtask: subtask.to_owned() }, text_of(output).into(), at);
    }

    pub(super) fn add_retrieved(&mut self, source: &str, text: &str, at: Timestamp) {
        let is_there = |entry: &Entry| match &entry.kind {
            EntryKind::Retrieved { source: of } => of == source && *entry.text == *text,
            _ => false,
        };
        if !self.entries.iter().any(is_there) {
            self.add(EntryKind::Retrieved { source: source.to_owned() }, text.into(), at);
        }
    }

    /// Says which entry is the newest result, which is always shown.
    pub(super) fn hot(&self) -> Option<u32> {
        self.entries.iter().rev().find(|entry| entry.is_result()).map(|entry| entry.id)
    }

    /// Brings what is in the foreground within the budget.
    pub(super) fn prune(&mut self) -> Vec<WorkingWarning> {
        self.raise_hot();
        if self.foreground() <= TOTAL_TOKENS {
            return Vec::new();
        }
        self.prune_to(TOTAL_TOKENS);
        let room = self.room(TOTAL_TOKENS);
        if self.entry_tokens() <= room {
            return Vec::new();
        }
        let hot = self.hot();
        for form in [EntryForm::Line, EntryForm::Counted] {
            self.lower(room, form, |entry| Some(entry.id) != hot);
        }
        vec![WorkingWarning::ShortenedMuch]
    }

    /// Makes room by what can be spared, as far as that goes.
    pub(super) fn prune_to(&mut self, limit: usize) {
        let room = self.room(limit);
        let recent = self.recent_subtasks();
        let is_old = |entry: &&Entry| match &entry.kind {
            EntryKind::Result { subtask } => {
                !recent.contains(subtask) && !self.task.is_needed(subtask, &self.execution)
            }
            _ => false,
        };
        let old: HashSet<u32> = self.entries.iter().filter(is_old).map(|entry| entry.id).collect();
        self.lower(room, EntryForm::Line, |entry| old.contains(&entry.id));
        let is_state = |entry: &Entry| matches!(entry.kind, EntryKind::State { .. });
        let newest = self.entries.iter().rev().find(|entry| is_state(entry)).map(|entry| entry.id);
        self.lower(room, EntryForm::Line, |entry| is_state(entry) && Some(entry.id) != newest);
        let mut held = self.entry_tokens();
        self.entries.retain(|entry| {
            let goes = held > room && !entry.is_read && matches!(entry.kind, EntryKind::Retrieved { .. });
            if goes {
                held -= cost(entry, None);
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

    /// Gives entries a lower form, oldest first, until they take at most `room` tokens.
    fn lower(&mut self, room: usize, form: EntryForm, may_go: impl Fn(&Entry) -> bool) {
        let (mut held, hot) = (self.entry_tokens(), self.hot());
        for entry in &mut self.entries {
            if held <= room {
                return;
            }
            if entry.form > form && may_go(entry) {
                held -= cost(entry, hot);
                entry.form = form;
                held += cost(entry, hot);
            }
        }
    }

    /// About how many tokens are in the foreground: never less than what is shown of it.
    pub(super) fn foreground(&self) -> usize {
        FRAME_TOKENS + self.fixed_tokens + self.entry_tokens()
    }

    /// Returns the tokens that entries may take where the foreground has at most `limit`.
    fn room(&self, limit: usize) -> usize {
        limit.saturating_sub(FRAME_TOKENS + self.fixed_tokens)
    }

    fn entry_tokens(&self) -> usize {
        let hot = self.hot();
        self.entries.iter().map(|entry| cost(entry, hot)).sum()
    }

    /// Counts what is always shown. It takes longer than all else here, and is done only where that changes.
    pub(super) fn count_fixed(&mut self) {
        // Each ends with a line break, which may be a token of its own.
        let of = |section: Section, text: &str| estimate(text).min(section.budget()) + 1;
        self.fixed_tokens = of(Section::System, &self.system)
            + of(Section::Task, &(self.task.critical_text() + &self.task.other_text()))
            + of(Section::Execution, &self.execution.text(&self.task));
    }
}

fn cost(entry: &Entry, hot: Option<u32>) -> usize {
    match entry.form {
        EntryForm::Whole if Some(entry.id) == hot => entry.tokens.newest,
        EntryForm::Whole => entry.tokens.whole,
        EntryForm::Line => entry.tokens.line,
        EntryForm::Counted => 0,
    }
}
