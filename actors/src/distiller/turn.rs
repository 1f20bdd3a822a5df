//! One turn of the distiller: take over what an ended process had begun, take the next job that is due, do it.

use std::time::Duration;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use reasoning_bank_domain::answer::Answer;
use reasoning_bank_domain::distill::{self, Question};
use reasoning_bank_domain::ids::TaskId;
use reasoning_bank_domain::job::{Job, JobResult, JobState, Method, Work, day_of, next_day};
use reasoning_bank_domain::lesson::Lesson;
use tokio_util::sync::CancellationToken;

use super::{Equipment, jobs};
use crate::error::Error;
use crate::model::{Asked, ask};
use crate::ports::{Completion, EraseScope, Filter, LanguageModel, ModelError, Page, Record, Right, StoreError};
use crate::runtime::{Deadline, SystemEvent};

/// Of one job.
const JOB_LIMIT: Duration = Duration::from_secs(900);
/// Of what is read and written around it.
const STORE_LIMIT: Duration = Duration::from_secs(30);
/// Jobs that are over are kept so long.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Of a scan; a job may be large.
const PAGE: usize = 8;

/// What is carried from turn to turn.
#[derive(Default)]
pub(crate) struct Bench {
    right: Option<Right>,
    /// The tokens that were given out on a day.
    spent: Option<(Date, u64)>,
}

/// Whether there was something to do.
pub(super) async fn turn(equipment: Equipment, mut bench: Bench, stop: CancellationToken) -> (Bench, bool) {
    let worked = equipment.next(&mut bench, stop).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "background work waits");
        false
    });
    (bench, worked)
}

impl Equipment {
    async fn next(&self, bench: &mut Bench, stop: CancellationToken) -> Result<bool, Error> {
        if bench.right.is_none() {
            let Some(right) = self.right.try_take() else { return Ok(false) };
            self.take_over().await?;
            bench.right = Some(right);
        }
        let now = self.clock.now();
        if bench.spent.is_none_or(|(day, _)| day != day_of(now)) {
            self.forget_old(now).await?;
            bench.spent = Some((day_of(now), self.spent_on(day_of(now)).await?));
        }
        let due = Filter::Jobs { workspace: None, state: Some(JobState::Queued), due: Some(now) };
        let Some(job) = jobs(&self.store, due, Page::first(1), Deadline::after(STORE_LIMIT)).await?.pop() else {
            return Ok(false);
        };
        match self.work_on(job, bench, stop).await {
            // Erased with its workspace, or somebody else was faster.
            Err(Error::Store(StoreError::JobChanged(id))) => tracing::debug!(job = %id, "a job was changed or erased"),
            other => other?,
        }
        Ok(true)
    }

    /// Nobody else works: what runs has been left.
    async fn take_over(&self) -> Result<(), Error> {
        let running = || Filter::Jobs { workspace: None, state: Some(JobState::Running), due: None };
        loop {
            let left = jobs(&self.store, running(), Page::first(PAGE), Deadline::after(STORE_LIMIT)).await?;
            if left.is_empty() {
                return Ok(());
            }
            for job in left {
                tracing::info!(job = %job.id, attempts = job.attempts, "a job was left by a process that ended");
                self.write(job.left_behind(self.clock.now())).await?;
            }
        }
    }

    async fn forget_old(&self, now: Timestamp) -> Result<(), Error> {
        let Ok(over_before) = now.checked_sub(KEPT) else { return Ok(()) };
        self.store.erase(EraseScope::Jobs { over_before }, Deadline::after(STORE_LIMIT)).await.map(drop)
    }

    async fn spent_on(&self, day: Date) -> Result<u64, Error> {
        let mut spent = 0_u64;
        let mut page = Page::first(PAGE);
        loop {
            let all = Filter::Jobs { workspace: None, state: None, due: None };
            let found = jobs(&self.store, all, page.clone(), Deadline::after(STORE_LIMIT)).await?;
            spent = found.iter().fold(spent, |spent, job| spent.saturating_add(job.spent_on(day)));
            let Some(last) = found.last().filter(|_| found.len() == PAGE) else { return Ok(spent) };
            page = page.after(last.id.uuid());
        }
    }

