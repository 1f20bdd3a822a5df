//! Tries calls again that failed for a reason that passes: after a pause that doubles, or later where the provider says
//! how long to wait. Every try counts against the rate limit and the circuit breaker, which are inside.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use reasoning_bank_domain::system::statistics::LlmCounts;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{Decorator, with_deadline};
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError, Usage};
use crate::runtime::Deadline;
use crate::spans;
use crate::statistics::Meters;

const FACTOR: f32 = 2.0;
/// A pause is longer or shorter by up to this part of it, so that calls that failed together do not come back together.
const JITTER: f64 = 0.25;

/// The rule of retries. One call is followed by at most `max_retries` more, the first after about `base_delay`, each
/// further one after twice as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most retries of a call. 0 turns them off.
    pub max_retries: u32,
    pub base_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_retries: 3, base_delay: Duration::from_secs(1) }
    }
}

pub(crate) struct RetriedModel {
    inner: Arc<dyn LanguageModel>,
    settings: RetryPolicy,
    meters: Meters,
    /// It draws a number in 0..=1.
    chance: fn() -> f64,
}

impl RetriedModel {
    pub(crate) fn new(inner: Arc<dyn LanguageModel>, settings: RetryPolicy, meters: Meters) -> Self {
        Self { inner, settings, meters, chance: random }
    }

    /// Makes the call, and repeats it while that may help and the deadline allows. `earlier` becomes what the tries
    /// before the last one cost.
    async fn tries(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
        earlier: &mut Usage,
    ) -> Result<CompletionReply, FailedCall> {
        let mut pauses = self.pauses();
        let mut tries = 1;
        loop {
            let call = self.inner.complete(request.clone(), deadline, cancel.clone());
            let failed = match with_deadline(deadline, &cancel, call).await? {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let (ModelError::Transient { retry_after, .. } | ModelError::RateLimited { retry_after, .. }) =
                failed.error
            else {
                return Err(failed);
            };
            let Some(pause) = pauses.next() else {
                return Err(failed.map_error(|error| given_up(error, &times(tries))));
            };
            let wait = pause.max(retry_after.unwrap_or_default());
            if wait >= deadline.remaining() {
                let late =
                    format!("{}; the next, after {:.1} s, would come too late", times(tries), wait.as_secs_f64());
                let too_late = |error| ModelError::TooLate { reason: Box::new(given_up(error, &late)), wait };
                return Err(failed.map_error(too_late));
            }
            *earlier += failed.usage;
            spans::model_call_failed(&failed.error, tries, wait);
            with_deadline(deadline, &cancel, sleep(wait)).await?;
            self.meters.spent(request.purpose, LlmCounts { retries: 1, ..LlmCounts::default() });
            tries += 1;
        }
    }

    fn pauses(&self) -> impl Iterator<Item = Duration> + use<> {
        let chance = self.chance;
        ExponentialBuilder::new()
            .with_factor(FACTOR)
            .with_min_delay(self.settings.base_delay)
            .without_max_delay()
            .with_max_times(self.settings.max_retries as usize)
            .build()
            .map(move |pause| pause.mul_f64(1.0 + JITTER * (2.0 * chance() - 1.0)))
    }
}

/// Draws a number in 0..=1. The keys of hash maps are the randomness that the standard library has.
fn random() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

impl Decorator for RetriedModel {
    fn inner(&self) -> &dyn LanguageModel {
        &*self.inner
    }

    async fn call(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> Result<CompletionReply, FailedCall> {
        let mut earlier = Usage::default();
        match self.tries(request, deadline, cancel, &mut earlier).await {
            Ok(mut reply) => {
                reply.usage += earlier;
                Ok(reply)
            }
            Err(mut failed) => {
                failed.usage += earlier;
                Err(failed)
            }
        }
    }
}

/// Adds to the reason of the last try why there is no further one.
fn given_up(error: ModelError, why: &str) -> ModelError {
    error.map_text(|reason| format!("{reason} ({why})"))
}

fn times(tries: u32) -> String {
    if tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") }
}

#[cfg(test)]
mod tests;
