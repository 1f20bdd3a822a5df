//! The permissions of a token.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that a principal may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Permission {
    /// Recall, list and look at memories.
    #[serde(rename = "read")]
    Read,
    /// Record, report and capture.
    #[serde(rename = "write")]
    Write,
    /// Have tasks solved, which sends them to models and costs money.
    #[serde(rename = "solve")]
    Solve,
    /// Change and erase memories and workspaces that the principal may read.
    #[serde(rename = "admin")]
    Admin,
    /// See the whole server: its health and the counters of the process.
    #[serde(rename = "admin:all")]
    AdminAll,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no permission; there are read, write, solve, admin and admin:all")]
pub struct UnknownPermission(pub String);

impl Permission {
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Solve, Self::Admin, Self::AdminAll];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Solve => "solve",
            Self::Admin => "admin",
            Self::AdminAll => "admin:all",
        }
    }
}

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|permission| permission.as_str() == text);
        named.ok_or_else(|| UnknownPermission(text.to_owned()))
    }
}

/// A set of permissions. None of them includes another: a token that may write and not read can report, and sees
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Permissions(BTreeSet<Permission>);

impl Permissions {
    /// Returns the set that allows everything.
    pub fn all() -> Self {
        Permission::ALL.into_iter().collect()
    }

    pub fn contains(&self, permission: Permission) -> bool {
        self.0.contains(&permission)
    }

    pub fn iter(&self) -> impl Iterator<Item = Permission> {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().collect())
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|permission| permission.as_str()).collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_has_one_name_everywhere() {
        for permission in Permission::ALL {
            assert_eq!(permission.as_str().parse(), Ok(permission));
            assert_eq!(serde_json::to_value(permission).unwrap(), permission.as_str());
        }
        assert!("Read".parse::<Permission>().is_err());
    }

    #[test]
    fn no_permission_includes_another() {
        for permission in Permission::ALL {
            let alone: Permissions = [permission].into_iter().collect();
            let allowed = Permission::ALL.into_iter().filter(|other| alone.contains(*other));
            assert_eq!(allowed.collect::<Vec<_>>(), [permission]);
        }
        assert_eq!(Permissions::all().to_string(), "read, write, solve, admin, admin:all");
    }
}
