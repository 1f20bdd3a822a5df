//! One run of the distiller: it takes over what an ended process had begun, takes the next job that is due and does it.

use std::time::Duration;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::learning::distill::{self, LessonQuestion};
use reasoning_bank_domain::learning::job::{Job, JobResult, JobState, Method, Work, day_of};
use reasoning_bank_domain::learning::lesson::Lesson;
use reasoning_bank_domain::learning::transcript;
use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::trace::{Outcome, TraceSource};
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::solve::answer::Answer;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::DistillerArgs;
use crate::episodes::LearnedRequests;
use crate::error::Error;
use crate::model::{BudgetedFailure, BudgetedModel};
use crate::ports::{Completion, EraseScope, JobFilter, LeaseGuard, ModelError, Page, Record, StoreError};
use crate::runtime::{Deadline, SystemEvent};
use crate::spans;
use crate::workspaces::WorkspaceRef;

/// The time limit of a job.
const JOB_LIMIT: Duration = Duration::from_secs(900);
/// The time limit for making the vectors of a few memories. After a failure nobody tries again before the pause is
/// over.
const FILL_LIMIT: Duration = Duration::from_secs(300);
const FILL_PAUSE: Duration = Duration::from_secs(600);
/// The time until the next look where no episode lacks vectors. A look reads the ids of all episodes, and a search
/// makes the vectors of the newest ones in any case.
const EPISODES_EVERY: Duration = Duration::from_secs(60);
/// The time limit of each read or write of the store around a job.
const STORE_LIMIT: Duration = Duration::from_secs(30);
/// The time for which jobs that are over are kept.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The number of jobs that one read takes. It is small because a job may be large.
const PAGE: usize = 8;

/// The state that one run hands to the next.
#[derive(Default)]
pub(crate) struct WorkerState {
    lease: Option<LeaseGuard>,
    /// The day on which jobs that are long over were last erased.
    tidied: Option<Date>,
    /// The day that has fewer tokens left than the next job needs. Jobs wait until it is over.
    waits: Option<Date>,
    /// Nobody tries before then to make the vectors that memories and episodes lack.
    fill_from: Option<Instant>,
    /// No episode lacked vectors at the last look. The next look is then.
    episodes_from: Option<Instant>,
    /// The last run failed, and the log says so.
    failing: bool,
}

/// Does one run, and says whether there was something to do.
pub(super) async fn run_once(
    args: DistillerArgs,
    mut worker: WorkerState,
    stop: CancellationToken,
) -> (WorkerState, bool) {
    match args.next(&mut worker, stop).await {
        Ok(worked) => {
            worker.failing = false;
            (worker, worked)
        }
        // The job was erased with its workspace, or somebody else changed it first.
        Err(Error::Store(StoreError::JobChanged(id))) => {
            tracing::debug!(job = %id, "a job was changed or erased");
            (worker, false)
        }
        Err(error) => {
            if !std::mem::replace(&mut worker.failing, true) {
                tracing::warn!(%error, "background work waits");
            }
            // A job may have been left as running. Whoever takes the lease next looks after it.
            worker.lease = None;
            (worker, false)
        }
    }
}

impl DistillerArgs {
    async fn next(&self, worker: &mut WorkerState, stop: CancellationToken) -> Result<bool, Error> {
        if worker.lease.is_none() {
            let Some(taken) = self.lease.try_take() else { return Ok(false) };
            self.take_over().await?;
            worker.lease = Some(taken);
        }
        let now = self.clock.now();
        let today = Some(day_of(now));
        if worker.tidied != today {
            self.forget_old(now).await;
            worker.tidied = today;
        }
        if worker.waits == today {
            return Ok(self.fill_vectors(worker).await);
        }
        let Some(job) = self.store.next_job(now, store_deadline()).await? else {
            return Ok(self.fill_vectors(worker).await);
        };
        let begun = Instant::now();
        match self.work_on(job, stop).await? {
            Worked::Done => {
                self.pace.took(begun.elapsed());
                Ok(true)
            }
            Worked::Waits => {
                self.pace.waits_for_the_next_day(now);
                worker.waits = today;
                Ok(false)
            }
        }
    }

    /// Takes over the jobs that an ended process left as running. This process has the lease, so nobody else works on
    /// them.
    async fn take_over(&self) -> Result<(), Error> {
        let running = JobFilter { state: Some(JobState::Running), ..JobFilter::default() };
        loop {
            let left = self.store.jobs(running.clone(), Page::first(PAGE), store_deadline()).await?;
            if left.is_empty() {
                return Ok(());
            }
            for job in left {
                tracing::info!(job = %job.id, attempts = job.attempts, "a job was left while it ran");
                self.write(job.left_behind(self.clock.now())).await?;
            }
        }
    }

