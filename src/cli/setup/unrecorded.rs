//! Entries of ours in files that no receipt names: they came from another machine, were written by hand, or outlived
//! their receipt.

use std::path::{Path, PathBuf};

use reasoning_bank_clients::{AgentClient, ClientPlaces, ConfigFile, SetupScope, UnrecordedFile};

use super::{FilePlan, files};
use crate::cli::args::SetupArgs;
use crate::cli::failure::CommandFailure;

/// The files of clients that have something of our name and that no receipt names.
#[derive(Default)]
pub(super) struct UnrecordedFiles {
    /// The plans that take out what is certainly ours.
    pub(super) plans: Vec<FilePlan>,
    /// What stays, with the reason.
    pub(super) left: Vec<String>,
}

impl UnrecordedFiles {
    /// Looks into the files of clients. Only of clients that were named anything is taken out. `is_recorded` says
    /// whether a receipt names a file.
    pub(super) fn find(
        args: &SetupArgs,
        places: &ClientPlaces,
        is_recorded: impl Fn(&Path) -> bool,
    ) -> Result<Self, CommandFailure> {
        let mut found = Self::default();
        let mut seen: Vec<PathBuf> = Vec::new();
        let is_meant = |client: &AgentClient| args.clients.is_empty() || args.clients.contains(client);
        for client in AgentClient::ALL.into_iter().filter(is_meant) {
            for file in files_of(client, args.scope.into(), places) {
                if is_recorded(&file.path) || seen.contains(&file.path) {
                    continue;
                }
                seen.push(file.path.clone());
                if args.clients.is_empty() {
                    found.tell(client, &file);
                } else {
                    found.take_out(client, file)?;
                }
            }
        }
        Ok(found)
    }

    /// Says how what is ours in a file of a client that nobody named is taken out. A file that cannot be read is its
    /// client's matter.
    fn tell(&mut self, client: AgentClient, file: &ConfigFile) {
        let Some(text) = files::read(&file.path).ok().flatten() else { return };
        if UnrecordedFile::of(client, file.format, &text).is_ok_and(|found| found.rest != text) {
            self.left.push(format!(
                "{} has entries of reasoning-bank that no receipt names: `reasoning-bank setup {client} --uninstall` \
                 takes them out",
                file.path.display()
            ));
        }
    }

    fn take_out(&mut self, client: AgentClient, file: ConfigFile) -> Result<(), CommandFailure> {
        let Some(current) = files::read(&file.path)? else { return Ok(()) };
        let found =
            UnrecordedFile::of(client, file.format, &current).map_err(|error| files::unreadable(&file.path, error))?;
        if found.has_other_entry {
            self.left.push(format!(
                "the entry reasoning-bank in {} stays, because it does not start `reasoning-bank mcp`: remove it by hand \
                 if you do not want it",
                file.path.display()
            ));
        }
        if found.rest != current {
            let (current, wanted) = (Some(current), Some(found.rest));
            self.plans.push(FilePlan { file, clients: Vec::new(), current, original: wanted.clone(), wanted });
        }
        Ok(())
    }
}

fn files_of(client: AgentClient, scope: SetupScope, places: &ClientPlaces) -> impl Iterator<Item = ConfigFile> {
    let server = places.server_file(client, scope, Path::exists).ok();
    let hooks = places.hooks_file(client, scope).ok();
    let instructions = places.instructions_file(client, scope, Path::exists).ok();
    [server, hooks, instructions].into_iter().flatten()
}