    async fn work_on(&self, job: Job, bench: &mut Bench, stop: CancellationToken) -> Result<(), Error> {
        let Some(work) = job.work.clone() else {
            return self.write(job.failed_once("it holds nothing to work on", self.clock.now())).await;
        };
        let now = self.clock.now();
        let cap = self.daily_token_cap;
        let model = self.model.as_ref().filter(|_| cap > 0);
        let asked = model.zip(distill::question(&work, self.prompt_token_budget, self.max_output_tokens, cap));
        let Some((model, question)) = asked else {
            let too_small = model.is_some().then(|| TOO_SMALL.to_owned());
            let job = self.begin(&job, 0, now).await?;
            let (lessons, why_none) = distill::by_rules(&work);
            let notes = too_small.into_iter().chain(why_none).collect();
            return self.finish(job, &work, lessons, Method::Rules, notes).await;
        };
        let spent = bench.spent.map_or(0, |(_, spent)| spent);
        if spent + question.tokens > cap {
            let why = format!("waits for the next day (UTC): of the {cap} tokens a day {spent} are used");
            return self.write(job.postponed(next_day(now), &why, now)).await;
        }
        let given = question.tokens;
        let job = self.begin(&job, given, now).await?;
        let Asked { result, spent: usage, .. } = self.ask(&**model, &job, question, stop).await;
        let used = match &result {
            Ok(_) => usage.total_tokens(),
            Err(_) if usage.llm_calls == 0 => 0,
            // What failed may have cost all that it was given.
            Err(_) => given,
        };
        bench.spent = Some((day_of(now), spent + used));
        let job = job.used(given, used, now);
        match result {
            Ok(Answer::Lessons(lessons)) => {
                let kept = distill::keep(&work, lessons);
                let notes =
                    kept.refused.iter().map(|(why, count)| format!("lessons_refused: {count} {}", why.as_str()));
                let notes = notes.collect();
                self.finish(job, &work, kept.lessons, Method::Model, notes).await
            }
            Ok(_) => self.write(job.failed_once("the model answered something else", self.clock.now())).await,
            Err(ModelError::Cancelled) => self.write(job.put_back(self.clock.now())).await,
            Err(error) => {
                let error = Error::from(error);
                self.write(job.failed_once(&format!("{}: {error}", error.code()), self.clock.now())).await
            }
        }
    }

    async fn ask(&self, model: &dyn LanguageModel, job: &Job, question: Question, stop: CancellationToken) -> Asked {
        let request = Completion {
            purpose: question.purpose,
            task_id: TaskId::from(job.id.uuid()),
            attempt: None,
            instructions: question.prompt.instructions,
            input: question.prompt.input,
            max_output_tokens: self.max_output_tokens,
        };
        ask(model, request, Deadline::after(JOB_LIMIT), stop).await
    }

    async fn begin(&self, job: &Job, tokens: u64, now: Timestamp) -> Result<Job, Error> {
        let begun = job.begun(tokens, now);
        self.write(begun.clone()).await?;
        Ok(begun)
    }

    async fn finish(
        &self,
        job: Job,
        work: &Work,
        lessons: Vec<Lesson>,
        method: Method,
        mut notes: Vec<String>,
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let origin = distill::origin(&job, work, now);
        let done = |learned, more: Vec<String>| {
            notes.extend(more);
            job.done(JobResult { learned, method, notes }, now)
        };
        let kept = self.memories.keep_of_job(&job, lessons, &origin, done, Deadline::after(STORE_LIMIT)).await;
        match kept {
            Ok(()) => {
                self.events.emit(|| SystemEvent::JobStored { job: job.id, state: JobState::Done });
                Ok(())
            }
            Err(error) if !matches!(error, Error::Store(StoreError::JobChanged(_))) => {
                self.write(job.failed_once(&format!("{}: {error}", error.code()), now)).await
            }
            changed => changed,
        }
    }

    async fn write(&self, job: Job) -> Result<(), Error> {
        let stored = SystemEvent::JobStored { job: job.id, state: job.state };
        self.store.commit(vec![Record::Job(job)], Deadline::after(STORE_LIMIT)).await?;
        self.events.emit(|| stored);
        Ok(())
    }
}

const TOO_SMALL: &str = "no model was asked: background.daily_token_cap is too small for one answer";
