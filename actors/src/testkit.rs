//! Fakes of the ports and helpers, for the tests of this package and of the root. Not for production.

pub mod memory_store;
