//! Language models and what stands around them. From the outside in: the cache ([`CachedModel`]), another try after a
//! failure that passes, a breaker for a provider that keeps failing, with the limit of requests a minute, the limit
//! of a single call ([`TimedModel`]), counting, the scrubbing of what goes out and comes in ([`ScrubbedModel`]), the
//! provider. Each ends with its caller. [`ask`] stands outside of them all: a structured answer, with one repair.
//! `budgeted` is [`ask`] for background work, within a day's tokens. Wire codecs are in the root package.

mod breaker;
mod budgeted;
mod cached;
mod decorator;
mod metered;
mod none;
mod rate_limit;
mod request;
mod retried;
mod scrubbed;
mod simulated;
#[cfg(test)]
mod testing;
mod timed;
mod timeout;

pub(crate) use breaker::Breaker;
pub(crate) use budgeted::{BudgetedFailure, BudgetedModel};
pub use cached::CachedModel;
use decorator::Decorator;
pub(crate) use metered::MeteredModel;
pub use none::NoModel;
pub(crate) use rate_limit::RateLimit;
pub use request::{CallOutcome, ask};
pub(crate) use retried::RetriedModel;
pub use retried::RetryPolicy;
pub use scrubbed::ScrubbedModel;
pub use simulated::{Simulated, SimulatedBehaviour, SimulatedLatency};
pub use timed::TimedModel;
use timeout::with_deadline;
