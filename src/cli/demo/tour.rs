//! The demo as text.

use std::fmt::Write;
use std::path::Path;

use reasoning_bank_domain::memory::trace::Outcome;

use super::{Stop, TASKS, Tour};
use crate::cli::render;
use crate::settings::Settings;

pub(in crate::cli) fn opening(settings: &Settings, temporary: bool) -> String {
    let Settings { data_dir, matts, llm, .. } = settings;
    let kept = if temporary { "removed at the end" } else { "kept" };
    format!(
        "ReasoningBank demo: {} tasks, {} attempts each.\n\n\
         The model is SIMULATED: an in-process stand-in, seeded, about {} ms a call, no key, no network.\n\
         Its solutions are placeholders, and it is written to do better with a fitting memory. Everything\n\
         around it is real: the store, the embeddings, recall and its scores, the parallel attempts, the\n\
         choice, the lessons kept.\n\n\
         data  {} ({kept})\n",
        TASKS.len(),
        matts.k,
        llm.simulated.latency_ms,
        data_dir.display(),
    )
}

pub(in crate::cli) fn stop(number: usize, stop: &Stop) -> String {
    let Stop { task, recalled, report } = stop;
    let mut out = format!("{number}. {task}\n");
    if recalled.is_empty() {
        out.push_str("   recalled  nothing that fits\n");
    }
    for entry in recalled {
        let memory = &entry.memory;
        let kind = if memory.warning { "warning" } else { "strategy" };
        let _ = writeln!(out, "   recalled  {kind} \"{}\"", render::clean_line(&memory.title));
        let _ = writeln!(out, "             {}", memory.id);
        let _ = writeln!(out, "             score {}", render::why(entry, 19));
    }
    for line in [render::attempts(report), render::verdict(report)] {
        let _ = write!(out, "   {line}");
    }
    let kind = if report.outcome == Outcome::Success { "strategy" } else { "warning" };
    for learned in &report.learnings {
        let again = recalled.iter().any(|entry| entry.memory.id == learned.id);
        let what = if again { "confirmed" } else { "learned  " };
        let _ =
            writeln!(out, "   {what} {kind} \"{}\"\n             {}", render::clean_line(&learned.title), learned.id);
    }
    for warning in &report.warnings {
        let _ = writeln!(out, "   warning: {}", render::clean_line(&warning.to_string()));
    }
    out
}

/// Tells what the tasks show together, and the search that ends the tour.
pub(in crate::cli) fn closing(tour: &Tour, temporary: bool) -> String {
    let mut out = String::from("The attempt marked * was chosen. What memory changed, task by task:\n");
    for (number, stop) in (1..).zip(&tour.tasks) {
        let memory = match stop.recalled.as_slice() {
            [] => "without memory",
            [one] if one.memory.warning => "with a warning",
            [one] if !one.memory.warning => "with a strategy",
            _ => "with memories",
        };
        let report = &stop.report;
        let drafts = report.attempts.iter().filter_map(|attempt| attempt.score);
        let best = drafts.max_by(f64::total_cmp);
        let _ = writeln!(
            out,
            "   {number}. {memory:<16} best draft {}, final {}  {:<7}  {} of {} rounds  {:>2} model calls  {} ms",
            render::score(best),
            render::score(report.score),
            report.outcome.as_str(),
            report.iterations,
            tour.max_rounds,
            report.usage.llm_calls,
            report.elapsed_ms
        );
    }
    let _ = writeln!(out, "\n$ reasoning-bank memory search {:?} --n 2 --explain", tour.query);
    out.push_str(&render::retrieved(&tour.search, true));
    if !temporary {
        out.push_str(&again(&tour.data_dir, tour));
    }
    out
}

fn again(data_dir: &Path, tour: &Tour) -> String {
    format!(
        "\nThe memories are kept; search them again with\n  \
         reasoning-bank --data-dir {} --workspace {} memory search {:?}\n",
        data_dir.display(),
        tour.workspace_id,
        tour.query
    )
}
