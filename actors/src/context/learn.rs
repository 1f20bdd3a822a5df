//! Learning from a task at its end: the episode is stored, its insights become lessons, the patterns that were shown
//! before it count as applied, and its status is evidence about the memories that were shown.

use std::sync::Arc;

use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::context::{
    ContextApplication, LearnedEpisode, ShownContext, episode_to_learn, lessons_of, verdict_of,
};
use reasoning_bank_domain::episode::{
    EpisodeStatus, NewEpisode, RecordedEpisode, ReportedEpisode, Strategy, not_taken_of,
};
use reasoning_bank_domain::evidence::feedback::Reported;
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::{ContextId, MemoryId, TraceId};
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::pattern::document::PatternChanged;
use tokio::sync::OwnedMutexGuard;

use super::{ContextHandle, RememberedContext};
use crate::episodes::{EpisodeQuery, RecordEpisode};
use crate::error::Error;
use crate::memories::FeedbackRequest;
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// A caller names in this way what it was shown before its task.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenContext {
    /// This process showed it.
    Id(ContextId),
    /// Another process showed it, and the caller kept the answer. The caller's session is the id of the context.
    Shown(ShownContext),
}

/// The report at the end of a task. The task is that of the episode, or else that of the context.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnEpisode {
    pub workspace: WorkspaceRef,
    pub context: Option<GivenContext>,
    pub episode: Option<NewEpisode>,
    pub status: EpisodeStatus,
    /// They are added to those of the episode.
    pub insights: Vec<String>,
    /// The session that tells it: the source of evidence.
    pub session: ClientSession,
    /// The scopes beyond the project about whose memories the outcome counts as well.
    pub counts_in: Vec<Scope>,
}

/// The known parts of a context, and the episode that came of it. Whoever has it is the only one who learns from it.
#[derive(Default)]
struct ContextInWork {
    shown: Option<ShownContext>,
    episode: Option<OwnedMutexGuard<Option<TraceId>>>,
    note: Option<Note>,
}

/// An episode that is stored. One that was told before may have its lessons already.
struct StoredEpisode {
    recorded: RecordedEpisode,
    has_lessons: bool,
}

impl StoredEpisode {
    /// Makes that of an episode that was told before.
    fn of(trace: &Trace) -> Self {
        let recorded = RecordedEpisode {
            episode_id: trace.trace_id,
            created: false,
            status: trace.outcome.into(),
            task_type: trace.task_type(),
            redactions: 0,
            dropped_characters: 0,
        };
        Self { recorded, has_lessons: !trace.memory_items.is_empty() }
    }
}

impl ContextHandle {
    /// Learns from a task. One episode comes of a context: told again, it is the same episode, which has its lessons
    /// already.
    ///
    /// # Errors
    /// Nothing says what the task was: no episode is told, and there is no context, or it is unknown here.
    pub async fn learn(&self, told: LearnEpisode, deadline: Deadline) -> Result<LearnedEpisode, Error> {
        let LearnEpisode { workspace, context, episode, status, insights, session, counts_in } = told;
        let has_episode = episode.is_some();
        let mut context = self.context_of(context, has_episode, &workspace, deadline).await?;
        let mut notes: Vec<Note> = context.note.take().into_iter().collect();
        let missing = || Error::invalid("episode", "is missing; tell the episode, or give the context_id of its task");
        let told = episode_to_learn(context.shown.as_ref(), episode, status, insights).ok_or_else(missing)?;
        let (mut lessons, of_lessons) = lessons_of(&told);
        notes.extend(of_lessons);

        let known = match (&context.episode, &context.shown) {
            (Some(episode), _) => **episode,
            (None, Some(shown)) => self.episode_told_of(shown, &workspace, deadline).await?,
            (None, None) => None,
        };
        let recorded = match known {
            Some(id) => {
                let kept = self.memories.trace(id, &workspace, deadline).await?;
                notes.extend(not_taken_of(&kept, &told));
                StoredEpisode::of(&kept)
            }
            None => {
                let source = Some(session.source.clone());
                let request = RecordEpisode { episode: told, workspace: workspace.clone(), session: source };
                let ReportedEpisode { episode: recorded, notes: left_out } =
                    self.episodes.record(request, deadline).await?;
                notes.extend(left_out);
                match recorded.created {
                    true => StoredEpisode { recorded, has_lessons: false },
                    false => self.told_before(recorded.episode_id, &workspace, deadline).await?,
                }
            }
        };
        let StoredEpisode { recorded, has_lessons } = recorded;
        let episode = recorded.episode_id;
        if let Some(of_context) = &mut context.episode {
            **of_context = Some(episode);
        }
        if has_lessons && !lessons.is_empty() {
            lessons.clear();
            notes.push(Note::plain(
                "the episode has its lessons since it was told first, so no insight became one now; record_memory keeps a \
                 lesson that is new",
            ));
        }
        let shown = context.shown.take();
        let (patterns, memories) = shown.map(|shown| (shown.patterns, shown.memories)).unwrap_or_default();
        let applications = self.applied(patterns, episode, &workspace, &session, &mut notes, deadline).await?;
        let resolved = self.workspaces.resolve(&workspace, deadline).await?.workspace;
        let rows = self.memories.readable(memories, &resolved, deadline).await?;
        let request = FeedbackRequest {
            workspace: workspace.clone(),
            memory_ids: rows.iter().map(|row| row.memory.id).collect(),
            trace_id: Some(episode),
            task: None,
            commit: None,
            verdict: verdict_of(status),
            learnings: lessons,
            session: Some(session),
            counts_in,
            is_work: true,
        };
        let is_corrected = !recorded.created && recorded.status != status;
        let Reported { updated, learned, .. } = self.reported(request, is_corrected, deadline).await?;
        let before = recorded.status;
        let recorded = match is_corrected {
            true => self.told_before(episode, &workspace, deadline).await?.recorded,
            false => recorded,
        };
        if !recorded.created {
            notes.push(told_again(before, status, recorded.status));
        }
        Ok(LearnedEpisode { episode: recorded, lessons: learned, updated, applications, notes })
    }

