//! What clients report about memories they used, and the lessons they bring with it. A report that names no trace makes or
//! extends the reported trace of its session.

use std::collections::BTreeSet;

use jiff::Timestamp;
use reasoning_bank_domain::evidence::confidence::confidence;
use reasoning_bank_domain::evidence::feedback::{LEARNINGS_MAX, MEMORIES_MAX, Moved, Reported};
use reasoning_bank_domain::evidence::stability::names_commit;
use reasoning_bank_domain::evidence::verdict_override::OwnVote;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::observation::{COMMENT_MAX_CHARS, DETAIL_MAX_CHARS, Feedback};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind, id_of_trace_vote, id_of_vote, id_within_trace};
use reasoning_bank_domain::memory::trace::{Account, Outcome, TASK_MAX_CHARS, Trace, TraceSource};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{ErrorContext, Facts, Memory, MemoryInvalid, Scope, SourceType, Trust};
use reasoning_bank_domain::safety::secrets::Scrub;
use uuid::Uuid;

use super::compare::LessonBatch;
use super::learn::{PendingIds, ids};
use super::merge_sources::LessonSources;
use super::overrule::Overruled;
use super::{MemoriesHandle, RecordRequest, WorkspaceRef};
use crate::error::Error;
use crate::ports::{Batch, MemoryRow, Record, StoreError};
use crate::runtime::Deadline;

/// Others who report on the same trace, or change its lessons, at the same time.
const TRIES: usize = 8;

/// A lesson that comes with a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Learning {
    pub title: String,
    pub description: String,
    pub content: String,
    pub error_context: Option<ErrorContext>,
}

/// What is said of some memories, or of those that a trace used. Something has to be said: a vote or a lesson.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedbackRequest {
    pub workspace: WorkspaceRef,
    /// At most 50. Empty with a trace: the memories that were injected into it.
    pub memory_ids: Vec<MemoryId>,
    /// The trace that it is about. Without one the report is about the session's own work.
    pub trace_id: Option<TraceId>,
    /// What the session worked on. Another task than before begins another reported trace.
    pub task: Option<String>,
    /// The commit that came of the work.
    pub commit: Option<String>,
    pub verdict: Feedback,
    /// At most 10; the memories reported on become their parents.
    pub learnings: Vec<Learning>,
    /// Which session of a client reports: what one session says counts as one source.
    pub session: Option<String>,
    /// Whether it counts for memories of a team or an organisation as well.
    pub may_share: bool,
    /// Whether a session reports about work of its own, which has a reported trace. A vote by hand does not.
    pub is_work: bool,
}

impl FeedbackRequest {
    /// Whether it is about the session's own work, which has a reported trace. That some memories were helpful is a vote
    /// about them, and tells of no work.
    fn tells_of_own_work(&self) -> bool {
        let Feedback { task_succeeded, reverted, evidence, .. } = &self.verdict;
        let tells_outcome = task_succeeded.is_some() || *reverted == Some(true) || evidence.is_some();
        self.is_work && self.trace_id.is_none() && (self.task.is_some() || tells_outcome)
    }
}

/// Whom a report is about, and from where.
struct About {
    workspace: Workspace,
    trace: Option<Trace>,
    /// The trace is the session's own, and this report begins it.
    begins: bool,
    rows: Vec<MemoryRow>,
    /// What it says nothing about: others read it, too, and the user has not let clients write there.
    not_shared_with: Vec<MemoryId>,
}

impl About {
    fn judged(&self) -> impl Iterator<Item = &MemoryRow> {
        self.rows.iter().filter(|row| !self.not_shared_with.contains(&row.memory.id))
    }

