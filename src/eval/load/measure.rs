//! The figures of a load: the daemon is started, compared with stdio, loaded, looked at after the load, and ended under
//! a load again.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use reasoning_bank_domain::retrieval::measures::{mean, percentile};
use tokio::time::{Instant, sleep, sleep_until};

use super::clients::{CallSample, LoadClients, LoadOutcome};
use super::daemon::{DaemonEnd, DaemonProcess};
use super::overhead::{self, CallTimes};
use super::report::{Bar, BarsReport, Figure};
use super::stored::{StoredLesson, stored};
use super::traffic::{CallKind, LoadLesson};
use super::{failed, usage};
use crate::eval::EvalError;
use crate::eval::speed::ms;
use crate::process_memory;

/// A client thinks this long between two calls, give or take half of it.
const THINK: Duration = Duration::from_secs(3);
/// The number of starts of the daemon; the figure is the median.
const STARTS: usize = 5;
/// The time after the load within which everything that was recorded without vectors has them.
const VECTORS_AFTER: Duration = Duration::from_secs(10);
/// Clients work this long before the daemon is asked to end.
const BEFORE_STOP: Duration = Duration::from_secs(2);
const MEMORY_EVERY: Duration = Duration::from_secs(1);
/// The number of failures that are shown.
const SHOWN_FAILURES: usize = 5;

#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadPlan {
    pub(crate) clients: u32,
    pub(crate) seconds: u32,
    /// The memories that are there before.
    pub(crate) memories: u32,
}

impl LoadPlan {
    /// Clients work this long before anything is counted.
    fn warm_up(&self) -> Duration {
        Duration::from_secs(u64::from(self.seconds)).div_f64(6.0)
    }
}

/// The results of the load itself.
struct LoadRun {
    /// The calls that began before anything was counted.
    warming: Vec<CallSample>,
    samples: Vec<CallSample>,
    took: Duration,
    /// The processors that were used, on average. None where the system does not say.
    daemon_cores: Option<f64>,
    own_cores: Option<f64>,
    /// The resident memory of the daemon, second by second.
    memory_bytes: Vec<f64>,
}

impl LoadRun {
    /// Returns the numbers of all lessons that the daemon said it has stored.
    fn recorded(&self) -> Vec<u64> {
        let recorded = |sample: &CallSample| match sample.outcome {
            LoadOutcome::Stored(number) => Some(number),
            _ => None,
        };
        self.warming.iter().chain(&self.samples).filter_map(recorded).collect()
    }
}

/// Measures a daemon on the data directory, which has the memories, with a client for each token. `project` is an empty
/// directory. `done` is told the seconds of the load.
pub(crate) async fn measure(
    plan: LoadPlan,
    data_dir: &Path,
    project: &Path,
    tokens: &[String],
    done: impl Fn(u64),
) -> Result<BarsReport, EvalError> {
    let token = tokens.first().ok_or_else(|| failed("the clients")(&"there are none"))?;
    let mut starts = Vec::new();
    let daemon = loop {
        let daemon = DaemonProcess::start(data_dir).await?;
        starts.push(ms(daemon.ready().await?));
        if starts.len() == STARTS {
            break daemon;
        }
        daemon.terminate().await?;
    };
    let calls = overhead::measure(&daemon, token, data_dir, project).await?;
    let loaded = load(plan, &daemon, tokens, done).await?;
    let stored = once_embedded(data_dir).await?;
    let end = ended_under_load(daemon, tokens).await?;

    let mut figures = startup_figures(&starts, &calls);
    figures.extend(call_figures(&loaded));
    figures.extend(storage_figures(&loaded.recorded(), &stored));
    figures.extend(usage_figures(&loaded));
    figures.extend(end_figures(&end));
    let failures = loaded.samples.iter().filter_map(|sample| match &sample.outcome {
        LoadOutcome::Failed(why) => Some(why.clone()),
        _ => None,
    });
    let failures = failures.take(SHOWN_FAILURES).collect();
    let about = format!(
        "{} clients, each with its own token, connection and session, thought {} s between two calls for {} s, among {} \
         memories",
        plan.clients,
        THINK.as_secs(),
        plan.seconds,
        plan.memories,
    );
    Ok(BarsReport::new(about, figures, failures))
}

