//! The text of the statistics document, with a line for each subject.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use reasoning_bank_domain::system::statistics::{
    ActorStatus, EpisodeStatistics, Percentiles, ResidentStatistics, Statistics,
};

use super::{bytes, clean, counted};

pub(in crate::cli) fn statistics(statistics: &Statistics) -> String {
    let Statistics {
        traces,
        episodes,
        memories,
        patterns,
        applications,
        working_memories,
        consolidation_runs,
        last_consolidation,
        cache,
        llm,
        latency_ms,
        store,
        resident,
        embedder,
        ..
    } = statistics;
    let mut out = String::new();
    let mut field = |name: &str, text: String| {
        let _ = writeln!(out, "{name:<10} {}", clean(&text));
    };
    let rate = traces.success_rate * 100.0;
    field(
        "traces",
        format!(
            "{}: {} success ({rate:.0} %), {} failure, {} partial",
            traces.total, traces.success, traces.failure, traces.partial
        ),
    );
    let by =
        |outcomes: Vec<String>| if outcomes.is_empty() { String::new() } else { format!(": {}", outcomes.join(", ")) };
    if traces.total > 0 {
        let EpisodeStatistics { by_visibility, with_vectors, without_vectors } = episodes;
        let shown = counts(by_visibility, |visibility| visibility.as_str()).join(", ");
        field("episodes", format!("{shown}; {with_vectors} with vectors, {without_vectors} without"));
    }
    field("memories", format!("{}{}", memories.total, by(counts(&memories.by_outcome, |outcome| outcome.as_str()))));
    if memories.total > 0 {
        field("", counts(&memories.by_scope, |scope| scope.as_str()).join(", "));
        field("", counts(&memories.by_status, |status| status.as_str()).join(", "));
    }
    if !patterns.is_empty() {
        let stages = counts(patterns, |stage| stage.as_str()).join(", ");
        field("patterns", format!("{stages}; {}", counted(*applications, "application", "applications")));
    }
    if let Some(last) = last_consolidation {
        let recorded = counted(*consolidation_runs, "run", "runs");
        field("runs", format!("{recorded} of consolidation recorded; the last one began {last}"));
    }
    if *working_memories > 0 {
        field("working", counted(*working_memories, "task is open", "tasks are open"));
    }
    field(
        "store",
        format!(
            "{}, {}, {}, {} not indexed yet",
            counted(store.rows, "row", "rows"),
            counted(store.fragments, "fragment", "fragments"),
            bytes(store.bytes),
            store.index_lag_rows
        ),
    );
    if *resident != ResidentStatistics::default() {
        field(
            "resident",
            format!(
                "{} in {}; {} answered from memory",
                counted(resident.shelves, "owner index", "owner indexes"),
                bytes(resident.bytes),
                counted(resident.searches, "search", "searches")
            ),
        );
    }
    let ready = if embedder.ready { "ready" } else { "not ready" };
    let kept = format!("hits: {}, misses: {}", embedder.cache_hits, embedder.cache_misses);
    field("embedder", format!("{}, {} dimensions, {ready}; {kept}", embedder.name, embedder.dims));
    let saved = cache.saved_cost_usd.map(|cost| format!(", {cost:.4} USD")).unwrap_or_default();
    field(
        "cache",
        format!(
            "hits: {}, misses: {}, bypassed: {} ({:.0} % hits); entries: {}; saved {} tokens{saved}",
            cache.hits,
            cache.misses,
            cache.bypassed,
            cache.hit_rate * 100.0,
            cache.entries,
            cache.saved_tokens
        ),
    );
    let cost = llm.total.cost_usd.map(|cost| format!(", {cost:.4} USD")).unwrap_or_default();
    field(
        "model",
        format!(
            "{}, retries: {}, failures: {}; {} tokens in, {} out{cost}",
            counted(llm.total.calls, "call", "calls"),
            llm.total.retries,
            llm.total.failures,
            llm.total.input_tokens,
            llm.total.output_tokens
        ),
    );
    let times = [
        ("retrieval", latency_ms.retrieval),
        ("embedding", latency_ms.embedding),
        ("solve", latency_ms.solve),
        ("llm", latency_ms.llm),
    ];
    for (name, Percentiles { p50, p95, p99, count }) in times.into_iter().filter(|(_, times)| times.count > 0) {
        field("time", format!("{name}: p50 {p50:.1} ms, p95 {p95:.1} ms, p99 {p99:.1} ms, of {count}"));
    }
    for actor in statistics.actors.iter().filter(|actor| actor.restarts > 0 || actor.status != ActorStatus::Running) {
        field("actor", format!("{}: {:?}, restarts: {}", actor.name, actor.status, actor.restarts));
    }
    field("since", format!("{}, {} s ago; counters are this process's", statistics.since, statistics.uptime_s));
    out
}

fn counts<K: Copy, N: Display>(counts: &BTreeMap<K, u64>, name: impl Fn(K) -> N) -> Vec<String> {
    counts.iter().map(|(key, count)| format!("{count} {}", name(*key))).collect()
}
