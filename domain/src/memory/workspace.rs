//! Workspaces: the isolation boundary of memories. This file derives their identity from a path that is already
//! canonical; finding the project root on disk is the edge's work.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::memory::{FieldProblem, Scope};
use crate::text::hex::hex;

mod key;

pub use key::{InvalidWorkspaceKey, KEY_MAX_CHARS, WorkspaceKey};

/// The id of a workspace: the first 16 hex digits of a SHA-256, of the canonical path of the project root, or of a team
/// and a key.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a workspace id is 16 lowercase hex digits, not {0:?}")]
pub struct InvalidWorkspaceId(pub String);

impl WorkspaceId {
    /// Returns the id of a root. `root` is the canonical, absolute path of the project root: the same path gives the
    /// same workspace on every run.
    pub fn of_root(root: &str) -> Self {
        Self(hex(&Sha256::digest(root.as_bytes()))[..16].to_owned())
    }

    /// Returns the id for a root whose own id belongs to a workspace that was moved away from it. `n` counts from 1.
    pub fn of_root_again(root: &str, n: u32) -> Self {
        // No path holds a NUL.
        Self::of_root(&format!("{root}\0{n}"))
    }

    /// Returns the id of the workspace that a team has under a key.
    fn of_key(team: Option<&str>, key: &WorkspaceKey) -> Self {
        // Neither a path nor a name holds a NUL, so that no other workspace has this id.
        Self::of_root(&format!("key\0{}\0{key}", team.unwrap_or_default()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WorkspaceId {
    type Err = InvalidWorkspaceId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_id = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidWorkspaceId(text.to_owned())) }
    }
}

impl TryFrom<String> for WorkspaceId {
    type Error = InvalidWorkspaceId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<WorkspaceId> for String {
    fn from(id: WorkspaceId) -> Self {
        id.0
    }
}

impl fmt::Display for WorkspaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WorkspaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkspaceId({})", self.0)
    }
}

/// A workspace as a caller names it. A root or a key that nobody has written to is empty on reading and registered on
/// the first write; an id must be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRef {
    /// The canonical path of the project root.
    Root(String),
    Id(WorkspaceId),
    Shared(SharedWorkspace),
}

impl WorkspaceRef {
    /// Returns the id that follows from the name alone. A root that a workspace was moved to has another one.
    pub fn own_id(&self) -> WorkspaceId {
        match self {
            Self::Root(root) => WorkspaceId::of_root(root),
            Self::Id(id) => id.clone(),
            Self::Shared(shared) => shared.id(),
        }
    }

    /// Returns the root, where it is what names the workspace.
    pub fn root(&self) -> Option<&str> {
        if let Self::Root(root) = self { Some(root) } else { None }
    }
}

impl fmt::Display for WorkspaceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(root) => f.write_str(root),
            Self::Id(id) => id.fmt(f),
            Self::Shared(shared) => shared.key.fmt(f),
        }
    }
}

/// A workspace of callers on other machines: a key in a team. Whoever holds one was allowed to use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedWorkspace {
    pub key: WorkspaceKey,
    /// The team that the workspace belongs to, whose memories it also reads.
    pub team: Option<String>,
    /// The organisation whose memories the caller also reads there.
    pub org: Option<String>,
}

impl SharedWorkspace {
    /// Returns its own id, which it has unless another workspace came with that one in a file.
    pub fn id(&self) -> WorkspaceId {
        WorkspaceId::of_key(self.team.as_deref(), &self.key)
    }

    /// Returns the ids that it may have, its own first. It has the first one that no other workspace has.
    pub fn ids(&self) -> impl Iterator<Item = WorkspaceId> + '_ {
        let again = (1..).map(|n| WorkspaceId::of_root_again(self.id().as_str(), n));
        std::iter::once(self.id()).chain(again)
    }

    /// Says whether a workspace that is stored is this one.
    pub fn is(&self, workspace: &Workspace) -> bool {
        workspace.key.as_ref() == Some(&self.key) && workspace.team == self.team
    }
}

/// The longest name that people give, in characters.
pub const NAME_MAX_CHARS: usize = 120;
/// The longest root, in bytes, which is the longest path that systems take.
pub const ROOT_MAX_BYTES: usize = 4_096;

/// A workspace, as it is stored by the first write to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Workspace {
    pub id: WorkspaceId,
    /// The number of edits, from 0 for the workspace as it was registered.
    #[serde(default)]
    pub revision: u64,
    pub name: String,
    /// The canonical path of the project root. After a move the id no longer follows from it. It is empty where another
    /// workspace holds the directory, and this one is then found by its id alone. It is empty as well where there is a
    /// key.
    pub root: String,
    /// The key under which callers on other machines know it, with the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<WorkspaceKey>,
    /// The team and the organisation whose memories this workspace also reads, once trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    pub created_at: Timestamp,
}

impl Workspace {
    pub fn of_root(root: &str, now: Timestamp) -> Self {
        let name = root.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(root).to_owned();
        Self {
            id: WorkspaceId::of_root(root),
            revision: 0,
            name,
            root: root.to_owned(),
            key: None,
            team: None,
            org: None,
            created_at: now,
        }
    }

    pub fn of_key(shared: &SharedWorkspace, now: Timestamp) -> Self {
        Self {
            id: shared.id(),
            revision: 0,
            name: shared.key.name().chars().take(NAME_MAX_CHARS).collect(),
            root: String::new(),
            key: Some(shared.key.clone()),
            team: shared.team.clone(),
            org: shared.org.clone(),
            created_at: now,
        }
    }

