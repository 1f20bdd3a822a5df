//! The way to the model's threads: a lane for queries, which goes first, and one for documents. Both are bounded, and a
//! job that nobody waits for any more is dropped before it is computed. Documents that queries overtake again and again
//! have their turn all the same, so that writing does not starve while many ask.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use reasoning_bank_actors::ports::{EmbedError, EmbedderState, EmbeddingQueue};

use super::job::{DocumentsJob, EmbedJob, QueryJob};

/// The largest number of jobs that wait in each lane.
pub(crate) const LANE_JOBS: usize = 256;
/// This many queries go before documents that wait. Then a slice of documents has its turn.
pub(crate) const OVERTAKING_QUERIES: usize = 4;

pub(crate) struct Lanes {
    inner: Mutex<LaneState>,
    wake: Condvar,
}

struct LaneState {
    state: EmbedderState,
    queries: VecDeque<QueryJob>,
    documents: VecDeque<DocumentsJob>,
    /// The queries that were taken while documents waited, since documents had their last turn.
    overtook: usize,
    /// True once a model is to be loaded.
    wanted: bool,
    closed: bool,
}

impl LaneState {
    /// Takes the job whose turn it is, be it abandoned or not.
    fn take(&mut self) -> Option<EmbedJob> {
        let query = if self.overtook < OVERTAKING_QUERIES { self.queries.pop_front() } else { None };
        match query {
            Some(query) => Some(EmbedJob::Query(query)),
            None => match self.documents.pop_front() {
                Some(documents) => Some(EmbedJob::Documents(documents)),
                None => self.queries.pop_front().map(EmbedJob::Query),
            },
        }
    }

    /// Counts a job that was taken and is worked on.
    fn count(&mut self, job: &EmbedJob) {
        let overtakes = matches!(job, EmbedJob::Query(_)) && !self.documents.is_empty();
        self.overtook = if overtakes { self.overtook + 1 } else { 0 };
    }
}

impl Lanes {
    pub(crate) fn new() -> Self {
        Self::wanted(true)
    }

    /// Makes lanes that want a model when the first job comes.
    pub(crate) fn on_demand() -> Self {
        Self::wanted(false)
    }

    fn wanted(wanted: bool) -> Self {
        Self {
            inner: Mutex::new(LaneState {
                state: EmbedderState::Loading,
                queries: VecDeque::new(),
                documents: VecDeque::new(),
                overtook: 0,
                wanted,
                closed: false,
            }),
            wake: Condvar::new(),
        }
    }

    pub(crate) fn state(&self) -> EmbedderState {
        self.lock().state.clone()
    }

    /// Puts a query into its lane. It is refused while the model loads.
    pub(crate) fn push_query(&self, query: QueryJob) -> Result<(), EmbedError> {
        let mut inner = self.lock();
        match &inner.state {
            EmbedderState::Loading => {
                self.want(&mut inner);
                return Err(EmbedError::Loading);
            }
            EmbedderState::Failed(reason) => return Err(EmbedError::Failed(reason.clone())),
            EmbedderState::Ready => {}
        }
        push(&mut inner.queries, query, QueryJob::abandoned)?;
        drop(inner);
        self.wake.notify_one();
        Ok(())
    }

    /// Puts documents into their lane, where they wait while the model loads.
    pub(crate) fn push_documents(&self, documents: DocumentsJob) -> Result<(), EmbedError> {
        let mut inner = self.lock();
        if let EmbedderState::Failed(reason) = &inner.state {
            return Err(EmbedError::Failed(reason.clone()));
        }
        push(&mut inner.documents, documents, DocumentsJob::abandoned)?;
        self.want(&mut inner);
        drop(inner);
        self.wake.notify_one();
        Ok(())
    }

    fn want(&self, inner: &mut LaneState) {
        if !std::mem::replace(&mut inner.wanted, true) {
            self.wake.notify_all();
        }
    }

    /// Waits until a model is to be loaded. Returns false where the lanes are closed before that.
    pub(crate) fn wait_until_wanted(&self) -> bool {
        let inner = self.lock();
        let waits = |inner: &mut LaneState| !inner.wanted && !inner.closed;
        let inner = self.wake.wait_while(inner, waits).unwrap_or_else(PoisonError::into_inner);
        !inner.closed
    }

    /// Puts documents back to the front: what was begun is finished before the next documents.
    pub(crate) fn resume(&self, documents: DocumentsJob) {
        self.lock().documents.push_front(documents);
        // The thread that gives the documents back may take a query next.
        self.wake.notify_one();
    }

    /// Waits for the next job whose caller still waits, and returns it. It returns `None` once the lanes are closed.
    pub(crate) fn next(&self) -> Option<EmbedJob> {
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return None;
            }
            match inner.take() {
                Some(job) if job.abandoned() => {}
                Some(job) => {
                    inner.count(&job);
                    return Some(job);
                }
                None => inner = self.wake.wait(inner).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    pub(crate) fn idle(&self) -> bool {
        let inner = self.lock();
        inner.queries.is_empty() && inner.documents.is_empty()
    }

    /// Counts the jobs that wait in each lane.
    pub(crate) fn queue(&self) -> EmbeddingQueue {
        let inner = self.lock();
        EmbeddingQueue { queries: inner.queries.len(), documents: inner.documents.len() }
    }

    pub(crate) fn ready(&self) {
        self.lock().state = EmbedderState::Ready;
    }

    /// Ends the lanes for good. Callers that wait are told the reason, and so are those that come later.
    pub(crate) fn fail(&self, reason: &str) {
        let mut inner = self.lock();
        inner.state = EmbedderState::Failed(reason.to_owned());
        let queries = std::mem::take(&mut inner.queries);
        let documents = std::mem::take(&mut inner.documents);
        drop(inner);
        for job in queries.into_iter().map(EmbedJob::Query).chain(documents.into_iter().map(EmbedJob::Documents)) {
            job.fail(reason);
        }
    }

    /// Closes the lanes. Each thread ends after its present slice.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_all();
    }

    /// Locks the state. Every change under the lock is a single assignment or push, so a poisoned lock still guards
    /// whole data.
    fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push<T>(lane: &mut VecDeque<T>, job: T, abandoned: impl Fn(&T) -> bool) -> Result<(), EmbedError> {
    if lane.len() >= LANE_JOBS {
        lane.retain(|waiting| !abandoned(waiting));
    }
    if lane.len() >= LANE_JOBS {
        return Err(EmbedError::Overloaded);
    }
    lane.push_back(job);
    Ok(())
}
