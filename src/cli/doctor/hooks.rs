//! The check of the hooks in the configuration of clients: each runs a binary, which may be gone since.

use std::fs;
use std::path::Path;

use reasoning_bank_clients::{AgentClient, SetupScope, hook_programs};

use super::{Check, Grade};
use crate::cli::client_places::client_places;
use crate::settings::{Loaded, SettingSources};

/// Looks at the hooks of all clients, for the user and for the project in use. None where there are none of ours.
pub(super) fn check(loaded: &Loaded, sources: &SettingSources) -> Option<Check> {
    let places = client_places(loaded, sources).ok()?;
    let scopes = [SetupScope::User, SetupScope::Project];
    let files = AgentClient::ALL.into_iter().flat_map(|client| scopes.map(|scope| places.hooks_file(client, scope)));
    let (mut count, mut gone) = (0, Vec::new());
    for file in files.flatten() {
        // A file that is no JSON is its client's matter.
        let programs = fs::read_to_string(&file.path).ok().and_then(|text| hook_programs(&text).ok());
        for program in programs.into_iter().flatten() {
            count += 1;
            if !Path::new(&program).is_file() {
                gone.push(format!("{} runs {program}, which is gone", file.path.display()));
            }
        }
    }
    match (count, gone.is_empty()) {
        (0, _) => None,
        (_, true) => Some(Check::new("hooks", Grade::Ok, format!("files of clients with hooks: {count}"))),
        (_, false) => Some(
            Check::new("hooks", Grade::Warn, gone.join("; "))
                .hint("run `reasoning-bank setup CLIENT --with-hooks` again, or `setup --uninstall`"),
        ),
    }
}