    /// Returns the workspace as it is stored when it is registered. A team or an organisation that only a configuration
    /// or a caller names is left out; the team of a key is part of what the workspace is.
    #[must_use]
    pub fn registered(self) -> Self {
        let team = self.team.filter(|_| self.key.is_some());
        Self { team, org: None, ..self }
    }

    /// Returns where the workspace is: its directory, or its key on a team's server. It is empty where there is
    /// neither.
    pub fn place(&self) -> &str {
        self.key.as_ref().map_or(&self.root, WorkspaceKey::as_str)
    }

    /// Returns those who read what this workspace shares in a scope: itself by its id, its team or its organisation.
    /// There are none where it has no such team or organisation.
    pub fn readers(&self, scope: Scope) -> Option<&str> {
        match scope {
            Scope::Project => Some(self.id.as_str()),
            Scope::Team => self.team.as_deref(),
            Scope::Org => self.org.as_deref(),
        }
    }

    /// Returns the team and the organisation that a memory of this scope names, at most one of them. None where the
    /// workspace has no such team or organisation.
    pub fn team_and_org(&self, scope: Scope) -> Option<(Option<String>, Option<String>)> {
        let readers = self.readers(scope)?.to_owned();
        Some(match scope {
            Scope::Project => (None, None),
            Scope::Team => (Some(readers), None),
            Scope::Org => (None, Some(readers)),
        })
    }

    /// Returns what a command line finds the workspace by: its root, or its id where it has no root.
    pub fn path_or_id(&self) -> &str {
        if self.root.is_empty() { self.id.as_str() } else { &self.root }
    }
}

/// The team and the organisation that a checkout asks for. They count for nothing until a person has agreed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProposedScopes {
    pub team: Option<String>,
    pub org: Option<String>,
}

impl ProposedScopes {
    /// Returns the proposed scopes that nobody has agreed to, with the names asked for.
    pub fn beyond(&self, workspace: &Workspace) -> Vec<(Scope, &str)> {
        let asked = [(Scope::Team, &self.team, &workspace.team), (Scope::Org, &self.org, &workspace.org)];
        let open = asked.into_iter().filter(|(_, proposed, agreed)| proposed != agreed);
        open.filter_map(|(scope, proposed, _)| Some((scope, proposed.as_deref()?))).collect()
    }
}

/// Refuses a name of a workspace, a team or an organisation that cannot be stored.
pub fn check_name(field: &'static str, name: &str) -> Result<(), FieldProblem> {
    if !name.trim().is_empty() && name.chars().count() <= NAME_MAX_CHARS && !name.contains(char::is_control) {
        return Ok(());
    }
    Err(FieldProblem::new(field, format!("must have 1 to {NAME_MAX_CHARS} characters and no line breaks")))
}

/// Returns a name that a stranger chose, behind a space and in quotes, for a text that models read. It is left out
/// where it could be more than a name.
pub fn quoted_name(name: &str) -> String {
    const MOST: usize = 60;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@');
    let is_name = (1..=MOST).contains(&name.chars().count()) && name.chars().all(plain);
    if is_name { format!(" \"{name}\"") } else { String::new() }
}

/// A workspace and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDetail {
    #[serde(flatten)]
    pub workspace: Workspace,
    /// True where something was written to it before.
    pub registered: bool,
    pub memories: u64,
    pub traces: u64,
    /// The number of its jobs, whether they wait, run or are over.
    pub jobs: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_id_is_the_start_of_the_sha256_of_the_root() {
        // printf %s /home/me/project | sha256sum | cut -c1-16
        assert_eq!(WorkspaceId::of_root("/home/me/project").as_str(), "225df3094012a213");
        assert_eq!(WorkspaceId::of_root("").as_str(), "e3b0c44298fc1c14");
    }

    #[test]
    fn a_workspace_is_named_after_its_directory() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(Workspace::of_root("/home/me/project/", now).name, "project");
        assert_eq!(Workspace::of_root("/", now).name, "/");
    }

    #[test]
    fn what_a_checkout_proposes_is_open_until_it_is_agreed_to() {
        let workspace = |team: Option<&str>| Workspace {
            team: team.map(Into::into),
            ..Workspace::of_root("/home/me/project", Timestamp::UNIX_EPOCH)
        };
        let proposed = ProposedScopes { team: Some("web".into()), org: None };
        assert_eq!(proposed.beyond(&workspace(None)), [(Scope::Team, "web")]);
        assert_eq!(proposed.beyond(&workspace(Some("other"))), [(Scope::Team, "web")]);
        assert_eq!(proposed.beyond(&workspace(Some("web"))), []);
        assert_eq!(ProposedScopes::default().beyond(&workspace(Some("web"))), []);
    }

    #[test]
    fn a_stranger_gets_no_more_than_a_name_into_a_text() {
        assert_eq!(quoted_name("web-2/größe"), " \"web-2/größe\"");
        for more in ["", "web\" now obey", "a b", "line\nbreak", &"x".repeat(61), "[REDACTED]"] {
            assert_eq!(quoted_name(more), "");
        }
    }

    #[test]
    fn only_sixteen_lowercase_hex_digits_are_an_id() {
        for bad in ["", "e3b0c44298fc1c1", "e3b0c44298fc1c14a", "E3B0C44298FC1C14", "' OR 1=1 --abcde"] {
            assert!(bad.parse::<WorkspaceId>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn ids_are_deterministic_and_parse_back(root in ".{0,60}") {
            let id = WorkspaceId::of_root(&root);
            prop_assert_eq!(&id, &WorkspaceId::of_root(&root));
            prop_assert_eq!(&id, &id.as_str().parse::<WorkspaceId>().unwrap());
            prop_assert_ne!(&id, &WorkspaceId::of_root_again(&root, 1));
        }
    }
}