async fn load(
    plan: LoadPlan,
    daemon: &DaemonProcess,
    tokens: &[String],
    done: impl Fn(u64),
) -> Result<LoadRun, EvalError> {
    let gone = || failed("the daemon")(&"it ended under the load");
    let process = daemon.id().ok_or_else(gone)?;
    let clients = LoadClients::start(daemon.address, tokens, 0, THINK);
    sleep(plan.warm_up()).await;
    let counted_from = Instant::now();
    let (daemon_before, own_before) = (usage::cpu_time(process), usage::cpu_time(std::process::id()));
    let mut memory_bytes = Vec::new();
    for second in 1..=plan.seconds {
        sleep_until(counted_from + MEMORY_EVERY * second).await;
        memory_bytes.extend(process_memory::of(process).now.map(|bytes| bytes as f64));
        done(u64::from(second));
    }
    let took = counted_from.elapsed();
    let cores = |before: Option<Duration>, process| {
        let used = usage::cpu_time(process)?.checked_sub(before?)?;
        Some(used.as_secs_f64() / took.as_secs_f64())
    };
    let (daemon_cores, own_cores) = (cores(daemon_before, process), cores(own_before, std::process::id()));
    let (warming, samples) = clients.end().await.into_iter().partition(|sample| sample.begun < counted_from);
    Ok(LoadRun { warming, samples, took, daemon_cores, own_cores, memory_bytes })
}

/// Reads what is stored, again and again until all of it has vectors or the time for that is over.
async fn once_embedded(data_dir: &Path) -> Result<Vec<StoredLesson>, EvalError> {
    let until = Instant::now() + VECTORS_AFTER;
    loop {
        let is_last = Instant::now() >= until;
        let stored = stored(data_dir).await?;
        if is_last || stored.iter().all(|stored| stored.has_vectors) {
            return Ok(stored);
        }
        sleep_until(until.min(Instant::now() + VECTORS_AFTER / 10)).await;
    }
}

/// Lets new clients work for a moment, and asks the daemon to end while they do.
async fn ended_under_load(daemon: DaemonProcess, tokens: &[String]) -> Result<DaemonEnd, EvalError> {
    let clients = LoadClients::start(daemon.address, tokens, tokens.len() as u64, THINK);
    sleep(BEFORE_STOP).await;
    let end = daemon.terminate().await?;
    clients.end().await;
    Ok(end)
}

fn startup_figures(starts: &[f64], calls: &CallTimes) -> Vec<Figure> {
    let [http, stdio] = [&calls.http_ms, &calls.stdio_ms].map(|times| percentile(times, 50.0));
    let added = http.zip(stdio).map(|(http, stdio)| http - stdio);
    vec![
        Figure::new(
            "start_to_ready_ms",
            "start of the process to ready, median of five",
            percentile(starts, 50.0),
            "ms",
        )
        .held_to(Bar::Below(150.0)),
        Figure::new("idle_mcp_p50_ms", "retrieve_memories over /mcp, nothing else to do, median", http, "ms"),
        Figure::new("idle_stdio_p50_ms", "the same over stdio", stdio, "ms"),
        Figure::new("mcp_adds_ms", "what /mcp adds to the call", added, "ms").held_to(Bar::Below(1.0)),
    ]
}

fn call_figures(loaded: &LoadRun) -> Vec<Figure> {
    let samples = &loaded.samples;
    let took = |kinds: &[CallKind]| -> Vec<f64> {
        let answered = samples.iter().filter(|sample| kinds.contains(&sample.kind) && sample.is_answered());
        answered.map(|sample| ms(sample.took)).collect()
    };
    let queries = took(&[CallKind::NewQuery, CallKind::RepeatedQuery]);
    let [new, repeated, records] =
        [CallKind::NewQuery, CallKind::RepeatedQuery, CallKind::Record].map(|kind| took(&[kind]));
    let count = |is: &dyn Fn(&LoadOutcome) -> bool| samples.iter().filter(|sample| is(&sample.outcome)).count();
    let hybrid = count(&|outcome| *outcome == LoadOutcome::Hybrid);
    let overloaded = count(&|outcome| *outcome == LoadOutcome::Overloaded);
    let failed = count(&|outcome| matches!(outcome, LoadOutcome::Failed(_)));
    let rate = samples.len() as f64 / loaded.took.as_secs_f64();
    vec![
        Figure::new("calls", "calls of tools", samples.len() as f64, ""),
        Figure::new("calls_per_second", "calls a second", rate, ""),
        Figure::new("new_queries_percent", "queries that nobody asked before", percent(new.len(), queries.len()), "%"),
        Figure::new("retrieve_p50_ms", "retrieve_memories, median", percentile(&queries, 50.0), "ms"),
        Figure::new("retrieve_p99_ms", "retrieve_memories, p99", percentile(&queries, 99.0), "ms")
            .held_to(Bar::Below(250.0)),
        Figure::new("new_query_p99_ms", "  of new queries", percentile(&new, 99.0), "ms"),
        Figure::new("repeated_query_p99_ms", "  of repeated queries", percentile(&repeated, 99.0), "ms"),
        Figure::new("record_p50_ms", "record_memory, median", percentile(&records, 50.0), "ms"),
        Figure::new("record_p99_ms", "record_memory, p99", percentile(&records, 99.0), "ms"),
        Figure::new("hybrid_percent", "queries answered by words and meaning", percent(hybrid, queries.len()), "%")
            .held_to(Bar::AtLeast(95.0)),
        Figure::new("overloaded_percent", "calls answered `overloaded`", percent(overloaded, samples.len()), "%")
            .held_to(Bar::Below(1.0)),
        Figure::new("failed_calls", "calls that failed in any other way", failed as f64, "").held_to(Bar::AtMost(0.0)),
    ]
}

