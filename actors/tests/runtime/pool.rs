//! A pool of workers as a child: drained with its queue, and its crashed workers replaced by itself.

use std::time::Duration;

use futures::FutureExt;
use ractor::factory::{
    DiscardSettings, Factory, FactoryArguments, FactoryMessage, FactoryRef, Job, Worker, WorkerId, queues, routing,
    worker_builder,
};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use reasoning_bank_actors::runtime::{CallError, ChildSpec, Events, Slot, StopOutcome};
use reasoning_bank_actors::testkit::LeakCheck;
use reasoning_bank_domain::system::restart::{Restart, RestartLimits};
use tokio::time::sleep;

use crate::echo::{MS, supervise, within};

enum Sum {
    Of { numbers: Vec<u32>, takes: Duration, reply: RpcReplyPort<u32> },
    Panic { _reply: RpcReplyPort<u32> },
}

struct Adder;

impl Worker for Adder {
    type Key = ();
    type Message = Sum;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: WorkerId, _: &FactoryRef<(), Sum>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        _: WorkerId,
        _: &ActorRef<FactoryMessage<(), Sum>>,
        job: Job<(), Sum>,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        match job.msg {
            Sum::Of { numbers, takes, reply } => {
                sleep(takes).await;
                let _ = reply.send(numbers.iter().sum());
            }
            Sum::Panic { .. } => panic!("a worker panicked"),
        }
        Ok(())
    }
}

type Adders = Factory<(), Sum, (), Adder, routing::QueuerRouting<(), Sum>, queues::DefaultQueue<(), Sum>>;

fn pool(slot: &Slot<FactoryMessage<(), Sum>>) -> ChildSpec {
    ChildSpec::factory("adders", Restart::Permanent, slot, |supervisor| {
        let arguments = FactoryArguments::builder()
            .worker_builder(Box::new(worker_builder(|_| (Adder, ()))))
            .num_initial_workers(2)
            .router(routing::QueuerRouting::default())
            .queue(queues::DefaultQueue::default())
            .discard_settings(DiscardSettings::None)
            .build();
        async move { Ok(Adders::spawn_linked(None, Adders::default(), arguments, supervisor).await?.0) }.boxed()
    })
}

async fn sum(slot: &Slot<FactoryMessage<(), Sum>>, numbers: Vec<u32>, takes: Duration) -> Result<u32, CallError> {
    let job = |reply| FactoryMessage::Dispatch(Job::new((), Sum::Of { numbers, takes, reply }));
    slot.call(job, within(60_000)).await
}

#[tokio::test(start_paused = true)]
async fn queued_jobs_are_finished_before_a_pool_ends() {
    let (slot, events) = (Slot::new(), Events::default());
    let leaks = LeakCheck::new(&events);
    let supervisor = supervise(vec![pool(&slot)], RestartLimits::default(), &events).await;
    let jobs: Vec<_> = (0..10)
        .map(|n| {
            let slot = slot.clone();
            tokio::spawn(async move { sum(&slot, vec![n, 1], MS(100)).await })
        })
        .collect();
    tokio::task::yield_now().await;

    let report = supervisor.stop_in_order(&["adders"], MS(5_000)).await.unwrap();

    assert_eq!(report[0].ending, StopOutcome::Drained);
    assert!(report[0].elapsed >= MS(400), "ten jobs of 100 ms on two workers, in {:?}", report[0].elapsed);
    for (n, job) in (0..).zip(jobs) {
        assert_eq!(job.await.unwrap(), Ok(n + 1));
    }
    leaks.finish(within(30_000)).await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_too_slow_is_killed_and_its_callers_are_told() {
    let (slot, events) = (Slot::new(), Events::default());
    let supervisor = supervise(vec![pool(&slot)], RestartLimits::default(), &events).await;
    let job = tokio::spawn({
        let slot = slot.clone();
        async move { sum(&slot, vec![1], MS(50_000)).await }
    });
    tokio::task::yield_now().await;
    let report = supervisor.stop_in_order(&["adders"], MS(300)).await.unwrap();
    assert_eq!(report[0].ending, StopOutcome::Killed);
    assert_eq!(job.await.unwrap(), Err(CallError::Dropped));
}

#[tokio::test(start_paused = true)]
async fn the_job_of_a_panicking_worker_is_dropped_and_the_pool_goes_on() {
    let (slot, events) = (Slot::new(), Events::default());
    let supervisor = supervise(vec![pool(&slot)], RestartLimits::default(), &events).await;
    for _ in 0..4 {
        let job = |reply| FactoryMessage::Dispatch(Job::new((), Sum::Panic { _reply: reply }));
        assert_eq!(slot.call(job, within(1_000)).await, Err(CallError::Dropped));
    }
    assert_eq!(sum(&slot, vec![2, 3], MS(1)).await, Ok(5));
    assert_eq!(supervisor.observe(within(100)).await.unwrap()[0].restarts, 0);
}