    /// The votes that the report contradicts. Of a solve, its own votes about all memories that it used. Of a session's own
    /// work, those of its earlier reports about the memories that this one names, once the outcome is turned round.
    fn contradicted(&self, request: &FeedbackRequest, trace: &Trace, after: Option<&Trace>) -> Vec<OwnVote> {
        if trace.source == TraceSource::Solve {
            let Some(observed) = &request.verdict.evidence else { return Vec::new() };
            let used: BTreeSet<MemoryId> = trace.memories_used.iter().copied().collect();
            return used.into_iter().map(|id| OwnVote::of_solve(observed.passed, trace.trace_id, id)).collect();
        }
        let Some(after) = after.filter(|after| after.turns > trace.turns) else { return Vec::new() };
        let (passed, turns) = (after.outcome == Outcome::Success, trace.turns);
        self.judged().map(|row| OwnVote::of_reported_trace(passed, trace.trace_id, turns, row.memory.id)).collect()
    }

    /// The trace with what the report adds to it; none where there is no trace, or nothing new.
    fn trace_after(&self, request: &FeedbackRequest, learned: &[MemoryId]) -> Option<Trace> {
        let FeedbackRequest { task, commit, verdict, session, .. } = request;
        // What did not help was not used: what came of the work says nothing of it.
        let used = self.judged().map(|row| row.memory.id).filter(|_| verdict.helpful != Some(false));
        let used: Vec<MemoryId> = used.collect();
        self.trace.as_ref()?.after(Account {
            session: session.as_deref(),
            task: task.as_deref(),
            commit: commit.as_deref(),
            used: &used,
            learned,
            verdict,
        })
    }
}

impl MemoriesHandle {
    /// Stores a report with all that follows from it, or nothing. What was said of a trace already counts once; what was
    /// observed of it decides its outcome from then on, and the solve's own votes that it contradicts count no more.
    /// Memories that the workspace cannot read are not found, all of them named; of a trace's memories only those that
    /// are left count.
    ///
    /// # Errors
    /// `SharingDenied` where it is about nothing but memories that clients may not write about.
    pub async fn feedback(&self, request: FeedbackRequest, deadline: Deadline) -> Result<Reported, Error> {
        let request = scrubbed(check(request)?);
        let workspace = self.workspaces.resolve(&request.workspace, deadline).await?.workspace;
        let Some(session) = request.session.as_deref().filter(|_| request.tells_of_own_work()) else {
            return self.report_until_stored(&request, &workspace, None, deadline).await;
        };
        // The reports of one session come one after another, so that they extend one trace.
        let own = self.sessions.reported(&workspace.id, session).await;
        let own = tokio::time::timeout_at(deadline.instant(), own.lock_owned()).await;
        let mut traces = own.map_err(|_elapsed| Error::DeadlineExceeded)?;
        let own = traces.of_task(request.task.as_deref());
        let reported = self.report_until_stored(&request, &workspace, Some(own), deadline).await?;
        self.sessions.left(&workspace.id, session, own).await;
        Ok(reported)
    }

    /// `own` is the trace of the session's own work, stored or not, where the report is about that.
    async fn report_until_stored(
        &self,
        request: &FeedbackRequest,
        workspace: &Workspace,
        own: Option<TraceId>,
        deadline: Deadline,
    ) -> Result<Reported, Error> {
        let mut tries = 1;
        loop {
            match self.report(request, workspace, own, deadline).await {
                // Somebody was faster. On top of what they said this may be said as well.
                Err(Error::Store(StoreError::TraceChanged(_) | StoreError::Conflict(_))) if tries < TRIES => tries += 1,
                reported => return reported,
            }
        }
    }

