//! The command `setup`: it puts the server into the configuration of clients, and takes it out again. What is written,
//! and how, is the matter of the package `clients`; this reads and writes the files, and asks.

mod binary;
mod check;
mod files;
mod ledger;
mod left_out;
mod report;
mod server;
mod unrecorded;

use std::fs;
use std::path::Path;

use reasoning_bank_clients::{
    AgentClient, ClientPlaces, ConfigChange, ConfigFile, ConfigFormat, NoHooks, ServerCommand, SetupScope, apply,
    guidance, hook_programs,
};

use self::ledger::Ledger;
use self::left_out::PartsLeftOut;
use self::report::{diffs, report, show, text};
use self::server::{ClientServer, WantedServer};
use self::unrecorded::UnrecordedFiles;
use super::args::{ScopeArg, SetupArgs};
use super::client_places::client_places;
use super::confirm::{confirm, offer};
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use crate::settings::{Loaded, SettingSources};

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
    let wanted_server = WantedServer::new(args, loaded, sources, &binary.path)?;
    let servers = servers_of(&clients, &wanted_server, args, places)?;
    let asks_for_hooks = args.with_hooks || wants_hooks(args, &servers, places, output)?;
    let mut plans: Vec<FilePlan> = Vec::new();
    let mut with_hooks: Vec<AgentClient> = Vec::new();
    let scope = SetupScope::from(args.scope);
    for (client, file, server) in &servers {
        let client = *client;
        if server.keeps {
            left_out.kept_arguments.push((client, server.command.arguments.join(" ")));
        }
        let mut wanted = vec![(file.clone(), vec![server.command.change(client)])];
        if args.instructions {
            match places.instructions_file(client, scope, Path::exists) {
                Ok(file) => wanted.push((file, vec![guidance()])),
                Err(reason) => left_out.instructions.push(reason),
            }
        }
        match places.hooks_file(client, scope) {
            Ok(_) if server.is_elsewhere() && args.with_hooks => left_out.hooks.push(NoHooks::OfServer(client)),
            Ok(file) if server.is_elsewhere() && has_hooks(&file) => left_out.local_hooks.push(client),
            Ok(_) if server.is_elsewhere() => {}
            // Hooks that are there ask the bank that the server has.
            Ok(file) if asks_for_hooks || has_hooks(&file) => {
                wanted.push((file, server.command.hook_changes(client, &server.data_dir)));
                with_hooks.push(client);
            }
            Ok(_) => left_out.unasked_hooks.push(client),
            Err(reason) if args.with_hooks => left_out.hooks.push(reason),
            Err(_) => {}
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
    report.server = servers.first().map(|(_, _, server)| {
        let ServerCommand { program, arguments, .. } = &server.command;
        [&[program.clone()][..], arguments].concat()
    });
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
        ledger.write(plan, args.scope == ScopeArg::Project)?;
    }
    let mut servers: Vec<ClientServer> = servers.into_iter().map(|(_, _, server)| server).collect();
    servers.dedup_by(|one, other| one.command.arguments == other.command.arguments);
    for server in &servers {
        if let Some(variable) = server.unset_token(sources) {
            report.not_checked = Some(format!("{variable} is not set here"));
            continue;
        }
        report.tools = Some(check::listed_tools(&server.command, &places.project).map_err(|reason| {
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
    let mut stays = Vec::new();
    for record in ledger.records().into_iter().filter(|record| is_of_scope(&record.path)) {
        let left: Vec<AgentClient> = record.clients.iter().copied().filter(|client| !is_meant(client)).collect();
        if left.len() == record.clients.len() {
            continue;
        }
        let file = ConfigFile { path: record.path.clone(), format: record.format };
        let read =
            files::read(&record.path).and_then(|current| Ok((ledger.original(&record, current.as_deref())?, current)));
        let (original, current) = match read {
            Ok(read) => read,
            // One file that is broken keeps no other from being taken back, unless its client was named.
            Err(failure) if args.clients.is_empty() => {
                stays.push(format!("nothing is taken out there: {}", failure.message));
                continue;
            }
            Err(failure) => return Err(failure),
        };
        if ledger.has_lost_backup(&record) {
            stays.push(format!("the backup of {} is gone: the own entries alone are taken out", record.path.display()));
        }
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
    stays.extend(left);
    report.left_out = stays;
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
    // What a file of hooks says besides goes after the hooks, which need it.
    let hooks = ServerCommand::any().hook_changes(client, "").into_iter().rev();
    [ServerCommand::any().change(client)].into_iter().chain(hooks).collect()
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

/// Returns the file of each client that names its servers, and the server that it is to have.
fn servers_of(
    clients: &[AgentClient],
    wanted: &WantedServer<'_>,
    args: &SetupArgs,
    places: &ClientPlaces,
) -> Result<Vec<(AgentClient, ConfigFile, ClientServer)>, CommandFailure> {
    let server_of = |&client: &AgentClient| -> Result<_, CommandFailure> {
        let file = places
            .server_file(client, SetupScope::from(args.scope), Path::exists)
            .map_err(|error| CommandFailure::usage(error.to_string()).hint("leave out --scope project"))?;
        let server = wanted.of(client, &file)?;
        Ok((client, file, server))
    };
    clients.iter().map(server_of).collect()
}

/// Asks for hooks, which are the default where clients have them. Nobody is asked where all have theirs, or where none
/// can have any: hooks ask the bank of this machine, so a client whose server is elsewhere gets none.
fn wants_hooks(
    args: &SetupArgs,
    servers: &[(AgentClient, ConfigFile, ClientServer)],
    places: &ClientPlaces,
    output: Output,
) -> Result<bool, CommandFailure> {
    let is_without = |(client, _, server): &&(AgentClient, ConfigFile, ClientServer)| {
        let file = places.hooks_file(*client, SetupScope::from(args.scope));
        !server.is_elsewhere() && file.is_ok_and(|file| !has_hooks(&file))
    };
    let without: Vec<&str> = servers.iter().filter(is_without).map(|(client, ..)| client.title()).collect();
    if without.is_empty() || args.dry_run || output.json {
        return Ok(false);
    }
    let question = format!("Let hooks tell the agents of {} unasked what is known", without.join(", "));
    offer(&question, args.sure).map(|answer| answer == Some(true))
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
