//! The text of what `maintain` did, or would do.

use std::fmt::Write;

use reasoning_bank_domain::evidence::stability::{CommitName, JudgedWork, Stability, WorkStanding};
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::retrieval::responses::OpenLink;

use super::style::{bad, bold, dim, good};
use super::{clean_line, counted};
use crate::cli::answers::{Maintenance, UpkeepSummary};

pub(in crate::cli) fn maintained(done: &Maintenance) -> String {
    let mut out = done.stability.as_ref().map(|stability| judgements(stability, done.applied)).unwrap_or_default();
    match &done.upkeep {
        Some(upkeep) => out.push_str(&store(upkeep)),
        None => out.push_str("the store would be kept in shape\n"),
    }
    if done.open_promotions > 0 {
        let deserve = counted(done.open_promotions, "memory deserves", "memories deserve");
        let _ = writeln!(out, "{deserve} to be shared: `memory promote` lists");
    }
    out.push_str(&open_links(&done.open_links, done.open_link_count));
    for note in &done.notes {
        let _ = writeln!(out, "note: {}", clean_line(&note.to_string()));
    }
    if !done.applied {
        out.push_str("nothing was changed; --apply does it\n");
    }
    out
}

fn open_links(links: &[OpenLink], count: usize) -> String {
    let mut out = String::new();
    for link in links {
        let (newer, older) = (clean_line(&link.newer_title), clean_line(&link.older_title));
        let _ = writeln!(out, "\"{newer}\" {} updates \"{older}\" {}", dim(link.newer), dim(link.older));
    }
    if count > 0 {
        let what = counted(count, "memory was", "memories were");
        let shown = if count > links.len() { format!(", the first {} are shown", links.len()) } else { String::new() };
        let _ = writeln!(
            out,
            "{what} found to be outdated{shown}: `memory supersede OLDER --by NEWER` or `--undo` decides"
        );
    }
    out
}

fn judgements(stability: &Stability, applied: bool) -> String {
    let mut out = String::new();
    let is_news = |solve: &&JudgedWork| solve.memories.iter().any(|memory| memory.signal.is_some() && !memory.known);
    for solve in stability.solves.iter().filter(is_news) {
        let _ = writeln!(out, "{}  {}", dim(solve.trace_id), first_line(&solve.task));
        let _ = writeln!(out, "  {}", why(&solve.standing));
        for memory in &solve.memories {
            let signal = match memory.signal {
                Some(SignalKind::Stable) => good("stable  "),
                Some(SignalKind::Reverted) => bad("reverted"),
                _ => continue,
            };
            let known = if memory.known { "  (known)" } else { "" };
            let _ = writeln!(out, "  {signal}  {}  {}{known}", bold(clean_line(&memory.title)), dim(memory.id));
        }
    }
    let verb = if applied { "stored" } else { "to be stored" };
    let solves = counted(stability.solves.len(), "solve", "solves");
    let signals = counted(stability.new_signals, "signal", "signals");
    let _ = write!(out, "{solves} that used memories: {signals} {verb}");
    let count = |wanted: fn(&WorkStanding) -> bool| stability.solves.iter().filter(|s| wanted(&s.standing)).count();
    for (number, what) in [
        (count(|standing| matches!(standing, WorkStanding::Waiting { .. })), "too young"),
        (count(|standing| matches!(standing, WorkStanding::Nothing)), "without commits"),
        (count(|standing| matches!(standing, WorkStanding::Unknown)), "before the history that was read"),
    ] {
        if number > 0 {
            let _ = write!(out, ", {number} {what}");
        }
    }
    out.push('\n');
    if stability.truncated {
        out.push_str("older solves were not looked at\n");
    }
    out
}

fn why(standing: &WorkStanding) -> String {
    let name = |commit: &CommitName| {
        let id: String = commit.id.chars().take(12).collect();
        format!("{id} ({})", first_line(&commit.subject))
    };
    match standing {
        WorkStanding::Stable { commits, last } => {
            format!("{}, the last {}, not reverted for 7 days", counted(*commits, "commit", "commits"), name(last))
        }
        WorkStanding::Reverted { commit, by } => format!("{} was reverted by {}", name(commit), name(by)),
        WorkStanding::Nothing | WorkStanding::Waiting { .. } | WorkStanding::Unknown => String::new(),
    }
}

fn store(upkeep: &UpkeepSummary) -> String {
    if upkeep.busy {
        return "the store was busy: whoever writes to it keeps it in shape\n".to_owned();
    }
    let more = if upkeep.more { "; more is left, run it again" } else { "" };
    let vectors = match upkeep.vectors_made {
        0 => String::new(),
        embedded => format!("; {} got the vectors that were missing", counted(embedded, "memory", "memories")),
    };
    format!(
        "the store is in shape: {} and {} removed{vectors}{more}\n",
        counted(upkeep.fragments_removed, "fragment", "fragments"),
        counted(upkeep.versions_removed, "old version", "old versions"),
    )
}

fn first_line(text: &str) -> String {
    clean_line(text.lines().next().unwrap_or_default())
}
