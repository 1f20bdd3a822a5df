//! The principal of a request: who asks, and what they may see and do.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NamedToken, Permission, Permissions};
use crate::memory::workspace::{SharedWorkspace, WorkspaceKey};

/// The workspaces that a token is good for. All of them lie in its team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllowedWorkspaces {
    /// Every workspace of the team, those included that do not exist yet.
    All,
    Only(BTreeSet<WorkspaceKey>),
}

/// Whoever makes a request over the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The token of the request. There is none where a server is open to the users of its machine.
    pub token: Option<NamedToken>,
    /// The person or the service behind the token. What one owner reports is one source of evidence, over all of the
    /// owner's tokens, sessions and requests.
    pub owner: String,
    pub permissions: Permissions,
    pub workspaces: AllowedWorkspaces,
    /// Workspaces of different teams are different ones, even under the same key. No team is a team of its own.
    pub team: Option<String>,
    pub org: Option<String>,
}

impl Principal {
    pub fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(permission)
    }

    /// Returns the workspace of this principal under a key, or none where the principal may not use it. The answer does
    /// not tell that from a workspace that does not exist.
    pub fn workspace(&self, key: &WorkspaceKey) -> Option<SharedWorkspace> {
        let allowed = match &self.workspaces {
            AllowedWorkspaces::All => true,
            AllowedWorkspaces::Only(keys) => keys.contains(key),
        };
        allowed.then(|| SharedWorkspace { key: key.clone(), team: self.team.clone(), org: self.org.clone() })
    }

    /// Returns the only workspace that this principal may use, where there is exactly one.
    pub fn only_workspace(&self) -> Option<SharedWorkspace> {
        match &self.workspaces {
            AllowedWorkspaces::Only(keys) if keys.len() == 1 => keys.first().and_then(|key| self.workspace(key)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> WorkspaceKey {
        text.parse().unwrap()
    }

    fn principal(workspaces: AllowedWorkspaces, team: Option<&str>) -> Principal {
        let (owner, permissions) = ("ana".into(), Permissions::all());
        Principal { token: None, owner, permissions, workspaces, team: team.map(Into::into), org: None }
    }

    #[test]
    fn a_principal_uses_the_workspaces_of_its_list_alone() {
        let one = principal(AllowedWorkspaces::Only([key("shop")].into()), Some("web"));
        assert_eq!(one.workspace(&key("shop")), one.only_workspace());
        assert!(one.only_workspace().is_some());
        assert_eq!(one.workspace(&key("bank")), None);
        let two = principal(AllowedWorkspaces::Only([key("shop"), key("bank")].into()), Some("web"));
        assert_eq!(two.only_workspace(), None);
        let all = principal(AllowedWorkspaces::All, None);
        assert!(all.workspace(&key("anything")).is_some());
        assert_eq!(all.only_workspace(), None);
    }

    #[test]
    fn the_same_key_in_another_team_is_another_workspace() {
        let ids = [None, Some("web"), Some("ops")].map(|team| {
            let principal = principal(AllowedWorkspaces::All, team);
            principal.workspace(&key("shop")).unwrap().id()
        });
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
    }
}
