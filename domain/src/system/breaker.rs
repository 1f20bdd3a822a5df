//! The circuit breaker around a provider, as a pure state machine. It says when calls go through, when they are refused
//! at once, and when one of them probes whether the provider is back. It makes no call and reads no clock.

use std::collections::VecDeque;
use std::time::Duration;

/// The limits that say when the circuit opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakerLimits {
    /// The number of the last calls that are looked at, at least 1.
    pub window: usize,
    /// Calls that ended longer ago than this are not looked at.
    pub max_age: Duration,
    /// The number of failures among them from which on the circuit opens, in 1..=`window`.
    pub failures: usize,
    pub first_pause: Duration,
    /// The longest pause. Each probe that fails doubles the pause, up to this.
    pub longest_pause: Duration,
}

impl Default for BreakerLimits {
    /// Returns the limits that are built in. 29 of 32 are nine in ten: a provider that answers now and then is left to
    /// retries. Five minutes are more than two rounds of calls that hang until their timeout.
    fn default() -> Self {
        Self {
            window: 32,
            max_age: Duration::from_secs(300),
            failures: 29,
            first_pause: Duration::from_secs(5),
            longest_pause: Duration::from_secs(60),
        }
    }
}

/// The way in which a call that was let through ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnding {
    /// The provider answered, whatever it said.
    Answered,
    /// The provider is in trouble.
    Failed,
    /// The call ended for reasons of its caller, or was dropped. This says nothing about the provider.
    Unknown,
}

/// The answer to a call that asks to be let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Go to the provider, and report the end with this ticket.
    Pass(Ticket),
    /// Another call is probing. Ask again when it has ended.
    Wait,
    Refused {
        retry_after: Duration,
    },
}

/// Names a call that was let through, and the state it was let through in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    era: u64,
}

/// The change that the end of a call made for other calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Opened {
        pause: Duration,
    },
    Closed,
    /// A probe ended without a result, so the next call probes.
    ProbeWanted,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// Calls go through. `recent` says when each of the recent calls ended and whether it failed, the oldest first.
    Closed {
        recent: VecDeque<(Duration, bool)>,
    },
    Open {
        until: Duration,
        pause: Duration,
    },
    HalfOpen {
        pause: Duration,
        probing: bool,
    },
}

/// The circuit of one provider. Times are measured from any fixed start and never decrease.
#[derive(Debug, Clone)]
pub struct Circuit {
    limits: BreakerLimits,
    state: State,
    /// Counts changes of state and probes. A call of an earlier era tells nothing about this one.
    era: u64,
}

impl Circuit {
    pub fn new(limits: BreakerLimits) -> Self {
        Self { limits, state: State::Closed { recent: VecDeque::new() }, era: 0 }
    }

    pub fn admit(&mut self, now: Duration) -> Admission {
        if let State::Open { until, pause } = self.state {
            if now < until {
                return Admission::Refused { retry_after: until - now };
            }
            self.state = State::HalfOpen { pause, probing: false };
        }
        if let State::HalfOpen { probing, .. } = &mut self.state {
            if *probing {
                return Admission::Wait;
            }
            *probing = true;
            self.era += 1;
        }
        Admission::Pass(Ticket { era: self.era })
    }

    /// Tells whether a call that was let through, and has not gone out yet, still may.
    pub fn is_current(&self, ticket: Ticket) -> bool {
        ticket.era == self.era
    }

    /// Returns how long calls are still refused. None where they are not.
    pub fn pause(&self, now: Duration) -> Option<Duration> {
        match self.state {
            State::Open { until, .. } => until.checked_sub(now).filter(|pause| !pause.is_zero()),
            State::Closed { .. } | State::HalfOpen { .. } => None,
        }
    }

    /// Notes the end of a call, and returns what it changed. This is called once for every call that was let through.
    /// After a change, those who wait ask again.
    pub fn ended(&mut self, ticket: Ticket, ending: CallEnding, now: Duration) -> Option<Change> {
        if ticket.era != self.era {
            return None;
        }
        match (&mut self.state, ending) {
            (State::Closed { .. }, CallEnding::Unknown) | (State::Open { .. }, _) => None,
            (State::Closed { recent }, ending) => {
                recent.push_back((now, ending == CallEnding::Failed));
                let BreakerLimits { window, max_age, .. } = self.limits;
                while recent.len() > window || recent.front().is_some_and(|(at, _)| now.saturating_sub(*at) > max_age) {
                    recent.pop_front();
                }
                let failures = recent.iter().filter(|(_, failed)| *failed).count();
                (failures >= self.limits.failures).then(|| self.open(self.limits.first_pause, now))
            }
            (State::HalfOpen { probing, .. }, CallEnding::Unknown) => {
                *probing = false;
                Some(Change::ProbeWanted)
            }
            (State::HalfOpen { pause, .. }, CallEnding::Failed) => {
                let longer = pause.saturating_mul(2).min(self.limits.longest_pause);
                Some(self.open(longer, now))
            }
            (State::HalfOpen { .. }, CallEnding::Answered) => {
                self.era += 1;
                self.state = State::Closed { recent: VecDeque::new() };
                Some(Change::Closed)
            }
        }
    }

    fn open(&mut self, pause: Duration, now: Duration) -> Change {
        self.era += 1;
        self.state = State::Open { until: now + pause, pause };
        Change::Opened { pause }
    }
}

#[cfg(test)]
mod tests;
