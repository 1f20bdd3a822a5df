//! `eval`: how good and how fast a bank is on somebody's data, and what it learns, through the store and the retrieval that
//! are in use everywhere. The measures themselves are `reasoning_bank_domain::retrieval::measures`'s; arguments and tables the command line's.

pub(crate) mod capture;
pub(crate) mod dataset;
pub(crate) mod embedding;
pub(crate) mod learning;
pub(crate) mod relevance;
pub(crate) mod report;
pub(crate) mod retrieval;
pub(crate) mod speed;
mod timed;

pub(crate) use timed::Timed;

use std::io;
use std::time::Duration;

use reasoning_bank_actors::error::Error;

use crate::jsonl::ReadError;

/// A bank of a million is read into memory in less; a larger one may not fit.
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
