//! The operations of a working memory, as they are stored, and what makes one impossible.

use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{Entry, Reference, ValueScope, WorkingValueKind};
use super::task::{ExecutionState, TaskContext};
use super::task_end::{MAX_INSIGHTS, TaskEnd};

use super::{MAX_BYTES, MAX_ENTRIES, VALUE_MAX_BYTES, WorkingMemory};
use crate::safety::secrets::{Removed, Scrub};

/// A list of the task has at most this many items, and a text of it at most [`VALUE_MAX_BYTES`].
const MAX_ITEMS: usize = 200;
/// A key or the id of a subtask has at most this many characters.
const NAME_MAX_CHARS: usize = 200;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", content = "of", rename_all = "snake_case")]
pub enum Operation {
    /// Says what the task is. This replaces what was said before.
    LoadTask(TaskContext),
    Set(SetValue),
    /// Says how far the task is, or what is worth knowing of it.
    PushState {
        state: Option<ExecutionState>,
        note: Option<String>,
    },
    /// Adds what a subtask gave.
    AddIntermediate {
        subtask: String,
        output: Value,
    },
    /// Adds copies of what is stored elsewhere: where each comes from, and its text. One that is there is not added
    /// again.
    Retrieve(Vec<(String, String)>),
    /// Notes that somebody asked for an entry.
    Read(Reference),
    /// Makes room before there is need: half of the budget.
    Prune,
    Snapshot,
    /// Goes back to a snapshot. Later ones stay.
    Restore(u32),
    /// Ends the task. No operation is possible afterwards.
    Close(TaskEnd),
}

/// A value under a key. It replaces the one that was there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetValue {
    pub key: String,
    #[serde(default = "task_scope")]
    pub scope: ValueScope,
    #[serde(default)]
    pub kind: WorkingValueKind,
    /// Any JSON, at most 64 KiB.
    pub value: Value,
}

fn task_scope() -> ValueScope {
    ValueScope::Task
}

/// An operation that is not possible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkingInvalid {
    #[error("{field}: {problem}")]
    Field { field: String, problem: String },
    #[error("the task holds {MAX_ENTRIES} entries or {} MiB, and no more", MAX_BYTES >> 20)]
    Full,
    #[error("there is no {0}")]
    NoReference(Reference),
    #[error("there is no snapshot {0}")]
    NoSnapshot(u32),
    #[error("the task is closed")]
    Closed,
}

impl WorkingInvalid {
    pub(super) fn field(field: &str, problem: String) -> Self {
        Self::Field { field: field.to_owned(), problem }
    }
}

/// An effect of an operation that its caller did not ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkingWarning {
    /// The budget was used up, so that entries which are still of use are shown as one line.
    ShortenedMuch,
}

impl WorkingWarning {
    pub fn text(self) -> &'static str {
        match self {
            Self::ShortenedMuch => {
                "the budget is used up: entries that may be of use are shown as one line, and their references have the whole"
            }
        }
    }
}

/// Returns a value as text: a string as it is, all else as JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Scrub for Operation {
    fn scrub(&mut self) -> Removed {
        fn all<'a>(texts: impl Iterator<Item = &'a mut String>) -> Removed {
            texts.map(Scrub::scrub).fold(Removed::default(), Add::add)
        }
        match self {
            Self::LoadTask(task) => all(task.texts_mut()),
            Self::Set(set) => set.key.scrub() + set.value.scrub(),
            Self::PushState { state, note } => all(state.iter_mut().flat_map(ExecutionState::texts_mut).chain(note)),
            Self::AddIntermediate { subtask, output } => subtask.scrub() + output.scrub(),
            Self::Retrieve(items) => all(items.iter_mut().flat_map(|(source, text)| [source, text])),
            Self::Close(end) => end.scrub(),
            Self::Read(_) | Self::Prune | Self::Snapshot | Self::Restore(_) => Removed::default(),
        }
    }
}

impl Operation {
    /// Says whether the state of the task is safe on the disk only when this is: what a client relies on after a crash
    /// of the machine.
    pub fn is_synced(&self) -> bool {
        match self {
            Self::LoadTask(_) | Self::PushState { .. } | Self::Snapshot | Self::Restore(_) | Self::Close(_) => true,
            Self::Set(_) | Self::AddIntermediate { .. } | Self::Retrieve(_) | Self::Read(_) | Self::Prune => false,
        }
    }

