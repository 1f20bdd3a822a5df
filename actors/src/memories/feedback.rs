//! Reports of clients about memories they used, and the lessons they bring with it. A report that names no trace makes
//! or extends the reported trace of its session.

use jiff::Timestamp;
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::evidence::feedback::{FeedbackRequest, Reported};
use reasoning_bank_domain::evidence::report::Report;
use reasoning_bank_domain::learning::lesson::LessonBatch;
use reasoning_bank_domain::learning::recording::reported_lessons;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::trace::{Trace, TraceSource, id_of_reported};
use reasoning_bank_domain::memory::workspace::Workspace;
use uuid::Uuid;

use super::MemoriesHandle;
use super::compare::PreparedLesson;
use super::learn::{PendingIds, ids};
use super::merge_sources::LessonSources;
use super::overrule::Overruled;
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{Batch, Record};
use crate::runtime::Deadline;

/// A conversation is told this where it reports on no task and reported on none before.
const NO_TASK_YET: &str = "say what you worked on, or give the trace_id of a solve; nothing was reported before in this \
                           conversation";

impl MemoriesHandle {
    /// Stores a report with all that follows from it, or nothing. What was said of a trace already counts once; what
    /// was observed of it decides its outcome from then on, and the solve's own votes that it contradicts count no
    /// more. Memories that the workspace cannot read are not found, all of them named; of a trace's memories only those
    /// that are left count.
    ///
    /// # Errors
    /// `SharingDenied` where it is about nothing but memories that clients may not write about.
    pub async fn feedback(&self, request: FeedbackRequest, deadline: Deadline) -> Result<Reported, Error> {
        request.check()?;
        let request = request.scrubbed();
        let workspace = self.workspaces.resolve(&request.workspace, deadline).await?.workspace;
        let Some(session) = request.session.as_ref().filter(|_| request.tells_of_own_work()) else {
            return retry_on_conflict(|_| self.report(&request, &workspace, None, deadline)).await;
        };
        let turn = self.sessions.turn(&workspace.id, session).await;
        let turn = tokio::time::timeout_at(deadline.instant(), turn.lock_owned()).await;
        let _turn = turn.map_err(|_elapsed| Error::DeadlineExceeded)?;
        let own = self.reported_trace(&workspace, session, request.task.as_deref(), deadline).await?;
        self.sessions.reports_on(&workspace.id, session, own).await;
        // Somebody may be faster. On top of what they said this may be said as well.
        let reported = retry_on_conflict(|_| self.report(&request, &workspace, Some(own), deadline)).await?;
        self.sessions.left(&workspace.id, session, own).await;
        Ok(reported)
    }

    /// Returns the trace that a report of the session extends or begins. All conversations of a source share that of a
    /// task, because a source counts once for each task. A report that names no task is about what its conversation
    /// reported last.
    ///
    /// # Errors
    /// There is no task, and nothing came before, unless the conversation is all that its source says.
    async fn reported_trace(
        &self,
        workspace: &Workspace,
        session: &ClientSession,
        task: Option<&str>,
        deadline: Deadline,
    ) -> Result<TraceId, Error> {
        let task = match (task, self.sessions.latest_reported(&workspace.id, session).await) {
            (Some(task), _) => task,
            (None, Some(latest)) => return Ok(latest),
            (None, None) if session.is_whole_source() => "",
            (None, None) => return Err(Error::invalid("task", NO_TASK_YET)),
        };
        let today = day_of(self.clock.now());
        let begun_on = |day| id_of_reported(&workspace.id, &session.source, task, day);
        // What was begun yesterday goes on today. It may have been reported to another process, or before a restart.
        match self.own_trace(begun_on(today - 1), workspace, deadline).await {
            Ok(trace) => Ok(trace.trace_id),
            Err(Error::NotFound(_)) => Ok(begun_on(today)),
            Err(error) => Err(error),
        }
    }

