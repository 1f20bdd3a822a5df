//! The distiller: a durable queue, one result a job, and never more tokens than a day's cap.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_actors::distiller::DistillerSettings;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::learner::LearnerSettings;
use reasoning_bank_actors::memories::{ListRequest, RecordRequest};
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::ports::{JobFilter, LanguageModel, ModelError, Page, StoreError, StoreReads};
use reasoning_bank_actors::runtime::SystemEvent;
use reasoning_bank_actors::system::{System, SystemHandle, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{ManualClock, MemAccount, MemLease, Scripted, eventually, parts};
use reasoning_bank_domain::learning::capture::{CaptureOutcome, Novelty};
use reasoning_bank_domain::learning::job::{JobState, JobView, MAX_ATTEMPTS, Method, Work};
use reasoning_bank_domain::learning::transcript::Exchange;
use reasoning_bank_domain::memory::ids::JobId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::{MemoryOutcome, SourceType, Status, Trust};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Purpose;

use crate::support::*;

mod sources;

const LESSONS: &str = r#"{"learnings": [{"title": "Pin the toolchain before bisecting",
    "description": "When a regression appears between two releases.",
    "content": "Fix the compiler version first, so that the bisection sees one change at a time.",
    "pattern_tags": ["git"], "domain_category": "tooling", "difficulty_level": null, "error_context": null}]}"#;

/// The parts of a bank that several systems share.
#[derive(Clone, Default)]
struct Bank {
    store: Arc<MemStore>,
    lease: MemLease,
    account: MemAccount,
    clock: ManualClock,
}

impl Bank {
    async fn open(&self, model: impl LanguageModel, daily_token_cap: u64) -> System {
        let provider = model.name().to_owned();
        self.start(model, provider, daily_token_cap, true).await
    }

    async fn start(&self, model: impl LanguageModel, provider: String, daily_token_cap: u64, works: bool) -> System {
        let parts = SystemParts {
            provider,
            settings: SystemSettings {
                distiller: DistillerSettings { daily_token_cap },
                learner: LearnerSettings { llm: true, ..LearnerSettings::default() },
                ..SystemSettings::default()
            },
            clock: self.clock.clock(),
            account: Arc::new(self.account.clone()),
            background: works.then(|| Arc::new(self.lease.clone()) as Arc<_>),
            ..parts(Arc::clone(&self.store) as Arc<_>, model)
        };
        System::start(parts).await.unwrap()
    }

    /// Returns how often jobs were changed.
    async fn revisions(&self) -> u32 {
        let jobs = self.store.jobs(JobFilter::default(), Page::first(1_000), soon()).await.unwrap();
        jobs.iter().map(|job| job.revision).sum()
    }
}

fn session(name: &str) -> Work {
    let transcript = format!("User: why is {name} slow?\nAssistant: because it was never indexed");
    Work::Distill { session_id: name.into(), outcome: MemoryOutcome::Success, transcript }
}

async fn queued(handle: &SystemHandle, work: Work) -> JobId {
    let queued = handle.distiller.queue(work, &project(), soon()).await.unwrap();
    assert!(queued.queued);
    queued.job_id
}

async fn job(handle: &SystemHandle, id: JobId) -> JobView {
    handle.distiller.job(id, &project(), soon()).await.unwrap()
}

async fn in_state(handle: &SystemHandle, id: JobId, state: JobState) -> JobView {
    let mut events = handle.events.subscribe();
    if job(handle, id).await.state != state {
        let reached = |event: &SystemEvent| *event == SystemEvent::JobStored { job: id, state };
        assert!(events.wait_for(reached, soon()).await.is_some(), "{:?}", job(handle, id).await);
    }
    job(handle, id).await
}