    pub(super) fn check(&self, memory: &WorkingMemory) -> Result<(), WorkingInvalid> {
        if memory.end().is_some() {
            return Err(WorkingInvalid::Closed);
        }
        let (entries, bytes) = match self {
            Self::LoadTask(task) => {
                check_items("task.goals", task.goals.len(), MAX_ITEMS)?;
                check_items("task.success_criteria", task.success_criteria.len(), MAX_ITEMS)?;
                check_items("task.constraints", task.constraints.len(), MAX_ITEMS)?;
                check_items("task.plan", task.plan.len(), MAX_ITEMS)?;
                for (n, step) in task.plan.iter().enumerate() {
                    check_name(&format!("task.plan[{n}].id"), &step.id)?;
                    check_items(&format!("task.plan[{n}].depends_on"), step.depends_on.len(), MAX_ITEMS)?;
                }
                (0, check_bytes("task", task.bytes(), 4 * VALUE_MAX_BYTES)?)
            }
            Self::Set(set) => {
                check_name("key", &set.key)?;
                (1, check_bytes("value", text_of(&set.value).len(), VALUE_MAX_BYTES)?)
            }
            Self::PushState { state, note } => {
                if let Some(state) = state {
                    check_items("state.failed", state.failed.len(), MAX_ITEMS)?;
                    check_items("state.completed", state.completed.len(), MAX_ITEMS)?;
                    check_bytes("state", state.bytes(), VALUE_MAX_BYTES)?;
                }
                let bytes = check_bytes("note", note.as_deref().unwrap_or_default().len(), VALUE_MAX_BYTES)?;
                (usize::from(note.is_some()), bytes)
            }
            Self::AddIntermediate { subtask, output } => {
                check_name("subtask", subtask)?;
                (1, check_bytes("output", text_of(output).len(), VALUE_MAX_BYTES)?)
            }
            Self::Retrieve(items) => {
                check_items("retrieved", items.len(), MAX_ITEMS)?;
                for (source, text) in items {
                    check_name("source", source)?;
                    check_bytes("text", text.len(), VALUE_MAX_BYTES)?;
                }
                (items.len(), items.iter().map(|(_, text)| text.len()).sum())
            }
            Self::Read(reference) => {
                return memory.resolve(*reference).map(|_| ()).ok_or(WorkingInvalid::NoReference(*reference));
            }
            Self::Restore(id) => {
                let known = memory.snapshots().any(|(known, _)| known == *id);
                return if known { Ok(()) } else { Err(WorkingInvalid::NoSnapshot(*id)) };
            }
            Self::Close(end) => {
                check_items("insights", end.insights.len(), MAX_INSIGHTS)?;
                check_bytes("insights", end.insights.iter().map(String::len).sum(), VALUE_MAX_BYTES)?;
                check_bytes("output", end.output.as_deref().unwrap_or_default().len(), VALUE_MAX_BYTES)?;
                return Ok(());
            }
            Self::Prune | Self::Snapshot => return Ok(()),
        };
        let is_replaced = |entry: &Entry| matches!(self, Self::Set(set) if entry.is_value(set.scope, &set.key));
        let kept: Vec<usize> =
            memory.entries().iter().filter(|entry| !is_replaced(entry)).map(|entry| entry.text.len()).collect();
        let held: usize = kept.iter().sum();
        let is_full = entries > 0 && (kept.len() + entries > MAX_ENTRIES || held + bytes > MAX_BYTES);
        if is_full { Err(WorkingInvalid::Full) } else { Ok(()) }
    }
}

fn check_items(field: &str, items: usize, max: usize) -> Result<(), WorkingInvalid> {
    let problem = || format!("has {items} items; at most {max} are allowed");
    if items > max { Err(WorkingInvalid::field(field, problem())) } else { Ok(()) }
}

fn check_name(field: &str, name: &str) -> Result<(), WorkingInvalid> {
    let problem = match name.chars().count() {
        _ if name.trim().is_empty() => "is missing or blank".to_owned(),
        chars if chars > NAME_MAX_CHARS => format!("has {chars} characters; at most {NAME_MAX_CHARS} are allowed"),
        _ => return Ok(()),
    };
    Err(WorkingInvalid::field(field, problem))
}

fn check_bytes(field: &str, bytes: usize, max: usize) -> Result<usize, WorkingInvalid> {
    let problem = || format!("has {bytes} bytes; at most {max} are allowed");
    if bytes > max { Err(WorkingInvalid::field(field, problem())) } else { Ok(bytes) }
}
