//! The texts of memories that were found, recorded or shown.

use std::fmt::Write;

use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::retrieval::responses::{
    MemoryDetail, MemoryView, RecalledView, RecordStatus, Recorded, Replaced, Retrieved, SearchMode, SimilarMemory,
};
use reasoning_bank_domain::retrieval::score::{ListPart, Why};

use super::style::{bold, dim};
use super::{clean, clean_line, counted, kind_of};
use crate::import::{ImportCounts, Imported};

pub(in crate::cli) fn retrieved(answer: &Retrieved, explain: bool) -> String {
    let mut out = String::new();
    for entry in &answer.memories {
        out.push_str(&recalled(entry, explain));
        out.push('\n');
    }
    let mode = match answer.mode {
        SearchMode::Hybrid => "by meaning and words",
        SearchMode::Keyword => "by words only",
        SearchMode::Vector => "by meaning only",
    };
    let partial = if answer.partial { ", not all could be read" } else { "" };
    let _ = writeln!(
        out,
        "{}, {mode}, {} ms{partial}",
        counted(answer.memories.len(), "memory", "memories"),
        answer.took_ms
    );
    for note in &answer.notes {
        let _ = writeln!(out, "note: {}", clean_line(&note.to_string()));
    }
    out
}

fn recalled(entry: &RecalledView, explain: bool) -> String {
    let memory = &entry.memory;
    let mut out = format!("{:.3}  {}  {}\n", entry.composite_score, kind_of(memory), bold(clean_line(&memory.title)));
    let numbers = format!("relevance {:.2}  confidence {:.2}", entry.relevance, memory.confidence);
    let _ = writeln!(out, "       {}  {numbers}", dim(memory.id));
    if entry.below_threshold {
        let _ = writeln!(out, "       {}", dim("below the relevance that an answer needs"));
    } else if entry.far_below_best {
        let _ = writeln!(out, "       {}", dim("far less relevant than the best: an answer leaves it out"));
    }
    let newer = [
        ("superseded", memory.superseded_by),
        ("outdated", entry.outdated_by.filter(|_| memory.superseded_by.is_none())),
        ("contradicted", entry.contested_by),
    ];
    for (what, newer) in newer {
        if let Some(newer) = newer {
            let _ = writeln!(out, "       {what} by {newer}");
        }
    }
    out.push_str(&lesson(memory, 5));
    if explain {
        let _ = writeln!(out, "       score  {}", why(entry, 14));
    }
    out
}

/// Explains how a score came about, in three lines that can be multiplied out and all begin at `column`.
pub(in crate::cli) fn why(entry: &RecalledView, column: usize) -> String {
    let RecalledView { why, base_score, composite_score, similarity_score, .. } = entry;
    let parts: Vec<String> =
        why.components.iter().map(|part| format!("{}·{:.3} {}", part.weight, part.value, part.name)).collect();
    let weights: f64 = why.components.iter().map(|part| part.weight).sum();
    let (sum, parts) = match (weights - 1.0).abs() < 1e-9 {
        true => (String::new(), parts.join(" + ")),
        false => (format!(" / {weights:.3}"), format!("({})", parts.join(" + "))),
    };
    let factors: String = why.factors.iter().map(|factor| format!(" × {:.3} {}", factor.value, factor.name)).collect();
    format!(
        "{composite_score:.3} = {base_score:.3} base{factors}\n{:column$}{base_score:.3} = {parts}{sum}\n{:column$}\
         {similarity_score:.3} = {}",
        "",
        "",
        similarity(why)
    )
}

/// Writes what the lists contribute.
fn similarity(why: &Why) -> String {
    let list = |part: &ListPart| {
        let score = match part.name.as_str() {
            "text" => why.text_score.map(|score| format!(", match {score:.2}")),
            _ => why.cosine.map(|cosine| format!(", cosine {cosine:.3}")),
        };
        let score = score.unwrap_or_default();
        format!("{:.2}·{:.3} {} (rank {}{score})", part.share, part.relative, part.name, part.rank)
    };
    match why.lists.as_slice() {
        [] => "in no list, found by its error or its trace".into(),
        lists => lists.iter().map(list).collect::<Vec<_>>().join(" + "),
    }
}

/// Writes a lesson. `width` is that of the names of the fields.
fn lesson(memory: &MemoryView, width: usize) -> String {
    let mut out = String::new();
    let mut field = |name: &str, text: &str| {
        let text = clean(text).replace('\n', &format!("\n{:1$}", "", width + 9));
        let _ = writeln!(out, "       {name:<width$}  {text}");
    };
    field("when", &memory.description);
    if let Some(error) = &memory.error_context {
        field("error", &error.error_type);
        field("cause", &error.failure_pattern);
        field("do", &error.corrective_guidance);
    }
    field("how", &memory.content);
    if !memory.pattern_tags.is_empty() {
        field("tags", &memory.pattern_tags.join(", "));
    }
    out
}

