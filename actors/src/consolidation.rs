//! Consolidation: it keeps what was recorded small and true, in runs that can be undone. `run_inputs` is what a run
//! reads, and `stages` has what it does; the stages of `episodes` and of memories that say the same (`duplicates`) are
//! files of their own, and so is what a model proposes (`proposals`). `undo` takes a run back, and `actor` begins runs
//! that are due. One process of a bank runs at a time.
//!
//! Each stage is one commit, together with what takes it back and with the record of the run as far as it has come. A
//! run that a kill cuts off is therefore whole up to a stage, and can be undone like any other.

mod actor;
mod duplicates;
mod episodes;
mod proposals;
mod run_inputs;
mod stages;
mod undo;

use std::cmp::Reverse;
use std::sync::Arc;

use futures::FutureExt;
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::{
    AfterRun, ConsolidationRun, ConsolidationSchedule, HistoryEntry, RunPage, RunTrigger, StageName, StageReport,
};
use reasoning_bank_domain::episode::LifecycleRules;
use reasoning_bank_domain::memory::check_range;
use reasoning_bank_domain::memory::ids::{KeyedRequestId, MemoryId, RunId};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::note::Note;
use uuid::Uuid;

use crate::activity::ClientActivity;
use crate::conflict::retry_on_conflict;
use crate::embedding_cache::CachedEmbedder;
use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::pages::{MAX_LISTED, cut_to};
use crate::ports::{Clock, HistoryFilter, HistoryOf, Lease, LeaseGuard, Page, Record};
use crate::runtime::{ChildSpec, Deadline};
use crate::store::StoreHandle;
use crate::workspaces::{Resolved, WorkspaceRef, WorkspacesHandle};

use self::actor::ConsolidationArgs;
pub(crate) use self::proposals::PatternModel;
use self::run_inputs::RunInputs;
use self::stages::{StageOutcome, WantedMerge};

/// The most runs in a list that has no pages.
const RUNS_MAX: usize = 100;

/// A run is asked for this.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    pub workspace: WorkspaceRef,
    pub trigger: RunTrigger,
    /// False: the run only says what it would do, and changes nothing.
    pub apply: bool,
}

#[derive(Clone)]
pub struct ConsolidationHandle {
    store: StoreHandle,
    workspaces: WorkspacesHandle,
    memories: MemoriesHandle,
    embedder: CachedEmbedder,
    lease: Arc<dyn Lease>,
    /// It is None where no model may be asked.
    model: Option<PatternModel>,
    rules: LifecycleRules,
    clock: Clock,
    /// The request of a client that runs are done for, where it has a key.
    request: Option<KeyedRequestId>,
}

/// A run is done with these.
pub(crate) struct ConsolidationServices {
    pub(crate) store: StoreHandle,
    pub(crate) workspaces: WorkspacesHandle,
    pub(crate) memories: MemoriesHandle,
    pub(crate) embedder: CachedEmbedder,
    pub(crate) lease: Arc<dyn Lease>,
    pub(crate) model: Option<PatternModel>,
}

impl ConsolidationHandle {
    pub(crate) fn new(services: ConsolidationServices, rules: LifecycleRules, clock: Clock) -> Self {
        let ConsolidationServices { store, workspaces, memories, embedder, lease, model } = services;
        Self { store, workspaces, memories, embedder, lease, model, rules, clock, request: None }
    }

    /// Makes a handle whose run is stored with this request. The same request again goes on with the run where its
    /// process ended before it did, and else changes nothing.
    pub fn carrying_out(&self, request: KeyedRequestId) -> Self {
        Self { request: Some(request), ..self.clone() }
    }

    pub(crate) fn child(&self, schedule: ConsolidationSchedule, activity: ClientActivity) -> ChildSpec {
        actor::child(ConsolidationArgs { handle: self.clone(), schedule, activity })
    }

