//! The answers of `working`.

use jiff::Timestamp;
use reasoning_bank_domain::episode::EpisodeStatus;
use reasoning_bank_domain::memory::ids::{TraceId, WorkingId};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(in crate::cli) struct OpenTasks {
    pub(in crate::cli) tasks: Vec<OpenTask>,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct OpenTask {
    pub(in crate::cli) task_id: WorkingId,
    pub(in crate::cli) description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::cli) phase: String,
    pub(in crate::cli) touched_at: Timestamp,
    pub(in crate::cli) entries: usize,
    /// Another process has it open, and only that process can change it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::cli) open_elsewhere: bool,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct ShownTask {
    pub(in crate::cli) task_id: WorkingId,
    pub(in crate::cli) rendered: String,
    pub(in crate::cli) tokens: usize,
    pub(in crate::cli) not_shown: usize,
}

#[derive(Debug, Serialize)]
pub(in crate::cli) struct ClearedTask {
    pub(in crate::cli) cleared: WorkingId,
    pub(in crate::cli) episode_id: TraceId,
    pub(in crate::cli) status: EpisodeStatus,
}
