//! The metrics of a server, for its operator: numbers in the text format of Prometheus, and nothing of what is in the
//! bank.
//!
//! `names` lists every metric with its meaning. Most are read where they are kept when somebody asks, which is in
//! `scrape`. Requests and calls of tools are counted nowhere else, so [`ServerMetrics`] counts them, in a `histogram`
//! for each set of labels. `exposition` writes the text.

mod exposition;
mod histogram;
mod names;
mod scrape;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use histogram::Histogram;
use jiff::Timestamp;

pub(crate) use scrape::Scraper;

/// The outcome of a call whose caller went away before it had ended.
const ABANDONED: &str = "cancelled";

/// The counts of a server's requests and calls. The labels are from bounded sets: templates of routes, names of tools,
/// codes.
pub(crate) struct ServerMetrics {
    since: Timestamp,
    requests: Series<RequestLabels>,
    calls: Series<CallLabels>,
    refused: [AtomicU64; AdmissionRefusal::ALL.len()],
}

type Series<L> = Mutex<BTreeMap<L, Histogram>>;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RequestLabels {
    /// The template of the route, such as `/mcp`. A path as it was sent is none.
    route: String,
    method: &'static str,
    /// The class of the status, such as `2xx`.
    status: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CallLabels {
    tool: &'static str,
    /// `ok`, or the code of the failure.
    outcome: &'static str,
}

/// The reason why the edge of a server did not let a call or a request in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdmissionRefusal {
    /// There is too much in work.
    Busy,
    /// The token asks too often.
    Rate,
    /// The token has as many solves in work as it may have.
    Solves,
    /// The solves of the token have used its model tokens of the day.
    ModelTokens,
}

impl AdmissionRefusal {
    const ALL: [Self; 4] = [Self::Busy, Self::Rate, Self::Solves, Self::ModelTokens];

    fn as_str(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Rate => "rate",
            Self::Solves => "solves",
            Self::ModelTokens => "model_tokens",
        }
    }
}

impl Default for ServerMetrics {
    fn default() -> Self {
        Self {
            since: Timestamp::now(),
            requests: Series::default(),
            calls: Series::default(),
            refused: Default::default(),
        }
    }
}

impl ServerMetrics {
    /// Counts a request that was answered. The time is that until the head of the answer.
    pub(crate) fn answered(&self, route: Option<&str>, method: &str, status: u16, took: Duration) {
        let route = route.unwrap_or("none").to_owned();
        let labels = RequestLabels { route, method: known_method(method), status: class_of(status) };
        locked(&self.requests).entry(labels).or_default().record(took);
    }

    /// Begins to time a call of a tool.
    pub(crate) fn call(&self, tool: &'static str) -> TimedCall<'_> {
        TimedCall { metrics: self, tool, began: Instant::now(), outcome: ABANDONED }
    }

    pub(crate) fn refused(&self, reason: AdmissionRefusal) {
        self.refused[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn refusals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        AdmissionRefusal::ALL
            .into_iter()
            .map(|reason| (reason.as_str(), self.refused[reason as usize].load(Ordering::Relaxed)))
    }
}

/// A call under way. It is counted when it is dropped, so a call that is given up counts as well.
pub(crate) struct TimedCall<'a> {
    metrics: &'a ServerMetrics,
    tool: &'static str,
    began: Instant,
    outcome: &'static str,
}

impl TimedCall<'_> {
    /// Ends the call with `ok` or the code of its failure.
    pub(crate) fn ended(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for TimedCall<'_> {
    fn drop(&mut self) {
        let labels = CallLabels { tool: self.tool, outcome: self.outcome };
        locked(&self.metrics.calls).entry(labels).or_default().record(self.began.elapsed());
    }
}

/// Locks the histograms. Every change under the lock is a single one, so a poisoned lock still guards whole data.
fn locked<L>(series: &Series<L>) -> MutexGuard<'_, BTreeMap<L, Histogram>> {
    series.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the method as a label. A client may send any word as one.
fn known_method(method: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == method).unwrap_or("other")
}

fn class_of(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

#[cfg(test)]
mod tests;