fn distilling(answer: impl Fn() -> Result<String, ModelError> + Send + Sync + 'static) -> Scripted {
    let model = Scripted::new();
    model.answer(Purpose::Distill, move |_| answer());
    model
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_handed_in_becomes_memories_in_the_background() {
    let model = distilling(|| Ok(LESSONS.into()));
    let system = Bank::default().open(model.clone(), 100_000).await;
    let handle = system.handle();
    let id = queued(&handle, session("search")).await;
    let done = in_state(&handle, id, JobState::Done).await;

    let result = done.result.unwrap();
    assert_eq!((result.method, result.learned.len(), done.attempts), (Method::Model, 1, 1));
    let row = handle.store.get(vec![result.learned[0].id], soon()).await.unwrap().remove(0);
    assert_eq!(row.memory.source_type, SourceType::Distilled);
    assert_eq!(row.memory.source_session.as_deref(), Some("search"));
    assert_eq!(row.memory.prior, 0.6);
    let asked = &model.requests()[0];
    assert!(asked.input.contains("never indexed") && asked.input.contains("success"), "{}", asked.input);
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_names_the_memory_that_its_lesson_confirmed() {
    let system = Bank::default().open(distilling(|| Ok(LESSONS.into())), 100_000).await;
    let handle = system.handle();
    let words = "Fix the compiler version first, so that the bisection sees one change at a time.";
    let when = "When a regression appears between two releases.";
    let known = RecordRequest { description: when.into(), ..lesson("Pin the toolchain before bisecting", words) };
    let known = handle.memories.record(known, soon()).await.unwrap().id;
    let id = queued(&handle, session("search")).await;
    let mut events = handle.events.subscribe();
    in_state(&handle, id, JobState::Done).await;
    let is_right = async || job(&handle, id).await.result.unwrap().learned[0].id == known;
    while !is_right().await {
        assert!(events.wait_for(|_| true, soon()).await.is_some(), "{:?}", job(&handle, id).await);
    }
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn the_same_session_again_is_the_same_job_and_nobody_elses() {
    let model = distilling(|| Ok(LESSONS.into()));
    let system = Bank::default().open(model.clone(), 100_000).await;
    let handle = system.handle();
    let id = queued(&handle, session("search")).await;
    in_state(&handle, id, JobState::Done).await;
    let again = handle.distiller.queue(session("search"), &project(), soon()).await.unwrap();
    assert_eq!((again.queued, again.job_id), (false, id));
    assert_eq!(model.calls(Purpose::Distill), 1);
    let error = handle.distiller.job(id, &elsewhere(), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_keeps_failing_is_given_up_with_its_reason_and_can_be_handed_in_again() {
    let bank = Bank::default();
    let model = distilling(|| Err(ModelError::Refused("not today".into())));
    let system = bank.open(model.clone(), 10_000_000).await;
    let handle = system.handle();
    let id = queued(&handle, session("search")).await;
    for attempt in 1..MAX_ATTEMPTS {
        let waiting = in_state(&handle, id, JobState::Queued).await;
        assert_eq!((waiting.attempts, model.calls(Purpose::Distill)), (attempt, attempt as usize));
        bank.clock.advance(SignedDuration::from_secs(1_000));
        let begun = |event: &SystemEvent| *event == SystemEvent::JobStored { job: id, state: JobState::Running };
        assert!(handle.events.subscribe().wait_for(begun, soon()).await.is_some());
    }
    let failed = in_state(&handle, id, JobState::Failed).await;
    assert_eq!(failed.attempts, MAX_ATTEMPTS);
    assert!(failed.error.unwrap().contains("not today"));

    model.answer(Purpose::Distill, |_| Ok(LESSONS.into()));
    queued(&handle, session("search")).await;
    assert!(in_state(&handle, id, JobState::Done).await.result.is_some());
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_distiller_had_begun_is_taken_over_and_has_one_result() {
    for by_panic in [false, true] {
        let bank = Bank::default();
        let model = distilling(|| Ok(LESSONS.into()));
        let held = model.hold(Purpose::Distill);
        let system = bank.open(model.clone(), 10_000_000).await;
        let handle = system.handle();
        let id = queued(&handle, session("search")).await;
        assert!(model.begun(1, soon()).await);
        let faults = handle.faults("distiller");
        assert!(if by_panic { faults.panic().await } else { faults.kill().await });
        held.release();
        let done = in_state(&handle, id, JobState::Done).await;
        assert_eq!((done.attempts, done.result.unwrap().learned.len()), (2, 1));
        system.stop(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_process_works_at_a_time_and_the_next_one_goes_on_where_it_ended() {
    let bank = Bank::default();
    let first = distilling(|| Ok(LESSONS.into()));
    let held = first.hold(Purpose::Distill);
    let one = bank.open(first.clone(), 10_000_000).await;
    let id = queued(&one.handle(), session("search")).await;
    assert!(first.begun(1, soon()).await);
    let second = distilling(|| Ok(LESSONS.into()));
    let two = bank.open(second.clone(), 10_000_000).await;
    one.stop(Duration::from_secs(1)).await;
    drop(held);
    let done = in_state(&two.handle(), id, JobState::Done).await;
    assert_eq!((first.calls(Purpose::Distill), second.calls(Purpose::Distill)), (1, 1));
    assert_eq!(done.attempts, 1, "being asked to stop is no failure");
    two.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_does_not_work_in_the_background_leaves_the_queue_to_others() {
    let bank = Bank::default();
    let model = distilling(|| Ok(LESSONS.into()));
    let visitor = bank.start(model.clone(), "scripted".into(), 100_000, false).await;
    let id = queued(&visitor.handle(), session("search")).await;
    assert_eq!(job(&visitor.handle(), id).await.state, JobState::Queued);
    let worker = bank.open(model, 100_000).await;
    in_state(&worker.handle(), id, JobState::Done).await;
    visitor.stop(Duration::from_secs(1)).await;
    worker.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_days_tokens_are_never_exceeded_and_the_rest_waits_for_the_next_day_in_its_order() {
    const CAP: u64 = 60_000;
    let bank = Bank::default();
    // Two calls of a job are given some 20,000 tokens; one that got no answer counts as half of them.
    let model = distilling(|| Err(ModelError::TimedOut));
    let system = bank.open(model.clone(), CAP).await;
    let handle = system.handle();
    let mut ids = Vec::new();
    for name in ["one", "two", "three", "four", "five", "six", "seven"] {
        ids.push(queued(&handle, session(name)).await);
        bank.clock.advance(SignedDuration::from_secs(1));
    }
    let mut waits = Vec::new();
    let mut events = handle.events.subscribe();
    while waits.is_empty() {
        for id in &ids {
            let job = job(&handle, *id).await;
            waits.extend(job.error.as_deref().filter(|why| why.starts_with("waits for the next day")).map(|_| *id));
        }
        assert!(!waits.is_empty() || events.wait_for(|_| true, soon()).await.is_some());
    }
    let spent = bank.account.spent().unwrap().1;
    assert!(spent <= CAP && spent > CAP / 2, "{spent}");
    let asked = model.calls(Purpose::Distill);
    assert!((2..ids.len()).contains(&asked), "{asked}");
    assert_eq!(job(&handle, waits[0]).await.attempts, 0, "waiting is no attempt");

    system.stop(Duration::from_secs(1)).await;
    let revisions = bank.revisions().await;
    let again = bank.open(model.clone(), CAP).await;
    let mut events = again.handle().events.subscribe();
    let begun = async || bank.revisions().await > revisions + 1;
    assert!(eventually(&mut events, soon(), begun).await, "the next one is looked at");
    assert_eq!(model.calls(Purpose::Distill), asked, "what was spent outlives the process");

    bank.clock.advance(DAY);
    model.answer(Purpose::Distill, |_| Ok(LESSONS.into()));
    for id in ids {
        in_state(&again.handle(), id, JobState::Done).await;
    }
    again.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_that_could_not_be_stored_while_the_store_was_away_is_done_once_it_is_back() {
    let bank = Bank::default();
    let model = distilling(|| Ok(LESSONS.into()));
    let held = model.hold(Purpose::Distill);
    let system = bank.open(model.clone(), 100_000).await;
    let handle = system.handle();
    let id = queued(&handle, session("search")).await;
    assert!(model.begun(1, soon()).await);
    bank.store.fail_with(Some(StoreError::Failed("no space".into())));
    held.release();
    assert!(model.idle(soon()).await);
    assert!(handle.distiller.job(id, &project(), soon()).await.is_err());
    bank.store.fail_with(None);
    let done = in_state(&handle, id, JobState::Done).await;
    assert_eq!((done.attempts, done.result.unwrap().learned.len()), (2, 1));
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn without_a_cap_and_without_a_model_no_model_is_asked() {
    let model = distilling(|| Ok(LESSONS.into()));
    let off = Bank::default().open(model.clone(), 0).await;
    let without = Bank::default().open(NoModel, 100_000).await;
    for system in [off, without] {
        let id = queued(&system.handle(), session("search")).await;
        let done = in_state(&system.handle(), id, JobState::Done).await;
        assert_eq!(done.result.unwrap().method, Method::Rules);
        system.stop(Duration::from_secs(1)).await;
    }
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_comes_of_a_job_whose_workspace_is_deleted_while_it_runs() {
    let model = distilling(|| Ok(LESSONS.into()));
    let held = model.hold(Purpose::Distill);
    let bank = Bank::default();
    let system = bank.open(model.clone(), 100_000).await;
    let handle = system.handle();
    let id = queued(&handle, session("search")).await;
    assert!(model.begun(1, soon()).await);
    let erased = handle.workspaces.delete(&project(), soon()).await.unwrap();
    assert_eq!(erased.jobs, 1);
    held.release();
    assert!(model.idle(soon()).await);
    system.stop(Duration::from_secs(5)).await;
    let later = bank.start(NoModel, "none".into(), 0, false).await;
    let handle = later.handle();
    assert_eq!(handle.distiller.job(id, &project(), soon()).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(handle.workspaces.list(soon()).await.unwrap(), []);
    later.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_and_bad_input_are_typed_answers() {
    let bank = Bank::default();
    let system = bank.start(NoModel, "none".into(), 0, false).await;
    let handle = system.handle();
    for n in 0..256 {
        queued(&handle, session(&format!("s{n}"))).await;
    }
    let error = handle.distiller.queue(session("more"), &project(), soon()).await.unwrap_err();
    assert!(matches!(error, Error::Overloaded { .. }), "{error}");
    let blank = Work::Distill { session_id: " ".into(), outcome: MemoryOutcome::Mixed, transcript: "x".into() };
    let error = handle.distiller.queue(blank, &project(), soon()).await.unwrap_err();
    assert_eq!(error.to_string(), "session_id: is missing or blank");
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn an_exchange_worth_keeping_is_left_to_a_model_where_it_may_be_asked_and_each_is_asked_about_once() {
    let exchange = |answer: &str| Exchange {
        question: "Why does cargo build everything again after a checkout?".into(),
        answer: answer.into(),
        session: Some("s".into()),
        asked_first: None,
        said_next: None,
        at: None,
    };
    let worth = "Cargo compares modification times, and git renews them on checkout, because every file is written \
        again. Use a target directory for each branch:\n\n```sh\nexport CARGO_TARGET_DIR=target/$branch\n```\n\nThen \
        the fingerprints of each branch stay as they are.";
    let model = Scripted::new();
    model.answer(Purpose::Capture, |_| Ok(LESSONS.into()));
    let system = Bank::default().open(model.clone(), 100_000).await;
    let handle = system.handle();
    let capture = async |answer: &str| {
        handle.learner.capture(exchange(answer), &project(), Trust::Model, soon()).await.unwrap().outcome
    };
    let mut events = handle.events.subscribe();
    assert!(matches!(capture(worth).await, CaptureOutcome::Queued(_)));
    let done = |event: &SystemEvent| matches!(event, SystemEvent::JobStored { state: JobState::Done, .. });
    assert!(events.wait_for(done, soon()).await.is_some());
    assert!(matches!(capture(worth).await, CaptureOutcome::Kept(_, Novelty::Known)));
    assert!(matches!(capture("Thank you, that was all I wanted to know for today. See you tomorrow then, and have a nice evening, everybody!").await, CaptureOutcome::Refused(_)));
    let asked = model.requests();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].input.contains("modification times") && asked[0].input.contains("after a checkout?"));
    let list = ListRequest::new(project(), 10);
    let kept = handle.memories.list(list, soon()).await.unwrap().memories;
    assert_eq!((kept.len(), kept[0].source_type), (1, SourceType::PassiveLearning));
    assert!((kept[0].confidence - 0.4).abs() < 1e-9);
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn jobs_are_done_in_the_order_in_which_they_were_handed_in() {
    let bank = Bank::default();
    let visitor = bank.start(NoModel, "none".into(), 0, false).await;
    let names: Vec<String> = (0..8).map(|n| format!("session {n}")).collect();
    let mut ids = Vec::new();
    for name in &names {
        ids.push(queued(&visitor.handle(), session(name)).await);
        bank.clock.advance(SignedDuration::from_secs(1));
    }
    visitor.stop(Duration::from_secs(1)).await;
    let model = distilling(|| Ok(LESSONS.into()));
    let worker = bank.open(model.clone(), 10_000_000).await;
    for id in ids {
        in_state(&worker.handle(), id, JobState::Done).await;
    }
    let requests = model.requests();
    let asked = requests.iter().map(|request| names.iter().find(|name| request.input.contains(*name)).unwrap());
    assert!(asked.eq(&names));
    worker.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn text_without_exchanges_is_refused_at_once_where_no_model_reads_it() {
    let prose = || Work::Distill {
        session_id: "notes".into(),
        outcome: MemoryOutcome::Success,
        transcript: "We moved the cache and everything was fast again.".into(),
    };
    for too_small in [0, 500] {
        let without = Bank::default().open(distilling(|| Ok(LESSONS.into())), too_small).await;
        let refused = without.handle().distiller.queue(prose(), &project(), soon()).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(refused.to_string().contains("neither a transcript nor notes"), "{refused}");
        without.stop(Duration::from_secs(1)).await;
    }
    let without = Bank::default().open(distilling(|| Ok(LESSONS.into())), 0).await;
    let chat = "## User\nWhy is the search slow?\n\n## Assistant\nIt was never indexed.\n";
    let chat = Work::Distill { session_id: "chat".into(), outcome: MemoryOutcome::Success, transcript: chat.into() };
    queued(&without.handle(), chat).await;
    without.stop(Duration::from_secs(1)).await;

    let with = Bank::default().open(distilling(|| Ok(LESSONS.into())), 100_000).await;
    queued(&with.handle(), prose()).await;
    with.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_failed_confirms_nothing() {
    let warnings = LESSONS.replace(
        r#""error_context": null"#,
        r#""error_context": {"error_type": "LinkError", "failure_pattern": "it went wrong", "corrective_guidance": "do it right"}"#,
    );
    let system = Bank::default().open(distilling(move || Ok(warnings.clone())), 100_000).await;
    let handle = system.handle();
    let words = "Fix the compiler version first, so that the bisection sees one change at a time.";
    let when = "When a regression appears between two releases.";
    let known = RecordRequest { description: when.into(), ..lesson("Pin the toolchain before bisecting", words) };
    let known = handle.memories.record(warning("LinkError", Some("tooling"), known), soon()).await.unwrap();
    let transcript = "User: why is it slow?\nAssistant: because it was never indexed".to_owned();
    let failed = Work::Distill { session_id: "failed".into(), outcome: MemoryOutcome::Failure, transcript };
    let id = queued(&handle, failed).await;
    let done = in_state(&handle, id, JobState::Done).await;
    assert_eq!(done.result.unwrap().learned, []);
    let row = handle.store.get(vec![known.id], soon()).await.unwrap().remove(0);
    assert_eq!(row.evidence.count(SignalKind::Confirmed), 0);
    system.stop(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_goes_on_withdraws_what_it_taught_before_it_was_corrected() {
    let asked = "## User\nWhy does cargo build everything again after a checkout?\n\n## Assistant\nCargo compares \
        modification times, because git renews them. Use a target directory for each branch:\n\n```sh\nexport \
        CARGO_TARGET_DIR=target/$branch\n```\n\nThen the fingerprints of each branch stay as they are.\n\n";
    let told = |rest: &str| Work::Distill {
        session_id: "s".into(),
        outcome: MemoryOutcome::Success,
        transcript: format!("{asked}{rest}"),
    };
    let system = Bank::default().start(NoModel, "none".into(), 0, true).await;
    let handle = system.handle();
    let first = queued(&handle, told("")).await;
    let learned = in_state(&handle, first, JobState::Done).await.result.unwrap().learned;
    let status = async || handle.store.get(vec![learned[0].id], soon()).await.unwrap().remove(0).memory.status;
    assert_eq!((learned.len(), status().await), (1, Status::Active));
    let goes_on = queued(&handle, told("## User\nThanks, that worked!\n")).await;
    in_state(&handle, goes_on, JobState::Done).await;
    assert_eq!(status().await, Status::Active);
    let corrected = queued(&handle, told("## User\nThat did not work, it is all built again.\n")).await;
    in_state(&handle, corrected, JobState::Done).await;
    assert_eq!(status().await, Status::Superseded);
    system.stop(Duration::from_secs(1)).await;
}
