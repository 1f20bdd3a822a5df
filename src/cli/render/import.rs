//! The text of an import from another program.

use std::fmt::Write;

use super::style::{bold, dim};
use super::{clean_line, counted};
use crate::cli::answers::{AddedThings, SourceImportReport};
use crate::import::KindPreview;

/// Writes what would be imported.
pub(in crate::cli) fn source_preview(report: &SourceImportReport) -> String {
    let place = clean_line(&report.place.display().to_string());
    let mut out = format!("{} at {place}\n", bold(report.source.to_string()));
    let kinds = &report.kinds;
    let mut kind = |of: &KindPreview, one: &str, many: &str| {
        let known = if of.known > 0 { format!(", {} here already", of.known) } else { String::new() };
        if of.new + of.known > 0 {
            let _ = writeln!(out, "  {} new{known}", counted(of.new, one, many));
        }
        for example in &of.examples {
            let _ = writeln!(out, "    {}", dim(clean_line(example)));
        }
    };
    kind(&kinds.strategies, "strategy", "strategies");
    kind(&kinds.warnings, "warning", "warnings");
    kind(&kinds.facts, "fact, for the memory bank,", "facts, for the memory bank,");
    if kinds.others > 0 {
        let _ = writeln!(out, "  {}", counted(kinds.others, "other thing", "other things"));
    }
    if kinds.are_empty() && report.skipped.is_empty() {
        let _ = writeln!(out, "  nothing is found there");
    }
    for share in &report.workspaces {
        let name = if share.name.is_empty() { share.workspace_id.to_string() } else { clean_line(&share.name) };
        let place = if share.place.is_empty() { String::new() } else { format!(" at {}", clean_line(&share.place)) };
        let _ = writeln!(out, "  {} for the workspace {name}{place}", share.new);
    }
    for (reason, count) in &report.skipped {
        let _ = writeln!(out, "  {count} skipped: {reason}");
    }
    for part in &report.unreadable {
        let _ = writeln!(out, "    not readable: {}", clean_line(part));
    }
    if report.redactions > 0 {
        let _ = writeln!(out, "  {} taken out", counted(report.redactions, "secret is", "secrets are"));
    }
    for note in &report.notes {
        let _ = writeln!(out, "  note: {}", clean_line(note));
    }
    out
}

/// Writes what was imported, or in a dry run what would be.
pub(in crate::cli) fn source_imported(report: &SourceImportReport) -> String {
    match &report.added {
        None => format!("{}nothing was changed\n", source_preview(report)),
        Some(AddedThings { memories: 0, facts: 0, others: 0 }) => {
            format!("{}nothing is new: nothing was imported\n", source_preview(report))
        }
        Some(AddedThings { memories, facts, others }) => {
            let mut parts = vec![counted(*memories, "memory", "memories"), counted(*facts, "fact", "facts")];
            if *others > 0 {
                parts.push(counted(*others, "other thing", "other things"));
            }
            format!("imported {} from {}\n", parts.join(", "), report.source)
        }
    }
}
