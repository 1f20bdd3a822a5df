//! Keeping what a solve, a session or an exchange leaves: lessons, and the trace or the job that they came from.

use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::learning::lesson::{Lesson, LessonBatch, LessonOrigin, memories_of};
use reasoning_bank_domain::memory::Learned;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::note::Note;
use reasoning_bank_domain::retrieval::prompt_memories::PromptMemories;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::solve::agent_loop::RunRecord;
use uuid::Uuid;

use super::MemoriesHandle;
use super::compare::PreparedLesson;
use super::merge_sources::LessonSources;
use crate::conflict::{is_last, retry_on_conflict};
use crate::error::Error;
use crate::ports::{Committed, Record};
use crate::runtime::Deadline;
use crate::workspaces::Resolved;

/// The lessons of a solve that were stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StoredLessons {
    pub(crate) learned: Vec<Learned>,
    /// The lessons that were not stored, each note starting with an error code.
    pub(crate) notes: Vec<Note>,
}

impl MemoriesHandle {
    /// Stores what a solve leaves, all or nothing: the trace, the lessons, and the evidence about injected memories. A
    /// lesson that cannot be stored does not take the others with it, and the notes say so.
    ///
    /// # Errors
    /// `WorkspaceUnknown` where the workspace was deleted since the solve began: storing the run does not bring it
    /// back.
    pub(crate) async fn store_run(
        &self,
        run: RunRecord,
        begun: Resolved,
        deadline: Deadline,
    ) -> Result<StoredLessons, Error> {
        // Somebody may change a memory that a lesson confirms. The lesson is compared with what the memory is then.
        retry_on_conflict(|tries| self.try_to_store_run(run.clone(), &begun, tries, deadline)).await
    }

    async fn try_to_store_run(
        &self,
        run: RunRecord,
        begun: &Resolved,
        tries: usize,
        deadline: Deadline,
    ) -> Result<StoredLessons, Error> {
        let (memories, notes) = memories_of(run.lessons, &run.origin, &run.injected, |_| Uuid::now_v7().into());
        let (prepared, revisions) =
            self.prepare(memories, LessonBatch::default().on_last_try(is_last(tries)), deadline.halfway()).await;
        let pending = PendingIds::of(&prepared);
        let mut trace = run.trace;
        let trace_id = trace.trace_id;
        trace.scrub();
        trace.memory_items = ids(&pending.learned);
        let Resolved { workspace, .. } = begun;
        let mut batch = vec![Record::Trace(trace.clone())];
        let sources: Vec<LessonSources> = prepared.iter().map(LessonSources::of).collect();
        batch.extend(prepared.into_iter().filter_map(PreparedLesson::into_record));
        batch.extend(revisions);
        let used: Vec<MemoryId> = run.signals.iter().map(|signal| signal.memory_id).collect();
        batch.extend(run.signals.into_iter().map(Record::Signal));
        let committed = self.workspaces.commit_if_there(begun, &self.store, batch, deadline).await?;
        if let Some(session) = &run.session {
            self.sessions.left(&workspace.id, session, trace_id).await;
        }
        let learned = pending.committed(committed);
        let ids = ids(&learned);
        if let Some(corrected) = trace.corrected(&trace.memory_items, &ids) {
            self.correct(Record::Verdict(corrected), deadline).await;
        }
        self.merge_sources(sources, ids.clone(), deadline).await;
        let concerned = used.into_iter().chain(ids);
        self.promote_proven(concerned, workspace, deadline).await;
        Ok(StoredLessons { learned, notes })
    }

    /// Stores the lessons of a background job together with the job's end, all or nothing. `done` makes that end of
    /// what was learned and of notes on what could not be stored.
    pub(crate) async fn store_job_lessons(
        &self,
        job: &Job,
        lessons: Vec<Lesson>,
        origin: &LessonOrigin,
        done: impl Fn(Vec<Learned>, Vec<Note>) -> Job,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let (memories, notes) = memories_of(lessons, origin, &PromptMemories::default(), |n| job.memory_id(n));
        let confirms = origin.confirms();
        // Where nobody says of what session something was learned, each job is a source of its own.
        let own_source = origin.source_session.is_none().then(|| job.id.to_string());
        let source = job.source.clone().or(own_source);
        let try_to_store = async |tries| {
            let (mut prepared, mut revisions) = self
                .prepare(memories.clone(), LessonBatch::default().on_last_try(is_last(tries)), deadline.halfway())
                .await;
            if !confirms {
                prepared.retain(|prepared| prepared.reinforces().is_none());
                revisions.clear();
            }
            let pending = PendingIds::of(&prepared);
            let job = done(pending.learned.clone(), notes.clone());
            let mut batch = vec![Record::Job(job.clone())];
            let records = prepared.into_iter().filter_map(|prepared| prepared.into_record_of(source.as_deref()));
            batch.extend(records.map(|record| match record {
                Record::Memory { memory, passages, confirm } => {
                    Record::Memory { memory, passages, confirm: confirm.filter(|_| confirms) }
                }
                other => other,
            }));
            batch.extend(revisions);
            let committed = self.store.commit(batch, deadline).await?;
            Ok((job, pending.committed(committed)))
        };
        let (job, learned) = retry_on_conflict(try_to_store).await?;
        if let Some(corrected) = job.corrected(learned) {
            self.correct(Record::Job(corrected), deadline).await;
        }
        Ok(())
    }

    /// Stores a record with the right ids. Where the store found exact duplicates, the record that was committed with
    /// them names memories that do not exist. A failure is only logged, because what was learned is stored.
    pub(super) async fn correct(&self, record: Record, deadline: Deadline) {
        if let Err(error) = self.store.commit(vec![record], deadline).await {
            tracing::debug!(code = error.code().as_str(), "the ids of confirmed memories were not corrected");
        }
    }
}

/// The memories that lessons become, before they are committed.
pub(super) struct PendingIds {
    pub(super) learned: Vec<Learned>,
    is_new: Vec<bool>,
}

impl PendingIds {
    pub(super) fn of(prepared: &[PreparedLesson]) -> Self {
        let learned = prepared.iter().map(PreparedLesson::learned).collect();
        Self { learned, is_new: prepared.iter().map(|prepared| prepared.reinforces().is_none()).collect() }
    }

    /// Returns the memories that the lessons became. For an exact duplicate that was written meanwhile it is the one
    /// that the store found.
    pub(super) fn committed(mut self, committed: Committed) -> Vec<Learned> {
        let new = self.learned.iter_mut().zip(self.is_new).filter_map(|(learned, is_new)| is_new.then_some(learned));
        for (learned, commit) in new.zip(committed.memories) {
            learned.id = commit.id();
        }
        self.learned
    }
}

pub(super) fn ids(learned: &[Learned]) -> Vec<MemoryId> {
    learned.iter().map(|learned| learned.id).collect()
}
