//! The commands of `workspace`: which projects have memories, which one is in use, and what becomes of them.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Erasure;
use reasoning_bank_actors::ports::BankLocation;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::bank::BankKey;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceKey};
use reasoning_bank_store::backup::holding;

use super::args::{Sure, WorkspaceCommand};
use super::confirm::confirm;
use super::failure::{CommandExit, CommandFailure};
use super::output::Output;
use super::render;
use super::session::{request_deadline, rewrite_deadline, with_bank};
use crate::cli::answers::{
    LinkedWorkspace, Switched, Trusted, WorkspaceEntry, WorkspaceList, WorkspaceOverview, WorkspaceRemoval,
};
use crate::project;
use crate::settings::{self, CheckoutProposal, CheckoutRanking, Loaded, SettingSources, Settings};

pub(super) fn command(
    command: WorkspaceCommand,
    loaded: &Loaded,
    sources: &SettingSources,
    output: Output,
) -> Result<CommandExit, CommandFailure> {
    let here = Here { loaded, base: &sources.directory };
    match command {
        WorkspaceCommand::List => {
            let listed = with_bank(loaded, async |bank| here.list(&bank).await)?;
            output.answer(&listed, render::workspaces)
        }
        WorkspaceCommand::Show => {
            let shown = with_bank(loaded, async |bank| here.show(&bank).await)?;
            output.answer(&shown, render::workspace_shown)
        }
        WorkspaceCommand::Switch { path } => {
            let switched = here.switch(&path)?;
            output.answer(&switched, render::workspace_switched)
        }
        WorkspaceCommand::Move { old, new } => {
            let moved = with_bank(loaded, async |bank| here.move_root(&old, &new, &bank).await)?;
            output.answer(&moved, render::workspace_moved)
        }
        WorkspaceCommand::Link { path, key, remove, sure } => {
            let linked = here.link(&path, key, remove, sure)?;
            output.answer(&linked, render::workspace_linked)
        }
        WorkspaceCommand::Trust { path, sure } => {
            let trusted = with_bank(loaded, async |bank| here.trust(&path, sure, &bank).await)?;
            output.answer(&trusted, render::workspace_trusted)
        }
        WorkspaceCommand::PurgeTraces { older_than, sure } => {
            let purged = with_bank(loaded, async |bank| here.purge_traces(older_than, sure, &bank).await)?;
            output.answer(&purged, render::workspace_removed)
        }
        WorkspaceCommand::Delete { path, with_promoted, sure } => {
            let deleted = with_bank(loaded, async |bank| here.delete(&path, with_promoted, sure, &bank).await)?;
            output.answer(&deleted, render::workspace_removed)
        }
    }
}

/// The place where the command was called.
struct Here<'a> {
    loaded: &'a Loaded,
    base: &'a Path,
}

