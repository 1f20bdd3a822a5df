//! Words that arguments may be: those of enums of the domain.

use clap::ValueEnum;
use reasoning_bank_actors::memories::ScopeFilter;
use reasoning_bank_domain::episode::{EpisodeStatus, Strategy};
use reasoning_bank_domain::memory::Complexity;
use reasoning_bank_domain::memory::pattern::{PatternCategory, PatternStage};
use reasoning_bank_domain::memory::trace::MattsMode;
use reasoning_bank_domain::memory::{MemoryOutcome, Scope, SourceType, Status};
use reasoning_bank_domain::retrieval::score::ProfileName;

/// The words of a domain enum as values of an argument.
macro_rules! words {
    ($($name:ident for $target:ident { $($variant:ident),+ })+) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        #[value(rename_all = "snake_case")]
        pub(in crate::cli) enum $name { $($variant),+ }

        impl From<$name> for $target {
            fn from(word: $name) -> Self {
                match word { $($name::$variant => Self::$variant),+ }
            }
        }
    )+};
}
words! {
    ModeArg for MattsMode { Parallel, Sequential }
    EpisodeStatusArg for EpisodeStatus { Success, Partial, Failure }
    StrategyArg for Strategy { Semantic, Structured, Hybrid, Temporal, Failure }
    ProfileArg for ProfileName { Composite, Paper, Cascade, Episodic }
    OutcomeArg for MemoryOutcome { Success, Failure, Mixed }
    ScopeArg for Scope { Project, Team, Org }
    ScopeFilterArg for ScopeFilter { Cascade, Project, Team, Org }
    SourceArg for SourceType { Solve, Explicit, PassiveLearning, Distilled, Consolidated, Imported }
    StageArg for PatternStage { Candidate, Validated, UnderReview, Deprecated }
    CategoryArg for PatternCategory {
        Strategy, Decomposition, Sequence, ToolSelection, Failure, Recovery, Optimization, Domain
    }
    ComplexityArg for Complexity { Low, Medium, High }
    StatusArg for Status { Active, Archived, Superseded, Quarantined }
}