fn storage_figures(recorded: &[u64], stored: &[StoredLesson]) -> Vec<Figure> {
    let mut times: HashMap<u64, usize> = HashMap::new();
    for number in stored.iter().filter_map(|stored| LoadLesson::number(&stored.lesson.title)) {
        *times.entry(number).or_default() += 1;
    }
    let missing = recorded.iter().filter(|number| !times.contains_key(number)).count();
    let doubled = recorded.iter().filter(|number| times.get(number).is_some_and(|times| *times > 1)).count();
    let bare = stored.iter().filter(|stored| !stored.has_vectors).count();
    let none = Bar::AtMost(0.0);
    vec![
        Figure::new("recorded", "lessons recorded", recorded.len() as f64, ""),
        Figure::new("missing", "  of them not stored", missing as f64, "").held_to(none),
        Figure::new("doubled", "  of them stored twice", doubled as f64, "").held_to(none),
        Figure::new("without_vectors", "memories without vectors 10 s after the load", bare as f64, "").held_to(none),
    ]
}

fn usage_figures(loaded: &LoadRun) -> Vec<Figure> {
    let quarter = loaded.memory_bytes.len().div_ceil(4);
    let first = mean(&loaded.memory_bytes[..quarter]);
    let last = mean(&loaded.memory_bytes[loaded.memory_bytes.len() - quarter..]);
    let growth = first.zip(last).map(|(first, last)| 100.0 * (last / first - 1.0));
    let megabytes = |bytes: Option<f64>| bytes.map(|bytes| bytes / 1e6);
    vec![
        Figure::new("daemon_cores", "processors that the daemon used", loaded.daemon_cores, ""),
        Figure::new("generator_cores", "processors that the clients used", loaded.own_cores, ""),
        Figure::new("memory_first_mb", "memory of the daemon, first quarter of the load", megabytes(first), "MB"),
        Figure::new("memory_last_mb", "memory of the daemon, last quarter", megabytes(last), "MB"),
        Figure::new("memory_growth_percent", "growth of the memory between them", growth, "%")
            .held_to(Bar::AtMost(10.0)),
    ]
}

fn end_figures(end: &DaemonEnd) -> Vec<Figure> {
    let code = end.status.code().map(f64::from);
    vec![
        Figure::new("stop_s", "SIGTERM under load to the end of the process", end.took.as_secs_f64(), "s")
            .held_to(Bar::Below(10.0)),
        Figure::new("stop_exit_code", "its exit code", code, "").held_to(Bar::AtMost(0.0)),
    ]
}

fn percent(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| 100.0 * part as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(kind: CallKind, outcome: LoadOutcome) -> CallSample {
        CallSample { kind, begun: Instant::now(), took: Duration::from_millis(300), outcome }
    }

    fn is_met(figures: &[Figure], name: &str) -> bool {
        figures.iter().find(|figure| figure.name == name).unwrap().met.unwrap()
    }

    #[tokio::test]
    async fn every_bar_of_the_calls_can_be_missed() {
        let slow = sample(CallKind::NewQuery, LoadOutcome::ByWords);
        let refused = sample(CallKind::RepeatedQuery, LoadOutcome::Overloaded);
        let failed = sample(CallKind::Record, LoadOutcome::Failed("gone".into()));
        let samples = vec![slow, refused, failed];
        let took = Duration::from_secs(1);
        let loaded = LoadRun {
            warming: Vec::new(),
            samples,
            took,
            daemon_cores: None,
            own_cores: None,
            memory_bytes: Vec::new(),
        };
        let figures = call_figures(&loaded);
        for name in ["retrieve_p99_ms", "hybrid_percent", "overloaded_percent", "failed_calls"] {
            assert!(!is_met(&figures, name), "{name}");
        }
    }

    #[test]
    fn what_was_recorded_is_stored_once_with_vectors() {
        let stored = |number, has_vectors| StoredLesson { id: "1".into(), lesson: LoadLesson::of(number), has_vectors };
        let bank = [stored(7, true), stored(8, true), stored(9, false), stored(8, true)];
        let figures = storage_figures(&[7, 8, 10], &bank);
        let value = |name: &str| figures.iter().find(|figure| figure.name == name).unwrap().value;
        let values = ["recorded", "missing", "doubled", "without_vectors"].map(value);
        assert_eq!(values, [Some(3.0), Some(1.0), Some(1.0), Some(1.0)]);
    }
}
