//! The table of figures that are held against bars.

use std::fmt::Write;

use crate::cli::render::clean;
use crate::cli::render::style::{bad, doubtful, good};
use crate::eval::load::report::{Bar, BarsReport, Figure};

pub(in crate::cli) fn eval_bars(report: &BarsReport) -> String {
    let mut out = format!("{}\n\n", report.about);
    for figure in &report.figures {
        let value = figure.value.map_or_else(|| "unknown".into(), number);
        let line = format!("{:<58} {value:>9} {:<3} {}", figure.what, figure.unit, held(figure));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for failure in &report.failures {
        let _ = writeln!(out, "{} {}", bad("failed:"), clean(failure));
    }
    let machine = &report.machine;
    let processor = machine.processor.as_deref().unwrap_or("unknown processor");
    let memory = machine.memory_bytes.map_or_else(String::new, |bytes| format!(", {:.0} GB", bytes as f64 / 1e9));
    let _ = writeln!(out, "\n{} cores of {}{memory}", machine.cores, clean(processor));
    if report.build == "debug" {
        let _ = writeln!(out, "{} these figures are of a debug build", doubtful("note:"));
    }
    out
}

/// Says what the figure has to be, and whether it is.
fn held(figure: &Figure) -> String {
    let (Some(bar), Some(met)) = (figure.bar, figure.met) else { return String::new() };
    let wanted = match bar {
        Bar::Below(bound) => format!("below {bound}"),
        Bar::AtMost(0.0) => "0".into(),
        Bar::AtMost(bound) => format!("at most {bound}"),
        Bar::AtLeast(bound) => format!("at least {bound}"),
    };
    format!("{wanted:<12} {}", if met { good("met") } else { bad("missed") })
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::load::report::Machine;

    #[test]
    fn every_figure_has_a_line_that_says_whether_its_bar_is_met() {
        let figure = |name, what, value, unit, bar, met| Figure { name, what, value, unit, bar, met };
        let report = BarsReport {
            about: "20 clients for 3 s".into(),
            figures: vec![
                figure("calls", "calls of tools", Some(17.0), "", None, None),
                figure(
                    "retrieve_p99_ms",
                    "retrieve_memories, p99",
                    Some(41.236),
                    "ms",
                    Some(Bar::Below(250.0)),
                    Some(true),
                ),
                figure("hybrid_percent", "hybrid", Some(90.0), "%", Some(Bar::AtLeast(95.0)), Some(false)),
                figure("failed", "calls that failed", Some(1.0), "", Some(Bar::AtMost(0.0)), Some(false)),
                figure("stop_exit_code", "the exit code", None, "", Some(Bar::AtMost(0.0)), Some(false)),
            ],
            failures: vec!["status 500".into()],
            machine: Machine { cores: 2, processor: None, memory_bytes: Some(24_000_000_000) },
            build: "debug",
        };
        let text = anstream::adapter::strip_str(&eval_bars(&report)).to_string();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).filter(|line| !line.is_empty()).collect();
        assert_eq!(
            lines,
            [
                "20 clients for 3 s",
                "calls of tools 17",
                "retrieve_memories, p99 41.24 ms below 250 met",
                "hybrid 90 % at least 95 missed",
                "calls that failed 1 0 missed",
                "the exit code unknown 0 missed",
                "failed: status 500",
                "2 cores of unknown processor, 24 GB",
                "note: these figures are of a debug build",
            ]
        );
    }
}
