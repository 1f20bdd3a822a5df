//! Answers as text for people, made by pure functions of the documents that `--json` prints. Stored text is shown with
//! its controls and invisible characters written out: a memory must neither steer the terminal nor hide from its
//! reader.
//!
//! Most files are named by the command whose answers they write. `memory` writes memories that were found, recorded or
//! shown, `candidates` why each was found, `edit` memories that were listed, rated, removed or shared, and `recalls`
//! the recall log. `context` writes what helps with a task, `trace` a trace, `learn` and `import` what was taken in,
//! and `maintain` and `reembed` the upkeep of the store. `style` has the colours.

use std::fmt::Display;

use reasoning_bank_domain::evidence::genealogy::Genealogy;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::retrieval::responses::MemoryView;
use reasoning_bank_domain::safety::invisible::escaped_for_people;

mod backup;
mod bank;
mod candidates;
mod consolidation;
mod context;
mod doctor;
mod edit;
mod episode;
mod eval;
mod import;
mod learn;
mod maintain;
mod memory;
mod pattern;
mod recalls;
mod reembed;
mod solve;
mod statistics;
pub(super) mod style;
mod trace;
mod working;
mod workspace;

pub(super) use backup::{backup_made, backup_restored, backup_verified};
pub(super) use bank::{bank, bank_document, bank_done, bank_history, bank_place, bank_updated, banks};
pub(super) use candidates::explained;
pub(super) use consolidation::{consolidation_run, consolidation_runs};
pub(super) use context::{context, learned_episode, recovery};
pub(super) use doctor::diagnosis;
pub(super) use edit::{deleted, listed, promoted, promotions, quarantined, reported, superseded, updated};
pub(super) use episode::{
    artefact_text, artefact_written, episode, episode_archived, episode_deleted, episode_recorded, episode_reported,
    episode_restored, episodes, episodes_found, episodes_purged,
};
pub(super) use eval::{
    eval_bars, eval_capture, eval_embedding, eval_episode_speed, eval_learning, eval_relevance, eval_retrieval,
    eval_speed,
};
pub(super) use import::{source_imported, source_preview};
pub(super) use learn::learned;
pub(super) use maintain::maintained;
pub(super) use memory::{imported, memory_detail, recorded, retrieved, why};
pub(super) use pattern::{
    pattern, pattern_added, pattern_changed, pattern_versions, patterns, patterns_found, prune_proposals,
    similar_patterns,
};
pub(super) use recalls::recalls;
pub(super) use reembed::reembedded;
pub(super) use solve::{attempts, solve, verdict};
pub(super) use statistics::statistics;
pub(super) use trace::{trace, traces};
pub(super) use working::{cleared_task, open_task, open_tasks};
pub(super) use workspace::{
    workspace_linked, workspace_moved, workspace_removed, workspace_shown, workspace_switched, workspace_trusted,
    workspaces,
};

/// Writes the tree, in which the memory that was asked for stands out.
pub(super) fn genealogy(genealogy: &Genealogy) -> String {
    let own = genealogy.memory.id.to_string();
    let line = |line: &str| if line.contains(&own) { style::bold(line) } else { line.to_owned() };
    let mut lines: Vec<String> = clean(&genealogy.tree).lines().map(line).collect();
    if genealogy.truncated {
        lines.push("there are more: it was cut at its depth or at its size".to_owned());
    }
    lines.join("\n")
}

/// Names the memories that are back in search, because what superseded them is out of it now.
fn back_in_search(reinstated: &[MemoryId]) -> String {
    reinstated.iter().map(|id| format!("{id}, which it superseded, is back in search\n")).collect()
}

/// Writes a number of bytes.
fn bytes(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match bytes {
        0..KIB => format!("{bytes} B"),
        KIB..MIB => format!("{} KiB", bytes / KIB),
        _ => format!("{} MiB", bytes / MIB),
    }
}

/// Tells how to see the next page, if there is one.
fn next_page(next: Option<impl Display>) -> String {
    next.map(|next| format!("more with --after {next}\n")).unwrap_or_default()
}

/// Writes out what nobody sees, controls of the terminal among it.
pub(super) fn clean(text: &str) -> String {
    escaped_for_people(text).into_owned()
}

/// Does the same as [`clean`] on one line: a title or a name must not pass for another line of the answer.
pub(super) fn clean_line(text: &str) -> String {
    let ends_line = |c: char| matches!(c, '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}');
    clean(&text.trim().replace(ends_line, " "))
}

fn kind(warning: bool) -> String {
    if warning { style::doubtful("warning ") } else { style::good("strategy") }
}

/// Names what a memory is. One of what failed that warns of no error is a note and no strategy.
fn kind_of(memory: &MemoryView) -> String {
    if memory.is_of_failure() && !memory.warning { style::doubtful("note    ") } else { kind(memory.warning) }
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Success => style::good(outcome.as_str()),
        Outcome::Failure => style::bad(outcome.as_str()),
        Outcome::Partial => style::doubtful(outcome.as_str()),
    }
}

pub(super) fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "none".into(), |score| format!("{score:.2}"))
}

pub(in crate::cli) fn counted<N: Display + Copy + PartialEq + From<u8>>(n: N, one: &str, many: &str) -> String {
    format!("{n} {}", if n == N::from(1) { one } else { many })
}

#[cfg(test)]
mod tests;
