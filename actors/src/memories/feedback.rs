//! What clients report about memories they used, and the lessons they bring with it. A report that names no trace makes or
//! extends the reported trace of its session.

use std::collections::BTreeSet;

use jiff::Timestamp;
use reasoning_bank_domain::confidence::{Signal, SignalKind, confidence, id_within_trace};
use reasoning_bank_domain::feedback::{
    COMMENT_MAX_CHARS, DETAIL_MAX_CHARS, LEARNINGS_MAX, MEMORIES_MAX, Moved, Reported, Verdict,
};
use reasoning_bank_domain::ids::{MemoryId, SignalId, TraceId};
use reasoning_bank_domain::memory::{ErrorContext, Facts, Memory, MemoryInvalid, Scope, SourceType, Trust};
use reasoning_bank_domain::secrets::Scrub;
use reasoning_bank_domain::stability::names_commit;
use reasoning_bank_domain::trace::{Account, Trace, TraceSource};
use reasoning_bank_domain::workspace::Workspace;
use uuid::Uuid;

use super::join::Brought;
use super::learn::{Becomes, Becoming, ids};
use super::overrule::Overruled;
use super::record::{descend, memory_of};
use super::{MemoriesHandle, RecordRequest, WorkspaceRef};
use crate::agents::MAX_TASK_CHARS;
use crate::error::Error;
use crate::ports::{MemoryRow, Record, StoreError};
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
    pub verdict: Verdict,
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
    /// Whether it is about the session's own work, which has a reported trace.
    fn tells_of_own_work(&self) -> bool {
        self.is_work && self.trace_id.is_none() && (self.task.is_some() || !self.verdict.signals().is_empty())
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

    /// The trace with what the report adds to it; none where there is no trace, or nothing new.
    fn trace_after(&self, request: &FeedbackRequest, learned: &[MemoryId]) -> Option<Trace> {
        let used: Vec<MemoryId> = self.rows.iter().map(|row| row.memory.id).collect();
        let FeedbackRequest { task, commit, verdict, .. } = request;
        self.trace.as_ref()?.after(Account {
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
        let mut own = own.map_err(|_elapsed| Error::DeadlineExceeded)?;
        let reported = self.report_until_stored(&request, &workspace, *own, deadline).await?;
        if let Some(trace) = reported.trace_id {
            *own = Some(trace);
            self.sessions.left(&workspace.id, session, trace).await;
        }
        Ok(reported)
    }

    /// `last` is the trace of the work that the session reported on last.
    async fn report_until_stored(
        &self,
        request: &FeedbackRequest,
        workspace: &Workspace,
        last: Option<TraceId>,
        deadline: Deadline,
    ) -> Result<Reported, Error> {
        let mut tries = 1;
        loop {
            match self.report(request, workspace, last, deadline).await {
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
        last: Option<TraceId>,
        deadline: Deadline,
    ) -> Result<Reported, Error> {
        let now = self.clock.now();
        let about = self.about(request, workspace, last, now, deadline).await?;
        let after = about.trace_after(request, &[]);
        let overruled = match about.trace.as_ref().zip(request.verdict.evidence.as_ref()) {
            Some((trace, observed)) => self.overrule(trace, after.as_ref(), observed.passed, now, deadline).await?,
            None => Overruled::default(),
        };
        let lessons = lessons(request, &about, after.as_ref().or(about.trace.as_ref()), now)?;
        let revised = overruled.revisions.iter().filter_map(|record| match record {
            Record::Revision { memory, .. } => Some(memory.id),
            _ => None,
        });
        let (to_learn, grown) = self.to_learn(lessons, Becomes::busy(revised), deadline).await;
        let becoming = Becoming::of(&to_learn);
        let told = ids(&becoming.learned);
        let trace = about.trace_after(request, &told).or_else(|| about.trace.clone().filter(|_| about.begins));
        let brought: Vec<Brought> = to_learn.iter().map(Brought::by).collect();

        let kinds = request.verdict.signals();
        let mut signals = signals(request, &about, &kinds, now);
        signals.extend(overruled.signals);
        let signals = self.unsaid(signals, request, &about, deadline).await?;
        let mut batch = vec![Record::Workspace(self.workspaces.registration(&about.workspace))];
        batch.extend(trace.clone().map(if about.begins { Record::Trace } else { Record::Verdict }));
        batch.extend(overruled.revisions);
        batch.extend(grown);
        batch.extend(to_learn.into_iter().map(|to_learn| to_learn.into_record(now)));
        batch.extend(signals.iter().cloned().map(Record::Signal));
        let committed = self.store.commit(batch, deadline).await?;
        self.workspaces.registered(&about.workspace);
        let learned = becoming.committed(committed);
        if let Some(trace) = trace.filter(|trace| trace.source == TraceSource::Reported && told != ids(&learned)) {
            let earlier = trace.memory_items.iter().filter(|id| !told.contains(id)).copied();
            let memory_items = earlier.chain(ids(&learned)).collect();
            let revision = trace.revision.saturating_add(1);
            self.correct(Record::Verdict(Trace { revision, memory_items, ..trace }), deadline).await;
        }
        self.join_sources(brought, ids(&learned), deadline).await;
        let (updated, not_shared_with) = match kinds.is_empty() {
            true => Default::default(),
            false => (moved(&about, &signals, now), about.not_shared_with.clone()),
        };
        let concerned = updated.iter().map(|moved| moved.id).chain(learned.iter().map(|learned| learned.id));
        let promoted = self.promote_proven(concerned, &about.workspace, deadline).await;
        let trace_id = about.trace.map(|trace| trace.trace_id);
        Ok(Reported { trace_id, updated, learned, not_shared_with, promoted })
    }

    /// The signals that are not stored yet, the words with the first of each memory: once is enough to be read. Only
    /// what is said of a trace can have been said before.
    async fn unsaid(
        &self,
        mut signals: Vec<Signal>,
        request: &FeedbackRequest,
        about: &About,
        deadline: Deadline,
    ) -> Result<Vec<Signal>, Error> {
        if about.trace.is_some() && !about.begins {
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
        last: Option<TraceId>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<About, Error> {
        let named = match request.trace_id {
            Some(id) => Some(self.own_trace(id, workspace, deadline).await?),
            None => None,
        };
        let mut ids = request.memory_ids.clone();
        if let Some(trace) = named.as_ref().filter(|_| ids.is_empty()) {
            ids.clone_from(&trace.memories_used);
        }
        let (trace, begins) = match request.session.as_deref().filter(|_| request.tells_of_own_work()) {
            Some(session) => self.reported_trace(request, workspace, session, last, now, deadline).await?,
            None => (named, false),
        };
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

    /// The trace of the session's own work, and whether it begins with this report.
    async fn reported_trace(
        &self,
        request: &FeedbackRequest,
        workspace: &Workspace,
        session: &str,
        last: Option<TraceId>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(Option<Trace>, bool), Error> {
        if let Some(id) = last {
            match self.own_trace(id, workspace, deadline).await {
                Ok(trace) if trace.is_about(request.task.as_deref()) => return Ok((Some(trace), false)),
                // It is of another task, or was deleted since.
                Ok(_) | Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let parent = self.sessions.latest(&workspace.id, session).await;
        let id = TraceId::from(Uuid::now_v7());
        Ok((Some(Trace::reported(id, workspace.id.clone(), session, parent, now)), true))
    }
}

fn check(request: FeedbackRequest) -> Result<FeedbackRequest, Error> {
    let kinds = request.verdict.signals();
    let names_commit_of_trace = request.commit.is_some() && request.trace_id.is_some();
    if kinds.is_empty() && request.learnings.is_empty() && !names_commit_of_trace {
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
    if request.commit.is_some() && request.trace_id.is_none() && kinds.is_empty() && request.task.is_none() {
        return Err(Error::invalid("commit", "says of nothing that it came of it; give task, trace_id or an outcome"));
    }
    let detail = request.verdict.evidence.as_ref().and_then(|evidence| evidence.detail.as_deref());
    let chars = |text: Option<&str>| text.map_or(0, |text| text.chars().count());
    for (argument, count, most, unit) in [
        ("memory_ids", request.memory_ids.len(), MEMORIES_MAX, "items"),
        ("learnings", request.learnings.len(), LEARNINGS_MAX, "items"),
        ("task", chars(request.task.as_deref()), MAX_TASK_CHARS, "characters"),
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
        };
        let mut memory = memory_of(record, &about.workspace, now)?;
        descend(&mut memory, &about.rows);
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

fn signals(request: &FeedbackRequest, about: &About, kinds: &[SignalKind], now: Timestamp) -> Vec<Signal> {
    // A session that reports about its own trace is that trace's own voice; any other is a witness of its own.
    let is_own = about
        .trace
        .as_ref()
        .is_some_and(|trace| trace.source == TraceSource::Reported && trace.metadata.source_session == request.session);
    let session = request.session.as_deref().filter(|_| !is_own);
    let id = |memory: MemoryId, kind| match &about.trace {
        Some(trace) => id_within_trace(trace.trace_id, memory, kind, session),
        None => SignalId::from(Uuid::now_v7()),
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
