//! Working memory: what one running task needs at hand, within a budget of tokens. It is a state machine. An operation
//! changes it, and the same operations in the same order make the same state again, so that a log of them is all that
//! has to be stored. `entry` says what is held, `task` what the task is and how far it is, `admission` which operations
//! are let in together, `prune` what gives way when the budget is used up, `render` what is shown, `related_texts` what
//! earlier tasks say about it, `session_task` what a transcript says of it, and `task_end` what episode is kept of a task
//! that is closed.
//!
//! Nothing that was set is lost before the task is closed: what gives way is shown as one line with a reference, and
//! the reference still leads to the whole.

mod admission;
mod budget;
mod entry;
mod operation;
mod prune;
mod related_texts;
mod render;
mod session_task;
mod task;
mod task_end;

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub use budget::Section;
pub use entry::{Entry, EntryForm, EntryKind, NoReference, Reference, ValueScope, WorkingValueKind};
pub use operation::{Operation, SetValue, WorkingInvalid, WorkingWarning};
pub use related_texts::{episode_text, memory_text};
pub use render::{RenderedContext, RenderedSection};
pub use session_task::{SessionTask, session_of};
pub use task::{Constraint, ExecutionState, FailedSubtask, PlannedSubtask, TaskContext};
pub use task_end::{MAX_INSIGHTS, TaskEnd, TaskEpisode};

/// The most tokens that are held in the foreground, and shown.
pub const TOTAL_TOKENS: usize = 20_000;
/// A task holds at most this many entries.
pub const MAX_ENTRIES: usize = 2_000;
/// The texts of a task have at most this many bytes together.
pub const MAX_BYTES: usize = 16 << 20;
/// One value or result has at most this many bytes.
pub const VALUE_MAX_BYTES: usize = 64 << 10;
/// The days after which a task that nobody touched is over.
pub const UNTOUCHED_DAYS: i64 = 14;
/// A task keeps its newest snapshots.
pub const MAX_SNAPSHOTS: usize = 8;

/// The working memory of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkingMemory {
    state: TaskState,
    snapshots: VecDeque<TaskSnapshot>,
    next_snapshot: u32,
    begun_at: Timestamp,
    touched_at: Timestamp,
    /// The end of the task. Nothing changes any more once it is set.
    end: Option<TaskEnd>,
}

/// The effects of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkingChange {
    /// The entries that are new.
    pub added: Vec<Reference>,
    pub warnings: Vec<WorkingWarning>,
}

impl WorkingChange {
    /// Adds what a later operation did.
    pub fn extend(&mut self, later: Self) {
        self.added.extend(later.added);
        let new = later.warnings.into_iter().filter(|warning| !self.warnings.contains(warning)).collect::<Vec<_>>();
        self.warnings.extend(new);
    }
}

/// The state that a snapshot holds and a restore brings back.
#[derive(Debug, Clone, PartialEq)]
struct TaskState {
    task: TaskContext,
    execution: ExecutionState,
    entries: Vec<Entry>,
    next_entry: u32,
    /// The abilities of the agent, as the client describes them.
    system: Arc<str>,
    /// The tokens of what is always shown: the agent, the task, and how far it is.
    fixed_tokens: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct TaskSnapshot {
    id: u32,
    taken_at: Timestamp,
    state: Arc<TaskState>,
}

impl WorkingMemory {
    /// Begins the working memory of a task, with what is always true of the agent.
    pub fn new(system: &str, at: Timestamp) -> Self {
        let mut state = TaskState {
            task: TaskContext::default(),
            execution: ExecutionState::default(),
            entries: Vec::new(),
            next_entry: 1,
            system: system.into(),
            fixed_tokens: 0,
        };
        state.count_fixed();
        Self { state, snapshots: VecDeque::new(), next_snapshot: 1, begun_at: at, touched_at: at, end: None }
    }

    pub fn task(&self) -> &TaskContext {
        &self.state.task
    }

