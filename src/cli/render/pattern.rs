//! The texts of patterns that were added, found, shown or changed.

use std::fmt::Write;

use reasoning_bank_domain::memory::pattern::Applicability;
use reasoning_bank_domain::pattern::document::{
    ListedPattern, PatternAdded, PatternChanged, PatternDocument, PatternList, PatternSummary, PatternVersions,
    PatternsFound, PruneProposals, SimilarPatterns,
};

use super::style::{bold, dim};
use super::{clean, clean_line, counted};

pub(in crate::cli) fn pattern_added(added: &PatternAdded) -> String {
    let what = if added.is_new { "added as a candidate" } else { "there already, and confirmed" };
    let mut out = format!("{}  {what}\n", added.pattern_id);
    if added.redactions > 0 {
        let _ = writeln!(out, "{} removed", counted(added.redactions as usize, "secret was", "secrets were"));
    }
    out
}

pub(in crate::cli) fn patterns(list: &PatternList) -> String {
    let mut out: String = list.patterns.iter().map(listed).collect();
    let _ = writeln!(out, "{}", counted(list.patterns.len(), "pattern", "patterns"));
    out
}

fn listed(one: &ListedPattern) -> String {
    let of = &one.summary;
    head(of, &format!("confidence {:.2}, {}", of.confidence, succeeded(one.success_rate, of.num_applications)))
}

fn summary(one: &PatternSummary) -> String {
    let applications = counted(one.num_applications as usize, "application", "applications");
    head(one, &format!("confidence {:.2} from {applications}", one.confidence))
}

fn head(one: &PatternSummary, evidence: &str) -> String {
    let (stage, category) = (one.stage.as_str(), one.category.as_str());
    format!(
        "{}  {stage}  {category}  {}\n       {evidence}, version {}\n",
        dim(one.pattern_id),
        bold(clean_line(&one.name)),
        one.version
    )
}

fn succeeded(success_rate: Option<f64>, applications: u64) -> String {
    let successes = (success_rate.unwrap_or(0.0) * applications as f64).round();
    format!("{successes} of {applications} applications succeeded")
}

pub(in crate::cli) fn patterns_found(found: &PatternsFound) -> String {
    let mut out = String::new();
    for one in &found.patterns {
        let score = &one.score;
        out.push_str(&summary(&one.summary));
        let _ = writeln!(
            out,
            "       score {:.3}: confidence {:.2}, success {:.2}, usage {:.2}, recency {:.2}, match {:.2}",
            score.total, score.confidence, score.success_rate, score.usage, score.recency, score.match_quality
        );
        for other in &one.preferred_over {
            let _ = writeln!(out, "       better than {other}, which it contradicts");
        }
        for line in clean(&one.detailed_explanation).lines() {
            let _ = writeln!(out, "       {line}");
        }
    }
    let _ = writeln!(out, "{}", counted(found.patterns.len(), "pattern applies", "patterns apply"));
    for out_of_it in found.kept_out.iter().flatten() {
        let (name, why) = (clean_line(&out_of_it.name), clean_line(&out_of_it.why));
        let _ = writeln!(out, "{}  {name}: {why}", dim(out_of_it.pattern_id));
    }
    out
}

pub(in crate::cli) fn pattern(pattern: &PatternDocument) -> String {
    let (evidence, lifecycle) = (&pattern.evidence, &pattern.lifecycle);
    let mut out = format!(
        "{}\n{}  {}  {}, version {}\nWhen: {}\n{}\n",
        bold(clean_line(&pattern.name)),
        dim(pattern.pattern_id),
        lifecycle.status.as_str(),
        pattern.category.as_str(),
        pattern.version,
        clean_line(&pattern.description),
        clean(&pattern.detailed_explanation)
    );
    out.push_str(&conditions(&pattern.applicability, ""));
    let _ = writeln!(
        out,
        "confidence {:.2}, {}",
        evidence.confidence_score,
        succeeded(evidence.success_rate, evidence.num_applications)
    );
    if let Some(p) = evidence.statistical_significance {
        let _ = writeln!(out, "p = {p:.3}");
    }
    let accepted = lifecycle.validation.as_ref().and_then(|validation| validation.accepted_because.as_deref());
    for (what, why) in [("accepted by a person", accepted), ("deprecated", lifecycle.deprecation_reason.as_deref())] {
        if let Some(why) = why {
            let _ = writeln!(out, "{what}: {}", clean_line(why));
        }
    }
    if let Some(newer) = lifecycle.superseded_by {
        let _ = writeln!(out, "superseded by {newer}");
    }
    out
}

/// Writes what a pattern demands of a task, and what keeps it out, each on a line of its own after `indent`.
fn conditions(applicability: &Applicability, indent: &str) -> String {
    let mut out = String::new();
    let both = [("Only if", &applicability.context_conditions), ("Not if", &applicability.anti_conditions)];
    for (name, conditions) in both {
        for condition in conditions {
            let _ = writeln!(out, "{indent}{name}: {}", clean_line(&condition.to_string()));
        }
    }
    out
}

pub(in crate::cli) fn pattern_changed(changed: &PatternChanged) -> String {
    let (before, now) = (changed.stage_before.as_str(), changed.pattern.lifecycle.status.as_str());
    let moved = if before == now { format!("stays {now}") } else { format!("{before} -> {now}") };
    format!("{}  {moved}: {}\n", changed.pattern.pattern_id, clean_line(&changed.why))
}

pub(in crate::cli) fn pattern_versions(versions: &PatternVersions) -> String {
    let mut out = String::new();
    for one in &versions.versions {
        let by = one.run_id.map_or_else(|| "by hand".to_owned(), |run| format!("by run {run}"));
        let (name, stage) = (bold(clean_line(&one.name)), one.stage.as_str());
        let _ = writeln!(out, "version {}  {stage}  {name}  until {:.0}, {by}", one.version, one.until);
        for line in clean(&one.detailed_explanation).lines() {
            let _ = writeln!(out, "       {line}");
        }
        out.push_str(&conditions(&one.applicability, "       "));
    }
    let _ = writeln!(out, "{}", counted(versions.versions.len(), "earlier state", "earlier states"));
    out
}

pub(in crate::cli) fn similar_patterns(similar: &SimilarPatterns) -> String {
    let mut out = String::new();
    for one in &similar.patterns {
        let _ = write!(out, "{:.2}  {}", one.likeness, summary(&one.summary));
    }
    let _ = writeln!(out, "{}", counted(similar.patterns.len(), "similar pattern", "similar patterns"));
    out
}

pub(in crate::cli) fn prune_proposals(proposals: &PruneProposals) -> String {
    let mut out = String::new();
    for one in &proposals.patterns {
        let _ = writeln!(out, "{}       {}", summary(&one.summary), one.reason);
    }
    let _ = writeln!(out, "{}", counted(proposals.patterns.len(), "proposal", "proposals"));
    if !proposals.patterns.is_empty() {
        out.push_str("`pattern deprecate ID --reason …` takes one out of use\n");
    }
    out
}
