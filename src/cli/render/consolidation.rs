//! The texts of runs of consolidation.

use std::fmt::Write;

use reasoning_bank_domain::consolidation::{ConsolidationRun, ModelReading, RunChange, StageReport, Undone};

use super::style::{bold, dim};
use super::{clean_line, counted};
use crate::cli::answers::ConsolidationRuns;

/// A number of bytes in one of these is shown with one digit.
const MIB: f64 = 1_048_576.0;

pub(in crate::cli) fn consolidation_run(run: &ConsolidationRun) -> String {
    let mut out = String::new();
    if let Some(undone) = &run.undone {
        out.push_str(&undoing(run, undone));
    }
    for stage in &run.stages {
        out.push_str(&stage_report(stage));
    }
    // What there was after a run that was undone is there no more.
    if let Some(after) = run.after.as_ref().filter(|_| run.undone.is_none()) {
        let stages =
            after.patterns.iter().map(|(stage, count)| format!("{count} {}", stage.as_str().replace('_', " ")));
        let stages: Vec<String> = stages.collect();
        let patterns =
            if stages.is_empty() { "no patterns".to_owned() } else { format!("patterns: {}", stages.join(", ")) };
        let episodes = counted(after.episodes as usize, "episode", "episodes");
        let _ = writeln!(
            out,
            "{}  {patterns}; {episodes} of the last 180 days; {:.1} MiB on disk, {} not indexed yet",
            bold("after"),
            after.bytes as f64 / MIB,
            counted(after.index_lag_rows as usize, "row", "rows")
        );
    }
    if !run.applied {
        out.push_str("nothing was changed; --apply does it\n");
    } else if run.undone.is_none() {
        let _ = writeln!(out, "run {}; `consolidate --undo {}` takes it back", run.run_id, run.run_id);
    }
    out
}

fn undoing(run: &ConsolidationRun, undone: &Undone) -> String {
    let at = undone.at.strftime("%Y-%m-%d %H:%M");
    let changes = counted(undone.taken_back as usize, "change was", "changes were");
    let mut out = format!("run {} was undone on {at}: {changes} taken back\n", run.run_id);
    for skipped in &undone.skipped {
        let _ = writeln!(out, "  {} stays as it is: {}", dim(skipped.id), skipped.because);
    }
    out.push_str("the run had done this:\n");
    out
}

fn stage_report(stage: &StageReport) -> String {
    let name = stage.stage.as_str();
    let mut out =
        format!("{}  looked at {}, {}", bold(name), stage.looked_at, counted(stage.changes.len(), "change", "changes"));
    if stage.left > 0 {
        let _ = write!(out, ", {} left to the next run", stage.left);
    }
    out.push('\n');
    for change in &stage.changes {
        out.push_str(&changed(change));
    }
    out.extend(stage.model.as_ref().map(model_reading));
    for note in &stage.notes {
        let _ = writeln!(out, "  note: {}", clean_line(&note.to_string()));
    }
    out
}

fn model_reading(reading: &ModelReading) -> String {
    let refused: Vec<String> =
        reading.refused.iter().map(|(reason, count)| format!("{count} {}", clean_line(reason))).collect();
    let refused = if refused.is_empty() { "none".to_owned() } else { refused.join(", ") };
    format!(
        "  a model read {} for {}: {}, refused: {refused}\n",
        counted(reading.clusters as usize, "cluster of episodes", "clusters of episodes"),
        counted(reading.tokens as usize, "token", "tokens"),
        counted(reading.candidates as usize, "candidate", "candidates"),
    )
}

fn changed(change: &RunChange) -> String {
    let title = if change.title.is_empty() { String::new() } else { format!("  {}", clean_line(&change.title)) };
    let why = if change.why.is_empty() { String::new() } else { format!(" ({})", clean_line(&change.why)) };
    format!("  {}  {}{title}{why}\n", dim(change.id), change.change.as_str())
}

pub(in crate::cli) fn consolidation_runs(list: &ConsolidationRuns) -> String {
    let mut out = String::new();
    for run in &list.runs {
        let state = match (&run.undone, run.ended_at) {
            (Some(_), _) => ", undone",
            (None, None) => ", not finished",
            (None, Some(_)) => "",
        };
        let changes = counted(run.changes().count(), "change", "changes");
        let _ = writeln!(out, "{}  {:.0}  {changes}{state}", run.run_id, run.started_at);
    }
    let _ = writeln!(out, "{}", counted(list.runs.len(), "run", "runs"));
    out
}
