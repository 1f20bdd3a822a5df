//! `eval load` and `eval kills` hold the team daemon against its bars. Both start it as a process of its own, on a data
//! directory of its own, and ask it over HTTP as its clients do: through the same ports, limits and checks.
//!
//! Read `traffic` first (what clients ask and record), then `client` (one client's connection) and `daemon` (the
//! process that is measured). `clients` lets many of them work for a time, `measure` makes the figures of a load,
//! `overhead` compares the protocol over HTTP with stdio, and `kills` kills the daemon again and again and counts what
//! is missing. `report` has the figures with their bars.

mod client;
mod clients;
mod daemon;
pub(crate) mod kills;
pub(crate) mod measure;
mod overhead;
mod prepare;
pub(crate) mod report;
mod stored;
mod traffic;
mod usage;

pub(crate) use prepare::{fill, make_tokens};

use std::fmt::Display;

use super::EvalError;

/// Says which part of the measurement failed, and why.
fn failed(part: &'static str) -> impl Fn(&dyn Display) -> EvalError {
    move |error| EvalError::Part(format!("{part}: {error}"))
}
