//! The report of what `setup` did or would do: the document, and how it is shown.

use std::path::PathBuf;

use reasoning_bank_clients::{AgentClient, unified_diff};
use serde::Serialize;

use super::FilePlan;
use crate::cli::failure::CommandFailure;
use crate::cli::output::Output;
use crate::cli::render::clean;
use crate::cli::render::style::{bad, bold, dim, good};

#[derive(Debug, Serialize)]
pub(super) struct SetupReport {
    pub(super) clients: Vec<ClientReport>,
    pub(super) files: Vec<FileReport>,
    /// The parts that are not written, or not taken back, each with the reason, or with what does it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<String>,
    /// The command that the clients start; none where everything is taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<Vec<String>>,
    pub(super) is_dry_run: bool,
    /// The tools that the server listed when it was started as the clients will; none where it was not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_checked: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ClientReport {
    pub(super) client: AgentClient,
    pub(super) title: &'static str,
    pub(super) is_tried: bool,
    pub(super) next: String,
}

#[derive(Debug, Serialize)]
pub(super) struct FileReport {
    pub(super) path: PathBuf,
    pub(super) clients: Vec<AgentClient>,
    pub(super) change: FileChange,
    pub(super) diff: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileChange {
    Unchanged,
    Created,
    Changed,
    Deleted,
}

impl SetupReport {
    /// Says whether any file is not yet as it shall be.
    pub(super) fn is_pending(&self) -> bool {
        self.files.iter().any(|file| file.change != FileChange::Unchanged)
    }
}

/// `with_hooks` are the clients that hooks are written for.
pub(super) fn report(
    plans: &[FilePlan],
    clients: &[AgentClient],
    with_hooks: &[AgentClient],
    is_dry_run: bool,
) -> SetupReport {
    let files = plans.iter().map(|plan| {
        let change = match (&plan.current, &plan.wanted) {
            (current, wanted) if current == wanted => FileChange::Unchanged,
            (None, _) => FileChange::Created,
            (_, None) => FileChange::Deleted,
            _ => FileChange::Changed,
        };
        let diff = unified_diff(&plan.file.path, plan.current.as_deref(), plan.wanted.as_deref());
        FileReport { path: plan.file.path.clone(), clients: plan.clients.clone(), change, diff }
    });
    let clients = clients.iter().map(|&client| ClientReport {
        client,
        title: client.title(),
        is_tried: client.is_tried(),
        next: match client.next_step_of_hooks().filter(|_| with_hooks.contains(&client)) {
            Some(more) => format!("{}; {more}", client.next_step()),
            None => client.next_step().to_owned(),
        },
    });
    let (clients, files) = (clients.collect(), files.collect());
    SetupReport { clients, files, left_out: Vec::new(), server: None, is_dry_run, tools: None, not_checked: None }
}

/// Shows what is asked about, where nobody reads a document.
pub(super) fn show(report: &SetupReport, output: Output) -> Result<(), CommandFailure> {
    if output.json { Ok(()) } else { output.answer(report, diffs).map(drop) }
}

pub(super) fn diffs(report: &SetupReport) -> String {
    let colour = |line: &str| match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") => bold(clean(line)),
        Some(b'+') => good(clean(line)),
        Some(b'-') => bad(clean(line)),
        _ => clean(line),
    };
    let lines = report.files.iter().flat_map(|file| file.diff.lines()).map(|line| colour(line) + "\n");
    lines.collect()
}

pub(super) fn text(report: &SetupReport) -> String {
    let mut lines: Vec<String> = Vec::new();
    for file in &report.files {
        let would = |now: &str, then: &str| (if report.is_dry_run { then } else { now }).to_owned();
        let change = match file.change {
            FileChange::Unchanged => "as it should be".to_owned(),
            FileChange::Created => would("created", "would be created"),
            FileChange::Changed => would("changed", "would be changed"),
            FileChange::Deleted => would("deleted", "would be deleted"),
        };
        lines.push(format!("{}  {change}", clean(&file.path.display().to_string())));
    }
    if report.files.is_empty() {
        lines.push("there is nothing to take back".to_owned());
    }
    lines.extend(report.left_out.iter().map(|sentence| clean(sentence)));
    match (&report.tools, &report.not_checked) {
        (Some(tools), _) => lines.push(format!("the server starts and has {tools} tools")),
        (None, Some(why)) => lines.push(format!("the server was not started: {why}")),
        (None, None) => {}
    }
    for client in &report.clients {
        let untried = if client.is_tried { "" } else { " (by its documentation, untried)" };
        lines.push(format!("{}{}: {}", bold(client.title), dim(untried), client.next));
    }
    lines.join("\n")
}
