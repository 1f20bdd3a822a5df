//! Language models and what stands around them. From the outside in: the cache ([`Cached`]), another try after a failure
//! that passes, a breaker for a provider that keeps failing, with the limit of requests a minute, the limit of a single call
//! ([`Timed`]), counting, the scrubbing of what goes out and comes in ([`Scrubbed`]), the provider. Each ends with its
//! caller. [`ask`] stands outside of them all: a structured answer, with one repair. Wire codecs are in the root package.

mod breaker;
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
pub use cached::Cached;
use decorator::Decorator;
pub(crate) use metered::Metered;
pub use none::NoModel;
pub(crate) use rate_limit::RateLimit;
pub use request::{CallOutcome, ask};
pub(crate) use retried::Retried;
pub use retried::RetrySettings;
pub use scrubbed::Scrubbed;
pub use simulated::{Latency, Simulated, SimulatedSettings};
pub use timed::Timed;
use timeout::within;