    /// Runs all stages over a workspace.
    ///
    /// # Errors
    /// `ConsolidationRunning` where another process of the bank runs, and the errors of the store. What the stages
    /// before did is done then, and can be undone.
    pub async fn run(&self, request: RunRequest, deadline: Deadline) -> Result<ConsolidationRun, Error> {
        let begun = self.workspaces.resolve(&request.workspace, deadline).await?;
        let workspace = &begun.workspace;
        let _lease = if request.apply { Some(self.take_lease()?) } else { None };
        let mut run = match self.begun_before(&request, workspace, deadline).await? {
            Some(run) if run.is_over() => return self.titled(run, workspace, deadline).await,
            Some(run) => run,
            None => {
                let (id, now) = (Uuid::now_v7().into(), self.clock.now());
                let run = ConsolidationRun::begun(id, workspace.id.clone(), request.trigger, request.apply, now);
                ConsolidationRun { request_id: self.request, ..run }
            }
        };
        let inputs = self.inputs(request.trigger, workspace, deadline).await?;
        for stage in run.stages_left() {
            run = retry_on_conflict(|_| self.stage(stage, run.clone(), &begun, &inputs, deadline)).await?;
        }
        // A process that serves does upkeep all the time.
        if request.apply && request.trigger == RunTrigger::Person {
            run.stages.push(self.upkeep(deadline).await);
        }
        run.after = Some(self.after(workspace, &inputs, deadline).await?);
        run.ended_at = Some(self.clock.now());
        if request.apply {
            self.store.commit(vec![record_of(&run)], deadline).await?;
        }
        Ok(run)
    }

