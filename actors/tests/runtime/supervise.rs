//! A supervisor over real actors, in paused time: who is started again, when, and when it gives up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::echo::{Echo, EchoMsg};
use reasoning_bank_actors::runtime::{
    CallError, ChildPhase, ChildSpec, Deadline, Ended, Events, Slot, Supervisor, SupervisorArgs, SupervisorHandle,
    SystemEvent,
};
use reasoning_bank_domain::restart::{Exit, Limits, Restart};

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

async fn supervise(children: Vec<ChildSpec>, limits: Limits, events: &Events) -> SupervisorHandle {
    SupervisorHandle::start(SupervisorArgs::new("root", children, limits, events.clone())).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_killed_child_comes_back_and_a_call_that_waited_for_it_succeeds() {
    let (slot, events) = (Slot::new(), Events::default());
    let mut seen = events.subscribe();
    let _supervisor =
        supervise(vec![Echo::default().child("echo", Restart::Permanent, &slot)], Limits::default(), &events).await;
    let first = slot.current().unwrap();

    first.kill_and_wait(None).await.unwrap();
    let answer = slot.call(|reply| EchoMsg::Echo { text: "again".into(), reply }, soon()).await;

    assert_eq!(answer, Ok("again".to_owned()));
    assert_ne!(slot.current().unwrap().get_id(), first.get_id());
    let killed = SystemEvent::ChildExited { child: "echo", exit: Exit::Failed, reason: "killed".into() };
    assert!(seen.drain().contains(&killed));
}
