//! The enums of a memory: outcome, scope, source, status and trust, each value with the word that it is stored and
//! shown as.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of the experience behind a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MemoryOutcome {
    Success,
    Failure,
    Mixed,
}

/// The readers of a memory: its workspace, its team or its organisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    #[default]
    Project,
    Team,
    Org,
}

impl Scope {
    /// The scopes that more than one workspace reads.
    pub const SHARED: [Self; 2] = [Self::Team, Self::Org];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceType {
    Solve,
    Explicit,
    PassiveLearning,
    Distilled,
    Consolidated,
    Imported,
}

/// Whose word a memory is; a derived memory is trusted no more than its least trusted source
/// ([`super::Memory::derive_from`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    Model,
    Tool,
    Agent,
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    #[default]
    Active,
    Archived,
    Superseded,
    Quarantined,
}

/// Gives each enum the lowercase words that its variants are stored and shown as.
macro_rules! words {
    ($($name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        impl $name {
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    )+};
}
words! {
    MemoryOutcome { Success = "success", Failure = "failure", Mixed = "mixed" }
    Scope { Project = "project", Team = "team", Org = "org" }
    SourceType {
        Solve = "solve", Explicit = "explicit", PassiveLearning = "passive_learning",
        Distilled = "distilled", Consolidated = "consolidated", Imported = "imported",
    }
    Trust { Model = "model", Tool = "tool", Agent = "agent", User = "user" }
    Status { Active = "active", Archived = "archived", Superseded = "superseded", Quarantined = "quarantined" }
}

/// The amount of work in a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(description = "")]
pub enum Complexity {
    Low,
    Medium,
    High,
}

impl Complexity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Reads a complexity by its name, in any case.
    pub fn of(text: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|one| text.trim().eq_ignore_ascii_case(one.as_str()))
    }
}
