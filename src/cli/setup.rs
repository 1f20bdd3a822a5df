//! The command `setup`: it puts the server into the configuration of clients, and takes it out again. What is written,
//! and how, is the matter of the package `clients`; this reads and writes the files, and asks.

mod binary;
mod check;
mod files;
mod ledger;
mod left_out;
mod report;
mod unrecorded;

use std::fs;
use std::path::Path;

use reasoning_bank_clients::{
    AgentClient, ClientPlaces, ConfigChange, ConfigFile, ConfigFormat, ServerCommand, SetupScope, apply, guidance,
    hook_programs,
};
use reasoning_bank_domain::access::BearerToken;

use self::ledger::Ledger;
use self::left_out::PartsLeftOut;
use self::report::{diffs, report, show, text};
use self::unrecorded::UnrecordedFiles;
use super::args::{ScopeArg, SetupArgs};
use super::client_places::client_places;
use super::confirm::confirm;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use crate::hosts::may_carry_token;
use crate::settings::{Loaded, Provider, SettingSources};

/// A file with what it says and what it shall say.
struct FilePlan {
    file: ConfigFile,
    clients: Vec<AgentClient>,
    current: Option<String>,
    /// The text of the file before any set-up, as far as its owner has not changed it since.
    original: Option<String>,
    wanted: Option<String>,
}

pub(super) fn command(
    args: &SetupArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let places = client_places(loaded, sources)?;
    let ledger = Ledger::open(sources, args.dry_run)?;
    if args.uninstall {
        uninstall(args, &places, ledger, output)
    } else {
        install(args, loaded, sources, &places, ledger, output)
    }
}

fn install(
    args: &SetupArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    places: &ClientPlaces,
    mut ledger: Ledger,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let mut left_out = PartsLeftOut::default();
    let clients = wanted_clients(args, places, sources, &mut left_out)?;
    let binary = binary::stable_place(&places.home, &ledger.directory)?;
    let server = server_command(args, loaded, sources, &binary.path)?;
    let mut plans: Vec<FilePlan> = Vec::new();
    let mut with_hooks: Vec<AgentClient> = Vec::new();
    for &client in &clients {
        let scope = SetupScope::from(args.scope);
        let file = places
            .server_file(client, scope, Path::exists)
            .map_err(|error| CommandFailure::usage(error.to_string()).hint("leave out --scope project"))?;
        let mut wanted = vec![(file, vec![server.change(client)])];
        if args.instructions {
            match places.instructions_file(client, scope, Path::exists) {
                Ok(file) => wanted.push((file, vec![guidance()])),
                Err(reason) => left_out.instructions.push(reason),
            }
        }
        match places.hooks_file(client, scope) {
            // Hooks that are there ask the bank that the server has.
            Ok(file) if args.with_hooks || (args.http.is_none() && has_hooks(&file)) => {
                wanted.push((file, server.hook_changes(client, &utf8(&loaded.settings.data_dir)?)));
                with_hooks.push(client);
            }
            Ok(_) if args.http.is_none() => left_out.unasked_hooks.push(client),
            Err(reason) if args.with_hooks => left_out.hooks.push(reason),
            _ => {}
        }
        let mut by_file: Vec<(ConfigFile, Vec<ConfigChange>)> = Vec::new();
        for (file, changes) in wanted {
            match by_file.iter_mut().find(|(other, _)| *other == file) {
                Some((_, of_file)) => of_file.extend(changes),
                None => by_file.push((file, changes)),
            }
        }
        for (file, changes) in by_file {
            match plans.iter_mut().find(|plan| plan.file.path == file.path) {
                Some(plan) => plan.clients.push(client),
                None => plans.push(plan(&ledger, file, client, &changes)?),
            }
        }
    }
    left_out.check(&clients, !args.clients.is_empty(), places)?;
    let mut report = report(&plans, &clients, &with_hooks, args.dry_run);
    report.left_out = left_out.sentences();
    report.server = Some([&[server.program.clone()][..], &server.arguments].concat());
    if report.is_pending() && !args.dry_run {
        show(&report, output)?;
        confirm("Write this", args.sure)?;
    }
    if args.dry_run {
        report.not_checked = Some("nothing was written".to_owned());
        return output.answer(&report, |report| format!("{}{}", diffs(report), text(report)));
    }
    binary.install()?;
    for plan in &plans {
        ledger.write(plan)?;
    }
    let is_without_token = args.http.is_some() && sources.variable(&args.token_env).is_none();
    if is_without_token {
        report.not_checked = Some(format!("{} is not set here", args.token_env));
    } else {
        report.tools = Some(check::listed_tools(&server, &places.project).map_err(|reason| {
            CommandFailure::part(format!("the clients are set up, and the server does not start: {reason}"))
                .hint("`reasoning-bank doctor` says what is missing; `setup --uninstall` takes everything back")
        })?);
    }
    output.answer(&report, text)
}

