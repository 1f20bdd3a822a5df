//! The command line: it reads arguments and settings, runs one command, and prints the answer. Answers go to stdout,
//! all else to stderr.
//!
//! `args` describes the commands, and each command has a file of its name, which asks the system to do the work.
//! `session` runs a bank for one command, `render` turns answers into text, `output` prints them, and `failure` says
//! why a command did not succeed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::memory::workspace::WorkspaceKey;
use reasoning_bank_domain::safety::secrets::redact_contacts_too;
use tokio_util::sync::CancellationToken;

use crate::hooks::{HookServer, SessionLearning, answer_hooks};
use crate::llm;
use crate::mcp::{McpOptions, ToolDefaults, serve_stdio};
use crate::recall_log::RecallLog;
use crate::settings::{self, Loaded, LogLevel, Provider, SettingSources, Settings, SettingsError};
use crate::telemetry;
use reasoning_bank_store::allocator;

mod answers;
mod args;
mod backup;
mod bank;
mod client_places;
mod completions;
mod config_show;
mod confirm;
mod consolidate;
mod context;
mod demo;
mod doctor;
mod episode;
mod eval;
mod failure;
mod genealogy;
mod hook;
mod import;
mod input;
mod learn;
mod maintain;
mod manual;
mod memory;
mod output;
mod pattern;
mod progress;
mod reembed;
mod render;
mod serve;
mod session;
mod setup;
mod signals;
mod solve;
mod stats;
#[cfg(test)]
mod testing;
mod token;
mod trace;
mod working;
mod workspace;

use args::{Cli, Command, ConfigCommand, McpArgs};
use completions::Completions;
use doctor::Grade;
use failure::{CommandExit, CommandFailure};
use manual::ManualPages;
use output::Output;
use session::{end_of_process, with_serving_bank, with_solving_bank};

/// Runs the command that the process was started with and returns its exit code: 0 ok, 1 the work failed, 2 wrong use
/// or configuration.
pub fn run() -> i32 {
    allocator::limit_arenas();
    llm::use_ring();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && hook::is_asked() => return CommandExit::Ok.code(),
        Err(error) => return output::usage(&error).code(),
    };
    if let Command::Hook(args) = &cli.command
        && !args.serve
    {
        hook::run(args, cli.global.flags());
        return CommandExit::Ok.code();
    }
    // `mcp` keeps stdout for its protocol, whatever else is asked for.
    let json = cli.global.json && !matches!(cli.command, Command::Mcp(_));
    let output = Output { json, quiet: cli.global.quiet };
    let ended = start(cli, output);
    telemetry::flush();
    match ended {
        Ok(exit) => exit.code(),
        Err(failure) => output.failure(&failure).code(),
    }
}

