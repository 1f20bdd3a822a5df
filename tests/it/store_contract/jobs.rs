//! Tests of jobs: they are queued once, changed one revision after another by whoever knows the last one, erased when
//! they are over.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::ports::{Erased, JobFilter};
use reasoning_bank_domain::learning::job::{Job, JobResult, JobState, Method};
use reasoning_bank_domain::note::Note;

use super::*;

fn seconds(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

async fn put(store: &Arc<dyn MemoryStore>, jobs: &[&Job]) -> Result<Committed, StoreError> {
    store.commit(jobs.iter().map(|job| Record::Job((*job).clone())).collect(), soon()).await
}

async fn jobs(store: &Arc<dyn MemoryStore>, filter: JobFilter, page: Page) -> Vec<Job> {
    store.reads().jobs(filter, page, soon()).await.unwrap()
}

fn result() -> JobResult {
    JobResult { learned: Vec::new(), method: Method::Rules, notes: vec![Note::plain("\"nothing\" new")] }
}

#[rstest]
#[tokio::test]
async fn a_job_is_queued_once_and_changed_by_whoever_knows_it_as_it_is(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let queued = job(&workspace("/here"), "session", now());
    let stored = async || {
        let jobs = jobs(store, JobFilter::default(), everything()).await;
        assert_eq!(store.reads().job(queued.id, None, soon()).await.unwrap().as_ref(), jobs.first());
        jobs
    };
    assert_eq!(stored().await, []);
    assert_eq!(put(store, &[&queued.begun(now())]).await, Err(StoreError::JobChanged(queued.id)), "stored nowhere");
    for _ in 0..2 {
        put(store, &[&queued, &queued]).await.unwrap();
        assert_eq!(stored().await, std::slice::from_ref(&queued));
    }
    let mine = queued.begun(seconds(1));
    let yours = queued.begun(seconds(2));
    assert_eq!(put(store, &[&mine, &yours]).await, Err(StoreError::JobChanged(queued.id)));
    for _ in 0..2 {
        put(store, &[&mine]).await.unwrap();
        put(store, &[&queued]).await.unwrap();
        assert_eq!(stored().await, std::slice::from_ref(&mine));
    }
    let beside = memory(&workspace("/here"), "Beside", "must not be stored");
    let refused = vec![record(&beside, None), Record::Job(yours.clone())];
    assert_eq!(store.commit(refused, soon()).await, Err(StoreError::JobChanged(queued.id)));
    assert_eq!(put(store, &[&mine.begun(now()).begun(now())]).await, Err(StoreError::JobChanged(queued.id)));
    assert_eq!(all_memories(store).await, []);

    let done = mine.done(result(), seconds(3));
    let learned = memory(&workspace("/here"), "Learned", "together with the result");
    store.commit(vec![record(&learned, None), Record::Job(done.clone())], soon()).await.unwrap();
    assert_eq!(stored().await, [done]);
    assert_eq!(all_memories(store).await, [learned.id]);
}

#[rstest]
#[tokio::test]
async fn jobs_are_found_by_workspace_state_and_time_in_pages(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let all: Vec<Job> =
        (0..8).map(|n| job(if n % 4 == 0 { &there } else { &here }, &n.to_string(), seconds(n))).collect();
    put(store, &all.iter().collect::<Vec<_>>()).await.unwrap();
    let failed = all[3].begun(now()).failed_once("no", now());
    let (running, waiting) = (all[2].begun(now()), Job { revision: 1, ..failed });
    put(store, &[&running, &waiting]).await.unwrap();
    let stored = |n: usize| match n {
        2 => running.clone(),
        3 => waiting.clone(),
        n => all[n].clone(),
    };
    let sorted = |of: &[usize]| {
        let mut jobs: Vec<Job> = of.iter().map(|n| stored(*n)).collect();
        jobs.sort_by_key(|job| job.id);
        jobs
    };
    let found = async |workspace, state, due| jobs(store, JobFilter { workspace, state, due }, everything()).await;
    assert_eq!(found(None, None, None).await, sorted(&[0, 1, 2, 3, 4, 5, 6, 7]));
    assert_eq!(found(Some(there), None, None).await, sorted(&[0, 4]));
    assert_eq!(found(None, Some(JobState::Running), None).await, sorted(&[2]));
    assert_eq!(found(None, Some(JobState::Queued), Some(seconds(4))).await, sorted(&[0, 1, 4]));
    assert_eq!(found(Some(here), Some(JobState::Queued), Some(seconds(30))).await, sorted(&[1, 3, 5, 6, 7]));
    assert_eq!(found(None, Some(JobState::Done), None).await, []);
    let mut seen = Vec::new();
    let mut page = Page::newest(3);
    while let Some(last) = jobs(store, JobFilter::default(), page.clone()).await.last() {
        seen.extend(jobs(store, JobFilter::default(), page.clone()).await);
        page = page.after(last.id.uuid());
    }
    seen.reverse();
    assert_eq!(seen, sorted(&[0, 1, 2, 3, 4, 5, 6, 7]));
    let counts = BTreeMap::from([(JobState::Queued, 7), (JobState::Running, 1)]);
    assert_eq!(store.reads().backlog(soon()).await.unwrap(), counts);
    let summary = store.reads().summary(soon()).await.unwrap();
    assert_eq!(summary.jobs, counts);
    assert_eq!(summary.rows, 8);
}

#[rstest]
#[tokio::test]
async fn the_job_that_waits_longest_is_the_next(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let micros = |micros: i64| now() + SignedDuration::from_micros(micros);
    let waiting = |session: &str, due, created_at| Job { created_at, ..job(&workspace("/here"), session, due) };
    let mut same = [waiting("x", seconds(2), seconds(1)), waiting("y", seconds(2), seconds(1))];
    same.sort_by_key(|job| job.id);
    let expected = [
        vec![waiting("made late, due first", seconds(1), seconds(9)), waiting("due next", micros(1_000_001), now())],
        vec![waiting("made first", seconds(2), micros(999_999))],
        same.to_vec(),
        vec![waiting("last", seconds(3), now())],
    ]
    .concat();
    let running = waiting("running", now(), now());
    put(store, &expected.iter().rev().chain([&running]).collect::<Vec<_>>()).await.unwrap();
    put(store, &[&running.begun(now())]).await.unwrap();
    let next = async |now| store.reads().next_job(now, soon()).await.unwrap();
    assert_eq!(next(micros(999_999)).await, None);
    let ahead = SignedDuration::from_nanos(999);
    assert_eq!(next(micros(999_999) + ahead).await, None, "times are compared in microseconds");
    let mut given = Vec::new();
    while let Some(first) = next(seconds(3)).await {
        put(store, &[&first.begun(now())]).await.unwrap();
        given.push(first);
    }
    assert_eq!(given, expected);
}

#[rstest]
#[tokio::test]
async fn jobs_go_when_they_were_over_long_enough_and_with_their_workspace(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let queued = ["old", "young", "failed", "waiting", "running"].map(|session| job(&here, session, now()));
    let foreign = job(&there, "foreign", now());
    put(store, &queued.iter().chain([&foreign]).collect::<Vec<_>>()).await.unwrap();
    let over = |job: &Job, state, at| Job { revision: 1, state, updated_at: seconds(at), ..job.clone() };
    let changed = [
        over(&queued[0], JobState::Done, 1),
        over(&queued[1], JobState::Done, 5),
        over(&queued[2], JobState::Failed, 2),
        over(&queued[3], JobState::Queued, 1),
        over(&queued[4], JobState::Running, 1),
    ];
    put(store, &changed.iter().collect::<Vec<_>>()).await.unwrap();
    commit(store, vec![workspace_record("/here"), record(&memory(&here, "Kept", "words"), None)]).await;
    let erase = async |scope| store.erase(scope, soon()).await.unwrap();
    let only_jobs = |jobs| Erased { jobs, ..Erased::default() };
    assert_eq!(erase(EraseScope::Jobs { over_before: seconds(1) }).await, only_jobs(0));
    assert_eq!(erase(EraseScope::Jobs { over_before: seconds(5) }).await, only_jobs(2));
    let left = async || {
        let left = jobs(store, JobFilter::default(), everything()).await;
        left.into_iter().map(|job| job.id).collect::<BTreeSet<_>>()
    };
    let [_, young, _, waiting, running] = queued.each_ref().map(|job| job.id);
    assert_eq!(left().await, BTreeSet::from([young, waiting, running, foreign.id]));
    put(store, &[&queued[0]]).await.unwrap();
    assert!(left().await.contains(&queued[0].id), "what was erased may be queued again");
    let erased = erase(EraseScope::Workspace(here)).await;
    assert_eq!((erased.jobs, erased.memories), (4, 1));
    assert_eq!(left().await, BTreeSet::from([foreign.id]));
    assert_eq!(erase(EraseScope::Memory(uuid::Uuid::now_v7().into())).await, Erased::default());
}
