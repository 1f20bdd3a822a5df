//! The texts of memories that were listed, rated, removed or shared.

use std::fmt::Write;

use reasoning_bank_domain::evidence::feedback::Reported;
use reasoning_bank_domain::evidence::promotion::{Promoted, Proposals};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::retrieval::responses::{MemoryPage, MemoryView, Quarantined, Replaced, Updated};

use super::memory::{copies_left, memory};
use super::style::{bold, dim};
use super::{back_in_search, clean_line, counted, kind_of, next_page};
use crate::cli::answers::Deleted;

pub(in crate::cli) fn listed(listed: &MemoryPage) -> String {
    let mut out: String = listed.memories.iter().map(line).collect();
    let _ = writeln!(out, "{}", counted(listed.memories.len(), "memory", "memories"));
    out.push_str(&next_page(listed.next));
    out
}

/// Writes a memory in one line.
fn line(memory: &MemoryView) -> String {
    let pinned = if memory.pinned { ", pinned" } else { "" };
    format!(
        "{}  {}  {:.2}  {}  {}{pinned}\n",
        dim(memory.id),
        kind_of(memory),
        memory.confidence,
        bold(clean_line(&memory.title)),
        memory.status.as_str(),
    )
}

pub(in crate::cli) fn reported(reported: &Reported) -> String {
    let moved = |moved: &reasoning_bank_domain::evidence::feedback::Moved| {
        format!("{}  confidence {:.2} -> {:.2}\n", moved.id, moved.confidence_before, moved.confidence_after)
    };
    let superseded = |id: &MemoryId| {
        format!("{id}  is superseded, as a newer memory helped; `memory supersede {id} --undo` takes that back\n")
    };
    let updated = reported.updated.iter().map(moved);
    updated.chain(reported.superseded.iter().map(superseded)).chain(reported.promoted.iter().map(promoted)).collect()
}

pub(in crate::cli) fn updated(updated: &Updated) -> String {
    memory(&updated.memory) + &back_in_search(&updated.reinstated)
}

pub(in crate::cli) fn deleted(deleted: &Deleted) -> String {
    let removed = format!(
        "deleted  {}  {}\nwith {} and {}\n",
        clean_line(&deleted.title),
        deleted.id,
        counted(deleted.removed.passages, "passage", "passages"),
        counted(deleted.removed.signals, "signal", "signals"),
    );
    removed + &back_in_search(&deleted.reinstated)
}

pub(in crate::cli) fn quarantined(quarantined: &Quarantined, undone: bool) -> String {
    let mut out: String = quarantined.changed.iter().map(|id| format!("{id}\n")).collect();
    let what = if undone { "back in search" } else { "out of every search" };
    let _ = writeln!(out, "{} {what}", counted(quarantined.changed.len(), "memory", "memories"));
    out.push_str(&back_in_search(&quarantined.reinstated));
    if quarantined.truncated {
        out.push_str("there are more descendants; run it again\n");
    }
    if quarantined.out_of_reach {
        out.push_str("there are descendants in workspaces that this one may not read; they stay as they are\n");
    }
    out
}

pub(in crate::cli) fn superseded(replaced: &Replaced, newer: MemoryId) -> String {
    let mut out = format!("\"{}\" ({}) is superseded by {newer}\n", clean_line(&replaced.title), replaced.id);
    out.push_str(&copies_left(replaced, newer));
    out
}

pub(in crate::cli) fn promoted(promoted: &Promoted) -> String {
    let scope = promoted.scope.as_str();
    match promoted.created {
        true => format!("shared with the {scope} as {}\n", promoted.id),
        false => format!("already shared with the {scope}, as {}\n", promoted.id),
    }
}

pub(in crate::cli) fn promotions(found: &Proposals) -> String {
    let mut out = String::new();
    for proposal in &found.proposals {
        let _ = writeln!(
            out,
            "{}  {} -> {}  {:.2}  {}  {} from {}",
            dim(proposal.id),
            proposal.scope.as_str(),
            proposal.to.as_str(),
            proposal.confidence,
            bold(clean_line(&proposal.title)),
            counted(proposal.positive_signals, "positive signal", "positive signals"),
            counted(proposal.sources, "source", "sources"),
        );
    }
    let _ = writeln!(out, "{} to be shared", counted(found.proposals.len(), "memory deserves", "memories deserve"));
    for note in &found.notes {
        let _ = writeln!(out, "note: {}", clean_line(&note.to_string()));
    }
    out
}