pub(in crate::cli) fn memory(memory: &MemoryView) -> String {
    let mut out = format!("{}  {}\n", kind_of(memory), bold(clean_line(&memory.title)));
    let _ = writeln!(out, "       {}  revision {}", dim(memory.id), memory.revision);
    out.push_str(&lesson(memory, 10));
    let mut field = |name: &str, text: String| {
        let _ = writeln!(out, "       {name:<10}  {}", clean_line(&text));
    };
    field("outcome", memory.outcome.as_str().into());
    field("confidence", format!("{:.2}", memory.confidence));
    field("used", counted(memory.usage_count, "time", "times"));
    let pinned = if memory.pinned { ", pinned" } else { "" };
    let by = memory.superseded_by.map(|newer| format!(" by {newer}")).unwrap_or_default();
    field("status", format!("{}{by}{pinned}", memory.status.as_str()));
    field("scope", format!("{} {}", memory.scope.as_str(), memory.workspace_id));
    field("source", format!("{}, trusted as {}", memory.source_type.as_str(), memory.trust.as_str()));
    let optional = [("domain", &memory.domain_category), ("difficulty", &memory.difficulty_level)];
    for (name, value) in optional {
        if let Some(value) = value {
            field(name, value.clone());
        }
    }
    if let Some(parent) = memory.parent_memory_id {
        field("parent", parent.to_string());
    }
    if !memory.derived_from.is_empty() {
        let ids: Vec<String> = memory.derived_from.iter().map(ToString::to_string).collect();
        field("from", format!("{} (stage {})", ids.join(", "), memory.evolution_stage));
    }
    if let Some(trace) = memory.trace_id {
        field("trace", trace.to_string());
    }
    field("created", memory.created_at.to_string());
    if let Some(used) = memory.last_used_at {
        field("last used", used.to_string());
    }
    out
}

/// Writes a memory with the tasks and the wordings that confirmed it, each shortened to a line.
pub(in crate::cli) fn memory_detail(detail: &MemoryDetail) -> String {
    const SHOWN_CHARS: usize = 200;
    let mut out = memory(&detail.memory);
    let mut field = |name: &str, text: &str| {
        let line = clean_line(text);
        let shown: String = line.chars().take(SHOWN_CHARS).collect();
        let more = if line.chars().nth(SHOWN_CHARS).is_some() { "…" } else { "" };
        let _ = writeln!(out, "       {name:<10}  {shown}{more}");
    };
    let optional = [("team", &detail.team), ("org", &detail.org), ("session", &detail.source_session)];
    optional.into_iter().for_each(|(name, value)| value.iter().for_each(|value| field(name, value)));
    if let Some(at) = detail.valid_from {
        field("said", &at.to_string());
    }
    if let Some(newer) = &detail.outdated_by {
        let found = newer.confidence.map(|confidence| format!(" (found with confidence {confidence:.2})"));
        field("outdated", &format!("by {}{}", newer.id, found.unwrap_or_default()));
    }
    detail.replaces.iter().for_each(|older| field("replaces", &older.to_string()));
    if !detail.task.trim().is_empty() {
        field("task", &detail.task);
    }
    detail.further_tasks.iter().for_each(|task| field("also for", task));
    detail.wordings.iter().for_each(|wording| field("also said", wording));
    out
}

pub(in crate::cli) fn recorded(answer: &Recorded) -> String {
    let mut out = match answer.status {
        RecordStatus::Created => format!("recorded {}", answer.id),
        RecordStatus::Reinforced => format!("already there, confirmed {}", answer.id),
    };
    let _ = writeln!(out, "  confidence {:.2}", answer.confidence);
    for replaced in &answer.superseded {
        let _ = writeln!(out, "\"{}\" ({}) is superseded by it", clean_line(&replaced.title), replaced.id);
        out.push_str(&copies_left(replaced, answer.id));
    }
    for older in &answer.updates {
        let _ = writeln!(out, "it updates {older}: `memory supersede {older} --undo` takes that back");
    }
    if !answer.similar.is_empty() {
        let _ = writeln!(out, "if it replaces one of these, say so with `memory supersede ID --by {}`:", answer.id);
    }
    for SimilarMemory { id, title, content } in &answer.similar {
        let _ = writeln!(out, "  {id}  {}: {}", clean_line(title), clean_line(content));
    }
    if answer.redactions > 0 {
        let secrets = counted(answer.redactions, "secret was", "secrets were");
        let _ = writeln!(out, "{secrets} replaced before it was stored");
    }
    if answer.dropped_characters > 0 {
        let dropped = counted(answer.dropped_characters, "invisible character was", "invisible characters were");
        let _ = writeln!(out, "{dropped} dropped before it was stored");
    }
    out
}

pub(in crate::cli) fn imported(answer: &Imported) -> String {
    let Imported {
        imported: ImportCounts { memories, traces, signals, jobs, bank_files },
        skipped,
        redactions,
        dropped_characters,
        notes,
        ..
    } = answer;
    let mut kinds = vec![
        counted(*memories as usize, "memory", "memories"),
        counted(*traces as usize, "trace", "traces"),
        counted(*signals as usize, "signal", "signals"),
    ];
    if *jobs > 0 {
        kinds.push(counted(*jobs as usize, "job", "jobs"));
    }
    if *bank_files > 0 {
        kinds.push(counted(*bank_files as usize, "file of memory banks", "files of memory banks"));
    }
    let mut out = format!("imported {}; {skipped} skipped, as they were there already\n", kinds.join(", "));
    if *redactions > 0 {
        let secrets = counted(*redactions as usize, "secret was", "secrets were");
        let _ = writeln!(out, "{secrets} replaced before anything was stored");
    }
    if *dropped_characters > 0 {
        let dropped = counted(*dropped_characters as usize, "invisible character was", "invisible characters were");
        let _ = writeln!(out, "{dropped} dropped before anything was stored");
    }
    for note in notes {
        let _ = writeln!(out, "{}", clean_line(note));
    }
    out
}

/// Names the copies in wider scopes, about which a person decides.
pub(super) fn copies_left(replaced: &Replaced, newer: MemoryId) -> String {
    let line = |copy: &MemoryId| {
        format!("its shared copy {copy} stays: `memory supersede {copy} --by {newer}` replaces it, too\n")
    };
    replaced.copies.iter().map(line).collect()
}
