//! The command `demo` gives a tour of the whole loop on the simulated model. Everything but the model is real: the
//! store, the embeddings, recall, the attempts, the choice, the lessons. `tour` turns it into text.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::retrieval::responses::{RecalledView, Retrieved};
use reasoning_bank_domain::solve::task::{SolveReport, SolveTask};
use reasoning_bank_domain::text::tokens;
use serde::Serialize;

use super::failure::CommandFailure;
use crate::settings::{MattsSection, Provider, Settings, TraceSection};

pub(super) mod tour;

/// Two of these tasks are of a kind that goes well, two of a kind that goes wrong unless one has been warned.
const TASKS: [&str; 4] = [
    "Write a binary search that finds a number in a sorted list.",
    "Find where to insert a number into a sorted list so that it stays sorted.",
    "Parse a CSV file whose quoted fields may contain commas.",
    "Parse the quoted fields of a CSV export that contain line breaks.",
];
const QUERY: &str = "read CSV fields that are quoted";
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Everything that the demo shows.
#[derive(Debug, Serialize)]
pub(super) struct Tour {
    /// It is always true: no language model was asked.
    simulated: bool,
    data_dir: PathBuf,
    workspace_id: WorkspaceId,
    /// The value of `agent.max_iterations`.
    max_rounds: u32,
    tasks: Vec<Stop>,
    query: &'static str,
    search: Retrieved,
}

/// One task: the memories that were put into its prompts, with their scores, and how it went.
#[derive(Debug, Serialize)]
pub(super) struct Stop {
    task: &'static str,
    recalled: Vec<RecalledView>,
    report: SolveReport,
}

/// Returns the settings with the simulated model, and with the demo's data directory.
pub(super) fn settings(mut settings: Settings, data_dir: &Path) -> Settings {
    settings.llm.provider = Provider::Simulated;
    settings.data_dir = data_dir.to_owned();
    // what the demo keeps in memory is private to nobody, and shows how banks work
    settings.banks.debug_memory_dump = true;
    // its traces are of no use to anybody, and nobody else's are its matter
    settings.traces = TraceSection { files: false, dir: PathBuf::new(), retention_days: 0 };
    settings
}

/// Returns a project of the demo's own, so that a bank it is run on keeps its projects as they are.
pub(super) fn workspace(data_dir: &Path) -> WorkspaceRef {
    WorkspaceRef::Root(data_dir.join("demo-project").display().to_string())
}

/// Runs the tasks one after another; `shown` sees each as it is done.
pub(super) async fn run(
    settings: &Settings,
    system: &SystemHandle,
    mut shown: impl FnMut(usize, &Stop) -> Result<(), CommandFailure>,
) -> Result<Tour, CommandFailure> {
    // The tokenizer's vocabulary loads once in a process; that is no part of a task's time.
    let _ = tokio::task::spawn_blocking(|| tokens::estimate("")).await;
    let workspace = workspace(&settings.data_dir);
    let mut tasks = Vec::new();
    for task in TASKS {
        let stop = solve(task, &settings.matts, &workspace, system).await?;
        shown(tasks.len() + 1, &stop)?;
        tasks.push(stop);
    }
    let request = RetrieveRequest { min_relevance: Some(0.0), ..RetrieveRequest::new(QUERY, workspace.clone(), 2) };
    let search = system.memories.retrieve(request, Deadline::after(REQUEST_TIMEOUT)).await?;
    let workspace_id = workspace.own_id();
    Ok(Tour {
        simulated: true,
        data_dir: settings.data_dir.clone(),
        workspace_id,
        max_rounds: settings.agent.max_iterations,
        tasks,
        query: QUERY,
        search,
    })
}

async fn solve(
    task: &'static str,
    matts: &MattsSection,
    workspace: &WorkspaceRef,
    system: &SystemHandle,
) -> Result<Stop, CommandFailure> {
    let deadline = Deadline::after(REQUEST_TIMEOUT);
    let request = RetrieveRequest { min_relevance: Some(0.0), ..RetrieveRequest::new(task, workspace.clone(), 10) };
    let found = system.memories.retrieve(request, deadline).await?;
    let asked = SolveTask {
        task: task.to_owned(),
        use_memory: true,
        k: matts.k,
        mode: matts.mode,
        store_result: true,
        domain: None,
    };
    let report = system.agents.solve(asked, workspace.clone(), SolveOptions::until(deadline)).await?;
    let is_used = |entry: &RecalledView| report.memories_used.iter().any(|used| used.id == entry.memory.id);
    let recalled = found.memories.into_iter().filter(is_used).collect();
    Ok(Stop { task, recalled, report })
}

#[cfg(test)]
mod tests;