    /// Makes vectors for some memories and episodes that lack them, and tells whether it made any. After a failure it
    /// does nothing for a while.
    async fn fill_vectors(&self, worker: &mut WorkerState) -> bool {
        if worker.fill_from.is_some_and(|from| Instant::now() < from) {
            return false;
        }
        let looks_at_episodes = worker.episodes_from.is_none_or(|from| from <= Instant::now());
        let filled = async {
            let of_memories = self.memories.fill_vectors(Deadline::after(FILL_LIMIT)).await?;
            if !looks_at_episodes {
                return Ok(of_memories);
            }
            let of_episodes = self.episodes.fill_vectors(Deadline::after(FILL_LIMIT)).await?;
            worker.episodes_from = (of_episodes == 0).then(|| Instant::now() + EPISODES_EVERY);
            Ok::<usize, Error>(of_memories + of_episodes)
        };
        match filled.await {
            Ok(filled) => filled > 0,
            Err(error) => {
                tracing::debug!(%error, "what has no vectors waits for the next try");
                worker.fill_from = Some(Instant::now() + FILL_PAUSE);
                false
            }
        }
    }

    async fn forget_old(&self, now: Timestamp) {
        let (jobs, requests) = (now.checked_sub(KEPT), now.checked_sub(KeyedRequest::KEPT));
        let jobs = jobs.map(|over_before| EraseScope::Jobs { over_before });
        let requests = requests.map(|before| EraseScope::Requests { before });
        let history = now.checked_sub(HistoryEntry::KEPT).map(|before| EraseScope::History { before });
        for old in [jobs, requests, history].into_iter().flatten() {
            if let Err(error) = self.store.erase(old, store_deadline()).await {
                tracing::warn!(%error, "what is long over was not erased");
            }
        }
        if let Err(error) = self.episodes.purge_due(store_deadline()).await {
            tracing::warn!(%error, "episodes that were deleted long ago were not purged");
        }
    }

    async fn work_on(&self, job: Job, stop: CancellationToken) -> Result<Worked, Error> {
        // The attempt is stored before anything reads what the job holds. So it counts even where it brings this
        // process down.
        let job = self.begin(&job).await?;
        let Some(work) = job.work.clone() else {
            return self.fail(&job, "it holds nothing to work on").await;
        };
        let model = self.model.as_ref().filter(|model| model.daily_token_cap() > 0);
        let asked = model.and_then(|model| {
            let (budget, cap) = (self.prompt_token_budget, model.daily_token_cap());
            Some((model, distill::question(&self.prompts, &work, budget, self.max_output_tokens, cap)?))
        });
        let Some((model, question)) = asked else {
            let too_small = model.is_some().then(|| TOO_SMALL.to_owned());
            return self.finish_by_rules(job, &work, too_small).await;
        };
        match self.ask(model, &job, question, stop).await {
            Ok(Answer::Lessons(lessons)) => {
                let kept = distill::keep(&self.prompts, &work, lessons);
                let notes = kept
                    .refused
                    .iter()
                    .map(|(why, count)| Note::new(Code::LessonsRefused, format!("{count} {}", why.as_str())));
                let notes = notes.collect();
                self.finish(job, &work, kept.lessons, Method::Model, notes).await
            }
            Ok(_) => self.fail(&job, "the model answered something else").await,
            Err(BudgetedFailure::TooSmall) => self.finish_by_rules(job, &work, Some(TOO_SMALL.to_owned())).await,
            Err(BudgetedFailure::UsedUp) => {
                tracing::info!(cap = model.daily_token_cap(), "background jobs wait for the next day (UTC)");
                self.write(job.put_back_because(NO_TOKENS_LEFT, self.clock.now())).await?;
                Ok(Worked::Waits)
            }
            Err(failure @ BudgetedFailure::Account(_)) => self.fail(&job, &failure.to_string()).await,
            Err(BudgetedFailure::Model(ModelError::Cancelled)) => {
                self.write(job.put_back(self.clock.now())).await?;
                Ok(Worked::Done)
            }
            Err(BudgetedFailure::Model(error)) => self.fail(&job, &coded(&Error::from(error))).await,
        }
    }

