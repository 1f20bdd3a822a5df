//! The text of episodes: what happened in tasks, and what became of them.

use std::fmt::Write;
use std::path::Path;

use reasoning_bank_domain::episode::{
    ArchivedEpisode, ArtefactText, DeletedEpisode, Episode, EpisodeFound, EpisodeHits, EpisodeList, EpisodePhase,
    EpisodeStatus, EpisodeSummary, PurgedEpisodes, RecordedEpisode, ReportedEpisode, RestoredEpisode,
};
use reasoning_bank_domain::memory::trace::{ArtefactReference, FailureAnalysis, TraceEntry};

use super::style::{bad, bold, dim, doubtful, good};
use super::{clean, clean_line, counted, next_page};

/// The longest output of an entry that is shown, in characters.
const ENTRY_CHARS: usize = 400;

fn status(status: EpisodeStatus) -> String {
    match status {
        EpisodeStatus::Success => good(status.as_str()),
        EpisodeStatus::Partial => doubtful(status.as_str()),
        EpisodeStatus::Failure => bad(status.as_str()),
    }
}

fn task_line(task: &str) -> String {
    let task = clean_line(task).split_whitespace().collect::<Vec<_>>().join(" ");
    let task: String = task.chars().take(72).collect();
    if task.is_empty() { dim("(no task was named)") } else { task }
}

fn line(episode: &EpisodeSummary) -> String {
    let domain = episode.domain.as_deref().map(|domain| format!("/{}", clean_line(domain))).unwrap_or_default();
    let phase =
        if episode.phase == EpisodePhase::Active { String::new() } else { format!(" ({})", episode.phase.as_str()) };
    let deleted = episode.deleted_at.map(|at| format!(" (deleted {})", at.strftime("%Y-%m-%d"))).unwrap_or_default();
    format!(
        "{}  {}  {}  {}{domain}  {}{phase}{deleted}\n",
        dim(episode.episode_id),
        status(episode.status),
        episode.timestamp.strftime("%Y-%m-%d %H:%M"),
        clean_line(&episode.task_type),
        task_line(&episode.task),
    )
}

pub(in crate::cli) fn episodes(listed: &EpisodeList) -> String {
    let mut out: String = listed.episodes.iter().map(line).collect();
    let _ = writeln!(out, "{}", counted(listed.episodes.len(), "episode", "episodes"));
    out.push_str(&next_page(listed.next));
    out
}

pub(in crate::cli) fn episodes_found(found: &EpisodeHits) -> String {
    let mut out: String = found.hits.iter().map(hit).collect();
    if found.hits.is_empty() {
        out.push_str("no episode is like this\n");
    } else {
        let _ = writeln!(out, "{}", counted(found.hits.len(), "episode", "episodes"));
    }
    for note in &found.notes {
        let _ = writeln!(out, "{}", clean_line(&note.to_string()));
    }
    out
}

fn hit(found: &EpisodeFound) -> String {
    let score = found.score.map(|score| format!("{score:.2}: ")).unwrap_or_default();
    let mut out = line(&found.episode);
    let _ = writeln!(out, "  {}", dim(format!("{score}{}", found.why.reason)));
    if let Some(failure) = &found.failure {
        out.push_str(&failure_text(failure));
    }
    for insight in &found.episode.insights {
        let _ = writeln!(out, "  {}", clean_line(insight));
    }
    out
}

fn failure_text(failure: &FailureAnalysis) -> String {
    let mut out = format!("  failed: {}\n", clean_line(&failure.error));
    if let Some(cause) = &failure.cause {
        let _ = writeln!(out, "  because: {}", clean_line(cause));
    }
    match (&failure.resolution, failure.resolved_by) {
        (Some(how), _) => {
            let _ = writeln!(out, "  {}: {}", good("resolved"), clean_line(how));
        }
        (None, Some(by)) => {
            let _ = writeln!(out, "  {} in {by}", good("resolved"));
        }
        (None, None) => {}
    }
    out
}

pub(in crate::cli) fn artefact_text(artefact: &ArtefactText) -> String {
    clean(&artefact.text)
}

pub(in crate::cli) fn artefact_written(artefact: &ArtefactReference, to: &Path) -> String {
    format!("{} bytes of {} written to {}\n", artefact.bytes, clean_line(&artefact.name), to.display())
}

