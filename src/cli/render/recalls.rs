//! The recall log, for people.

use std::collections::BTreeMap;

use reasoning_bank_domain::memory::signature::error_message;

use super::clean;
use super::style::{bold, dim};
use crate::cli::answers::{RecallList, ShownRecall};
use crate::recall_log::RecallCandidate;

pub(in crate::cli) fn recalls(list: &RecallList) -> String {
    if list.recalls.is_empty() {
        return "nothing was shown here".to_owned();
    }
    list.recalls.iter().map(recall).collect::<Vec<_>>().join("\n\n")
}

fn recall(recall: &ShownRecall) -> String {
    let entry = &recall.entry;
    let floor = entry.floor.map(|floor| format!(", floor {floor}")).unwrap_or_default();
    let about = format!("{} by {}{floor}", entry.at, clean(&entry.source));
    // What a program printed is known by the line that names its error.
    let error = error_message(&entry.query);
    let query = error.as_deref().unwrap_or(&entry.query).lines().next().unwrap_or_default();
    let head = format!("{}\n  {}", bold(clean(query)), dim(about));
    let shown = entry.candidates.iter().filter(|candidate| candidate.shown).count();
    let beside = match entry.candidates.len() - shown {
        0 => String::new(),
        count => format!(", {count} more considered"),
    };
    let lines = entry.candidates.iter().filter(|candidate| candidate.shown).map(candidate);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    recall.outcomes.iter().for_each(|outcome| *counts.entry(outcome.signal.as_str()).or_default() += 1);
    let counts: Vec<String> = counts.iter().map(|(signal, count)| format!("{signal} {count}")).collect();
    let outcomes = (!counts.is_empty()).then(|| format!("  came of it within a day: {}", counts.join(", ")));
    let all = [head, format!("  shown: {shown}{beside}")].into_iter().chain(lines).chain(outcomes);
    all.collect::<Vec<_>>().join("\n")
}

fn candidate(candidate: &RecallCandidate) -> String {
    let relevance = candidate.relevance.map(|relevance| format!(" {relevance:.2}")).unwrap_or_default();
    let title = candidate.title.as_deref().unwrap_or_default();
    format!("  {}{relevance} {}", candidate.id, clean(title))
}
