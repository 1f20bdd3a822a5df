//! The key of a bank: its kind and its id.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::BankInvalid;
use crate::memory::workspace::WorkspaceId;
use crate::text::hex::hex;

mod holder;

pub use holder::BankHolder;

/// The id of the only global bank of a user.
const GLOBAL_ID: &str = "default";
const ID_MAX_CHARS: usize = 80;
/// The longest slug before its hash.
const SLUG_MAX_CHARS: usize = 60;
const HASH_DIGITS: usize = 8;
/// The longest name of a project.
const NAME_MAX_CHARS: usize = 400;
/// Names that some file systems keep for devices.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The kind of a bank, which clients call `bank_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BankKind {
    /// The bank of a user, for all of their work.
    Global,
    /// The bank of a project, whatever directory its work is done in.
    Project,
    /// The bank of a workspace.
    Code,
}

impl BankKind {
    pub const ALL: [Self; 3] = [Self::Global, Self::Project, Self::Code];
    /// The types of conversation, each with the kind of its bank.
    const CONVERSATIONS: [(&str, Self); 8] = [
        ("global", Self::Global),
        ("general", Self::Global),
        ("chat", Self::Global),
        ("project", Self::Project),
        ("planning", Self::Project),
        ("code", Self::Code),
        ("coding", Self::Code),
        ("development", Self::Code),
    ];

    /// Returns the kind for a `conversation_type`, whatever its case.
    ///
    /// # Errors
    /// No kind has this type of conversation; the error names the types.
    pub fn of_conversation(conversation_type: &str) -> Result<Self, BankInvalid> {
        let asked = conversation_type.trim().to_lowercase();
        let found = Self::CONVERSATIONS.iter().find(|(name, _)| *name == asked);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names = Self::CONVERSATIONS.map(|(name, _)| name).join(", ");
            BankInvalid::new("conversation_type", format!("must be one of {names}"))
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
            Self::Code => "code",
        }
    }
}

/// The key of a bank. It is written `{bank_type}:{bank_id}`; the id can be the name of a directory on every system.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BankKey {
    kind: BankKind,
    id: String,
}

impl BankKey {
    /// Returns the key of the user's own bank.
    pub fn global() -> Self {
        Self { kind: BankKind::Global, id: GLOBAL_ID.to_owned() }
    }

    /// Returns the key of a project's bank.
    ///
    /// # Errors
    /// The name is blank or too long.
    pub fn project(name: &str) -> Result<Self, BankInvalid> {
        Ok(Self { kind: BankKind::Project, id: project_slug(name)? })
    }

    /// Returns the key of a workspace's bank.
    pub fn code(workspace: &WorkspaceId) -> Self {
        Self { kind: BankKind::Code, id: workspace.as_str().to_owned() }
    }

    pub fn kind(&self) -> BankKind {
        self.kind
    }

    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Display for BankKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.id)
    }
}

impl FromStr for BankKey {
    type Err = BankInvalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let problem = || {
            BankInvalid::new(
                "bank",
                "must be bank_type:bank_id, such as global:default or project:my-app; `bank list` names them",
            )
        };
        let (kind, id) = text.split_once(':').ok_or_else(problem)?;
        let kind = BankKind::ALL.into_iter().find(|known| known.as_str() == kind).ok_or_else(problem)?;
        let is_id = (1..=ID_MAX_CHARS).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_'));
        if is_id { Ok(Self { kind, id: id.to_owned() }) } else { Err(problem()) }
    }
}

impl TryFrom<String> for BankKey {
    type Error = BankInvalid;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<BankKey> for String {
    fn from(key: BankKey) -> Self {
        key.to_string()
    }
}

/// Returns the id of a project's bank: its name in lower case with dashes for spaces. Where other characters would be
/// lost, eight digits of a hash keep two names apart.
///
/// # Errors
/// The name is blank or too long.
pub fn project_slug(name: &str) -> Result<String, BankInvalid> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    if name.is_empty() {
        return Err(BankInvalid::new("project_name", "is missing or blank; a project's bank is found by it"));
    }
    if name.chars().count() > NAME_MAX_CHARS {
        return Err(BankInvalid::new("project_name", format!("has more than {NAME_MAX_CHARS} characters; shorten it")));
    }
    let is_kept = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let mut slug = String::new();
    for c in name.chars() {
        let c = if is_kept(c) { c } else { '-' };
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    let slug: String = slug.trim_matches('-').chars().take(SLUG_MAX_CHARS).collect();
    let is_whole = slug == name.replace(' ', "-") && !DEVICES.contains(&&*slug);
    if is_whole {
        return Ok(slug);
    }
    let hash = &hex(&Sha256::digest(name.as_bytes()))[..HASH_DIGITS];
    let slug = slug.trim_end_matches('-');
    Ok(if slug.is_empty() { hash.to_owned() } else { format!("{slug}-{hash}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_has_the_bank_of_its_kind_and_others_are_told_which_there_are() {
        for (name, kind) in BankKind::CONVERSATIONS {
            assert_eq!(BankKind::of_conversation(&name.to_uppercase()), Ok(kind));
        }
        let error = BankKind::of_conversation("poetry").unwrap_err().to_string();
        assert_eq!(
            error,
            "conversation_type must be one of global, general, chat, project, planning, code, coding, development"
        );
    }

    #[test]
    fn a_slug_that_loses_characters_is_kept_apart_by_a_hash() {
        assert_eq!(project_slug(" My  App ").unwrap(), "my-app");
        assert_eq!(project_slug("snake_case-2").unwrap(), "snake_case-2");
        let (c, cpp) = (project_slug("C").unwrap(), project_slug("C++").unwrap());
        assert!(c == "c" && cpp.starts_with("c-") && cpp.len() == 10, "{cpp}");
        assert_ne!(project_slug("Zürich").unwrap(), project_slug("Z rich").unwrap());
        assert_ne!(project_slug("a--b").unwrap(), project_slug("a-b").unwrap());
        assert_eq!(project_slug("東京").unwrap().len(), 8);
        assert_ne!(project_slug("con").unwrap(), "con");
        assert!(
            project_slug("../../etc/passwd").unwrap().parse::<std::path::PathBuf>().unwrap().components().count() == 1
        );
        assert!(project_slug(" \n").is_err() && project_slug(&"x".repeat(401)).is_err());
        assert!(project_slug(&"x".repeat(400)).unwrap().len() <= ID_MAX_CHARS);
    }

    #[test]
    fn a_key_is_read_as_it_is_written() {
        for key in [BankKey::global(), BankKey::project("C++").unwrap(), BankKey::code(&WorkspaceId::of_root("/a"))] {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        for wrong in ["", "global", "team:x", "code:", "project:../x", "project:A", "project:a/b"] {
            assert!(wrong.parse::<BankKey>().is_err(), "{wrong}");
        }
    }
}
