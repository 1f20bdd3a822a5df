//! Language models and what stands around them: the simulated one, the cache, the scrubbing of what goes out and comes
//! in, and asking for a structured answer with one repair. Wire codecs are in the root package.

mod cached;
mod none;
mod request;
mod retried;
mod scrubbed;
mod simulated;
mod timed;

pub use cached::Cached;
pub use none::NoModel;
pub use request::{Asked, ask};
pub use retried::RetrySettings;
pub use scrubbed::Scrubbed;
pub use simulated::{Latency, Simulated, SimulatedSettings};
pub use timed::Timed;
