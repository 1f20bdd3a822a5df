//! A test that leaves actors or work running fails. Every actor and every piece of work is a task of the test's own
//! runtime, so the count of those alive is the whole truth; the events give names to it.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::runtime::{Deadline, Events, Subscription, SystemEvent};

/// Make one first, in the test's own task; call [`LeakCheck::finish`] after stopping the system.
pub struct LeakCheck {
    events: Subscription,
    alive_before: usize,
    finished: bool,
}

impl LeakCheck {
    pub fn new(events: &Events) -> Self {
        Self { events: events.subscribe(), alive_before: alive(), finished: false }
    }

    /// Panics unless all that was started since has ended by the deadline. Tasks are dropped a moment after their actor
    /// reports its end, and timers of the factory outlive it by up to their period.
    pub async fn finish(mut self, deadline: Deadline) {
        while alive() > self.alive_before && !deadline.passed() {
            sleep(Duration::from_millis(1)).await;
        }
        self.check();
    }

    #[expect(clippy::panic, reason = "it fails the test")]
    fn check(&mut self) {
        self.finished = true;
        let left = alive().saturating_sub(self.alive_before);
        if left > 0 {
            panic!("{left} tasks are still running; children that did not end: {:?}", self.running());
        }
    }

    fn running(&mut self) -> Vec<&'static str> {
        let mut starts: BTreeMap<&'static str, i64> = BTreeMap::new();
        for event in self.events.drain() {
            match event {
                SystemEvent::ChildStarted { child, .. } => *starts.entry(child).or_default() += 1,
                SystemEvent::ChildExited { child, .. } => *starts.entry(child).or_default() -= 1,
                _ => {}
            }
        }
        starts.into_iter().filter(|(_, running)| *running > 0).map(|(child, _)| child).collect()
    }
}

impl Drop for LeakCheck {
    /// A test that forgot to finish is held to the same.
    fn drop(&mut self) {
        if !self.finished && !std::thread::panicking() {
            self.check();
        }
    }
}

fn alive() -> usize {
    Handle::current().metrics().num_alive_tasks()
}
