//! Many callers against a child that keeps crashing, on several threads and in real time: every call ends, and no
//! message is taken twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use reasoning_bank_actors::runtime::{CallError, Events, Slot};
use reasoning_bank_actors::testkit::{Faults, LeakCheck};
use reasoning_bank_domain::system::restart::{Restart, RestartLimits};

use crate::echo::{Echo, MS, echo, supervise, within};

const CALLERS: usize = 8;
const CALLS: usize = 250;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_call_ends_and_no_message_is_taken_twice_while_the_child_crashes_on_and_on() {
    let (actor, slot, events) = (Echo::default(), Slot::new(), Events::default());
    let leaks = LeakCheck::new(&events);
    let limits =
        RestartLimits { max_restarts: usize::MAX, first_delay: MS(1), max_delay: MS(1), ..RestartLimits::default() };
    let supervisor = supervise(vec![actor.child("echo", Restart::Permanent, &slot)], limits, &events).await;

    let done = Arc::new(AtomicBool::new(false));
    let crashes = tokio::spawn({
        let (done, slot, faults) = (Arc::clone(&done), slot.clone(), Faults::of(&slot));
        async move {
            let mut crashes = 0;
            while !done.load(Ordering::SeqCst) {
                crashes += usize::from(if crashes % 2 == 0 { faults.kill().await } else { faults.panic().await });
                let _ = echo(&slot, "is it back?", within(10_000)).await;
            }
            crashes
        }
    });
    let dropped = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (slot, dropped) = (slot.clone(), Arc::clone(&dropped));
            tokio::spawn(async move {
                for call in 0..CALLS {
                    let text = format!("{caller}/{call}");
                    match echo(&slot, &text, within(10_000)).await {
                        Ok(answer) => assert_eq!(answer, text),
                        Err(CallError::Dropped) => {
                            dropped.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(other) => unreachable!("{text}: {other}"),
                    }
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    let crashes = crashes.await.unwrap();

    assert!(crashes > 0);
    let dropped = dropped.load(Ordering::SeqCst);
    assert!(dropped < CALLERS * CALLS, "none was answered");
    let repeated = actor.most_takes_of_one_text();
    assert!(repeated <= 1, "a message was taken {repeated} times");
    supervisor.stop_in_order(&[], Duration::from_secs(5)).await.unwrap();
    leaks.finish(within(5_000)).await;
}
