//! One thing that another program remembered, before it is a memory here.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

/// The use of a thing that was remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// It says what to do.
    Strategy,
    /// It says what goes wrong.
    Warning,
    /// It says what is so, and is no advice.
    Fact,
}

/// The reason why a thing is not imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    Deleted,
    /// Something newer took the place of a fact.
    Outdated,
    Sensitive,
    Empty,
    Duplicate,
    Unreadable,
    TooOld,
    Invalid,
    /// The memory bank has no room for more imported facts.
    NoRoom,
    /// No directory here is known for its project.
    OtherProject,
}

impl SkipReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deleted => "deleted in the source",
            Self::Outdated => "superseded in the source",
            Self::Sensitive => "marked as sensitive",
            Self::Empty => "without text",
            Self::Duplicate => "said twice in the source",
            Self::Unreadable => "not readable",
            Self::TooOld => "older than --since",
            Self::Invalid => "not valid as a memory",
            Self::OtherProject => "of projects that no directory here is known for",
            Self::NoRoom => "facts beyond the room that a memory bank has for them, the oldest",
        }
    }
}

/// A thing that was remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceItem {
    /// Its identity in the source, which stays the same in every import.
    pub origin: String,
    /// The project it belongs to: a path, or a name where the source knows no path.
    pub project: Option<String>,
    pub kind: ItemKind,
    pub title: String,
    /// The situation in which it is of use. Empty where the source does not say.
    pub when: String,
    pub content: String,
    pub tags: Vec<String>,
    /// The time at which it was made. None where the source does not say.
    pub created_at: Option<Timestamp>,
    /// Something newer took its place in the source.
    pub is_outdated: bool,
}

impl SourceItem {
    pub(crate) fn new(origin: impl Into<String>, kind: ItemKind) -> Self {
        Self {
            origin: origin.into(),
            project: None,
            kind,
            title: String::new(),
            when: String::new(),
            content: String::new(),
            tags: Vec::new(),
            created_at: None,
            is_outdated: false,
        }
    }
}

/// One thing that a source gives.
#[derive(Debug, Clone, PartialEq)]
pub enum SourceEntry {
    Item(SourceItem),
    Skipped(SkipReason),
    Unreadable(UnreadablePart),
}

/// A file of a source, or a line of one, that cannot be read while others can.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadablePart {
    pub file: PathBuf,
    /// The number of the line, where the format has one thing a line.
    pub line: Option<u64>,
    pub problem: String,
}

impl fmt::Display for UnreadablePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}
