//! The entries of a working memory: values, results of subtasks, states, and what was retrieved for the task.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::HOT_RESULT_TOKENS;
use crate::text::tokens::estimate;

/// The lifetime and visibility of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ValueScope {
    Global,
    Task,
    Execution,
    Intermediate,
}

impl ValueScope {
    pub const ALL: [Self; 4] = [Self::Global, Self::Task, Self::Execution, Self::Intermediate];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Task => "task",
            Self::Execution => "execution",
            Self::Intermediate => "intermediate",
        }
    }
}

/// The use of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkingValueKind {
    /// It was read out of the task.
    Task,
    /// It came out of a subtask.
    #[default]
    Intermediate,
    /// It grows from subtask to subtask.
    Accumulator,
    /// It counts or steers within a subtask, and is gone when another subtask begins.
    ControlFlow,
    /// It says what the task used. It stays after the task is closed.
    Metadata,
}

/// The kind of an entry, with its name.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryKind {
    Value {
        scope: ValueScope,
        key: String,
        kind: WorkingValueKind,
    },
    Result {
        subtask: String,
    },
    /// A note that was made with a state of the task.
    State {
        phase: String,
    },
    /// A copy of something stored, such as `episode <id>`.
    Retrieved {
        source: String,
    },
}

/// The degree to which an entry is in the foreground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryForm {
    /// It is only counted among those that are not shown.
    Counted,
    /// One line with a reference.
    Line,
    Whole,
}

/// The name of an entry, written `result:7`. It stays good until the task is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Reference {
    kind: ReferenceKind,
    id: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ReferenceKind {
    Value,
    Result,
    State,
    Retrieved,
}

impl ReferenceKind {
    const ALL: [Self; 4] = [Self::Value, Self::Result, Self::State, Self::Retrieved];

    fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Result => "result",
            Self::State => "state",
            Self::Retrieved => "retrieved",
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.id)
    }
}

impl Reference {
    pub(super) fn is_of_result(self) -> bool {
        self.kind == ReferenceKind::Result
    }
}

/// A text is no reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a reference has the form result:7, and {0:?} has not")]
pub struct NoReference(String);

impl FromStr for Reference {
    type Err = NoReference;

    /// Reads `result:7`, with or without the brackets in which it is shown.
    fn from_str(text: &str) -> Result<Self, NoReference> {
        let bare = text.trim().trim_start_matches('[').trim_end_matches(']');
        let read = || {
            let (kind, id) = bare.split_once(':')?;
            let kind = ReferenceKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
            Some(Self { kind, id: id.parse().ok()? })
        };
        read().ok_or_else(|| NoReference(text.chars().take(40).collect()))
    }
}

impl TryFrom<String> for Reference {
    type Error = NoReference;

    fn try_from(text: String) -> Result<Self, NoReference> {
        text.parse()
    }
}

impl From<Reference> for String {
    fn from(reference: Reference) -> Self {
        reference.to_string()
    }
}

/// About how many tokens an entry has in each of its forms, with its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ShownTokens {
    pub(super) whole: usize,
    /// As the newest result, with head and tail where it is long.
    pub(super) newest: usize,
    pub(super) line: usize,
}

/// Something that is held for a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub(super) id: u32,
    pub kind: EntryKind,
    /// The whole text. A value that is no string is written as JSON.
    pub text: Arc<str>,
    /// About how many tokens the entry has as it is shown.
    pub(super) tokens: ShownTokens,
    pub at: Timestamp,
    pub form: EntryForm,
    /// Somebody has asked for it.
    pub is_read: bool,
}

impl Entry {
    pub(super) fn new(id: u32, kind: EntryKind, text: Arc<str>, at: Timestamp) -> Self {
        let tokens = ShownTokens::default();
        let mut entry = Self { id, kind, text, tokens, at, form: EntryForm::Whole, is_read: false };
        entry.tokens.whole = estimate(&entry.whole(usize::MAX));
        entry.tokens.newest = match entry.tokens.whole {
            whole if entry.is_result() && whole > HOT_RESULT_TOKENS => estimate(&entry.whole(HOT_RESULT_TOKENS)),
            whole => whole,
        };
        entry.tokens.line = estimate(&entry.line());
        entry
    }

    pub fn reference(&self) -> Reference {
        let kind = match self.kind {
            EntryKind::Value { .. } => ReferenceKind::Value,
            EntryKind::Result { .. } => ReferenceKind::Result,
            EntryKind::State { .. } => ReferenceKind::State,
            EntryKind::Retrieved { .. } => ReferenceKind::Retrieved,
        };
        Reference { kind, id: self.id }
    }

    pub(super) fn is_value(&self, in_scope: ValueScope, under: &str) -> bool {
        matches!(&self.kind, EntryKind::Value { scope, key, .. } if *scope == in_scope && key == under)
    }

    pub(super) fn is_result(&self) -> bool {
        matches!(self.kind, EntryKind::Result { .. })
    }
}