fn start(cli: Cli, output: Output) -> Result<CommandExit, CommandFailure> {
    let mut flags = cli.global.flags();
    if let Command::Serve { listen } = &cli.command {
        flags.listen.clone_from(listen);
    }
    let sources = SettingSources::of_process(flags)
        .map_err(|error| CommandFailure::usage("the current directory cannot be read").caused_by(error))?;
    let loaded = settings::load(&sources);
    loaded.iter().for_each(redact_as_set);
    match cli.command {
        Command::Completions { shell } => return output.answer(&Completions::of(shell), Completions::text),
        Command::Doctor => return diagnosis(&loaded, &sources, output),
        Command::Man { directory } => return output.answer(&ManualPages::write(&directory)?, ManualPages::text),
        _ => {}
    }
    let loaded = loaded?;
    telemetry::init(&loaded.settings.log, log_level(&cli.command, &loaded), matches!(cli.command, Command::Mcp(_)))?;
    match cli.command {
        // It has a workspace of its own, or says so in its log.
        Command::Demo | Command::Mcp(_) | Command::Serve { .. } | Command::Health { .. } | Command::Token(_) => {}
        _ => loaded.all_warnings().into_iter().for_each(|warning| output.warning(warning)),
    }
    match cli.command {
        Command::Config(ConfigCommand::Show) => output.answer(&config_show::document(&loaded), config_show::text),
        Command::Eval(command) => eval::command(command, &loaded, output),
        Command::Context(args) => context::context(*args, &loaded, &sources, output),
        Command::Recover(args) => context::recover(args, &loaded, output),
        Command::Memory(command) => memory::command(command, &loaded, output),
        Command::Pattern(command) => pattern::command(command, &loaded, output),
        Command::Trace(command) => trace::command(command, &loaded, output),
        Command::Episode(command) => episode::command(command, &loaded, output),
        Command::Working(command) => working::command(command, &loaded, output),
        Command::Bank(command) => bank::command(command, &loaded, &sources, output),
        Command::Genealogy(args) => genealogy::command(&args, &loaded, output),
        Command::Workspace(command) => workspace::command(command, &loaded, &sources, output),
        Command::Setup(args) => setup::command(&args, &loaded, &sources, output),
        Command::Import(args) => import::command(&args, &loaded, &sources, output),
        Command::Learn(args) => learn::command(args, &loaded, &sources, output),
        Command::Consolidate(args) => consolidate::command(args, &loaded, output),
        Command::Maintain { apply } => maintain::command(apply, &loaded, output),
        Command::Reembed => reembed::command(&loaded, output),
        Command::Stats { reset } => stats::command(reset, &loaded, output),
        Command::Solve(args) => {
            let report = with_solving_bank(&loaded, async |system| {
                solve::solve(args, &loaded, &sources, output, &system).await
            })?;
            output.answer(&report, render::solve)?;
            Ok(if report.outcome == Outcome::Failure { CommandExit::Failed } else { CommandExit::Ok })
        }
        Command::Mcp(McpArgs { server: Some(url), token_env, key }) => {
            let key = key.or_else(|| linked_key(&loaded));
            serve::bridge(url, &token_env, key)
        }
        Command::Mcp(_) => mcp(&loaded, &sources),
        Command::Serve { .. } => serve::serve(&loaded, &sources, mcp_options(&loaded, &sources, None), output),
        Command::Health { url } => serve::health(url, &loaded, output),
        Command::Token(command) => token::command(command, &loaded, output),
        Command::Backup(command) => backup::command(command, &loaded, output),
        Command::Hook(_) => hook::serve(&loaded),
        Command::Demo => demo(&loaded, sources.flags.data_dir.is_some(), output),
        // Done above, because they work without settings.
        Command::Completions { .. } | Command::Man { .. } | Command::Doctor => Ok(CommandExit::Ok),
    }
}

fn diagnosis(
    loaded: &Result<Loaded, SettingsError>,
    sources: &SettingSources,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    if let Ok(loaded) = loaded {
        telemetry::init(&loaded.settings.log, log_level(&Command::Doctor, loaded), false)?;
    }
    let diagnosis = doctor::diagnose(loaded, sources)?;
    output.answer(&diagnosis, render::diagnosis)?;
    Ok(if diagnosis.status == Grade::Fail { CommandExit::Failed } else { CommandExit::Ok })
}

/// Returns the key on a team's server that the user has linked the project in use to.
fn linked_key(loaded: &Loaded) -> Option<WorkspaceKey> {
    let WorkspaceRef::Root(root) = &loaded.workspace else { return None };
    settings::linked(&loaded.settings.data_dir, root)
}

fn mcp(loaded: &Loaded, sources: &SettingSources) -> Result<CommandExit, CommandFailure> {
    let is_bound = loaded.workspace_is_chosen || loaded.too_wide.is_none() || !starts_in(sources, &loaded.workspace);
    let warnings = if is_bound { loaded.all_warnings() } else { loaded.warnings.iter().map(String::as_str).collect() };
    warnings.into_iter().for_each(|warning| tracing::warn!("{warning}"));
    let options = mcp_options(loaded, sources, is_bound.then(|| loaded.workspace.clone()));
    let recalls = options.recalls.clone();
    with_serving_bank(loaded, async |system| {
        let end = CancellationToken::new();
        end_of_process(end.clone())?;
        tokio::select! {
            served = serve_stdio(system.clone(), options, end) => served.map_err(CommandFailure::session),
            ended = system.ended() => Err(CommandFailure::gave_up(&ended)),
            never = answer_hooks(hook_server(system.clone(), loaded, recalls)) => match never {},
        }
    })
    .map(|()| CommandExit::Ok)
}

