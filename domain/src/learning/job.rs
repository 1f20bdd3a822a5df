//! Background jobs: what is to be learned later from what is over, and how such a job goes from queued to done or
//! failed. The distiller does the work and keeps the queue. `distill` decides which lessons come of it.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::Learned;
use crate::memory::MemoryOutcome;
use crate::memory::ids::{JobId, MemoryId, derived};
use crate::memory::workspace::WorkspaceId;
use crate::note::Note;
use crate::safety::secrets::{Removed, Scrub};

/// The longest transcript, in characters.
pub const TRANSCRIPT_MAX_CHARS: usize = 500_000;
/// The longest name of a session, in characters.
pub const SESSION_MAX_CHARS: usize = 200;
/// The longest reason why a job failed, in characters.
const ERROR_MAX_CHARS: usize = 2_000;
/// The most times that a job is tried.
pub const MAX_ATTEMPTS: u32 = 5;
/// The pause before the second attempt. It doubles before each next one.
const FIRST_PAUSE: Duration = Duration::from_secs(30);

/// Returns the pause after this many attempts failed, doubled from `FIRST_PAUSE`.
pub fn pause_after(failed: u32) -> Duration {
    FIRST_PAUSE * 2_u32.pow(failed.clamp(1, MAX_ATTEMPTS) - 1)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    Queued,
    Running,
    Done,
    Failed,
}

impl JobState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// The work of a job. Its texts are without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Work {
    /// A session that is over.
    Distill { session_id: String, outcome: MemoryOutcome, transcript: String },
    /// An exchange that is worth keeping.
    Capture { question: String, answer: String, session_id: Option<String> },
}

impl Scrub for Work {
    fn scrub(&mut self) -> Removed {
        match self {
            Self::Distill { session_id, transcript, .. } => session_id.scrub() + transcript.scrub(),
            Self::Capture { question, answer, session_id } => question.scrub() + answer.scrub() + session_id.scrub(),
        }
    }
}

impl Scrub for Job {
    fn scrub(&mut self) -> Removed {
        let result = self.result.as_mut().map_or_else(Removed::default, |result| {
            let titles = result.learned.iter_mut().map(|learned| learned.title.scrub());
            titles.fold(result.notes.scrub(), |removed, more| removed + more)
        });
        self.work.scrub() + self.error.scrub() + result
    }
}

/// The way in which the lessons were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    Model,
    Rules,
}

