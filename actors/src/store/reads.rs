//! The reads of the store's handle: each is a read of the port, asked of whatever store is open.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::retrieval::candidates::Candidates;
use uuid::Uuid;

use super::StoreHandle;
use super::rows::Rows;
use crate::error::Error;
use crate::ports::{Held, JobFilter, MemoryFilter, MemoryRow, Page, Passage, Recall, StoreFuture, StoreReads, Summary};
use crate::runtime::Deadline;

impl StoreHandle {
    pub async fn candidates(&self, recall: Recall, deadline: Deadline) -> Result<Candidates, Error> {
        self.read("candidates", deadline, move |store| store.candidates(recall.clone(), deadline)).await
    }

    pub async fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> Result<Vec<MemoryRow>, Error> {
        self.read("get", deadline, move |store| store.get(ids.clone(), deadline)).await
    }

    pub async fn memories(
        &self,
        filter: MemoryFilter,
        page: Page,
        deadline: Deadline,
    ) -> Result<Vec<MemoryRow>, Error> {
        self.read("memories", deadline, move |store| store.memories(filter.clone(), page.clone(), deadline)).await
    }

    pub async fn derived_from(
        &self,
        ids: Vec<MemoryId>,
        page: Page,
        deadline: Deadline,
    ) -> Result<Vec<MemoryRow>, Error> {
        self.read("derived_from", deadline, move |store| store.derived_from(ids.clone(), page.clone(), deadline)).await
    }

    pub async fn lineage(&self, page: Page, deadline: Deadline) -> Result<Vec<(MemoryId, Vec<MemoryId>)>, Error> {
        self.read("lineage", deadline, move |store| store.lineage(page.clone(), deadline)).await
    }

    pub async fn passages(
        &self,
        ids: Vec<MemoryId>,
        deadline: Deadline,
    ) -> Result<BTreeMap<MemoryId, Vec<Passage>>, Error> {
        self.read("passages", deadline, move |store| store.passages(ids.clone(), deadline)).await
    }

    pub async fn without_vectors(&self, limit: usize, deadline: Deadline) -> Result<Vec<MemoryId>, Error> {
        self.read("without_vectors", deadline, move |store| store.without_vectors(limit, deadline)).await
    }

    pub async fn existing_ids(&self, ids: Vec<Uuid>, deadline: Deadline) -> Result<HashSet<Uuid>, Error> {
        self.read("existing_ids", deadline, move |store| store.existing_ids(ids.clone(), deadline)).await
    }

    pub async fn traces(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> Result<Vec<Trace>, Error> {
        self.read("traces", deadline, move |store| store.traces(of.clone(), page.clone(), deadline)).await
    }

    pub async fn trace(&self, id: TraceId, deadline: Deadline) -> Result<Option<Trace>, Error> {
        self.read("trace", deadline, move |store| store.trace(id, deadline)).await
    }

    pub async fn signals(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> Result<Vec<Signal>, Error> {
        self.read("signals", deadline, move |store| store.signals(of.clone(), page.clone(), deadline)).await
    }

    pub async fn signals_about(
        &self,
        ids: Vec<MemoryId>,
        page: Page,
        deadline: Deadline,
    ) -> Result<Vec<Signal>, Error> {
        self.read("signals_about", deadline, move |store| store.signals_about(ids.clone(), page.clone(), deadline))
            .await
    }

    pub async fn workspaces(&self, deadline: Deadline) -> Result<Vec<Workspace>, Error> {
        self.read("workspaces", deadline, move |store| store.workspaces(deadline)).await
    }

    pub async fn held(&self, workspace: WorkspaceId, deadline: Deadline) -> Result<Held, Error> {
        self.read("held", deadline, move |store| store.held(workspace.clone(), deadline)).await
    }

    pub async fn jobs(&self, filter: JobFilter, page: Page, deadline: Deadline) -> Result<Vec<Job>, Error> {
        self.read("jobs", deadline, move |store| store.jobs(filter.clone(), page.clone(), deadline)).await
    }

    pub async fn job(&self, id: JobId, deadline: Deadline) -> Result<Option<Job>, Error> {
        self.read("job", deadline, move |store| store.job(id, deadline)).await
    }

    pub async fn next_job(&self, now: Timestamp, deadline: Deadline) -> Result<Option<Job>, Error> {
        self.read("next_job", deadline, move |store| store.next_job(now, deadline)).await
    }

    pub async fn backlog(&self, deadline: Deadline) -> Result<BTreeMap<JobState, u64>, Error> {
        self.read("backlog", deadline, move |store| store.backlog(deadline)).await
    }

    pub async fn summary(&self, deadline: Deadline) -> Result<Summary, Error> {
        self.read("summary", deadline, move |store| store.summary(deadline)).await
    }

    async fn read<T: Rows + Send + 'static>(
        &self,
        op: &'static str,
        deadline: Deadline,
        read: impl Fn(&dyn StoreReads) -> StoreFuture<'_, T> + Send + Sync + 'static,
    ) -> Result<T, Error> {
        self.ask(op, deadline, move |store| read(store.reads())).await
    }
}