    async fn report(
        &self,
        request: &FeedbackRequest,
        workspace: &Workspace,
        own: Option<TraceId>,
        deadline: Deadline,
    ) -> Result<Reported, Error> {
        let now = self.clock.now();
        let about = self.about(request, workspace, own, now, deadline).await?;
        let after = about.trace_after(request, &[]);
        let overruled = match &about.trace {
            Some(trace) => {
                let contradicted = about.contradicted(request, trace, after.as_ref());
                self.overrule(trace, after.as_ref(), contradicted, now, deadline).await?
            }
            None => Overruled::default(),
        };
        let lessons = lessons(request, &about, after.as_ref().or(about.trace.as_ref()), now)?;
        let mut revised = revised_by(&overruled.revisions);
        let settled = if request.verdict.helpful == Some(true) {
            let reported: Vec<&Memory> = about.judged().map(|row| &row.memory).collect();
            self.settled(&reported, request.session.as_deref(), &revised, deadline).await?
        } else {
            Batch::new()
        };
        revised.extend(revised_by(&settled));
        let (prepared, revisions) = self.prepare(lessons, LessonBatch::beside_revisions_of(revised), deadline).await;
        let pending = PendingIds::of(&prepared);
        let told = ids(&pending.learned);
        let trace = about.trace_after(request, &told).or_else(|| about.trace.clone().filter(|_| about.begins));
        let sources: Vec<LessonSources> = prepared.iter().map(LessonSources::of).collect();

        let kinds = request.verdict.signals();
        let mut signals = signals(request, &about, after.as_ref(), &kinds, now);
        signals.extend(overruled.signals);
        let signals = self.unsaid(signals, request, &about, deadline).await?;
        let mut batch = vec![Record::Workspace(self.workspaces.registration(&about.workspace))];
        batch.extend(trace.clone().map(if about.begins { Record::Trace } else { Record::Verdict }));
        batch.extend(overruled.revisions);
        batch.extend(settled);
        batch.extend(revisions);
        batch.extend(prepared.into_iter().map(|prepared| prepared.into_record(now)));
        batch.extend(signals.iter().cloned().map(Record::Signal));
        let committed = self.store.commit(batch, deadline).await?;
        self.workspaces.registered(&about.workspace);
        let learned = pending.committed(committed);
        if let Some(trace) = trace.filter(|trace| trace.source == TraceSource::Reported && told != ids(&learned)) {
            let earlier = trace.memory_items.iter().filter(|id| !told.contains(id)).copied();
            let memory_items = earlier.chain(ids(&learned)).collect();
            let revision = trace.revision.saturating_add(1);
            self.correct(Record::Verdict(Trace { revision, memory_items, ..trace }), deadline).await;
        }
        self.merge_sources(sources, ids(&learned), deadline).await;
        let (updated, not_shared_with) = match kinds.is_empty() {
            true => Default::default(),
            false => (moved(&about, &signals, now), about.not_shared_with.clone()),
        };
        let concerned = updated.iter().map(|moved| moved.id).chain(learned.iter().map(|learned| learned.id));
        let promoted = self.promote_proven(concerned, &about.workspace, deadline).await;
        let trace_id = about.trace.map(|trace| trace.trace_id);
        Ok(Reported { trace_id, updated, learned, not_shared_with, promoted })
    }

    /// The signals that are not stored yet, the words with the first of each memory: once is enough to be read. What begins
    /// a trace was not said before.
    async fn unsaid(
        &self,
        mut signals: Vec<Signal>,
        request: &FeedbackRequest,
        about: &About,
        deadline: Deadline,
    ) -> Result<Vec<Signal>, Error> {
        if !about.begins {
            let said = self.stored_signals(signals.iter().map(|signal| signal.id), deadline).await?;
            signals.retain(|signal| !said.contains(&signal.id));
        }
        if let Some(words) = request.verdict.words() {
            let mut met = BTreeSet::new();
            for signal in signals.iter_mut().filter(|signal| met.insert(signal.memory_id)) {
                signal.comment = Some(words.clone());
            }
        }
        Ok(signals)
    }

