//! The text of what was learned, scenario by scenario, with the expectations that were not met.

use std::fmt::Write;

use crate::cli::render::style::{bad, bold, doubtful};
use crate::cli::render::{clean_line, counted};
use crate::eval::learning::{ExpectationCount, FindingKind, LearningReport};

/// The width of the column of names, in characters. A longer name moves its numbers to the right.
const NAME_WIDTH: usize = 80;

pub(in crate::cli) fn eval_learning(report: &LearningReport) -> String {
    let mut out = format!("{:NAME_WIDTH$} {:>9}  {:>6}  {:>9}\n", "", "right", "missed", "wrong");
    let mut topic = "";
    for scenario in &report.scenarios {
        if scenario.topic != topic {
            topic = &scenario.topic;
            let _ = writeln!(out, "\n{}", bold(clean_line(topic)));
        }
        let _ = writeln!(out, "{}", line(&format!("  {}", clean_line(&scenario.name)), scenario.count));
        for finding in &scenario.findings {
            let verdict = match finding.kind {
                FindingKind::Missed => doubtful("missed"),
                FindingKind::Wrong => bad("wrong"),
            };
            let (expected, seen) = (clean_line(&finding.expected), clean_line(&finding.seen));
            let _ = writeln!(out, "    {verdict} after step {}: {expected}\n      seen: {seen}", finding.step);
        }
    }
    let scenarios = counted(report.scenarios.len(), "scenario", "scenarios");
    let _ = writeln!(out, "\n{}", bold(line(&scenarios, report.total)));
    out
}

fn line(name: &str, count: ExpectationCount) -> String {
    let ExpectationCount { must_be, right, missed, must_not_be, wrong } = count;
    let [right, wrong] = [(right, must_be), (wrong, must_not_be)].map(|(some, all)| format!("{some} of {all}"));
    format!("{name:NAME_WIDTH$} {right:>9}  {missed:>6}  {wrong:>9}")
}
