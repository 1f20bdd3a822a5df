//! `solve`: one task through the whole loop, with its progress on a terminal. An interrupt ends it in order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::agents::Call;
use reasoning_bank_actors::ports::Verifier;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::solve::{Progress as Steps, SolveReport, SolveTask};
use tokio::sync::watch;

use super::args::SolveArgs;
use super::failure::Failure;
use super::input;
use super::output::Output;
use super::progress::Progress;
use crate::settings::{Loaded, MattsSettings};

mod verify;

use verify::ShellCheck;

pub(super) async fn solve(
    args: SolveArgs,
    loaded: &Loaded,
    output: Output,
    system: &SystemHandle,
) -> Result<SolveReport, Failure> {
    let verifier = args.verify.clone().map(check).transpose()?;
    let task = task(args, &loaded.settings.matts)?;
    let (progress, shown) = watch::channel(Steps::default());
    let call = Call {
        progress: Some(progress),
        verifier,
        ..Call::until(Deadline::after(Duration::from_secs(loaded.settings.agent.deadline_s)))
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

fn check(command: String) -> Result<Arc<dyn Verifier>, Failure> {
    if command.trim().is_empty() {
        return Err(Failure::usage("--verify: the command is blank"));
    }
    // The directory the process was started in.
    Ok(Arc::new(ShellCheck { command, directory: PathBuf::from(".") }))
}

fn task(args: SolveArgs, matts: &MattsSettings) -> Result<SolveTask, Failure> {
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

/// Ends with the work.
async fn show(bar: Progress, mut progress: watch::Receiver<Steps>) {
    while progress.changed().await.is_ok() {
        let Steps { completed, total } = *progress.borrow_and_update();
        bar.most(total.into());
        bar.done(completed.into());
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use reasoning_bank_domain::matts::MattsMode;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn of_line(line: &[&str], enabled: bool) -> SolveTask {
        let cli = Cli::try_parse_from(["x", "solve", "the task"].iter().chain(line)).unwrap();
        let Command::Solve(args) = cli.command else { panic!("another command") };
        task(args, &MattsSettings { enabled, k: 4, mode: MattsMode::Sequential, workers: 16 }).unwrap()
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
