//! The changes of a workspace as a whole: list, look, name, trust, move, empty, delete.

use jiff::Timestamp;
use reasoning_bank_domain::episode::{EpisodeFilter, Visibility};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceDetail, check_name};
use reasoning_bank_domain::safety::secrets::Scrub;

use super::{WorkspaceRef, WorkspacesHandle};
use crate::conflict::TRIES;
use crate::error::Error;
use crate::ports::{EraseScope, Erased, Held, Record};
use crate::runtime::Deadline;

impl WorkspacesHandle {
    /// Lists the workspaces that were ever written to, by name.
    pub async fn list(&self, deadline: Deadline) -> Result<Vec<Workspace>, Error> {
        self.reread(deadline).await?;
        let mut workspaces: Vec<Workspace> = self
            .known
            .load()
            .all()
            .map(|workspace| self.effective(workspace.clone(), &WorkspaceRef::Id(workspace.id.clone())))
            .collect();
        workspaces.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        Ok(workspaces)
    }

    /// Describes a workspace and how much it holds, with the team and the organisation that count.
    pub async fn show(&self, named: &WorkspaceRef, deadline: Deadline) -> Result<WorkspaceDetail, Error> {
        let resolved = self.resolve(named, deadline).await?;
        let Held { memories, traces, jobs, .. } = self.store.held(resolved.workspace.id.clone(), deadline).await?;
        Ok(WorkspaceDetail { workspace: resolved.workspace, registered: resolved.registered, memories, traces, jobs })
    }

    /// Names a workspace, and registers it where it was not.
    pub async fn rename(&self, named: &WorkspaceRef, name: &str, deadline: Deadline) -> Result<Workspace, Error> {
        let name = checked("name", name)?;
        self.change(named, deadline, |workspace| workspace.name.clone_from(&name)).await
    }

    /// Sets the team and the organisation whose memories it reads and may share with from now on; None takes one away.
    /// Registers it where it was not.
    pub async fn trust(
        &self,
        named: &WorkspaceRef,
        team: Option<String>,
        org: Option<String>,
        deadline: Deadline,
    ) -> Result<Workspace, Error> {
        let team = team.map(|team| checked("team", &team)).transpose()?;
        let org = org.map(|org| checked("org", &org)).transpose()?;
        self.change(named, deadline, |workspace| {
            workspace.team.clone_from(&team);
            workspace.org.clone_from(&org);
        })
        .await
    }

    /// Binds a workspace to the canonical path its directory has now; it keeps its id and all it holds. A workspace
    /// without memories, traces, evidence or jobs that is registered there already gives way: it stays, without a
    /// directory, because somebody may write to it at this moment.
    pub async fn move_root(&self, named: &WorkspaceRef, root: &str, deadline: Deadline) -> Result<Workspace, Error> {
        self.reread(deadline).await?;
        let moved = self.registered_one(named)?;
        if moved.key.is_some() {
            let problem = "is known by a key to callers on other machines, and has no directory that could move";
            return Err(Error::invalid("old", problem));
        }
        let at_root = self.known.load().find(&WorkspaceRef::Root(root.to_owned()));
        let Some(other) = at_root.filter(|other| other.id != moved.id) else {
            return self.change(&WorkspaceRef::Id(moved.id), deadline, |moved| root.clone_into(&mut moved.root)).await;
        };
        if self.store.held(other.id.clone(), deadline).await? != Held::default() {
            let problem = format!(
                "{root} is a workspace of its own already, with id {} and memories, traces, evidence or jobs; delete it \
                 first, or keep both",
                other.id
            );
            return Err(Error::invalid("new", problem));
        }
        // From its commit on the moved one holds the root, being the one with the higher revision.
        let above = other.revision;
        let moved = self
            .change(&WorkspaceRef::Id(moved.id), deadline, |moved| {
                root.clone_into(&mut moved.root);
                moved.revision = moved.revision.max(above);
            })
            .await?;
        self.change(&WorkspaceRef::Id(other.id), deadline, |other| other.root.clear()).await?;
        Ok(moved)
    }

    /// Erases a workspace and all that is its own. Memories that it shared with a team or an organisation stay theirs.
    /// The answer says what was physically removed.
    pub async fn delete(&self, named: &WorkspaceRef, deadline: Deadline) -> Result<Erased, Error> {
        self.reread(deadline).await?;
        let workspace = self.registered_one(named)?;
        let erased = self.store.erase(EraseScope::Workspace(workspace.id), deadline).await?;
        // It is gone, whatever becomes of this; what is known now is believed for moments only.
        let _ = self.reread(deadline).await;
        Ok(erased)
    }

    /// Counts what [`Self::purge_traces`] would erase.
    pub async fn traces_before(
        &self,
        named: &WorkspaceRef,
        before: Timestamp,
        deadline: Deadline,
    ) -> Result<u64, Error> {
        let workspace = self.resolve(named, deadline).await?.workspace.id;
        let filter = EpisodeFilter {
            until: Some(before),
            visible: Visibility::ALL.into(),
            ..EpisodeFilter::of_any_age(workspace, before)
        };
        Ok(self.store.count_episodes(filter, deadline).await?.values().sum())
    }

    /// Erases the traces of a workspace that were made before this time. Memories learned from them stay.
    pub async fn purge_traces(
        &self,
        named: &WorkspaceRef,
        before: Timestamp,
        deadline: Deadline,
    ) -> Result<Erased, Error> {
        let resolved = self.resolve(named, deadline).await?;
        let scope = EraseScope::Traces { workspace: Some(resolved.workspace.id), before };
        self.store.erase(scope, deadline).await
    }

    fn registered_one(&self, named: &WorkspaceRef) -> Result<Workspace, Error> {
        self.known.load().find(named).ok_or_else(|| Error::WorkspaceUnknown(named.to_string()))
    }

    /// Stores the workspace as `change` makes it. If two do so at the same time, one of them is told to see the other's
    /// change and is done again on top of it.
    async fn change(
        &self,
        named: &WorkspaceRef,
        deadline: Deadline,
        change: impl Fn(&mut Workspace),
    ) -> Result<Workspace, Error> {
        for _ in 0..TRIES {
            self.reread(deadline).await?;
            let stored = self.known.load().find(named);
            let before = match &stored {
                Some(stored) => stored.clone(),
                None => self.unregistered(named)?,
            };
            let mut changed = before.clone();
            change(&mut changed);
            if stored.is_some() && changed == before {
                return Ok(self.effective(changed, named));
            }
            changed.revision = changed.revision.saturating_add(1);
            self.store.commit(vec![Record::Workspace(changed.clone())], deadline).await?;
            self.reread(deadline).await?;
            if self.known.load().by_id(&changed.id).as_ref() == Some(&changed) {
                return Ok(self.effective(changed, named));
            }
        }
        Err(Error::Conflict("the workspace".to_owned()))
    }
}

fn checked(argument: &'static str, text: &str) -> Result<String, Error> {
    let mut text = text.trim().to_owned();
    text.scrub();
    check_name(argument, &text)?;
    Ok(text)
}