fn uninstall(
    args: &SetupArgs,
    places: &ClientPlaces,
    mut ledger: Ledger,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let is_meant = |client: &AgentClient| args.clients.is_empty() || args.clients.contains(client);
    let is_of_scope = |path: &Path| args.scope != ScopeArg::Project || path.starts_with(&places.project);
    let mut plans = Vec::new();
    for record in ledger.records().into_iter().filter(|record| is_of_scope(&record.path)) {
        let left: Vec<AgentClient> = record.clients.iter().copied().filter(|client| !is_meant(client)).collect();
        if left.len() == record.clients.len() {
            continue;
        }
        let current = files::read(&record.path)?;
        let file = ConfigFile { path: record.path.clone(), format: record.format };
        let original = ledger.original(&record, current.as_deref())?;
        let wanted = match (&current, left.is_empty()) {
            // Whoever deleted the file does not want it back.
            (None, _) => None,
            (Some(_), true) => original.clone(),
            (Some(current), false) => Some(current.clone()),
        };
        plans.push(FilePlan { file, clients: left, current, original, wanted });
    }
    let UnrecordedFiles { plans: others, left } =
        UnrecordedFiles::find(args, places, |path| ledger.record(path).is_some())?;
    plans.extend(others);
    let mut report = report(&plans, &[], &[], args.dry_run);
    report.left_out = left;
    if report.is_pending() && !args.dry_run {
        show(&report, output)?;
        confirm("Take this back", args.sure)?;
    }
    if args.dry_run {
        return output.answer(&report, |report| format!("{}{}", diffs(report), text(report)));
    }
    // The directories that were made for several files go with the first of them, once the others are gone.
    for plan in plans.iter().rev() {
        ledger.restore(plan)?;
    }
    ledger.close()?;
    output.answer(&report, text)
}

fn plan(
    ledger: &Ledger,
    file: ConfigFile,
    client: AgentClient,
    changes: &[ConfigChange],
) -> Result<FilePlan, CommandFailure> {
    let current = files::read(&file.path)?;
    files::check_writable(&file.path)?;
    let wanted = apply(file.format, current.as_deref().unwrap_or_default(), changes)
        .map_err(|error| files::unreadable(&file.path, error))?;
    let original = match ledger.record(&file.path) {
        Some(record) => ledger.original(record, current.as_deref())?,
        None => current.clone(),
    };
    Ok(FilePlan { file, clients: vec![client], current, original, wanted: Some(wanted) })
}

/// Returns the changes that files of a format have for these clients, to be taken out.
fn changes(format: ConfigFormat, clients: &[AgentClient]) -> Vec<ConfigChange> {
    match format {
        ConfigFormat::Markdown => vec![guidance()],
        _ => clients.iter().flat_map(|&client| all_changes(client)).collect(),
    }
}

fn all_changes(client: AgentClient) -> Vec<ConfigChange> {
    let mut changes = ServerCommand::any().hooks(client, "");
    changes.push(ServerCommand::any().change(client));
    changes
}

