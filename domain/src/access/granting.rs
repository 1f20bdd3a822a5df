//! The rules of who may look after which tokens, and which rights they may hand out or take away: nobody gives more
//! than they have.

use super::{AccessToken, AllowedWorkspaces, Permission, Principal};

/// The right that a token would have and that its giver does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotGrant {
    #[error("permissions: {} is not yours to give", .0.as_str())]
    Permission(Permission),
    #[error("workspaces: your token is not good for all of these")]
    Workspaces,
    #[error("team: a token of another team or organisation needs the permission admin:all")]
    OtherTeam,
}

impl Principal {
    /// Says whether this principal sees a token: an administrator sees those of their own team and organisation, and an
    /// administrator of the server sees all. Others do not exist for the principal.
    pub fn looks_after(&self, token: &AccessToken) -> bool {
        self.may(Permission::AdminAll) || (self.may(Permission::Admin) && self.is_of_same_team(token))
    }

    /// Checks that this principal may make, replace or end a token.
    ///
    /// # Errors
    /// The token has a right that the principal does not have.
    pub fn may_grant(&self, token: &AccessToken) -> Result<(), CannotGrant> {
        if let Some(beyond) = token.permissions.iter().find(|permission| !self.may(*permission)) {
            return Err(CannotGrant::Permission(beyond));
        }
        if self.may(Permission::AdminAll) {
            return Ok(());
        }
        if !self.is_of_same_team(token) {
            return Err(CannotGrant::OtherTeam);
        }
        let within = match (&self.workspaces, &token.workspaces) {
            (AllowedWorkspaces::All, _) => true,
            (AllowedWorkspaces::Only(_), AllowedWorkspaces::All) => false,
            (AllowedWorkspaces::Only(own), AllowedWorkspaces::Only(asked)) => asked.is_subset(own),
        };
        if within { Ok(()) } else { Err(CannotGrant::Workspaces) }
    }

    fn is_of_same_team(&self, token: &AccessToken) -> bool {
        (&self.team, &self.org) == token.readers()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::access::{BearerToken, Permissions, SECRET_BYTES};

    fn token(permissions: &[Permission], keys: Option<&[&str]>, team: Option<&str>) -> AccessToken {
        let bearer = BearerToken::of_random([1; 6], [2; SECRET_BYTES]);
        AccessToken {
            id: bearer.id().clone(),
            sha256: bearer.hash(),
            name: "ci".into(),
            owner: "ci".into(),
            permissions: permissions.iter().copied().collect(),
            workspaces: keys.map_or(AllowedWorkspaces::All, |keys| {
                AllowedWorkspaces::Only(keys.iter().map(|key| key.parse().unwrap()).collect())
            }),
            team: team.map(Into::into),
            org: None,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn an_administrator_looks_after_the_tokens_of_his_team() {
        let admin = token(&[Permission::Admin], None, Some("red")).principal();
        assert!(admin.looks_after(&token(&[Permission::Read], None, Some("red"))));
        assert!(!admin.looks_after(&token(&[Permission::Read], None, Some("blue"))));
        assert!(!admin.looks_after(&token(&[Permission::Read], None, None)));
        assert!(!token(&[Permission::Write], None, Some("red")).principal().looks_after(&token(
            &[],
            None,
            Some("red")
        )));
        let of_all = token(&[Permission::AdminAll], None, None).principal();
        assert!(of_all.looks_after(&token(&[], None, Some("blue"))));
    }

    #[test]
    fn nobody_gives_more_than_he_has() {
        use Permission::{Admin, AdminAll, Read, Write};
        let admin = token(&[Read, Admin], Some(&["shop", "bank"]), Some("red")).principal();
        let give = |permissions: &[Permission], keys, team| admin.may_grant(&token(permissions, keys, team));
        assert_eq!(give(&[Read], Some(&["shop"]), Some("red")), Ok(()));
        assert_eq!(give(&[Write], Some(&["shop"]), Some("red")), Err(CannotGrant::Permission(Write)));
        assert_eq!(give(&[AdminAll], Some(&["shop"]), Some("red")), Err(CannotGrant::Permission(AdminAll)));
        assert_eq!(give(&[Read], Some(&["shop", "home"]), Some("red")), Err(CannotGrant::Workspaces));
        assert_eq!(give(&[Read], None, Some("red")), Err(CannotGrant::Workspaces));
        assert_eq!(give(&[Read], Some(&["shop"]), Some("blue")), Err(CannotGrant::OtherTeam));
        let mut of_all = admin.clone();
        of_all.permissions = Permissions::all();
        assert_eq!(of_all.may_grant(&token(&[AdminAll], None, Some("blue"))), Ok(()));
        // Whoever only reads the metrics of the server gives nobody the right to read memories.
        let watcher = token(&[AdminAll], None, None).principal();
        assert_eq!(watcher.may_grant(&token(&[Read], None, None)), Err(CannotGrant::Permission(Read)));
    }
}