    async fn about(
        &self,
        request: &FeedbackRequest,
        workspace: &Workspace,
        own: Option<TraceId>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<About, Error> {
        let (trace, begins) = match (request.trace_id, own, request.session.as_deref()) {
            (Some(id), _, _) => (Some(self.own_trace(id, workspace, deadline).await?), false),
            (None, Some(id), Some(session)) => match self.own_trace(id, workspace, deadline).await {
                // It was not stored yet, or was deleted since.
                Err(Error::NotFound(_)) => {
                    let parent = self.sessions.latest(&workspace.id, session).await.filter(|parent| *parent != id);
                    (Some(Trace::reported(id, workspace.id.clone(), session, parent, now)), true)
                }
                trace => (Some(trace?), false),
            },
            _ => (None, false),
        };
        let mut ids = request.memory_ids.clone();
        if let Some(trace) = trace.as_ref().filter(|_| ids.is_empty()) {
            ids.clone_from(&trace.memories_used);
        }
        let mut met = BTreeSet::new();
        ids.retain(|id| met.insert(*id));
        let rows = self.readable(ids.clone(), workspace, deadline).await?;
        if !request.memory_ids.is_empty() {
            let missing = ids.iter().filter(|id| !rows.iter().any(|row| row.memory.id == **id));
            let missing: Vec<String> = missing.map(ToString::to_string).collect();
            if !missing.is_empty() {
                return Err(Error::NotFound(format!("memory {} here", missing.join(", "))));
            }
        }
        let is_denied = |row: &MemoryRow| row.memory.scope != Scope::Project && !request.may_share;
        let denied: Vec<&MemoryRow> = rows.iter().filter(|row| is_denied(row)).collect();
        if let Some(first) = denied.first().filter(|_| denied.len() == rows.len() && request.learnings.is_empty()) {
            return Err(Error::SharingDenied(first.memory.scope));
        }
        let not_shared_with = denied.iter().map(|row| row.memory.id).collect();
        Ok(About { workspace: workspace.clone(), trace, begins, rows, not_shared_with })
    }
}

/// The memories that these records change.
fn revised_by(records: &[Record]) -> Vec<MemoryId> {
    let revised = |record: &Record| if let Record::Revision { memory, .. } = record { Some(memory.id) } else { None };
    records.iter().filter_map(revised).collect()
}

fn check(request: FeedbackRequest) -> Result<FeedbackRequest, Error> {
    let kinds = request.verdict.signals();
    let tells_commit = request.commit.is_some() && (request.trace_id.is_some() || request.task.is_some());
    if kinds.is_empty() && request.learnings.is_empty() && !tells_commit {
        let problem = "nothing is reported; give helpful, task_succeeded, reverted, evidence or learnings";
        return Err(Error::invalid("helpful", problem));
    }
    if !kinds.is_empty() && request.memory_ids.is_empty() && request.trace_id.is_none() && request.task.is_none() {
        return Err(Error::invalid("memory_ids", "name the memories that were used, their trace_id, or the task"));
    }
    if request.task.is_some() && request.trace_id.is_some() {
        return Err(Error::invalid("task", "belongs to a report without trace_id; the trace has its task already"));
    }
    if request.task.as_deref().is_some_and(|task| task.trim().is_empty()) {
        return Err(Error::invalid("task", "is blank; say what you worked on, or leave it out"));
    }
    if request.commit.as_deref().is_some_and(|commit| !names_commit(commit)) {
        return Err(Error::invalid("commit", "is no id of a commit, which has 7 to 64 hexadecimal digits"));
    }
    if request.commit.is_some() && request.trace_id.is_none() && !request.tells_of_own_work() {
        return Err(Error::invalid("commit", "says of nothing that it came of it; give task, trace_id or an outcome"));
    }
    let detail = request.verdict.evidence.as_ref().and_then(|evidence| evidence.detail.as_deref());
    let chars = |text: Option<&str>| text.map_or(0, |text| text.chars().count());
    for (argument, count, most, unit) in [
        ("memory_ids", request.memory_ids.len(), MEMORIES_MAX, "items"),
        ("learnings", request.learnings.len(), LEARNINGS_MAX, "items"),
        ("task", chars(request.task.as_deref()), TASK_MAX_CHARS, "characters"),
        ("comment", chars(request.verdict.comment.as_deref()), COMMENT_MAX_CHARS, "characters"),
        ("evidence.detail", chars(detail), DETAIL_MAX_CHARS, "characters"),
    ] {
        if count > most {
            return Err(Error::invalid(argument, format!("has {count} {unit}; at most {most} are allowed")));
        }
    }
    Ok(request)
}

fn scrubbed(mut request: FeedbackRequest) -> FeedbackRequest {
    request.verdict.comment.scrub();
    request.task.scrub();
    if let Some(evidence) = &mut request.verdict.evidence {
        evidence.detail.scrub();
    }
    for learning in &mut request.learnings {
        learning.error_context.scrub();
    }
    request
}

/// The lessons as memories; all that is wrong with any of them at once.
fn lessons(
    request: &FeedbackRequest,
    about: &About,
    trace: Option<&Trace>,
    now: Timestamp,
) -> Result<Vec<Memory>, Error> {
    let parents: Vec<MemoryId> = about.rows.iter().map(|row| row.memory.id).collect();
    let (mut lessons, mut problems) = (Vec::new(), Vec::new());
    for (n, learning) in request.learnings.iter().enumerate() {
        let record = RecordRequest {
            title: learning.title.clone(),
            description: learning.description.clone(),
            content: learning.content.clone(),
            outcome: None,
            error_context: learning.error_context.clone(),
            pattern_tags: Vec::new(),
            domain_category: None,
            difficulty_level: None,
            parent_memory_id: parents.first().copied(),
            derived_from: parents.clone(),
            scope: Scope::Project,
            task: trace.map(|trace| trace.task.clone()),
            workspace: request.workspace.clone(),
            source_type: SourceType::Explicit,
            trust: Trust::Agent,
            session: request.session.clone(),
            supersedes: Vec::new(),
            valid_from: None,
        };
        let mut memory = record.into_memory(Uuid::now_v7().into(), &about.workspace, now)?;
        about.rows.iter().for_each(|row| memory.derive_from(&row.memory));
        memory.trace_id = trace.map(|trace| trace.trace_id);
        memory.trace_outcome = trace.map(|trace| trace.outcome);
        memory.scrub();
        if let Err(invalid) = memory.validate() {
            problems.extend(invalid.problems.into_iter().map(|mut problem| {
                problem.problem = format!("of learnings[{n}] {}", problem.problem);
                problem
            }));
        }
        lessons.push(memory);
    }
    if problems.is_empty() { Ok(lessons) } else { Err(MemoryInvalid { problems }.into()) }
}

/// `after` is the trace with what is reported, where that is new.
fn signals(
    request: &FeedbackRequest,
    about: &About,
    after: Option<&Trace>,
    kinds: &[SignalKind],
    now: Timestamp,
) -> Vec<Signal> {
    let session = request.session.as_deref();
    let id = |memory: MemoryId, kind| match after.or(about.trace.as_ref()) {
        Some(trace) if trace.is_of_session(session) => id_of_trace_vote(trace.trace_id, trace.turns, memory, kind),
        Some(trace) => id_within_trace(trace.trace_id, memory, kind, session),
        // Votes by hand count each.
        None => match session.filter(|_| request.is_work) {
            Some(session) => id_of_vote(session, memory, kind),
            None => Uuid::now_v7().into(),
        },
    };
    let trace_id = about.trace.as_ref().and_then(|trace| trace.source_of_signals().0);
    let each = about.judged().flat_map(|row| kinds.iter().map(|kind| (row.memory.id, *kind)));
    each.map(|(memory_id, kind)| Signal {
        id: id(memory_id, kind),
        memory_id,
        workspace_id: about.workspace.id.clone(),
        kind,
        at: now,
        trace_id,
        session: request.session.clone(),
        comment: None,
    })
    .collect()
}

fn moved(about: &About, signals: &[Signal], now: Timestamp) -> Vec<Moved> {
    let one = |row: &MemoryRow| {
        let facts = Facts::from(&row.memory);
        let confidence_before = confidence(&facts, &row.evidence, now);
        let mut evidence = row.evidence.clone();
        let own = signals.iter().filter(|signal| signal.memory_id == facts.id);
        own.for_each(|signal| evidence.add(signal.kind, now));
        Moved { id: facts.id, confidence_before, confidence_after: confidence(&facts, &evidence, now) }
    };
    about.judged().map(one).collect()
}