    /// Merges two patterns because a person says so. It is a run of its own, so that it can be undone.
    ///
    /// # Errors
    /// `NotFound` for a pattern that is not of this workspace, and `InvalidArgument` for two that cannot be merged.
    pub async fn merge_patterns(
        &self,
        better: MemoryId,
        other: MemoryId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<ConsolidationRun, Error> {
        if better == other {
            return Err(Error::invalid("other", "names the same pattern twice"));
        }
        let resolved = self.workspaces.resolve(workspace, deadline).await?;
        let workspace = &resolved.workspace;
        let _lease = self.take_lease()?;
        let now = self.clock.now();
        let begun = ConsolidationRun::begun(Uuid::now_v7().into(), workspace.id.clone(), RunTrigger::Person, true, now);
        let inputs = self.inputs(RunTrigger::Person, workspace, deadline).await?;
        retry_on_conflict(async |_| {
            let mut run = begun.clone();
            let book = self.book(workspace, &inputs, deadline).await?;
            for id in [better, other] {
                if !book.patterns.iter().any(|(memory, _)| memory.id == id) {
                    return Err(Error::NotFound(format!("pattern {id} of this workspace")));
                }
            }
            let mut staged = StageOutcome::of(StageName::Refinement, book.patterns.len());
            let wanted = WantedMerge { ids: [better, other], why: String::new(), is_asked_for: true };
            if !self.merge(&mut staged, &run, &book, wanted, deadline).boxed().await? {
                let why = "cannot be merged with it: they are of different categories or kinds of content, or the merged one was \
                           there before";
                return Err(Error::invalid("other", why));
            }
            run.stages.push(staged.report);
            run.ended_at = Some(self.clock.now());
            staged.records.push(record_of(&run));
            self.workspaces.still_there(&resolved, deadline).await?;
            self.store.commit(staged.records, deadline).await?;
            Ok(run)
        })
        .await
    }

    /// Finds the run that this request began before.
    async fn begun_before(
        &self,
        request: &RunRequest,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Option<ConsolidationRun>, Error> {
        let Some(id) = self.request.filter(|_| request.apply) else { return Ok(None) };
        let mut after = None;
        loop {
            let page = self.runs_of(workspace, RUNS_MAX, after, deadline).await?;
            if let Some(run) = page.runs.iter().find(|run| run.request_id == Some(id)) {
                return Ok(Some(run.clone()));
            }
            let known = |run: &ConsolidationRun| self.clock.now().duration_since(run.started_at) < KeyedRequest::KEPT;
            after = page.next.filter(|_| page.runs.iter().any(known));
            if after.is_none() {
                return Ok(None);
            }
        }
    }

    /// Does one stage, and returns the run with its report.
    async fn stage(
        &self,
        stage: StageName,
        mut run: ConsolidationRun,
        begun: &Resolved,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<ConsolidationRun, Error> {
        let StageOutcome { report, mut records } = self.staged(stage, &run, &begun.workspace, inputs, deadline).await?;
        run.stages.push(report);
        if run.applied {
            self.workspaces.still_there(begun, deadline).await?;
            records.push(record_of(&run));
            self.store.commit(records, deadline).await?;
        }
        Ok(run)
    }

    /// Does upkeep as far as it goes. What it does not come to is no failure of the run.
    async fn upkeep(&self, deadline: Deadline) -> StageReport {
        let mut report = StageReport::of(StageName::Upkeep, 0);
        let done = self.store.maintain_fully(deadline, |_| report.looked_at += 1).await;
        report.notes.extend(done.err().map(|error| Note::new(error.code(), error.to_string())));
        report
    }

    async fn after(&self, workspace: &Workspace, inputs: &RunInputs, deadline: Deadline) -> Result<AfterRun, Error> {
        let summary = self.store.summary(deadline).await?;
        let mut after =
            AfterRun { bytes: summary.bytes, index_lag_rows: summary.index_lag_rows, ..AfterRun::default() };
        for (_, part) in self.memories.own_patterns(workspace, deadline).await? {
            *after.patterns.entry(part.stage).or_default() += 1;
        }
        after.episodes = inputs.episodes.len() as u64;
        Ok(after)
    }

    /// Lists the newest runs of a workspace that can still be undone, the newest first.
    pub async fn runs(&self, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Vec<ConsolidationRun>, Error> {
        self.page_of_runs(workspace, RUNS_MAX, None, deadline).await.map(|page| page.runs)
    }

    /// Lists the runs of a workspace that can still be undone, the newest first. `limit` lies in 1..=500, and `after` is
    /// the `next` of the page before.
    pub async fn page_of_runs(
        &self,
        workspace: &WorkspaceRef,
        limit: usize,
        after: Option<RunId>,
        deadline: Deadline,
    ) -> Result<RunPage, Error> {
        check_range("limit", limit, 1..=MAX_LISTED)?;
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        self.runs_of(&workspace, limit, after, deadline).await
    }

    async fn runs_of(
        &self,
        workspace: &Workspace,
        limit: usize,
        after: Option<RunId>,
        deadline: Deadline,
    ) -> Result<RunPage, Error> {
        let workspace = workspace.id.clone();
        let filter = HistoryFilter { workspace, of: HistoryOf::Runs };
        let mut runs: Vec<ConsolidationRun> = Vec::new();
        // One run more than the page has is read, to know whether there is another page.
        let mut page = Some(Page { after: after.map(RunId::uuid), ..Page::newest(limit + 1) });
        while let Some(asked) = page.filter(|_| runs.len() <= limit) {
            let heads = self.store.history(filter.clone(), asked.clone(), deadline).await?;
            page = asked.following(&heads, |head| head.id.uuid());
            runs.extend(heads.iter().filter_map(HistoryEntry::as_run).filter(|run| self.is_kept(run)).cloned());
        }
        let next = cut_to(limit, &mut runs).map(|last| last.run_id);
        runs.sort_by_key(|run| Reverse((run.started_at, run.run_id)));
        Ok(RunPage { runs, next })
    }

    /// Reads one run of a workspace, with the titles of what it changed and what is still there.
    pub async fn show(
        &self,
        id: RunId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<ConsolidationRun, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let run = self.record(id, &workspace, deadline).await?.0;
        self.titled(run, &workspace, deadline).await
    }

    /// Reads the record of a run and its other entries.
    async fn record(
        &self,
        id: RunId,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<(ConsolidationRun, Vec<HistoryEntry>), Error> {
        const PAGE: usize = 200;
        let filter = HistoryFilter { workspace: workspace.id.clone(), of: HistoryOf::Run(id) };
        let (mut entries, mut page) = (Vec::new(), Some(Page::first(PAGE)));
        while let Some(asked) = page {
            let found = self.store.history(filter.clone(), asked.clone(), deadline).await?;
            page = asked.following(&found, |entry| entry.id.uuid());
            entries.extend(found);
        }
        let record = entries.iter().find_map(HistoryEntry::as_run).filter(|run| self.is_kept(run)).cloned();
        let record = record.ok_or_else(|| Error::NotFound(format!("run of consolidation {id} here")))?;
        entries.retain(|entry| entry.as_run().is_none());
        Ok((record, entries))
    }

    fn is_kept(&self, run: &ConsolidationRun) -> bool {
        self.clock.now().duration_since(run.started_at) < HistoryEntry::KEPT
    }

    fn take_lease(&self) -> Result<LeaseGuard, Error> {
        self.lease.try_take().ok_or(Error::ConsolidationRunning)
    }
}

/// Makes the record of a run. It has one revision more with each stage, and another one when it is undone.
fn record_of(run: &ConsolidationRun) -> Record {
    let ended = u64::from(run.ended_at.is_some()) + u64::from(run.undone.is_some());
    Record::History(HistoryEntry::of_run(run, run.stages.len() as u64 + ended))
}