pub(in crate::cli) fn episode(episode: &Episode) -> String {
    let mut out = format!("{}\n\n", bold(clean(episode.task.original_input.trim_end())));
    let mut field = |name: &str, text: String| {
        let _ = writeln!(out, "{name:<10} {}", text.replace('\n', "\n           "));
    };
    let outcome = &episode.outcome;
    field("episode", episode.episode_id.to_string());
    field("status", format!("{}, {}", status(outcome.status), outcome.verdict_source.as_str()));
    field("source", episode.source.as_str().to_owned());
    field("made", episode.timestamp.to_string());
    if let Some(session) = &episode.session_id {
        field("session", clean_line(session));
    }
    let metadata = &episode.metadata;
    let labels = [metadata.task_type.as_deref(), metadata.domain.as_deref()];
    field("kind", labels.into_iter().flatten().map(clean_line).collect::<Vec<_>>().join(", "));
    for (name, labels) in [("tools", &metadata.tools_used), ("tags", &metadata.tags)] {
        if !labels.is_empty() {
            field(name, labels.iter().map(|label| clean_line(label)).collect::<Vec<_>>().join(", "));
        }
    }
    let lifecycle = &episode.lifecycle;
    field("phase", format!("{}, {}", lifecycle.phase.as_str(), counted(lifecycle.access_count, "access", "accesses")));
    episode.task.parts.parsed_goals.iter().for_each(|goal| field("goal", clean_line(goal)));
    episode.task.parts.constraints.iter().for_each(|constraint| field("constraint", clean_line(constraint)));
    episode.execution.plan.iter().for_each(|step| field("plan", clean_line(&step.title)));
    if let Some(seconds) = episode.execution.duration_s {
        field("took", format!("{seconds:.1} s"));
    }
    if let Some(output) = &outcome.parts.primary_output {
        field("output", clean(output.trim_end()));
    }
    outcome.parts.side_effects.iter().for_each(|effect| field("effect", clean_line(effect)));
    for (name, value) in &outcome.parts.quality_metrics {
        field("metric", format!("{} {value}", clean_line(name)));
    }
    episode.reflection.insights.iter().for_each(|insight| field("insight", clean(insight)));
    for artefact in &episode.artefacts {
        field("artefact", format!("{} ({} bytes, {})", clean_line(&artefact.name), artefact.bytes, artefact.sha256));
    }
    lifecycle.referenced_by.iter().for_each(|id| field("named by", id.to_string()));
    out.extend(episode.reflection.failures_analyzed.iter().map(failure_text));
    out.extend(episode.execution.trace.iter().enumerate().map(|(n, entry)| entry_text(n + 1, entry)));
    out
}

fn entry_text(n: usize, entry: &TraceEntry) -> String {
    let of = |text: &Option<String>| text.as_deref().map(|text| format!(" {}", clean_line(text))).unwrap_or_default();
    let failed = if entry.succeeded == Some(false) { format!(" {}", bad("failed")) } else { String::new() };
    let head = format!("{n}. {}{}{}", clean_line(&entry.action), of(&entry.tool), of(&entry.target));
    let mut out = format!("\n{}{failed}\n", bold(head));
    for text in [&entry.input, &entry.output].into_iter().flatten().filter(|text| !text.trim().is_empty()) {
        let shown: String = clean(text.trim_end()).chars().take(ENTRY_CHARS).collect();
        let _ = writeln!(out, "   {}", shown.replace('\n', "\n   "));
    }
    out
}

pub(in crate::cli) fn episode_reported(reported: &ReportedEpisode) -> String {
    let notes = reported.notes.iter().map(|note| format!("{}\n", clean_line(&note.to_string())));
    episode_recorded(&reported.episode) + &notes.collect::<String>()
}

pub(in crate::cli) fn episode_recorded(recorded: &RecordedEpisode) -> String {
    let what = if recorded.created { "recorded" } else { "known already as" };
    let mut out =
        format!("{what} {}: {}, {}\n", recorded.episode_id, status(recorded.status), clean_line(&recorded.task_type));
    if recorded.redactions > 0 {
        let _ = writeln!(out, "{} removed", counted(recorded.redactions, "secret was", "secrets were"));
    }
    out
}

pub(in crate::cli) fn episode_archived(archived: &ArchivedEpisode) -> String {
    let what = if archived.archived { "is archived" } else { "was archived already" };
    format!("{} {what}\n", archived.episode_id)
}

pub(in crate::cli) fn episode_deleted(deleted: &DeletedEpisode) -> String {
    match deleted.restorable_until {
        Some(until) => {
            let until = until.strftime("%Y-%m-%d %H:%M");
            format!("{} is deleted; `episode restore` brings it back until {until} UTC\n", deleted.episode_id)
        }
        None => format!("{} is gone for good\n", deleted.episode_id),
    }
}

pub(in crate::cli) fn episode_restored(restored: &RestoredEpisode) -> String {
    format!("{} is back, {}\n", restored.episode_id, restored.phase.as_str())
}

pub(in crate::cli) fn episodes_purged(purged: &PurgedEpisodes) -> String {
    let left = if purged.left > 0 { format!("; {} can still be restored", purged.left) } else { String::new() };
    format!("{} erased{left}\n", counted(purged.purged, "episode was", "episodes were"))
}
