//! Measurements of a bank: the commands of `eval` run here, on the store and the retrieval that every client uses.
//!
//! Read `dataset` and `report` first, then `retrieval` (how well a bank answers), `relevance` (how well an answer knows
//! that it is one), `learning` (what a bank learns), `capture` (what passive learning keeps), `embedding` and `speed`
//! (how fast all of it is), and `load` (what the team daemon carries, and what is left after it was killed). The
//! formulas are in `reasoning_bank_domain::retrieval::measures`; arguments and tables belong to the command line.

pub(crate) mod capture;
pub(crate) mod dataset;
pub(crate) mod embedding;
pub(crate) mod learning;
pub(crate) mod load;
pub(crate) mod relevance;
pub(crate) mod report;
pub(crate) mod retrieval;
pub(crate) mod speed;
mod timed_embedder;

pub(crate) use timed_embedder::TimedEmbedder;

use std::io;
use std::time::Duration;

use reasoning_bank_actors::error::Error;

use crate::jsonl::ReadError;

/// A bank of a million memories is read into memory in less time. A larger one may not fit.
pub(crate) const RESIDENT_TIMEOUT: Duration = Duration::from_secs(180);

#[derive(Debug, thiserror::Error)]
pub(crate) enum EvalError {
    #[error("{name}: {error}")]
    Dataset { name: String, error: ReadError },
    #[error("{name}: {problem}")]
    Scenarios { name: String, problem: String },
    #[error("scenario {name:?}: {error}")]
    Scenario { name: String, error: Error },
    #[error("query {id}: {error}")]
    Query { id: String, error: Error },
    #[error(transparent)]
    System(#[from] Error),
    #[error("the run cannot be written: {0}")]
    Run(io::Error),
    #[error("a part of the measurement failed: {0}")]
    Part(String),
}
