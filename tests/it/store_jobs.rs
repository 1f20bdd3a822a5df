//! Tests of jobs in the store on disk: kills at any point, several processes at work, erasures that leave nothing.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reasoning_bank_actors::ports::{EraseScope, JobFilter, MemoryStore, Record, StoreError, StoreReads};
use reasoning_bank_domain::learning::job::{Job, JobResult, JobState, Method};
use reasoning_bank_store::LanceStore;
use rstest::rstest;

use crate::store_fixtures::*;
use crate::store_lance::*;

async fn stored(store: &LanceStore, job: &Job) -> Vec<Job> {
    let mut jobs = store.jobs(JobFilter::default(), everything(), soon()).await.unwrap();
    jobs.retain(|stored| stored.id == job.id);
    assert_eq!(store.job(job.id, None, soon()).await.unwrap().as_ref(), jobs.first());
    jobs
}

async fn put(store: &LanceStore, job: &Job) -> Result<(), StoreError> {
    store.commit(vec![workspace_record("/here"), Record::Job(job.clone())], soon()).await.map(drop)
}

fn done(job: &Job) -> Job {
    job.done(JobResult { learned: Vec::new(), method: Method::Rules, notes: Vec::new() }, now())
}

#[rstest]
#[case::nothing_of_it_is_in_the_tables(false)]
#[case::the_job_is(true)]
#[tokio::test]
async fn a_result_that_was_being_stored_is_there_afterwards_with_what_was_learned(
    #[case] applied: bool,
    #[values(false, true)] by_opening: bool,
) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let queued = job(&workspace("/here"), "session", now());
    let begun = queued.begun(now());
    let learned = memory(&workspace("/here"), "Learned", "of the session");
    let batch = vec![record(&learned, Some(AXIS)), Record::Job(done(&begun))];
    put(&store, &queued).await.unwrap();
    put(&store, &begun).await.unwrap();
    if applied {
        store.commit(batch.clone(), soon()).await.unwrap();
    }
    store.close(soon()).await.unwrap();
    drop(store);
    let broken_off = || {
        let earlier = frame(&[Record::Job(queued.clone()), Record::Job(begun.clone())]);
        let name = leave_journal(dir.path(), &[earlier, frame(&batch)].concat());
        fs::write(dir.path().join("lance/.write.lock"), name).unwrap();
    };
    let store = if by_opening {
        broken_off();
        open(dir.path()).await
    } else {
        let store = open(dir.path()).await;
        broken_off();
        put(&store, &job(&workspace("/here"), "another", now())).await.unwrap();
        store
    };
    assert_eq!(store.get(vec![learned.id], soon()).await.unwrap()[0].memory, learned);
    for _ in 0..2 {
        assert_eq!(stored(&store, &queued).await, [done(&begun)]);
        store.maintain(soon()).await.unwrap();
    }
}

