//! This room decides what an agent is shown before a task and when something fails, and reads what it tells at the end.
//!
//! `features` is what is known of the task, and `nearness` decides what is near enough to be shown. `entry` has the
//! words of each thing that was found, and `rendered` puts them into one text within a budget. `answer` and `recovery`
//! are the documents for callers. `learning` says what follows from an episode that is told at the end.

mod answer;
mod bank_section;
mod entry;
mod features;
mod learning;
mod nearness;
mod recovery;
mod rendered;
#[cfg(test)]
mod samples;

pub use answer::{
    ContextEpisode, ContextFailure, ContextForTask, ContextMemory, ContextPattern, EPISODES_MAX, FoundForTask,
    KNOWLEDGE_MAX, PATTERNS_MAX, WARNINGS_MAX,
};
pub use bank_section::{ContextSection, FoundSection, SECTIONS_MAX, sections_about};
pub use entry::ContextEntry;
pub use features::{ContextMap, error_features, task_features};
pub use learning::{
    ContextApplication, INSIGHTS_MAX, LearnedEpisode, ShownContext, ToldEpisode, ToldOutcome, episode_to_learn,
    lessons_of, status_of, verdict_of,
};
pub use nearness::{EPISODE_SIMILARITY, failure_score, is_about_error, is_similar};
pub use recovery::{FoundForError, KnownResolutions, RESOLVED_MAX, RecoveryAdvice};
pub use rendered::{BUDGET_DEFAULT, BUDGET_MAX, BUDGET_MIN, ContextText, best_first, rendered};
