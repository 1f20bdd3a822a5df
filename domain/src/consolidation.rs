//! Consolidation keeps what was recorded small and true: it merges episodes and memories that tell the same, finds
//! candidates for patterns, moves patterns to the stage that their applications speak for, and refines or retires them.
//! `run` is the record of one run, `history` what things were before a run changed them, so that the run can be undone.
//! `clusters` finds the episodes that tell the same, and `duplicates` the memories that say the same. `proposals` is
//! what a model is shown of episodes that are alike, and which of its answers become candidates. `schedule` says when a
//! run is due, and `undo` how a run is taken back.

pub mod clusters;
pub mod duplicates;
pub mod history;
pub mod proposals;
pub mod run;
pub mod schedule;
pub mod undo;

pub use history::{HistoryEntry, Undo};
pub use proposals::{AcceptedPatterns, EpisodeCluster, PROPOSALS_MAX, PatternProposal, PatternProposals};
pub use run::{
    AfterRun, ChangeKind, ConsolidationRun, ModelReading, RunChange, RunPage, RunTrigger, Skipped, SkippedBecause,
    StageName, StageReport, Undone,
};
pub use schedule::{ConsolidationSchedule, may_begin};