#[tokio::test]
async fn a_table_of_jobs_that_was_lost_comes_back_from_the_journals() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let queued = job(&workspace("/here"), "session", now());
    put(&store, &queued).await.unwrap();
    put(&store, &queued.begun(now())).await.unwrap();
    store.close(soon()).await.unwrap();
    drop(store);
    for file in table_files(dir.path(), "jobs", "_versions") {
        fs::OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap();
    }
    assert_eq!(stored(&open(dir.path()).await, &queued).await, [queued.begun(now())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_want_to_begin_a_job_one_does() {
    const WORKERS: u32 = 4;
    const ROUNDS: u32 = 4;
    let dir = tempfile::tempdir().unwrap();
    let queued = job(&workspace("/here"), "session", now());
    put(&open(dir.path()).await, &queued).await.unwrap();
    let won = Arc::new(AtomicU32::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for worker in 1..=WORKERS {
        let (dir, queued, won) = (dir.path().to_owned(), queued.clone(), Arc::clone(&won));
        workers.spawn(async move {
            let store = open(&dir).await;
            loop {
                let seen = stored(&store, &queued).await.remove(0);
                let next = match seen.state {
                    _ if seen.revision == 2 * ROUNDS => return,
                    // what one makes of it is not what another makes of it
                    JobState::Queued => Job { error: Some(format!("worker {worker}")), ..seen.begun(now()) },
                    _ => seen.put_back(now()),
                };
                match put(&store, &next).await {
                    Ok(()) if next.state == JobState::Running => drop(won.fetch_add(1, Ordering::Relaxed)),
                    Ok(()) => {}
                    Err(StoreError::JobChanged(id)) => assert_eq!(id, queued.id),
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    workers.join_all().await;
    assert_eq!(won.load(Ordering::Relaxed), ROUNDS);
    assert_eq!(stored(&open(dir.path()).await, &queued).await[0].revision, 2 * ROUNDS);
}

#[tokio::test]
async fn an_erased_job_is_in_no_file_any_more_and_comes_back_from_no_journal() {
    let dir = tempfile::tempdir().unwrap();
    let [store, other] = [open(dir.path()).await, open(dir.path()).await];
    let doomed = job(&workspace("/here"), "xylophonequartz", now());
    put(&store, &doomed).await.unwrap();
    put(&other, &doomed.begun(now())).await.unwrap();
    put(&store, &done(&doomed.begun(now()))).await.unwrap();
    assert!(holding(dir.path(), "xylophonequartz") > 0, "otherwise this test shows nothing");
    let over = EraseScope::Jobs { over_before: now() + jiff::SignedDuration::from_secs(1) };
    assert_eq!(store.erase(over.clone(), soon()).await.unwrap().jobs, 1);
    assert_eq!(holding(dir.path(), "xylophonequartz"), 0);
    drop((store, other));
    // a frame from before an erasure that broke off
    let pending = serde_json::json!({ "count": 2, "pending": over });
    fs::write(dir.path().join("journal/erasures.json"), pending.to_string()).unwrap();
    let waiting = job(&workspace("/here"), "waiting", now());
    let begun = doomed.begun(now());
    let revisions = [&doomed, &begun, &done(&begun), &waiting].map(|job| frame(&[Record::Job(job.clone())]));
    let name = leave_journal(dir.path(), &revisions.concat());
    fs::write(dir.path().join("lance/.write.lock"), name).unwrap();
    let store = open(dir.path()).await;
    assert_eq!(stored(&store, &doomed).await, []);
    assert_eq!(stored(&store, &waiting).await, [waiting]);
}

#[tokio::test]
async fn old_jobs_take_nothing_but_themselves_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let [store, other] = [open(dir.path()).await, open(dir.path()).await];
    let memories = numbered(2);
    let doomed = job(&workspace("/here"), "xylophonequartz", now());
    put(&other, &doomed).await.unwrap();
    commit_each(&other, &memories[..1]).await;
    other.close(soon()).await.unwrap();
    put(&other, &doomed.begun(now())).await.unwrap();
    put(&store, &done(&doomed.begun(now()))).await.unwrap();
    commit_each(&store, &memories[1..]).await;
    let aside = dir.path().join("set-aside");
    fs::create_dir(&aside).unwrap();
    let [young, old] = ["019d0000-0000-7000-8000-000000000000", "01900000-0000-7000-8000-000000000000"];
    let kept = [format!("{young}-a.log"), format!("{old}-memories-memories.lance"), "notes".to_owned()];
    for name in kept.iter().cloned().chain([format!("{old}-a.log"), format!("{old}-jobs-1.manifest")]) {
        fs::write(aside.join(name), "what damage left").unwrap();
    }
    let over = |seconds| EraseScope::Jobs { over_before: now() + jiff::SignedDuration::from_secs(seconds) };
    let all_that_is_there = || {
        let mut files = files(dir.path());
        files.sort();
        files.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let before = all_that_is_there();
    assert_eq!(store.erase(over(0), soon()).await.unwrap().jobs, 0);
    assert!(all_that_is_there() == before, "where there is nothing to erase nothing is written");
    assert_eq!(store.erase(over(1), soon()).await.unwrap().jobs, 1);
    assert_eq!(holding(dir.path(), "xylophonequartz"), 0);
    let mut left: Vec<String> =
        fs::read_dir(&aside).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    let mut kept = kept.to_vec();
    kept.sort();
    assert_eq!(left, kept);
    drop((store, other));

    // what is left of the journals still repairs the tables
    for table in ["memories", "passages", "traces", "signals", "jobs"] {
        for file in table_files(dir.path(), table, "_versions") {
            fs::OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap();
        }
    }
    assert_whole(&open(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn jobs_that_an_earlier_version_left_behind_with_a_workspace_go_when_the_directory_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let [gone, lost, kept] = ["/gone", "/lost", "/here"].map(workspace);
    let left = job(&gone, "xylophonequartz", now());
    let [of_lost, of_kept] = [job(&lost, "session", now()), job(&kept, "session", now())];
    let of_a_trace = vec![Record::Trace(trace(&lost, "task")), Record::Job(of_lost.clone())];
    store.commit(vec![Record::Job(left.clone())], soon()).await.unwrap();
    store.commit(of_a_trace, soon()).await.unwrap();
    put(&store, &of_kept).await.unwrap();
    assert!(holding(dir.path(), "xylophonequartz") > 0, "otherwise this test shows nothing");
    drop(store);
    let store = open(dir.path()).await;
    assert_eq!(holding(dir.path(), "xylophonequartz"), 0);
    assert_eq!(stored(&store, &left).await, []);
    assert_eq!(stored(&store, &of_kept).await, [of_kept]);
    assert_eq!(stored(&store, &of_lost).await, [of_lost], "only its registration is lost");
}