impl Here<'_> {
    async fn list(&self, bank: &SystemHandle) -> Result<WorkspaceList, CommandFailure> {
        let workspaces = bank.workspaces.list(request_deadline()).await?;
        let current =
            bank.workspaces.resolve(&self.loaded.workspace, request_deadline()).await.map(|it| it.workspace.id);
        let entry = |workspace: Workspace| {
            let current = current.as_ref() == Ok(&workspace.id);
            WorkspaceEntry { workspace, current }
        };
        Ok(WorkspaceList { workspaces: workspaces.into_iter().map(entry).collect() })
    }

    async fn show(&self, bank: &SystemHandle) -> Result<WorkspaceOverview, CommandFailure> {
        let detail = bank.workspaces.show(&self.loaded.workspace, request_deadline()).await?;
        let ranking = settings::agreed(&self.loaded.settings.data_dir, &detail.workspace.root);
        let (origin, proposal) = (self.loaded.workspace_origin.clone(), self.loaded.proposal.clone());
        let root = Some(&detail.workspace.root).filter(|root| !root.is_empty());
        let key_of_remote = root.and_then(|root| project::key_of_remote(Path::new(root)));
        let linked = root.and_then(|root| settings::linked(&self.loaded.settings.data_dir, root));
        Ok(WorkspaceOverview { detail, origin, linked, key_of_remote, proposal, ranking })
    }

    fn switch(&self, path: &str) -> Result<Switched, CommandFailure> {
        let workspace = self.named(path)?;
        if let WorkspaceRef::Root(root) = &workspace
            && !self.base.join(path).exists()
        {
            return Err(CommandFailure::usage(format!("{root} does not exist")).hint("name a directory, or an id"));
        }
        // Its id need not be that of its root: it may have been moved there.
        let Workspace { id, name, root, .. } = with_bank(self.loaded, async |bank| {
            Ok(bank.workspaces.resolve(&workspace, request_deadline()).await?.workspace)
        })?;
        let data_dir = &self.loaded.settings.data_dir;
        let file = settings::store_default(data_dir, &workspace).map_err(CommandFailure::not_stored)?;
        Ok(Switched { id, name, root, file })
    }

    async fn move_root(&self, old: &str, new: &Path, bank: &SystemHandle) -> Result<Workspace, CommandFailure> {
        let old = self.registered(old, bank).await?;
        if !self.base.join(new).is_dir() {
            let problem = format!("{} is no directory", new.display());
            return Err(CommandFailure::usage(problem).hint("move the directory first, then name where it is"));
        }
        let root = self.root(new)?;
        Ok(bank.workspaces.move_root(&WorkspaceRef::Id(old.id), &root, request_deadline()).await?)
    }

    /// Links a project to its key on a team's server, after a question where nobody named the key.
    fn link(
        &self,
        path: &Path,
        key: Option<WorkspaceKey>,
        remove: bool,
        sure: Sure,
    ) -> Result<LinkedWorkspace, CommandFailure> {
        let root = self.root(path)?;
        let key = match (remove, key) {
            (true, _) => None,
            (false, Some(key)) => Some(key),
            (false, None) => {
                let key = project::key_of_remote(Path::new(&root)).ok_or_else(|| {
                    CommandFailure::usage(format!("{root} has no git remote origin that a key could be made of"))
                        .hint("name the key: `workspace link PATH KEY`")
                })?;
                confirm(&format!("Link {root} to {key}, as its remote says"), sure)?;
                Some(key)
            }
        };
        let data_dir = &self.loaded.settings.data_dir;
        settings::link(data_dir, &root, key.clone()).map_err(CommandFailure::not_stored)?;
        Ok(LinkedWorkspace { root, key })
    }

    /// Returns the root of the project that a path is in.
    fn root(&self, path: &Path) -> Result<String, CommandFailure> {
        let identity = self.loaded.settings.workspace.identity;
        project::root(path, self.base, identity).map_err(|error| CommandFailure::usage(error.to_string()))
    }

    /// Trusts a workspace, after a question with what would change.
    async fn trust(&self, path: &Path, sure: Sure, bank: &SystemHandle) -> Result<Trusted, CommandFailure> {
        let data_dir = &self.loaded.settings.data_dir;
        let root = self.root(path)?;
        let proposal = settings::proposal(Path::new(&root))?;
        let agreed = settings::agreed(data_dir, &root);
        let named = WorkspaceRef::Root(root.clone());
        let now = bank.workspaces.resolve(&named, request_deadline()).await?.workspace;
        let (team, org, ranking) = match proposal {
            Some(CheckoutProposal { team, org, ranking, .. }) => (team, org, ranking),
            None => Default::default(),
        };
        let change = |what: &str, from: &Option<String>, to: &Option<String>| {
            let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
            format!("{what} {} (now {})", name(to), name(from))
        };
        let mut changes = Vec::new();
        if (&team, &org) != (&now.team, &now.org) {
            let scopes = [change("team", &now.team, &team), change("organisation", &now.org, &org)];
            changes.push(format!("read and share with {}", scopes.join(", ")));
        }
        if ranking != agreed {
            let keys = ranking.keys().chain(agreed.keys()).collect::<BTreeSet<_>>().into_iter();
            let text = |ranking: &CheckoutRanking, key: &str| ranking.get(key).map(ToString::to_string);
            let keys = keys.map(|key| change(key, &text(&agreed, key), &text(&ranking, key)));
            changes.push(format!("rank with {}", keys.collect::<Vec<_>>().join(", ")));
        }
        if !changes.is_empty() {
            confirm(&format!("Let {} {}", now.root, changes.join(", and ")), sure)?;
        }
        let workspace = bank.workspaces.trust(&named, team, org, request_deadline()).await?;
        settings::agree(data_dir, &root, ranking.clone()).map_err(CommandFailure::not_stored)?;
        Ok(Trusted { workspace, ranking })
    }

    async fn purge_traces(
        &self,
        older_than: Option<u32>,
        sure: Sure,
        bank: &SystemHandle,
    ) -> Result<WorkspaceRemoval, CommandFailure> {
        let workspace = bank.workspaces.resolve(&self.loaded.workspace, request_deadline()).await?.workspace;
        let now = Timestamp::now();
        let (before, which) = match older_than {
            Some(days) => {
                let age = SignedDuration::from_hours(24 * i64::from(days));
                let before = now.checked_sub(age).map_err(|error| CommandFailure::usage(error.to_string()))?;
                (before, format!("the traces older than {days} days"))
            }
            None => (now, "all traces".to_owned()),
        };
        let count = bank.workspaces.traces_before(&self.loaded.workspace, before, request_deadline()).await?;
        let count = render::counted(count, "trace, which is an episode as well", "traces, which are episodes as well");
        confirm(&format!("Remove {which} of {} ({}) for good: {count}", workspace.name, workspace.root), sure)?;
        let removed = bank.workspaces.purge_traces(&self.loaded.workspace, before, rewrite_deadline()).await?;
        Ok(WorkspaceRemoval {
            id: workspace.id,
            name: workspace.name,
            removed,
            bank_files: 0,
            promoted_removed: Vec::new(),
            promoted_kept: None,
            reinstated: Vec::new(),
            backups: Vec::new(),
            backups_unknown: None,
        })
    }

    async fn delete(
        &self,
        path: &str,
        with_promoted: bool,
        sure: Sure,
        bank: &SystemHandle,
    ) -> Result<WorkspaceRemoval, CommandFailure> {
        let workspace = self.registered(path, bank).await?;
        let named = WorkspaceRef::Id(workspace.id.clone());
        let detail = bank.workspaces.show(&named, request_deadline()).await?;
        let mut copies = bank.memories.promoted_copies(&named, request_deadline()).await?.in_own_bank();
        let all_copies = copies.count();
        if !with_promoted {
            copies.within_reach.clear();
        }
        let deleted_copies = copies.within_reach.len();
        // An adopted folder is not looked at, because it stays.
        let own_bank = BankLocation { key: BankKey::code(&workspace.id), checkout: None };
        let bank_files = match bank.banks.exists(&own_bank, request_deadline()).await? {
            true => bank.banks.texts(&own_bank, request_deadline()).await?.0.len() as u64,
            false => 0,
        };
        let holds = format!(
            "memories: {}, traces: {}, jobs: {}, files of its memory bank: {bank_files}",
            detail.memories, detail.traces, detail.jobs
        );
        let along = if with_promoted { format!("; promoted copies: {deleted_copies}") } else { String::new() };
        let what = format!("Delete the workspace {} ({}; {holds}{along}) for good", workspace.name, workspace.root);
        confirm(&what, sure)?;
        let Erasure { removed, reinstated } =
            bank.memories.delete_workspace_with(&copies, &named, rewrite_deadline()).await?;
        settings::forget(&self.loaded.settings.data_dir, &workspace).map_err(CommandFailure::not_stored)?;
        let promoted_kept = Some(all_copies - deleted_copies);
        let Settings { data_dir, backup, .. } = &self.loaded.settings;
        let (backups, backups_unknown) = match holding(data_dir, backup.directory(), &workspace) {
            Ok(backups) => (backups, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        Ok(WorkspaceRemoval {
            id: workspace.id,
            name: workspace.name,
            removed,
            bank_files,
            promoted_removed: copies.within_reach,
            promoted_kept,
            reinstated,
            backups,
            backups_unknown,
        })
    }

    fn named(&self, text: &str) -> Result<WorkspaceRef, CommandFailure> {
        project::workspace(text, self.base, self.loaded.settings.workspace.identity)
            .map_err(|error| CommandFailure::usage(error.to_string()))
    }

    /// Finds a workspace that is registered.
    async fn registered(&self, text: &str, bank: &SystemHandle) -> Result<Workspace, CommandFailure> {
        let all = bank.workspaces.list(request_deadline()).await?;
        let found = project::registered(text, self.base, self.loaded.settings.workspace.identity, &all)
            .map_err(|error| CommandFailure::usage(error.to_string()))?;
        found.cloned().ok_or_else(|| CommandFailure::from(Error::WorkspaceUnknown(text.to_owned())))
    }
}

#[cfg(test)]
mod tests;
