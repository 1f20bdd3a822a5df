use std::collections::HashSet;

use super::exposition::Exposition;
use super::names::MetricKind;
use super::*;

const PAGE: &str = include_str!("../../docs/DAEMON.md");
const DASHBOARD: &str = include_str!("../../deploy/grafana/reasoning-bank.json");

#[test]
fn the_page_of_the_daemon_lists_every_metric_as_it_is() {
    let row = |metric: &names::ListedMetric| {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        format!("| `{}` | {} | {} | {} |", metric.name, metric.kind.as_str(), labels.join(", "), metric.help)
            .replace("|  |", "| |")
    };
    let wanted: Vec<String> = names::ALL.iter().map(row).collect();
    let is_metric = |line: &&str| line.starts_with("| `reasoning_bank_") || line.starts_with("| `process_");
    let listed: Vec<&str> = PAGE.lines().filter(is_metric).collect();
    assert_eq!(listed, wanted, "the table is to be:\n{}", wanted.join("\n"));
}

#[test]
fn the_dashboard_asks_for_metrics_that_exist() {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    let is_of_a_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let mut asked = 0;
    for target in targets {
        let query = target["expr"].as_str().unwrap();
        let words = query.split(|sign| !is_of_a_name(sign));
        for word in words.filter(|word| word.starts_with("reasoning_bank_") || word.starts_with("process_")) {
            // Prometheus stores a histogram as series with endings of their own.
            let is_there = names::ALL.iter().any(|metric| match metric.kind {
                MetricKind::Histogram => {
                    [format!("{}_bucket", metric.name), format!("{}_count", metric.name)].contains(&word.to_owned())
                }
                MetricKind::Counter | MetricKind::Gauge => metric.name == word,
            });
            assert!(is_there, "{query}");
            asked += 1;
        }
    }
    assert!(asked > 20, "{asked}");
}

#[test]
fn names_follow_the_conventions_and_are_each_used_once() {
    let names: HashSet<&str> = names::ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(names.len(), names::ALL.len());
    for metric in names::ALL {
        let signs = metric.name.chars().all(|sign| sign.is_ascii_lowercase() || sign == '_');
        assert!(signs, "{}", metric.name);
        assert_eq!(metric.name.ends_with("_total"), metric.kind == MetricKind::Counter, "{}", metric.name);
        assert_eq!(metric.name.ends_with("_duration_seconds"), metric.kind == MetricKind::Histogram, "{}", metric.name);
        assert!(metric.help.ends_with('.') && !metric.help.contains(['\n', '|', '\\']), "{}", metric.help);
    }
}

#[test]
fn a_histogram_counts_up_to_each_bound_and_beyond_the_last() {
    let metrics = ServerMetrics::default();
    for took in [1, 3, 600_000] {
        metrics.answered(Some("/mcp"), "POST", 200, Duration::from_millis(took));
    }
    let mut out = Exposition::default();
    let requests = locked(&metrics.requests);
    let labelled =
        requests.iter().map(|(labels, times)| ([&*labels.route, labels.method, labels.status], times.into()));
    out.histograms(&names::HTTP_DURATION, labelled);
    let text = out.into_text();
    let labels = r#"route="/mcp",method="POST",status="2xx""#;
    for (line, value) in [
        (format!("_bucket{{{labels},le=\"0.001\"}}"), "1"),
        (format!("_bucket{{{labels},le=\"0.005\"}}"), "2"),
        (format!("_bucket{{{labels},le=\"300\"}}"), "2"),
        (format!("_bucket{{{labels},le=\"+Inf\"}}"), "3"),
        (format!("_count{{{labels}}}"), "3"),
        (format!("_sum{{{labels}}}"), "600.004"),
    ] {
        let line = format!("reasoning_bank_http_request_duration_seconds{line} {value}\n");
        assert!(text.contains(&line), "{line} in {text}");
    }
}

#[test]
fn what_a_client_sends_makes_no_labels_of_its_own() {
    let metrics = ServerMetrics::default();
    for (n, method) in ["BREW", "get", "X"].into_iter().enumerate() {
        metrics.answered(None, method, 404 + n as u16, Duration::ZERO);
    }
    let labels: Vec<RequestLabels> = locked(&metrics.requests).keys().cloned().collect();
    assert_eq!(labels, [RequestLabels { route: "none".into(), method: "other", status: "4xx" }]);
}

#[test]
fn a_call_that_is_given_up_is_counted() {
    let metrics = ServerMetrics::default();
    drop(metrics.call("retrieve_memories"));
    metrics.call("retrieve_memories").ended("ok");
    let calls: Vec<&str> = locked(&metrics.calls).keys().map(|labels| labels.outcome).collect();
    assert_eq!(calls, ["cancelled", "ok"]);
}
