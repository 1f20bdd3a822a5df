//! The running system: `restart` says when an actor is started again, `breaker` when a provider is left alone, `health`
//! whether a bank is well, and `statistics` is the document of its numbers.

pub mod breaker;
pub mod health;
pub mod restart;
pub mod statistics;
