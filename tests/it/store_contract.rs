//! The contract of every adapter of the store port, LanceDB both with its searches answered from the tables and from
//! memory. It checks sets and properties, never exact scores of text: those differ.

mod commit;
mod conditions;
mod episodes;
mod erase;
mod history;
mod jobs;
mod reads;
mod requests;
mod revisions;
mod search;
mod summary;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::ports::{
    Committed, Conditions, EraseScope, MemoryCommit, MemoryFilter, MemoryStore, Page, Passage, PassageKind, Recall,
    Record, StoreError, Visible,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Memory, Scope, Status};
use rstest::rstest;

use crate::store_fixtures::Backend::{Lance, Memory as InMemory, Resident};
use crate::store_fixtures::*;

async fn commit(store: &Arc<dyn MemoryStore>, batch: Vec<Record>) -> Committed {
    store.commit(batch, soon()).await.unwrap()
}

async fn add(store: &Arc<dyn MemoryStore>, memories: &[Memory]) {
    let batch = memories.iter().map(|memory| record(memory, Some([1.0, 0.0, 0.0, 0.0]))).collect();
    commit(store, batch).await;
}

async fn found_by_text(store: &Arc<dyn MemoryStore>, recall: Recall) -> Vec<MemoryId> {
    ids(&store.reads().candidates(recall, soon()).await.unwrap().text)
}

async fn memories(store: &Arc<dyn MemoryStore>, filter: MemoryFilter, page: Page) -> Vec<MemoryId> {
    let rows = store.reads().memories(filter, page, soon()).await.unwrap();
    rows.into_iter().map(|row| row.memory.id).collect()
}

async fn all_memories(store: &Arc<dyn MemoryStore>) -> Vec<MemoryId> {
    memories(store, MemoryFilter::default(), everything()).await
}