fn wanted_clients(
    args: &SetupArgs,
    places: &ClientPlaces,
    sources: &SettingSources,
    left_out: &mut PartsLeftOut,
) -> Result<Vec<AgentClient>, CommandFailure> {
    let mut clients = args.clients.clone();
    if clients.is_empty() {
        clients = AgentClient::ALL.into_iter().filter(|&client| is_here(client, places, sources)).collect();
        if args.scope == ScopeArg::Project {
            clients.retain(|&client| {
                let file = places.server_file(client, SetupScope::Project, Path::exists);
                file.map_err(|reason| left_out.servers.push(reason)).is_ok()
            });
        }
    }
    clients.sort_unstable();
    clients.dedup();
    if clients.is_empty() && !left_out.servers.is_empty() {
        return Err(left_out.no_server());
    }
    if clients.is_empty() {
        let names = AgentClient::ALL.map(AgentClient::as_str).join(", ");
        return Err(CommandFailure::usage("no client is found here").hint(format!("name one: {names}")));
    }
    Ok(clients)
}

fn has_hooks(file: &ConfigFile) -> bool {
    let text = fs::read_to_string(&file.path).ok();
    text.and_then(|text| hook_programs(&text).ok()).is_some_and(|programs| !programs.is_empty())
}

fn is_here(client: AgentClient, places: &ClientPlaces, sources: &SettingSources) -> bool {
    let search_path = sources.variable("PATH").map(|path| std::env::split_paths(path).collect::<Vec<_>>());
    let is_on_path = client
        .program()
        .is_some_and(|program| search_path.iter().flatten().any(|directory| directory.join(program).is_file()));
    is_on_path || places.traces_of(client).iter().any(|path| path.exists())
}

/// Refuses what would write a secret into a file of a client, send the token where others can read it, or reach no
/// server.
fn check_server(url: &reqwest::Url, token_env: &str) -> Result<(), CommandFailure> {
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(CommandFailure::usage("--http: holds a name, a password or a query, which may be secret")
            .hint("put the token into an environment variable, and name that with --token-env"));
    }
    if !url.path().ends_with("/mcp") {
        let path = url.path().trim_end_matches('/').trim_end_matches("/mcp");
        return Err(CommandFailure::usage("--http: does not end in /mcp, the path at which a server answers")
            .hint(format!("give {}://{}{path}/mcp", url.scheme(), url.authority())));
    }
    if !may_carry_token(url) {
        return Err(CommandFailure::usage("--http: is not encrypted, and the token would be sent there")
            .hint("use https, or a server on this machine"));
    }
    let is_name = !token_env.starts_with(|first: char| first.is_ascii_digit())
        && token_env.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    if token_env.is_empty() || !is_name || token_env.parse::<BearerToken>().is_ok() {
        return Err(CommandFailure::usage("--token-env: is no name of an environment variable").hint(
            "name the variable that holds the token, such as REASONING_BANK_TOKEN; the token itself is never written",
        ));
    }
    Ok(())
}

fn server_command(
    args: &SetupArgs,
    loaded: &Loaded,
    sources: &SettingSources,
    binary: &Path,
) -> Result<ServerCommand, CommandFailure> {
    let program = utf8(binary)?;
    if let Some(url) = &args.http {
        check_server(url, &args.token_env)?;
        let arguments = ["mcp", "--server", url.as_str(), "--token-env", &args.token_env].map(str::to_owned).to_vec();
        return Ok(ServerCommand { program, arguments, variables: vec![args.token_env.clone()] });
    }
    let mut arguments = Vec::new();
    if let Some(directory) = &sources.flags.data_dir {
        arguments.extend(["--data-dir".to_owned(), utf8(&sources.directory.join(directory))?]);
    }
    let has_no_key = loaded.settings.llm.provider == Provider::Openrouter && loaded.api_key.is_none();
    let provider = sources.flags.llm.as_deref().or_else(|| has_no_key.then_some("none"));
    if let Some(provider) = provider {
        arguments.extend(["--llm".to_owned(), provider.to_owned()]);
    }
    arguments.push("mcp".to_owned());
    let key = loaded.api_key.as_ref().and_then(|key| key.origin.strip_prefix("environment variable "));
    let variables = key.filter(|_| provider != Some("none")).map(str::to_owned).into_iter().collect();
    Ok(ServerCommand { program, arguments, variables })
}

fn utf8(path: &Path) -> Result<String, CommandFailure> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| CommandFailure::usage(format!("{} is not UTF-8, which configuration files are", path.display())))
}