    pub fn execution(&self) -> &ExecutionState {
        &self.state.execution
    }

    /// Returns everything that is held, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.state.entries
    }

    /// About how many tokens are at hand: hardly more than [`Self::context`] shows of them, and never less.
    pub fn tokens(&self) -> usize {
        self.state.foreground()
    }

    /// Returns the time of the last operation before the task was closed.
    pub fn touched_at(&self) -> Timestamp {
        self.touched_at
    }

    /// Says whether the task is over because nobody touched it for [`UNTOUCHED_DAYS`].
    pub fn is_untouched(&self, now: Timestamp) -> bool {
        Self::untouched_since(now).is_some_and(|since| self.touched_at <= since)
    }

    /// Returns the time since which a task that is over was not touched.
    pub fn untouched_since(now: Timestamp) -> Option<Timestamp> {
        now.checked_sub(SignedDuration::from_hours(24 * UNTOUCHED_DAYS)).ok()
    }

    /// Returns how the task ended; none where it is open.
    pub fn end(&self) -> Option<&TaskEnd> {
        self.end.as_ref()
    }

    /// Lists the snapshots that can be restored, oldest first.
    pub fn snapshots(&self) -> impl Iterator<Item = (u32, Timestamp)> {
        self.snapshots.iter().map(|snapshot| (snapshot.id, snapshot.taken_at))
    }

    /// Returns the value under a key.
    pub fn value(&self, scope: ValueScope, key: &str) -> Option<&Entry> {
        self.state.entries.iter().find(|entry| entry.is_value(scope, key))
    }

    /// Returns the entry that a reference names.
    pub fn resolve(&self, reference: Reference) -> Option<&Entry> {
        self.state.entries.iter().find(|entry| entry.reference() == reference)
    }

    /// Carries out an operation. Afterwards what is held in the foreground is within [`TOTAL_TOKENS`].
    ///
    /// # Errors
    /// The operation is not possible, and nothing has changed.
    pub fn apply(&mut self, operation: &Operation, at: Timestamp) -> Result<WorkingChange, WorkingInvalid> {
        operation.check(self)?;
        if let Operation::Close(end) = operation {
            self.end = Some(end.clone());
            return Ok(WorkingChange::default());
        }
        let first = self.state.next_entry;
        match operation {
            Operation::LoadTask(task) => {
                self.state.load_task(task);
            }
            Operation::Set(set) => self.state.set(set, at),
            Operation::PushState { state, note } => self.state.push_state(state.as_ref(), note.as_deref(), at),
            Operation::AddIntermediate { subtask, output } => self.state.add_result(subtask, output, at),
            Operation::Retrieve(items) => {
                for (source, text) in items {
                    self.state.add_retrieved(source, text, at);
                }
            }
            Operation::Read(reference) => {
                let read = self.state.entries.iter_mut().find(|entry| entry.reference() == *reference);
                read.into_iter().for_each(|entry| entry.is_read = true);
            }
            Operation::Prune => self.state.prune_to(TOTAL_TOKENS / 2),
            Operation::Snapshot => {
                let state = Arc::new(self.state.clone());
                let snapshot = TaskSnapshot { id: self.next_snapshot, taken_at: at, state };
                self.snapshots.push_back(snapshot);
                self.next_snapshot += 1;
                if self.snapshots.len() > MAX_SNAPSHOTS {
                    self.snapshots.pop_front();
                }
            }
            Operation::Restore(id) => {
                if let Some(snapshot) = self.snapshots.iter().find(|snapshot| snapshot.id == *id) {
                    // A number that was given once is never given again, so that a reference means one thing.
                    self.state = TaskState { next_entry: first, ..TaskState::clone(&snapshot.state) };
                }
            }
            Operation::Close(_) => {}
        }
        self.touched_at = at;
        let added = self.state.entries.iter().filter(|entry| entry.id >= first).map(Entry::reference).collect();
        Ok(WorkingChange { added, warnings: self.state.prune() })
    }
}

#[cfg(test)]
mod tests;
