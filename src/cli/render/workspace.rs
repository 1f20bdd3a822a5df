//! The texts of workspaces: which there are, which one is in use, and what became of them.

use std::fmt::Write;

use reasoning_bank_domain::memory::workspace::Workspace;

use super::style::{bold, dim};
use super::{back_in_search, clean_line, counted};
use crate::cli::answers::{LinkedWorkspace, Switched, Trusted, WorkspaceList, WorkspaceOverview, WorkspaceRemoval};
use crate::settings::CheckoutRanking;

pub(in crate::cli) fn workspaces(listed: &WorkspaceList) -> String {
    let mut out = String::new();
    for entry in &listed.workspaces {
        let mark = if entry.current { "*" } else { " " };
        let workspace = &entry.workspace;
        let names =
            [vec![bold(clean_line(&workspace.name)), clean_line(workspace.place())], belongs(workspace)].concat();
        let _ = writeln!(out, "{mark} {}  {}", dim(&workspace.id), names.join("  "));
    }
    let _ = writeln!(out, "{}; * is meant here", counted(listed.workspaces.len(), "workspace", "workspaces"));
    out
}

/// Says to which team and which organisation a workspace belongs.
fn belongs(workspace: &Workspace) -> Vec<String> {
    let named = [("team", &workspace.team), ("organisation", &workspace.org)];
    named.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", clean_line(name.as_ref()?)))).collect()
}

pub(in crate::cli) fn workspace_shown(shown: &WorkspaceOverview) -> String {
    let (detail, workspace) = (&shown.detail, &shown.detail.workspace);
    let mut out = format!("{}  {}\n", bold(clean_line(&workspace.name)), dim(&workspace.id));
    let mut field = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<12}  {}", clean_line(&text));
    };
    let root = match (&workspace.key, workspace.root.as_str()) {
        (Some(_), _) => "none: it is known by a key, on a team's server",
        (None, "") => "none: another workspace has its directory",
        (None, root) => root,
    };
    field("root", root.to_owned());
    field("meant by", shown.origin.clone());
    if let Some(key) = &workspace.key {
        field("key", key.to_string());
    }
    match (&shown.linked, &shown.key_of_remote) {
        (Some(key), _) => field("key", format!("{key} (on a team's server, linked)")),
        (None, Some(key)) => {
            field("key", format!("{key} (by its git remote; `workspace link .` makes it the one on a team's server)"))
        }
        (None, None) => {}
    }
    match detail.registered {
        true => {
            field("memories", detail.memories.to_string());
            field("traces", detail.traces.to_string());
            field("jobs", detail.jobs.to_string());
        }
        false => field("memories", "none yet: nothing was written to it".to_owned()),
    }
    field("team", workspace.team.clone().unwrap_or_else(|| "none".to_owned()));
    field("organisation", workspace.org.clone().unwrap_or_else(|| "none".to_owned()));
    if !shown.ranking.is_empty() {
        field("ranking", rankings(&shown.ranking).join(", "));
    }
    if let Some(proposal) = &shown.proposal
        && (&proposal.team, &proposal.org, &proposal.ranking) != (&workspace.team, &workspace.org, &shown.ranking)
    {
        let named = [("team", &proposal.team), ("organisation", &proposal.org)];
        let named = named.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", name.as_ref()?)));
        let all: Vec<String> = named.chain(rankings(&proposal.ranking)).collect();
        let file = proposal.file.display();
        field("proposed", format!("{} (by {file}; `workspace trust` agrees)", all.join(", ")));
    }
    out
}

fn rankings(ranking: &CheckoutRanking) -> Vec<String> {
    ranking.iter().map(|(key, value)| format!("{key} = {value}")).collect()
}

pub(in crate::cli) fn workspace_switched(switched: &Switched) -> String {
    let place = clean_line(if switched.root.is_empty() { &switched.name } else { &switched.root });
    format!("outside of any repository, {place} ({}) is meant from now on\n", switched.id)
}

pub(in crate::cli) fn workspace_linked(linked: &LinkedWorkspace) -> String {
    let root = clean_line(&linked.root);
    match &linked.key {
        Some(key) => format!("{root} is {} on a team's server\n", clean_line(key.as_str())),
        None => format!("{root} has no key on a team's server any more\n"),
    }
}

pub(in crate::cli) fn workspace_moved(workspace: &Workspace) -> String {
    format!("{} ({}) is at {} now\n", bold(clean_line(&workspace.name)), workspace.id, clean_line(&workspace.root))
}

pub(in crate::cli) fn workspace_trusted(trusted: &Trusted) -> String {
    let root = clean_line(&trusted.workspace.root);
    let mut out = match belongs(&trusted.workspace).as_slice() {
        [] => format!("{root} belongs to no team and no organisation\n"),
        names => format!("{root} reads and shares with {}\n", names.join(", ")),
    };
    if !trusted.ranking.is_empty() {
        let _ = writeln!(out, "its searches are ranked with {}", clean_line(&rankings(&trusted.ranking).join(", ")));
    }
    out
}

pub(in crate::cli) fn workspace_removed(answer: &WorkspaceRemoval) -> String {
    let removed = &answer.removed;
    let mut parts = vec![
        counted(removed.memories, "memory", "memories"),
        counted(removed.passages, "passage", "passages"),
        counted(removed.traces, "trace", "traces"),
        counted(removed.signals, "signal", "signals"),
        counted(removed.jobs, "job", "jobs"),
    ];
    if answer.bank_files > 0 {
        parts.push(counted(answer.bank_files, "file of its memory bank", "files of its memory bank"));
    }
    let mut text = format!("removed from {} ({}): {}\n", clean_line(&answer.name), answer.id, parts.join(", "));
    for copy in &answer.promoted_removed {
        let (scope, owner, title) = (copy.scope.as_str(), clean_line(&copy.owner), clean_line(&copy.title));
        let _ = writeln!(text, "removed from the {scope} {owner}: {title} ({})", copy.id);
    }
    if let Some(kept @ 1..) = answer.promoted_kept {
        let copies = counted(kept as u64, "copy", "copies");
        let _ = writeln!(text, "kept: {copies} of its memories with teams or organisations");
    }
    text += &back_in_search(&answer.reinstated);
    for backup in &answer.backups {
        let place = match &backup.directory {
            Some(directory) => clean_line(&directory.display().to_string()),
            None => "a backup that was written to a stream".to_owned(),
        };
        let _ =
            writeln!(text, "still in {place}, of {}: remove it, or restore it with --erasures-of", backup.created_at);
    }
    if let Some(why) = &answer.backups_unknown {
        let why = clean_line(why);
        let _ = writeln!(
            text,
            "it is not known which backups still have it, as their list cannot be read ({why}): restore any of them with \
             --erasures-of"
        );
    }
    text
}
