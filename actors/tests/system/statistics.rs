//! The statistics document: what it says after some work, after a reset, and when the store does not answer.

use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::ports::{EmbedderState, ModelError, StoreError};
use reasoning_bank_domain::memory::{MemoryOutcome, Scope, Status};
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::system::statistics::{ActorStatus, LlmStatistics, Percentiles};
use tokio::time::sleep;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn it_says_what_the_bank_holds_and_what_the_process_did() {
    let model = good_model();
    model.cost(0.5).latency(Duration::from_secs(2));
    model.fail(Purpose::Judge, ModelError::Transient { message: "503".into(), retry_after: None });
    let world = world(model).await;
    world.embedder.set_delay(Duration::from_millis(30));
    let solve = |text: &str| world.handle.agents.solve(task(text, 1), project(), call());
    solve("bisect sorted data").await.unwrap();
    solve("write a parser").await.unwrap();
    world.handle.memories.retrieve(RetrieveRequest::new("sorted", project(), 5), soon()).await.unwrap();

    let statistics = world.handle.statistics(soon()).await.unwrap();
    assert_eq!((statistics.traces.total, statistics.traces.success, statistics.traces.success_rate), (2, 2, 1.0));
    let memories = &statistics.memories;
    assert_eq!(
        (memories.total, memories.by_outcome[&MemoryOutcome::Success]),
        (1, 1),
        "the second confirmed the first"
    );
    assert_eq!((memories.by_scope[&Scope::Project], memories.by_status[&Status::Active]), (1, 1));
    assert!(statistics.store.rows > 3);

    // think, evaluate, judge, judge again; think, evaluate, judge
    let LlmStatistics { total, by_purpose } = &statistics.llm;
    assert_eq!((total.calls, total.retries, total.failures, total.cost_usd), (7, 1, 1, Some(3.0)));
    assert_eq!((by_purpose[&Purpose::Judge].calls, by_purpose[&Purpose::Judge].retries), (3, 1));
    assert!(total.input_tokens > by_purpose[&Purpose::Think].input_tokens);
    let cache = &statistics.cache;
    assert_eq!((cache.hits, cache.misses, cache.bypassed, cache.entries), (0, 4, 2, 4));

    let latency = &statistics.latency_ms;
    let counts = [latency.retrieval.count, latency.embedding.count, latency.solve.count, latency.llm.count];
    assert_eq!(counts, [3, 5, 2, 7], "each solve embeds its task and its lessons");
    assert!((latency.llm.p50 - 2000.0).abs() < 5.0 && (latency.embedding.p50 - 30.0).abs() < 2.0, "{latency:?}");
    assert!(latency.solve.p50 >= 6000.0 && latency.solve.p99 >= 8700.0, "{latency:?}");
    assert!(latency.retrieval.p50 >= 30.0, "{latency:?}");

    let names: Vec<&str> = statistics.actors.iter().map(|actor| actor.name.as_str()).collect();
    assert_eq!(
        names,
        ["store", "cache", "workspaces", "matts", "judge", "usage", "banks", "working", "learner", "agents"]
    );
    assert!(statistics.actors.iter().all(|actor| actor.status == ActorStatus::Running && actor.queue == 0));
    let embedder = &statistics.embedder;
    assert_eq!((&*embedder.name, embedder.dims, embedder.ready), ("hash", 64, true));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_reset_zeroes_counters_and_touches_nothing_else() {
    let model = good_model();
    model.answer(Purpose::Think, |_| Ok("the same draft".into()));
    let world = world(model).await;
    let solve = || world.handle.agents.solve(task("bisect sorted data", 1), project(), call());
    solve().await.unwrap();
    let before = world.handle.statistics(soon()).await.unwrap();
    world.handle.reset_statistics();
    let after = world.handle.statistics(soon()).await.unwrap();
    assert_eq!((&after.traces, &after.memories, &after.store), (&before.traces, &before.memories, &before.store));
    assert_eq!(after.llm, LlmStatistics::default());
    assert_eq!((after.cache.misses, after.cache.bypassed, after.cache.entries), (0, 0, before.cache.entries));
    assert_eq!((after.latency_ms.solve, after.latency_ms.retrieval), (Percentiles::default(), Percentiles::default()));
    assert!(after.since >= before.since);
    assert_eq!(solve().await.unwrap().usage.cache_hits, 2, "answers that were kept stay");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn callers_inside_and_restarts_are_told_of_each_actor() {
    let model = good_model();
    let held = model.hold(Purpose::Think);
    let world = world(model.clone()).await;
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 3), project(), call()).await });
    assert!(model.begun(3, soon()).await);
    let mut events = world.handle.events.subscribe();
    assert!(world.handle.faults("judge").kill().await);
    restarted(&mut events, "judge").await;
    let statistics = world.handle.statistics(soon()).await.unwrap();
    let of = |name: &str| statistics.actors.iter().find(|actor| actor.name == name).unwrap();
    assert_eq!((of("agents").queue, of("matts").queue, of("judge").queue), (1, 3, 0));
    assert_eq!((of("agents").restarts, of("judge").restarts), (0, 1));
    held.release();
    solving.await.unwrap().unwrap();
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_answer_is_its_error_and_an_embedder_that_loads_is_not_ready() {
    let world = world(good_model()).await;
    world.embedder.set_state(EmbedderState::Loading);
    sleep(Duration::from_secs(3)).await;
    let statistics = world.handle.statistics(soon()).await.unwrap();
    assert!(!statistics.embedder.ready && statistics.uptime_s >= 3);
    assert_eq!((statistics.traces.total, statistics.traces.success_rate), (0, 0.0));
    let down = StoreError::Failed("the disk is gone".into());
    world.store.fail_with(Some(down.clone()));
    assert_eq!(world.handle.statistics(soon()).await, Err(Error::Store(down)));
    world.stop().await;
}
