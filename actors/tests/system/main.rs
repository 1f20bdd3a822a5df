//! The system over fakes: what callers of its handles see, when all goes well and when actors die.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

mod faults;
mod memories;
mod shutdown;
mod solving;
mod support;
mod verifying;