/// Returns the options of a server whose sessions work in one workspace, or that has none of its own.
fn mcp_options(loaded: &Loaded, sources: &SettingSources, workspace: Option<WorkspaceRef>) -> McpOptions {
    let settings = &loaded.settings;
    McpOptions {
        workspace,
        base: sources.directory.clone(),
        home: sources.home.clone(),
        identity: settings.workspace.identity,
        data_dir: settings.data_dir.clone(),
        backup_dir: settings.backup.directory().map(Path::to_owned),
        toolsets: settings.mcp.toolsets.clone(),
        destructive: settings.mcp.destructive,
        shares: settings.workspace.share,
        can_solve: settings.llm.provider != Provider::None,
        captures: settings.passive.enabled,
        recalls: recall_log(settings),
        solve_deadline: Duration::from_secs(settings.agent.deadline_s),
        defaults: ToolDefaults {
            enable_matts: settings.matts.enabled,
            matts_k: settings.matts.k,
            matts_mode: settings.matts.mode,
            n_results: settings.retrieval.n_results,
        },
        prompts: Arc::clone(&settings.llm.prompts),
    }
}

/// Opens the recall log, where it is written.
fn recall_log(settings: &Settings) -> Option<RecallLog> {
    let open = || RecallLog::open(&settings.data_dir, settings.retrieval.min_relevance);
    settings.recall_log.enabled.then(open)
}

/// Returns what answers the hooks of the user's clients on this bank.
fn hook_server(system: SystemHandle, loaded: &Loaded, recalls: Option<RecallLog>) -> HookServer {
    let settings = &loaded.settings;
    HookServer {
        system,
        data_dir: settings.data_dir.clone(),
        identity: settings.workspace.identity,
        learning: session_learning(settings),
        has_working_tools: settings.mcp.has_working_tools(),
        recalls,
    }
}

/// Says how the sessions of clients with hooks are learned from.
fn session_learning(settings: &Settings) -> SessionLearning {
    let has_model = settings.llm.provider != Provider::None && settings.background.daily_token_cap > 0;
    match settings.passive.enabled {
        false => SessionLearning::Nothing,
        true if settings.passive.llm && has_model => SessionLearning::ByModel,
        true => SessionLearning::ByRules,
    }
}

/// Begins to redact contacts where the settings say so.
fn redact_as_set(loaded: &Loaded) {
    if loaded.settings.redaction.contacts {
        redact_contacts_too();
    }
}

/// Says whether the current directory is the root of a workspace, not something below it.
fn starts_in(sources: &SettingSources, workspace: &WorkspaceRef) -> bool {
    let directory = sources.directory.canonicalize();
    matches!(workspace, WorkspaceRef::Root(root) if directory.is_ok_and(|directory| directory == Path::new(root)))
}

fn demo(loaded: &Loaded, keep: bool, output: Output) -> Result<CommandExit, CommandFailure> {
    let temporary = if keep { None } else { Some(tempfile::tempdir().map_err(CommandFailure::temporary)?) };
    let directory = temporary.as_ref().map_or(loaded.settings.data_dir.as_path(), |temporary| temporary.path());
    let mut loaded = loaded.clone();
    loaded.settings = demo::settings(loaded.settings, directory);
    let settings = &loaded.settings;
    let say = |text: &str| if output.json { Ok(()) } else { output::line(text) };
    say(&demo::tour::opening(settings, temporary.is_some()))?;
    let tour = with_solving_bank(&loaded, async |system| {
        demo::run(settings, &system, |number, stop| say(&demo::tour::stop(number, stop))).await
    })?;
    output.answer(&tour, |tour| demo::tour::closing(tour, temporary.is_some()))
}

/// Picks the level of the log. A command that ends soon says nothing of its own accord; a server does.
fn log_level(command: &Command, loaded: &Loaded) -> LogLevel {
    match command {
        Command::Mcp(_) | Command::Serve { .. } => loaded.settings.log.level,
        _ if loaded.is_default("log.level") => LogLevel::Warn,
        _ => loaded.settings.log.level,
    }
}
