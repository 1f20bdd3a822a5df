//! Episodes: what happened in one task. An episode is a trace; its document is a second view of the same record.
//!
//! `document` is the document and how it is made of a trace and its state. `recording` checks what a caller reports and
//! makes a trace of it. `labels` is what an episode is found by. `task_type` and `tool_name` are rules that label tasks
//! and tools. `lifecycle` is what changes of an episode after it was stored: phase, deletion, access. `filter` says
//! which episodes a question is about, `score` and `failures` rank them, `vectors` compares their meanings,
//! `duplicate` says when two are the same, and `artefact` is what is kept beside the body.

mod artefact;
mod document;
mod duplicate;
mod failures;
mod filter;
mod labels;
mod lifecycle;
mod recording;
mod score;
mod search;
mod task_type;
mod tool_name;
mod vectors;

pub use artefact::{
    ARTEFACT_MAX_BYTES, ARTEFACT_PAGE_MAX_BYTES, ARTEFACTS_MAX, ARTEFACTS_MAX_BYTES, Artefact, ArtefactText,
    INLINE_MAX_BYTES, NewArtefact,
};
pub use document::{Episode, EpisodeOutcome, EpisodeStatus, EpisodeTask, EpisodeVerdictSource, LifecycleView};
pub use duplicate::{DUPLICATE_MINUTES, content_key, not_taken, not_taken_of};
pub use failures::{FailureMatch, FailureTier, matched_failure, resolved_failure};
pub use filter::EpisodeFilter;
pub use labels::{EpisodeLabels, EpisodeTexts, WHOLE_MAX_CHARS};
pub use lifecycle::{
    EpisodePhase, EpisodeState, EpisodeTimes, LifecycleProblem, LifecycleRules, REFERENCES_MAX, Visibility,
};
pub use recording::{BODY_MAX_BYTES, EntryBounds, MadeEpisode, NewEpisode, NewOutcome};
pub use score::{EpisodeScore, RECENT_DAYS, ScoreInputs, ScoredEpisode};
pub use search::{
    ArchivedEpisode, DeletedEpisode, EpisodeFound, EpisodeHits, EpisodeList, EpisodeSummary, FoundBecause,
    PurgedEpisodes, RecordedEpisode, ReportedEpisode, RestoredEpisode, Strategy,
};
pub use task_type::{OTHER_TASK, complexity, task_type};
pub(crate) use tool_name::is_preparation;
pub use tool_name::{is_shell, tool_name};
pub use vectors::{EpisodeVectors, QuantizedVector};
