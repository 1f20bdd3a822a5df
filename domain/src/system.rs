//! Rules about the running system: when an actor is started again (`restart`), when a provider is left alone (`breaker`), whether a
//! bank is well (`health`), and the document of its numbers (`statistics`).

pub mod breaker;
pub mod health;
pub mod restart;
pub mod statistics;