    /// Finds the context that a caller names, and waits until nobody else learns from it.
    async fn context_of(
        &self,
        given: Option<GivenContext>,
        has_episode: bool,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<ContextInWork, Error> {
        let id = match given {
            None => return Ok(ContextInWork::default()),
            Some(GivenContext::Shown(shown)) => {
                return Ok(ContextInWork { shown: Some(shown), ..ContextInWork::default() });
            }
            Some(GivenContext::Id(id)) => id,
        };
        match self.remembered_as(id, workspace, deadline).await? {
            Some(remembered) => {
                let episode = Arc::clone(&remembered.episode).lock_owned();
                let episode = tokio::time::timeout_at(deadline.instant(), episode).await;
                let episode = Some(episode.map_err(|_elapsed| Error::DeadlineExceeded)?);
                Ok(ContextInWork { shown: Some(remembered.shown.clone()), episode, note: None })
            }
            None if has_episode => {
                let note = Note::new(Code::NotFound, format!("{}; only the episode was learned from", unknown(id)));
                Ok(ContextInWork { note: Some(note), ..ContextInWork::default() })
            }
            None => Err(unknown(id)),
        }
    }

    /// Finds a context of this process. One of a workspace that was deleted since is gone with it.
    async fn remembered_as(
        &self,
        id: ContextId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Option<Arc<RememberedContext>>, Error> {
        let key = (self.workspaces.resolve(workspace, deadline).await?.workspace.id, id);
        let Some(remembered) = self.remembered.get(&key).await else { return Ok(None) };
        match self.workspaces.still_there(&remembered.begun, deadline).await {
            Ok(()) => Ok(Some(remembered)),
            Err(Error::WorkspaceUnknown(_)) => {
                self.remembered.invalidate(&key).await;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Finds the episode that was told of a context that another process showed: its session is the id of the context.
    async fn episode_told_of(
        &self,
        shown: &ShownContext,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Option<TraceId>, Error> {
        let request = EpisodeQuery {
            session: Some(shown.context_id.to_string()),
            include_archived: true,
            ..EpisodeQuery::new(workspace.clone(), Strategy::Temporal, None, 1)
        };
        let found = self.episodes.search(request, deadline).await?;
        Ok(found.hits.first().map(|found| found.episode.episode_id))
    }

    /// Reads an episode that was told before.
    async fn told_before(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<StoredEpisode, Error> {
        Ok(StoredEpisode::of(&self.memories.trace(id, workspace, deadline).await?))
    }

    /// Records that patterns were applied in an episode. A pattern that is gone is told of in a note.
    async fn applied(
        &self,
        patterns: Vec<MemoryId>,
        episode: TraceId,
        workspace: &WorkspaceRef,
        session: &ClientSession,
        notes: &mut Vec<Note>,
        deadline: Deadline,
    ) -> Result<Vec<ContextApplication>, Error> {
        let mut applications = Vec::new();
        for id in patterns {
            let applied = self.memories.apply_pattern(id, episode, workspace, Some(&session.source), deadline).await;
            match applied {
                Ok(PatternChanged { pattern, stage_before, why, .. }) => applications.push(ContextApplication {
                    pattern_id: id,
                    name: pattern.name,
                    stage_before,
                    stage: pattern.lifecycle.status,
                    why,
                }),
                Err(error @ Error::NotFound(_)) => notes.push(Note::new(Code::NotFound, error.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(applications)
    }

    /// Reports what came of the task and of the memories that were shown, with the lessons, where there is something to
    /// say. A report that tells another status, so that the episode `is_corrected`, says something in any case.
    async fn reported(
        &self,
        request: FeedbackRequest,
        is_corrected: bool,
        deadline: Deadline,
    ) -> Result<Reported, Error> {
        let is_about_something = is_corrected || !request.memory_ids.is_empty();
        let has_verdict = is_about_something && !request.verdict.signals().is_empty();
        if !has_verdict && request.learnings.is_empty() {
            return Ok(Reported::default());
        }
        self.memories.feedback(request, deadline).await
    }
}

/// Says what became of an episode that was told again, maybe with another status.
fn told_again(before: EpisodeStatus, told: EpisodeStatus, now: EpisodeStatus) -> Note {
    if before == told {
        return Note::plain("the episode was told before; what follows from it counts once");
    }
    let (was, told_now) = (before.as_str(), told.as_str());
    Note::plain(if now == told {
        format!("the episode was told before with the status {was}; {told_now} takes its place")
    } else if verdict_of(told).signals().is_empty() {
        format!("the episode was told before with the status {was} and keeps it: {told_now} says nothing against it")
    } else {
        format!(
            "the episode was told before with the status {was} and keeps it: evidence decided it, or another session told \
             it, which alone can correct it"
        )
    })
}

fn unknown(id: ContextId) -> Error {
    let known = "a context is known for a day, in its workspace, to the process that showed it";
    Error::NotFound(format!("context {id} here ({known})"))
}
