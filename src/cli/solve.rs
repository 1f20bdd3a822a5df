//! The command `solve` takes one task through the whole loop, with its progress on a terminal. An interrupt ends it in
//! order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::ports::Verifier;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::solve::task::{Progress as Steps, SolveReport, SolveTask};
use tokio::sync::watch;
use verify::ShellCheck;

use super::args::SolveArgs;
use super::failure::CommandFailure;
use super::input;
use super::output::Output;
use super::progress::ProgressIndicator;
use super::session::request_deadline;
use crate::project::{self, Identity};
use crate::settings::{self, Loaded, MattsSection, SettingSources};

mod verify;

pub(super) async fn solve(
    args: SolveArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
    system: &SystemHandle,
) -> Result<SolveReport, CommandFailure> {
    let root = root(loaded, system).await?;
    let verifier = match args.verify.clone() {
        Some(command) => Some(check(command, &root, loaded, sources)?),
        None => None,
    };
    let task = task(args, &loaded.settings.matts)?;
    let (progress, shown) = watch::channel(Steps::default());
    let call = SolveOptions {
        progress: Some(progress),
        verifier,
        proposed: settings::proposed(Path::new(&root)),
        ..SolveOptions::until(Deadline::after(Duration::from_secs(loaded.settings.agent.deadline_s)))
    };
    let cancel = call.cancel.clone();
    let work = system.agents.solve(task, loaded.workspace.clone(), call);
    let mut work = std::pin::pin!(work);
    let solved = tokio::select! {
        solved = &mut work => solved,
        () = show(output.progress("model calls"), shown) => work.await,
        Ok(()) = tokio::signal::ctrl_c() => {
            cancel.cancel();
            work.await
        }
    };
    Ok(solved?)
}

/// Returns the project root of the workspace, also where the store cannot tell whether it was moved there.
async fn root(loaded: &Loaded, system: &SystemHandle) -> Result<String, CommandFailure> {
    match (system.workspaces.resolve(&loaded.workspace, request_deadline()).await, loaded.workspace.root()) {
        (Ok(resolved), _) => Ok(resolved.workspace.root),
        (Err(_), Some(root)) => Ok(root.to_owned()),
        (Err(error), None) => Err(error.into()),
    }
}

fn check(
    command: String,
    root: &str,
    loaded: &Loaded,
    sources: &SettingSources,
) -> Result<Arc<dyn Verifier>, CommandFailure> {
    if command.trim().is_empty() {
        return Err(CommandFailure::usage("--verify: the command is blank"));
    }
    let directory = directory(root, loaded.settings.workspace.identity, sources);
    if !directory.is_dir() {
        let problem = format!("--verify: the workspace's directory {} does not exist", directory.display());
        return Err(CommandFailure::usage(problem).hint("name a workspace that is there with --workspace"));
    }
    Ok(Arc::new(ShellCheck { command, directory }))
}

/// Returns the top of the work tree that is meant, of which a workspace may have several, or else the project root.
fn directory(root: &str, identity: Identity, sources: &SettingSources) -> PathBuf {
    let named = sources.directory.join(sources.flags.workspace.as_deref().unwrap_or("."));
    let is_of_workspace = project::root(&named, &sources.directory, identity).is_ok_and(|of_named| of_named == root);
    let work_tree = project::work_tree(&named).filter(|_| is_of_workspace && identity == Identity::Git);
    work_tree.unwrap_or_else(|| PathBuf::from(root))
}

fn task(args: SolveArgs, matts: &MattsSection) -> Result<SolveTask, CommandFailure> {
    let task = if args.task == "-" { input::read(Path::new("-"))? } else { args.task };
    let configured = if matts.enabled && !args.no_matts { matts.k } else { 1 };
    Ok(SolveTask {
        task,
        use_memory: !args.no_memory,
        k: args.matts_k.unwrap_or(configured),
        mode: args.matts_mode.map_or(matts.mode, Into::into),
        store_result: !args.no_store,
        domain: args.domain,
    })
}

/// Shows the progress until the work ends.
async fn show(bar: ProgressIndicator, mut progress: watch::Receiver<Steps>) {
    while progress.changed().await.is_ok() {
        let Steps { completed, total, stages, .. } = progress.borrow_and_update().clone();
        if let Some(stage) = stages.last() {
            bar.says(stage.to_string());
        }
        bar.most(total.into());
        bar.done(completed.into());
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use reasoning_bank_domain::memory::trace::MattsMode;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn of_line(line: &[&str], enabled: bool) -> SolveTask {
        let cli = Cli::try_parse_from(["x", "solve", "the task"].iter().chain(line)).unwrap();
        let Command::Solve(args) = cli.command else { panic!("another command") };
        task(args, &MattsSection { enabled, k: 4, mode: MattsMode::Sequential, workers: 16 }).unwrap()
    }

    #[test]
    fn flags_win_over_settings() {
        let task = of_line(&[], true);
        assert_eq!((task.k, task.mode), (4, MattsMode::Sequential));
        assert!(task.use_memory && task.store_result);
        let task = of_line(&["--matts-k", "3", "--matts-mode", "parallel", "--no-memory", "--no-store"], true);
        assert_eq!((task.k, task.mode), (3, MattsMode::Parallel));
        assert!(!task.use_memory && !task.store_result);
    }

    #[test]
    fn without_matts_there_is_one_attempt() {
        assert_eq!(of_line(&["--no-matts"], true).k, 1);
        assert_eq!(of_line(&[], false).k, 1);
        assert_eq!(of_line(&["--matts-k", "3"], false).k, 3);
    }
}
