//! The text for people of what helps with a task or an error, and of what was learned from an episode.

use std::fmt::Write;

use reasoning_bank_domain::context::{ContextForTask, LearnedEpisode, RecoveryAdvice};
use reasoning_bank_domain::note::Note;

use super::style::{bold, dim};
use super::{clean, clean_line, counted, episode_recorded};

pub(in crate::cli) fn context(answer: &ContextForTask) -> String {
    let counts = [
        counted(answer.applicable_patterns.len(), "pattern", "patterns"),
        counted(answer.warnings.len(), "warning", "warnings"),
        counted(answer.domain_knowledge.len(), "memory", "memories"),
        counted(answer.similar_episodes.len(), "episode", "episodes"),
        counted(answer.bank_sections.len(), "section of the memory bank", "sections of the memory bank"),
    ];
    text(&answer.rendered, &counts, answer.tokens, &answer.notes)
}

pub(in crate::cli) fn recovery(advice: &RecoveryAdvice) -> String {
    let patterns = advice.recovery_patterns.len() + advice.failure_patterns.len();
    let counts = [
        counted(patterns, "pattern", "patterns"),
        counted(advice.warnings.len(), "warning", "warnings"),
        counted(advice.similar_failures.len(), "similar failure", "similar failures"),
    ];
    text(&advice.rendered, &counts, advice.tokens, &advice.notes)
}

fn text(rendered: &str, counts: &[String], tokens: usize, notes: &[Note]) -> String {
    let mut out = String::new();
    if !rendered.is_empty() {
        let _ = writeln!(out, "{}\n", clean(rendered));
    }
    let _ = writeln!(out, "{}; {}", counts.join(", "), counted(tokens, "token", "tokens"));
    notes.iter().for_each(|note| {
        let _ = writeln!(out, "{}", clean_line(&note.to_string()));
    });
    out
}

pub(in crate::cli) fn learned_episode(learned: &LearnedEpisode) -> String {
    let mut out = episode_recorded(&learned.episode);
    for lesson in &learned.lessons {
        let _ = writeln!(out, "learned {}  {}", dim(lesson.id), bold(clean_line(&lesson.title)));
    }
    for moved in &learned.updated {
        let (before, after) = (moved.confidence_before, moved.confidence_after);
        let _ = writeln!(out, "confidence {}  {before:.2} -> {after:.2}", dim(moved.id));
    }
    for applied in &learned.applications {
        let (before, now) = (applied.stage_before.as_str(), applied.stage.as_str());
        let moved = if before == now { format!("stays {now}") } else { format!("{before} -> {now}") };
        let (name, why) = (bold(clean_line(&applied.name)), clean_line(&applied.why));
        let _ = writeln!(out, "applied {}  {name}  {moved}: {why}", dim(applied.pattern_id));
    }
    learned.notes.iter().for_each(|note| {
        let _ = writeln!(out, "{}", clean_line(&note.to_string()));
    });
    out
}
