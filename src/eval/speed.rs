//! `eval speed` measures how fast a bank of a size is, and what it takes of memory and disk. The bank is made up by
//! `synthetic`, filled by the call that `memory import` uses, and asked by the call that every client's question takes.
//!
//! Each part of the measurement is a process of its own, started by the one that reports: what it takes of memory is
//! its own, and it opens the bank as a new process does. `process` starts them and adds up what they take of the disk.
//!
//! `fill` stores the bank, `texts` measures storing with embedding, `serve` asks query after query, and `episodes`
//! measures all that is no memory. `exact` is the plainest search, against which the others are held. `precomputed` has
//! the vectors of the queries, so that embedding them is not measured, and `report` is the answer.

pub(crate) mod episodes;
pub(crate) mod exact;
pub(crate) mod fill;
mod precomputed;
pub(crate) mod process;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod synthetic;
pub(crate) mod texts;

pub(crate) use precomputed::{PrecomputedAtRealCost, PrecomputedVectors};

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One part of the measurement of one bank.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) part: SpeedPart,
    /// The number of memories.
    pub(crate) rows: u32,
    pub(crate) episodes: u32,
    pub(crate) patterns: u32,
    pub(crate) seed: u64,
    /// The data directory.
    pub(crate) dir: PathBuf,
    /// The time at which the process was started, in milliseconds of Unix time.
    pub(crate) started: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SpeedPart {
    /// The process stores the memories and does the upkeep that this causes.
    #[default]
    Fill,
    /// The process asks as one that serves does.
    Serve,
    /// The process asks with nothing kept in memory, so that every search reads the tables.
    Tables,
    /// The process stores memories that are yet to be embedded, in a bank of their own.
    Texts,
    /// The process stores the patterns, and asks for memories where there are no episodes yet.
    WithoutEpisodes,
    /// The process stores the episodes and does the upkeep that this causes.
    FillEpisodes,
    /// The process asks for episodes and patterns as one that serves does.
    ServeEpisodes,
    /// The process asks for episodes with nothing kept in memory.
    EpisodeTables,
    /// The process consolidates, and asks beside it.
    Consolidate,
    /// The process uses working memory, in a bank of its own.
    Working,
}

pub(crate) fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}
