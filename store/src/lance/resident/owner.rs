//! The owner of an owner index: a workspace, a team or an organisation. The index holds the memories that are read by
//! this owner and nobody else.

use lancedb::expr::DfExpr;
use reasoning_bank_actors::ports::Visible;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, Status};

use crate::lance::tables::filter;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    Workspace(WorkspaceId),
    Team(String),
    Org(String),
}

impl Owner {
    /// Returns the owners whose memories may be read.
    pub(super) fn all(visible: &Visible) -> Vec<Self> {
        let workspace = visible.workspace.clone().map(Self::Workspace);
        let team = visible.team.clone().map(Self::Team);
        let org = visible.org.clone().map(Self::Org);
        [workspace, team, org].into_iter().flatten().collect()
    }

    fn visible(&self) -> Visible {
        let nobody = Visible::default();
        match self.clone() {
            Self::Workspace(workspace) => Visible { workspace: Some(workspace), ..nobody },
            Self::Team(team) => Visible { team: Some(team), ..nobody },
            Self::Org(org) => Visible { org: Some(org), ..nobody },
        }
    }

    /// Tells whether a memory belongs to this owner's index.
    pub(super) fn holds(&self, memory: &Memory) -> bool {
        memory.status == Status::Active && self.visible().contains(memory)
    }

    /// Returns the condition for the rows of such memories, which also holds for those of their passages.
    pub(super) fn condition(&self) -> Option<DfExpr> {
        filter::all([filter::readable(&self.visible()), Some(filter::equals("status", Status::Active.as_str()))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scope_that_is_visible_is_an_owner_and_nothing_else_is() {
        let visible = Visible { workspace: Some(WorkspaceId::of_root("/a")), team: Some("red".into()), org: None };
        let owners = Owner::all(&visible);
        assert_eq!(owners, [Owner::Workspace(WorkspaceId::of_root("/a")), Owner::Team("red".into())]);
        assert!(owners.iter().all(|owner| owner.condition().is_some() && Owner::all(&owner.visible()).len() == 1));
        assert_eq!(Owner::all(&Visible::default()), []);
    }
}