    /// `own` is the trace of the session's own work, stored or not, where the report is about that.
    async fn report(
        &self,
        request: &FeedbackRequest,
        workspace: &Workspace,
        own: Option<TraceId>,
        deadline: Deadline,
    ) -> Result<Reported, Error> {
        let now = self.clock.now();
        let report = self.read_for(request, workspace, own, now, deadline).await?;
        let after = report.trace_after(&[]);
        let overruled = match &report.trace {
            Some(trace) => {
                let contradicted = report.contradicted(trace, after.as_ref());
                self.overrule(trace, after.as_ref(), contradicted, now, deadline).await?
            }
            None => Overruled::default(),
        };
        let trace = after.as_ref().or(report.trace.as_ref());
        let lessons = reported_lessons(&report, trace, now, || Uuid::now_v7().into())?;
        let mut revised = revised_by(&overruled.revisions);
        let decided = if request.verdict.helpful == Some(true) {
            let reported: Vec<&Memory> = report.judged().collect();
            self.decided_links(&reported, request.source(), &revised, deadline).await?
        } else {
            Batch::new()
        };
        let superseded = superseded_by(&decided);
        revised.extend(revised_by(&decided));
        let (prepared, revisions) = self.prepare(lessons, LessonBatch::beside_revisions_of(revised), deadline).await;
        let pending = PendingIds::of(&prepared);
        let told = ids(&pending.learned);
        let trace = report.trace_after(&told).or_else(|| report.trace.clone().filter(|_| report.begins));
        let sources: Vec<LessonSources> = prepared.iter().map(LessonSources::of).collect();

        let mut signals = report.signals(after.as_ref(), now, || Uuid::now_v7().into());
        signals.extend(overruled.signals);
        // A report that begins a trace repeats nothing.
        if !report.begins {
            let said = self.stored_signals(signals.iter().map(|signal| signal.id), deadline).await?;
            signals.retain(|signal| !said.contains(&signal.id));
        }
        let signals = report.with_words(signals);
        let concerned = self.with_evidence(report.concerned(&signals), workspace, deadline).await?;
        let mut batch = Batch::new();
        batch.extend(trace.clone().map(if report.begins { Record::Trace } else { Record::Verdict }));
        batch.extend(overruled.revisions);
        batch.extend(decided);
        batch.extend(revisions);
        batch.extend(prepared.into_iter().filter_map(PreparedLesson::into_record));
        batch.extend(signals.iter().cloned().map(Record::Signal));
        let committed = self.workspaces.commit_to(workspace, &self.store, batch, deadline).await?;
        let learned = pending.committed(committed);
        let stored = trace.filter(|trace| trace.source == TraceSource::Reported);
        if let Some(corrected) = stored.and_then(|trace| trace.corrected(&told, &ids(&learned))) {
            self.correct(Record::Verdict(corrected), deadline).await;
        }
        self.merge_sources(sources, ids(&learned), deadline).await;
        let (updated, not_shared_with) = match request.verdict.signals().is_empty() {
            true => Default::default(),
            false => (report.moved(&concerned, &signals, now), report.not_shared_with.clone()),
        };
        let proven = updated.iter().map(|moved| moved.id).chain(learned.iter().map(|learned| learned.id));
        let promoted = self.promote_proven(proven, workspace, deadline).await;
        let trace_id = report.trace.map(|trace| trace.trace_id);
        Ok(Reported { trace_id, updated, learned, superseded, not_shared_with, promoted })
    }

    /// Reads those of `ids` that the workspace can read, each with the evidence about it.
    async fn with_evidence(
        &self,
        ids: Vec<MemoryId>,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Vec<(Memory, Evidence)>, Error> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.readable(ids, workspace, deadline).await?;
        Ok(rows.into_iter().map(|row| (row.memory, row.evidence)).collect())
    }

    /// Reads the trace and the memories that a report is about.
    async fn read_for<'a>(
        &self,
        request: &'a FeedbackRequest,
        workspace: &'a Workspace,
        own: Option<TraceId>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Report<'a>, Error> {
        let (trace, begins) = match (request.trace_id, own, request.session.as_ref()) {
            (Some(id), _, _) => (Some(self.own_trace(id, workspace, deadline).await?), false),
            (None, Some(id), Some(session)) => match self.own_trace(id, workspace, deadline).await {
                // It was not stored yet, or was deleted since.
                Err(Error::NotFound(_)) => {
                    let parent = self.sessions.latest(&workspace.id, session).await.filter(|parent| *parent != id);
                    (Some(Trace::reported(id, workspace.id.clone(), &session.source, parent, now)), true)
                }
                trace => (Some(trace?), false),
            },
            _ => (None, false),
        };
        let memories = self.with_evidence(request.subjects(trace.as_ref()), workspace, deadline).await?;
        Ok(Report::of(request, workspace, trace, begins, memories)?)
    }
}

/// Counts the days until a time, in UTC.
fn day_of(time: Timestamp) -> i64 {
    time.as_second().div_euclid(24 * 60 * 60)
}

/// Returns the memories that these records take out of search.
fn superseded_by(records: &[Record]) -> Vec<MemoryId> {
    let superseded = |record: &Record| match record {
        Record::Signal(signal) if signal.kind == SignalKind::Superseded => Some(signal.memory_id),
        _ => None,
    };
    records.iter().filter_map(superseded).collect()
}

/// Returns the memories that these records change.
fn revised_by(records: &[Record]) -> Vec<MemoryId> {
    let revised = |record: &Record| if let Record::Revision { memory, .. } = record { Some(memory.id) } else { None };
    records.iter().filter_map(revised).collect()
}