/// The outcome of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobResult {
    /// The lessons of the job. Where a memory said the same already, the id is that memory's.
    pub learned: Vec<Learned>,
    pub method: Method,
    /// The reasons why some lessons were not kept, or not drawn by the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// A job: one thing to be done once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: JobId,
    /// The number of changes to the job, from 0 for the job as it was queued.
    pub revision: u32,
    pub workspace_id: WorkspaceId,
    /// The work. None when the job is over, as what was worth keeping is in memories.
    pub work: Option<Work>,
    /// The source of the evidence that its lessons are. None where that is the session that it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub state: JobState,
    /// The number of times the job was begun, without those after which it was put back.
    pub attempts: u32,
    /// A queued job is not begun before this time.
    pub due: Timestamp,
    /// The reason why the last attempt failed, or why the job waits.
    pub error: Option<String>,
    pub result: Option<JobResult>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Job {
    /// Makes a new job. The same work of the same workspace gives the same id (a UUIDv8), and so is the same job.
    pub fn queued(workspace_id: WorkspaceId, work: Work, now: Timestamp) -> Self {
        let id = id_of(&workspace_id, &work);
        Self {
            id,
            revision: 0,
            workspace_id,
            work: Some(work),
            source: None,
            state: JobState::Queued,
            attempts: 0,
            due: now,
            error: None,
            result: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the job as another bank begins with it: a job that ran is still to be done there.
    #[must_use]
    pub fn restored(self) -> Self {
        let state = if self.state == JobState::Running { JobState::Queued } else { self.state };
        Self { revision: 0, state, ..self }
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, JobState::Done | JobState::Failed)
    }

    /// Tells whether this is the next revision of what is stored.
    pub fn follows(&self, stored: &Self) -> bool {
        self.id == stored.id && stored.revision.checked_add(1) == Some(self.revision)
    }

    /// Returns the id of the job's `n`-th lesson, so that a job that is done twice leaves the same memories.
    pub fn memory_id(&self, n: usize) -> MemoryId {
        derived(&[b"memory", self.id.uuid().as_bytes(), &n.to_be_bytes()]).into()
    }

    fn changed(&self, now: Timestamp) -> Self {
        Self { revision: self.revision.saturating_add(1), updated_at: now, ..self.clone() }
    }

    pub fn begun(&self, now: Timestamp) -> Self {
        Self { state: JobState::Running, attempts: self.attempts.saturating_add(1), ..self.changed(now) }
    }

    pub fn done(&self, result: JobResult, now: Timestamp) -> Self {
        Self { state: JobState::Done, work: None, error: None, result: Some(result), ..self.changed(now) }
    }

    /// Returns the finished job as its next revision, with `learned` in its result. None where the result says so
    /// already, or where there is no result.
    pub fn corrected(mut self, learned: Vec<Learned>) -> Option<Self> {
        let result = self.result.as_mut().filter(|result| result.learned != learned)?;
        result.learned = learned;
        Some(Self { revision: self.revision.saturating_add(1), ..self })
    }

    /// Returns the job after an attempt failed. It is tried again after a pause, or has failed for good. Its work stays
    /// in either case, so that it can be queued again.
    pub fn failed_once(&self, error: &str, now: Timestamp) -> Self {
        let error = Some(error.chars().take(ERROR_MAX_CHARS).collect());
        let changed = Self { error, ..self.changed(now) };
        if self.attempts >= MAX_ATTEMPTS {
            return Self { state: JobState::Failed, ..changed };
        }
        let due = now.checked_add(pause_after(self.attempts)).unwrap_or(now);
        Self { state: JobState::Queued, due, ..changed }
    }

    /// Returns the job after the process that worked on it ended without a word. The job may have caused that, so it is
    /// due at once the first time only, and waits from the second time on.
    pub fn left_behind(&self, now: Timestamp) -> Self {
        let left = self.failed_once("the process that worked on it ended", now);
        if self.attempts == 1 { Self { due: now, ..left } } else { left }
    }

    /// Returns the job after it was asked to stop and nothing went wrong. It keeps its place.
    pub fn put_back(&self, now: Timestamp) -> Self {
        Self { state: JobState::Queued, attempts: self.attempts.saturating_sub(1), ..self.changed(now) }
    }

    /// Returns the job after it was begun and has to wait for a reason that it did not cause.
    pub fn put_back_because(&self, why: &str, now: Timestamp) -> Self {
        Self { error: Some(why.to_owned()), ..self.put_back(now) }
    }

    /// Returns a job that failed for good, queued again from the start.
    pub fn queued_again(&self, now: Timestamp) -> Self {
        Self { state: JobState::Queued, attempts: 0, due: now, ..self.changed(now) }
    }
}

/// Returns the day (UTC) that a time is in.
pub fn day_of(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

/// Returns when the day after `at` begins (UTC). At the end of all time it is `at`.
pub fn next_day(at: Timestamp) -> Timestamp {
    let next = day_of(at).tomorrow().and_then(|day| day.to_zoned(TimeZone::UTC));
    next.map_or(at, |next| next.timestamp())
}

fn id_of(workspace: &WorkspaceId, work: &Work) -> JobId {
    let workspace = workspace.as_str().as_bytes();
    let uuid = match work {
        Work::Distill { session_id, outcome, transcript } => {
            derived(&[b"distill", workspace, session_id.as_bytes(), outcome.as_str().as_bytes(), transcript.as_bytes()])
        }
        Work::Capture { question, answer, .. } => {
            derived(&[b"capture", workspace, question.as_bytes(), answer.as_bytes()])
        }
    };
    uuid.into()
}

/// The answer to a job that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queued {
    /// True where the job is new. Otherwise the same was handed in before, and `job_id` is that job.
    pub queued: bool,
    pub job_id: JobId,
}

/// A job as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobView {
    pub job_id: JobId,
    pub state: JobState,
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
    /// The reason why the job failed, or waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<Job> for JobView {
    fn from(job: Job) -> Self {
        let Job { id, state, attempts, result, error, created_at, updated_at, .. } = job;
        Self { job_id: id, state, attempts, result, error, created_at, updated_at }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_760_000_000 + seconds).unwrap()
    }

    fn job() -> Job {
        let work = Work::Distill { session_id: "s".into(), outcome: MemoryOutcome::Mixed, transcript: "t".into() };
        Job::queued(WorkspaceId::of_root("/p"), work, at(0))
    }

    #[test]
    fn the_same_work_is_the_same_job_and_any_other_is_not() {
        let named = |session: &str, outcome, transcript: &str| {
            let work = Work::Distill { session_id: session.into(), outcome, transcript: transcript.into() };
            Job::queued(WorkspaceId::of_root("/p"), work, at(5)).id
        };
        assert_eq!(named("s", MemoryOutcome::Mixed, "t"), job().id);
        for other in [
            named("s", MemoryOutcome::Failure, "t"),
            named("s2", MemoryOutcome::Mixed, "t"),
            named("s", MemoryOutcome::Mixed, "t2"),
            named("st", MemoryOutcome::Mixed, ""),
            Job { ..Job::queued(WorkspaceId::of_root("/q"), job().work.unwrap(), at(0)) }.id,
        ] {
            assert_ne!(other, job().id);
        }
        assert_ne!(job().memory_id(0), job().memory_id(1));
    }

    #[test]
    fn a_job_that_keeps_failing_pauses_twice_as_long_each_time_and_stops_after_five_attempts() {
        let mut job = job();
        let mut pauses = Vec::new();
        for attempt in 1..=MAX_ATTEMPTS {
            job = job.begun(at(0)).failed_once("the model is away", at(0));
            assert_eq!(job.attempts, attempt);
            pauses.push(job.due.as_second() - at(0).as_second());
        }
        assert_eq!(pauses[..4], [30, 60, 120, 240]);
        assert_eq!((job.state, job.error.as_deref()), (JobState::Failed, Some("the model is away")));
        assert!(job.work.is_some(), "it can be queued again");
        let again = job.queued_again(at(9));
        assert_eq!((again.state, again.attempts, again.due), (JobState::Queued, 0, at(9)));
    }

    #[test]
    fn a_job_that_is_done_keeps_its_result_and_forgets_what_it_worked_on() {
        let result = JobResult { learned: vec![], method: Method::Rules, notes: vec![] };
        let done = job().begun(at(1)).done(result.clone(), at(2));
        assert!(done.is_over());
        assert_eq!((done.work, done.result, done.revision), (None, Some(result), 2));
    }

    #[test]
    fn a_job_that_was_left_behind_is_due_at_once_the_first_time_only() {
        let once = job().begun(at(1)).left_behind(at(2));
        assert_eq!((once.state, once.due), (JobState::Queued, at(2)));
        let mut again = once;
        for _ in 1..MAX_ATTEMPTS {
            again = again.begun(at(3)).left_behind(at(4));
        }
        assert_eq!((again.state, again.attempts), (JobState::Failed, MAX_ATTEMPTS));
        assert!(again.due > at(4));
    }

    #[test]
    fn a_result_that_names_the_wrong_memories_is_corrected_once() {
        let learned = |n: usize| vec![Learned { id: job().memory_id(n), title: "t".into() }];
        let result = JobResult { learned: learned(0), method: Method::Rules, notes: vec![] };
        let done = job().begun(at(1)).done(result, at(2));
        assert_eq!(done.clone().corrected(learned(0)), None);
        let corrected = done.clone().corrected(learned(1)).unwrap();
        assert!(corrected.follows(&done) && corrected.updated_at == done.updated_at);
        assert_eq!(corrected.result.map(|result| result.learned), Some(learned(1)));
        assert_eq!(job().corrected(learned(1)), None, "it has no result yet");
    }

    #[test]
    fn being_put_back_is_no_attempt() {
        let back = job().begun(at(1)).put_back(at(2));
        assert_eq!((back.state, back.attempts, back.due), (JobState::Queued, 0, at(0)));
        let waits = job().begun(at(1)).put_back_because("for tokens", at(2));
        assert_eq!((waits.due, waits.attempts, waits.error.as_deref()), (at(0), 0, Some("for tokens")));
    }

    proptest! {
        #[test]
        fn every_change_is_one_revision_and_no_job_is_tried_more_than_five_times(fail in proptest::collection::vec(any::<bool>(), 0..20)) {
            let mut job = job();
            for failed in fail {
                let before = job.revision;
                if job.state != JobState::Queued { break }
                job = job.begun(at(0));
                job = if failed { job.failed_once("no", at(0)) } else { job.put_back(at(0)) };
                prop_assert_eq!(job.revision, before + 2);
                prop_assert!(job.attempts <= MAX_ATTEMPTS);
            }
        }
    }
}
