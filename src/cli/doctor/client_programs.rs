//! The check of the configuration of clients: their hooks and servers run a binary, which may be gone since, or a copy
//! that is older than this program.

use std::collections::BTreeSet;
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
/// The name of this program in the files of clients.
const PROGRAM: &str = "reasoning-bank";
const SCOPES: [SetupScope; 2] = [SetupScope::User, SetupScope::Project];

/// Looks at the hooks of all clients, for the user and for the project in use. None where there are none of ours.
pub(super) fn hooks(loaded: &Loaded, sources: &SettingSources) -> Option<Check> {
    let places = client_places(loaded, sources).ok()?;
    let files = AgentClient::ALL.into_iter().flat_map(|client| SCOPES.map(|scope| places.hooks_file(client, scope)));
    let mut found = ClientPrograms::default();
    for file in files.flatten() {
        found.add(&file.path, |text| hook_programs(text).map_err(|error| error.to_string()));
    }
    found.check("hooks", "files of clients with hooks", "run `reasoning-bank setup CLIENT --with-hooks` again")
}

/// Looks at the servers in the files of all clients. None where there is none of ours.
pub(super) fn servers(loaded: &Loaded, sources: &SettingSources) -> Option<Check> {
    let places = client_places(loaded, sources).ok()?;
    let mut found = ClientPrograms::default();
    for client in AgentClient::ALL {
        for file in SCOPES.iter().filter_map(|scope| places.server_file(client, *scope, Path::exists).ok()) {
            found.add(&file.path, |text| {
                let program = server_program(client, file.format, text).map_err(|error| error.to_string())?;
                // One without a directory is looked for by its client.
                Ok(program.into_iter().filter(|program| Path::new(program).is_absolute()).collect())
            });
        }
    }
    found.check("servers", "clients that start a server", "run `reasoning-bank setup` again")
}

/// The programs that the files of clients run.
#[derive(Default)]
struct ClientPrograms {
    programs: BTreeSet<(PathBuf, String)>,
    /// What is wrong with files that name this program and cannot be read.
    unreadable: BTreeSet<String>,
}

impl ClientPrograms {
    /// Reads a file, where it is one. A file that does not name this program is its client's matter.
    fn add(&mut self, path: &Path, read: impl FnOnce(&str) -> Result<Vec<String>, String>) {
        let Some(text) = path.is_file().then(|| fs::read_to_string(path).ok()).flatten() else { return };
        match read(&text) {
            Ok(programs) => self.programs.extend(programs.into_iter().map(|program| (path.to_owned(), program))),
            Err(error) if text.contains(PROGRAM) => {
                self.unreadable.insert(format!("{} cannot be read: {error}", path.display()));
            }
            Err(_) => {}
        }
    }

    fn check(self, name: &'static str, what: &str, remedy: &str) -> Option<Check> {
        let Self { programs, unreadable } = self;
        let running = std::env::current_exe().ok().and_then(|program| modified(&program));
        let fault = |program: &Path| {
            let is_copy = program.components().any(|part| part.as_os_str() == OF_SET_UP);
            match modified(program) {
                _ if !program.is_file() => Some("which is gone"),
                Some(of) if is_copy && running.is_some_and(|running| of < running) => Some("which is an older version"),
                _ => None,
            }
        };
        let gone = programs.iter().filter_map(|(file, program)| {
            Some(format!("{} runs {program}, {}", file.display(), fault(Path::new(program))?))
        });
        let hint = match unreadable.is_empty() {
            true => format!("{remedy}, or `setup --uninstall`"),
            false => "correct the file, which its client reads as well".to_owned(),
        };
        let count = programs.len();
        let faults: Vec<String> = unreadable.into_iter().chain(gone).collect();
        match (count, faults.is_empty()) {
            (0, true) => None,
            (_, true) => Some(Check::new(name, Grade::Ok, format!("{what}: {count}"))),
            (_, false) => Some(Check::new(name, Grade::Warn, faults.join("; ")).hint(hint)),
        }
    }
}

fn modified(program: &Path) -> Option<SystemTime> {
    fs::metadata(program).ok()?.modified().ok()
}
