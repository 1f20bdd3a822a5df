//! The check of the configuration of clients: their hooks and servers run a binary, which may be gone since, or a copy
//! that is older than this program.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use reasoning_bank_clients::{AgentClient, SetupScope, hook_programs, server_program};

use super::{Check, Grade};
use crate::cli::client_places::client_places;
use crate::settings::{Loaded, SettingSources};

/// The directory in which set-up keeps its copy of a program that may be taken away. The copy has the time of its
/// original.
const OF_SET_UP: &str = "reasoning-bank-setup";
const SCOPES: [SetupScope; 2] = [SetupScope::User, SetupScope::Project];

/// Looks at the hooks of all clients, for the user and for the project in use. None where there are none of ours.
pub(super) fn hooks(loaded: &Loaded, sources: &SettingSources) -> Option<Check> {
    let places = client_places(loaded, sources).ok()?;
    let files = AgentClient::ALL.into_iter().flat_map(|client| SCOPES.map(|scope| places.hooks_file(client, scope)));
    let mut programs = Vec::new();
    for file in files.flatten() {
        // A file that is no JSON is its client's matter.
        let found = fs::read_to_string(&file.path).ok().and_then(|text| hook_programs(&text).ok());
        programs.extend(found.into_iter().flatten().map(|program| (file.path.clone(), program)));
    }
    of_programs(
        "hooks",
        "files of clients with hooks",
        programs,
        "run `reasoning-bank setup CLIENT --with-hooks` again",
    )
}

/// Looks at the servers in the files of all clients. None where there is none of ours.
pub(super) fn servers(loaded: &Loaded, sources: &SettingSources) -> Option<Check> {
    let places = client_places(loaded, sources).ok()?;
    let mut programs = Vec::new();
    for client in AgentClient::ALL {
        for file in SCOPES.iter().filter_map(|scope| places.server_file(client, *scope, Path::exists).ok()) {
            let text = fs::read_to_string(&file.path).ok();
            let found = text.and_then(|text| server_program(client, file.format, &text).ok().flatten());
            // One without a directory is looked for by its client.
            let found = found.filter(|program| Path::new(program).is_absolute());
            programs.extend(found.map(|program| (file.path, program)));
        }
    }
    of_programs("servers", "clients that start a server", programs, "run `reasoning-bank setup` again")
}

fn of_programs(name: &'static str, what: &str, mut programs: Vec<(PathBuf, String)>, remedy: &str) -> Option<Check> {
    programs.sort();
    programs.dedup();
    let running = std::env::current_exe().ok().and_then(|program| modified(&program));
    let fault = |program: &Path| {
        let is_copy = program.components().any(|part| part.as_os_str() == OF_SET_UP);
        match modified(program) {
            _ if !program.is_file() => Some("which is gone"),
            Some(of) if is_copy && running.is_some_and(|running| of < running) => Some("which is an older version"),
            _ => None,
        }
    };
    let faults: Vec<String> = programs
        .iter()
        .filter_map(|(file, program)| {
            Some(format!("{} runs {program}, {}", file.display(), fault(Path::new(program))?))
        })
        .collect();
    match (programs.len(), faults.is_empty()) {
        (0, _) => None,
        (count, true) => Some(Check::new(name, Grade::Ok, format!("{what}: {count}"))),
        (_, false) => {
            Some(Check::new(name, Grade::Warn, faults.join("; ")).hint(format!("{remedy}, or `setup --uninstall`")))
        }
    }
}

fn modified(program: &Path) -> Option<SystemTime> {
    fs::metadata(program).ok()?.modified().ok()
}
