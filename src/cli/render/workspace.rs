//! Workspaces: which there are, which one is meant, what became of them.

use std::fmt::Write;

use reasoning_bank_domain::workspace::Workspace;

use super::style::{bold, dim};
use super::{clean_line, counted};
use crate::cli::workspace::{Listed, Removed, Shown, Switched};

pub(in crate::cli) fn workspaces(listed: &Listed) -> String {
    let mut out = String::new();
    for entry in &listed.workspaces {
        let mark = if entry.current { "*" } else { " " };
        let workspace = &entry.workspace;
        let names = [vec![bold(clean_line(&workspace.name)), clean_line(&workspace.root)], belongs(workspace)].concat();
        let _ = writeln!(out, "{mark} {}  {}", dim(&workspace.id), names.join("  "));
    }
    let _ = writeln!(out, "{}; * is meant here", counted(listed.workspaces.len(), "workspace", "workspaces"));
    out
}

/// To which team and which organisation.
fn belongs(workspace: &Workspace) -> Vec<String> {
    let named = [("team", &workspace.team), ("organisation", &workspace.org)];
    named.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", clean_line(name.as_ref()?)))).collect()
}

pub(in crate::cli) fn workspace_shown(shown: &Shown) -> String {
    let (detail, workspace) = (&shown.detail, &shown.detail.workspace);
    let mut out = format!("{}  {}\n", bold(clean_line(&workspace.name)), dim(&workspace.id));
    let mut field = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<12}  {}", clean_line(&text));
    };
    field("root", workspace.root.clone());
    field("meant by", shown.origin.clone());
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
    if let Some(proposal) = &shown.proposal
        && (&proposal.team, &proposal.org) != (&workspace.team, &workspace.org)
    {
        let named = [("team", &proposal.team), ("organisation", &proposal.org)];
        let named: Vec<String> =
            named.into_iter().filter_map(|(what, name)| Some(format!("{what} {}", name.as_ref()?))).collect();
        let file = proposal.file.display();
        field("proposed", format!("{} (by {file}; `workspace trust` agrees)", named.join(", ")));
    }
    out
}

pub(in crate::cli) fn workspace_switched(switched: &Switched) -> String {
    let root = clean_line(&switched.root);
    format!("outside of any repository, {root} ({}) is meant from now on\n", switched.id)
}

pub(in crate::cli) fn workspace_moved(workspace: &Workspace) -> String {
    format!("{} ({}) is at {} now\n", bold(clean_line(&workspace.name)), workspace.id, clean_line(&workspace.root))
}

pub(in crate::cli) fn workspace_trusted(workspace: &Workspace) -> String {
    let root = clean_line(&workspace.root);
    match belongs(workspace).as_slice() {
        [] => format!("{root} belongs to no team and no organisation\n"),
        names => format!("{root} reads and shares with {}\n", names.join(", ")),
    }
}

pub(in crate::cli) fn workspace_removed(answer: &Removed) -> String {
    let removed = &answer.removed;
    let parts = [
        counted(removed.memories, "memory", "memories"),
        counted(removed.passages, "passage", "passages"),
        counted(removed.traces, "trace", "traces"),
        counted(removed.signals, "signal", "signals"),
        counted(removed.jobs, "job", "jobs"),
    ];
    format!("removed from {} ({}): {}\n", clean_line(&answer.name), answer.id, parts.join(", "))
}
