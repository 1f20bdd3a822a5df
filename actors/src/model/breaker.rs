//! A provider that keeps failing is left alone for a while. `domain::system::breaker` decides when, and who may try
//! again first. Calls wait for their turn in here, so that they are told at once when the provider is left alone
//! meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reasoning_bank_domain::system::breaker::{Admission, BreakerLimits, CallEnding, Circuit, Ticket};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Decorator, RateLimit, with_deadline};
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError};
use crate::runtime::Deadline;
use crate::spans;

pub(crate) struct Breaker {
    inner: Arc<dyn LanguageModel>,
    circuit: Mutex<Circuit>,
    /// The limit of the rate of requests. None where it is not limited.
    rate_limit: Option<RateLimit>,
    start: Instant,
    /// It tells those who wait to ask again.
    changed: Notify,
}

impl Breaker {
    pub(crate) fn new(inner: Arc<dyn LanguageModel>, limits: BreakerLimits, rate_limit: Option<RateLimit>) -> Self {
        let circuit = Mutex::new(Circuit::new(limits));
        Self { inner, circuit, rate_limit, start: Instant::now(), changed: Notify::new() }
    }

    /// Returns how long calls are still refused. None where they are not.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.circuit().pause(self.start.elapsed())
    }

    async fn admitted(&self) -> Result<UnderWay<'_>, ModelError> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // No change is missed from here on.
            changed.as_mut().enable();
            let admission = self.circuit().admit(self.start.elapsed());
            match admission {
                Admission::Pass(ticket) => {
                    let under_way = UnderWay { breaker: self, ticket, ending: CallEnding::Unknown };
                    let Some(rate_limit) = &self.rate_limit else { return Ok(under_way) };
                    let is_permitted = tokio::select! {
                        () = rate_limit.permit() => true,
                        () = changed => false,
                    };
                    if is_permitted && self.circuit().is_current(ticket) {
                        return Ok(under_way);
                    }
                }
                Admission::Refused { retry_after } => return Err(ModelError::CircuitOpen { retry_after }),
                Admission::Wait => changed.await,
            }
        }
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that was let through. Where it is dropped with its caller, it ends without a word about the provider.
struct UnderWay<'a> {
    breaker: &'a Breaker,
    ticket: Ticket,
    ending: CallEnding,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let breaker = self.breaker;
        let changed = breaker.circuit().ended(self.ticket, self.ending, breaker.start.elapsed());
        if let Some(change) = changed {
            spans::circuit_changed(change);
            breaker.changed.notify_waiters();
        }
    }
}

fn ending(answer: &Result<CompletionReply, FailedCall>) -> CallEnding {
    match answer.as_ref().map_err(|failed| &failed.error) {
        Err(ModelError::Transient { .. }) => CallEnding::Failed,
        Err(
            ModelError::TimedOut
            | ModelError::Cancelled
            | ModelError::TooLate { .. }
            | ModelError::CircuitOpen { .. }
            | ModelError::NoModel,
        ) => CallEnding::Unknown,
        Ok(_)
        | Err(
            ModelError::RateLimited { .. }
            | ModelError::Refused(_)
            | ModelError::KeyRejected(_)
            | ModelError::InvalidOutput(_),
        ) => CallEnding::Answered,
    }
}

impl Decorator for Breaker {
    fn inner(&self) -> &dyn LanguageModel {
        &*self.inner
    }

    async fn call(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CompletionReply, FailedCall> {
        let mut under_way = with_deadline(deadline, &cancel, self.admitted()).await??;
        let answer = self.inner.complete(request, deadline, cancel).await;
        under_way.ending = ending(&answer);
        answer
    }
}

#[cfg(test)]
mod tests;