    /// Draws lessons by rules alone. `why_no_model` says why no model was asked.
    async fn finish_by_rules(&self, job: Job, work: &Work, why_no_model: Option<String>) -> Result<Worked, Error> {
        let (lessons, why_none) = distill::by_rules(work);
        let notes = why_no_model.into_iter().chain(why_none).map(Note::plain).collect();
        self.finish(job, work, lessons, Method::Rules, notes).await
    }

    async fn ask(
        &self,
        model: &BudgetedModel,
        job: &Job,
        question: LessonQuestion,
        stop: CancellationToken,
    ) -> Result<Answer, BudgetedFailure> {
        spans::prompt_cut(question.purpose, &question.prompt);
        let request = Completion {
            purpose: question.purpose,
            workspace_id: job.workspace_id.clone(),
            task_id: TaskId::from(job.id.uuid()),
            attempt: None,
            instructions: question.prompt.instructions,
            input: question.prompt.input,
            max_output_tokens: self.max_output_tokens,
        };
        model.ask(request, Deadline::after(JOB_LIMIT), stop).await
    }

    async fn begin(&self, job: &Job) -> Result<Job, Error> {
        let begun = job.begun(self.clock.now());
        self.write(begun.clone()).await?;
        Ok(begun)
    }

    async fn finish(
        &self,
        job: Job,
        work: &Work,
        lessons: Vec<Lesson>,
        method: Method,
        notes: Vec<Note>,
    ) -> Result<Worked, Error> {
        let now = self.clock.now();
        let origin = distill::origin(&job, work, now);
        match self.keep_episodes(&job, work, origin.outcome).await {
            Err(error @ Error::Store(_)) => return Err(error),
            Err(error) => tracing::warn!(job = %job.id, %error, "the episodes of a session were not kept"),
            Ok(()) => {}
        }
        if method == Method::Rules {
            let wrong = distill::taken_back_by_rules(work);
            match self.memories.withdraw_of_session(wrong, &origin, store_deadline()).await {
                Err(error @ Error::Store(_)) => return Err(error),
                Err(error) => tracing::warn!(job = %job.id, %error, "lessons that were taken back were not withdrawn"),
                Ok(_) => {}
            }
        }
        let done = |learned, more: Vec<Note>| {
            job.done(JobResult { learned, method, notes: [notes.clone(), more].concat() }, now)
        };
        let kept = self.memories.store_job_lessons(&job, lessons, &origin, done, store_deadline()).await;
        match kept {
            Ok(()) => {
                self.events.emit(|| SystemEvent::JobStored { job: job.id, state: JobState::Done });
                Ok(Worked::Done)
            }
            Err(error @ Error::Store(_)) => Err(error),
            Err(error) => self.fail(&job, &coded(&error)).await,
        }
    }

    /// Stores what was done in a session, request by request. A session that is no transcript tells nothing of that.
    async fn keep_episodes(&self, job: &Job, work: &Work, outcome: Outcome) -> Result<(), Error> {
        let Work::Distill { session_id, transcript, .. } = work else { return Ok(()) };
        let Ok(read) = transcript::read(transcript.as_bytes()) else { return Ok(()) };
        let told = LearnedRequests {
            requests: read.requests,
            source: TraceSource::Distilled,
            owner: Some(session_id.clone()),
            outcome: Some(outcome),
        };
        let workspace = WorkspaceRef::Id(job.workspace_id.clone());
        self.episodes.learn(told, &workspace, store_deadline()).await.map(drop)
    }

    /// Ends an attempt that failed for this reason.
    async fn fail(&self, job: &Job, why: &str) -> Result<Worked, Error> {
        self.write(job.failed_once(why, self.clock.now())).await?;
        Ok(Worked::Done)
    }

    async fn write(&self, job: Job) -> Result<(), Error> {
        let stored = SystemEvent::JobStored { job: job.id, state: job.state };
        self.store.commit(vec![Record::Job(job)], store_deadline()).await?;
        self.events.emit(|| stored);
        Ok(())
    }
}

/// Returns an error with its code, as a job keeps it.
fn coded(error: &Error) -> String {
    Note::new(error.code(), error.to_string()).to_string()
}

/// The outcome of a job that was taken.
enum Worked {
    Done,
    /// It needs more tokens than are left of the day.
    Waits,
}

/// Returns the deadline of a read or write around a job.
fn store_deadline() -> Deadline {
    Deadline::after(STORE_LIMIT)
}

/// The owner of a job is told this. The amount that was spent concerns the operator, and stands in the log.
const NO_TOKENS_LEFT: &str = "waits for the next day (UTC): the daily tokens of background work are used up";
const TOO_SMALL: &str = "no model was asked: background.daily_token_cap is too small for one answer";
