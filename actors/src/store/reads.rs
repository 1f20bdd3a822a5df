//! The reads of the store's handle: each is a read of the port, asked of whatever store is open.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeState, EpisodeVectors, ScoreInputs, Visibility};
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, KeyedRequestId, MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::pattern::finding::PatternIndex;
use reasoning_bank_domain::retrieval::candidates::Candidates;
use uuid::Uuid;

use super::StoreHandle;
use crate::error::Error;
use crate::ports::{
    EpisodeRow, EpisodeSearch, Held, HistoryFilter, JobFilter, MemoryFilter, MemoryRow, Page, Passage, Recall, Summary,
    Visible,
};
use crate::runtime::Deadline;

/// Writes a method of the handle for each of these reads. It takes what the read of the port takes, and gives what that
/// gives.
macro_rules! reads {
    ($($read:ident($($argument:ident: $of:ty),*) -> $found:ty;)+) => {
        impl StoreHandle {
            $(pub async fn $read(&self, $($argument: $of,)* deadline: Deadline) -> Result<$found, Error> {
                self.ask(stringify!($read), deadline, move |store| {
                    store.reads().$read($(Clone::clone(&$argument),)* deadline)
                }).await
            })+
        }
    };
}

reads! {
    candidates(recall: Recall) -> Candidates;
    get(ids: Vec<MemoryId>) -> Vec<MemoryRow>;
    readable(ids: Vec<MemoryId>, visible: Visible) -> Vec<MemoryRow>;
    memories(filter: MemoryFilter, page: Page) -> Vec<MemoryRow>;
    patterns(visible: Visible) -> Arc<PatternIndex>;
    derived_from(ids: Vec<MemoryId>, page: Page) -> Vec<MemoryRow>;
    lineage(page: Page) -> Vec<(MemoryId, Vec<MemoryId>)>;
    passages(ids: Vec<MemoryId>) -> BTreeMap<MemoryId, Vec<Passage>>;
    without_vectors(limit: usize) -> Vec<MemoryId>;
    existing_ids(ids: Vec<Uuid>) -> HashSet<Uuid>;
    traces(of: Option<WorkspaceId>, page: Page) -> Vec<Trace>;
    trace(id: TraceId, of: Option<WorkspaceId>) -> Option<Trace>;
    episodes(filter: EpisodeFilter, after: Option<TraceId>, limit: usize) -> Vec<EpisodeRow>;
    episode(id: TraceId, of: Option<WorkspaceId>) -> Option<EpisodeRow>;
    nearest_episodes(search: EpisodeSearch) -> Vec<(ScoreInputs, f64)>;
    episodes_of_ids(ids: Vec<TraceId>) -> Vec<EpisodeRow>;
    episodes_without_vectors(filter: EpisodeFilter, embedder: String, limit: usize) -> Vec<(Trace, u64)>;
    count_episodes(filter: EpisodeFilter) -> BTreeMap<Visibility, u64>;
    episode_states(ids: Vec<TraceId>) -> Vec<EpisodeState>;
    episode_vectors(ids: Vec<TraceId>) -> Vec<EpisodeVectors>;
    history(filter: HistoryFilter, page: Page) -> Vec<HistoryEntry>;
    signals(of: Option<WorkspaceId>, page: Page) -> Vec<Signal>;
    signals_about(ids: Vec<MemoryId>, page: Page) -> Vec<Signal>;
    workspaces() -> Vec<Workspace>;
    held(workspace: WorkspaceId) -> Held;
    jobs(filter: JobFilter, page: Page) -> Vec<Job>;
    job(id: JobId, of: Option<WorkspaceId>) -> Option<Job>;
    request(id: KeyedRequestId) -> Option<KeyedRequest>;
    next_job(now: Timestamp) -> Option<Job>;
    backlog() -> BTreeMap<JobState, u64>;
    summary() -> Summary;
}
