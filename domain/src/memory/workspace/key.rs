//! The key of a workspace: the name under which clients that are on other machines know a project. A path means nothing
//! there, so a key is made from the remote of the checkout, or chosen.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::safety::secrets::has_secret;

/// The longest key, in characters.
pub const KEY_MAX_CHARS: usize = 200;

/// A key of 1 to 200 characters without control characters, and without blanks at its ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceKey(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWorkspaceKey {
    #[error("a workspace key has 1 to {KEY_MAX_CHARS} characters, none of them a line break or a control character")]
    Form,
    /// Keys stand in logs, lists and backups.
    #[error("a workspace key must hold no secret; name the project by something that everybody may read")]
    Secret,
    #[error(
        "a workspace key is no path, which means nothing on another machine; name the project by its remote, such as \
         git:github.com/acme/shop, or by a name of its own"
    )]
    Path,
}

impl WorkspaceKey {
    /// Makes the key `git:HOST/PATH` from the URL of a git remote. The user, the password, the port and a `.git` at the
    /// end are left out, and the host is written in lower case, so that all clones of a repository have the same key.
    /// There is none for a path on a disk, which says nothing on another machine.
    pub fn of_remote(url: &str) -> Option<Self> {
        let url = url.trim();
        let (authority, path) = match url.split_once("://") {
            Some((scheme, rest)) if !scheme.eq_ignore_ascii_case("file") => rest.split_once('/')?,
            Some(_) => return None,
            // The form of scp: user@host:path. A colon behind a slash, or behind one letter, belongs to a path.
            None => url.split_once(':').filter(|(host, _)| host.len() > 1 && !host.contains(['/', '\\']))?,
        };
        let host = authority.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
        let path = path.split(['?', '#']).next()?.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
        if host.is_empty() || path.is_empty() {
            return None;
        }
        format!("git:{host}/{path}").parse().ok()
    }

    /// Reads a key that a client chose.
    ///
    /// # Errors
    /// It is no key, is a path, or has a secret in it.
    pub fn chosen(text: &str) -> Result<Self, InvalidWorkspaceKey> {
        let key: Self = text.trim().parse()?;
        key.check()?;
        Ok(key)
    }

    /// Refuses a path, and a key with a secret in it.
    ///
    /// # Errors
    /// The key is one of them.
    pub fn check(&self) -> Result<(), InvalidWorkspaceKey> {
        let first = self.0.split('/').next().unwrap_or_default();
        // A key that begins with a slash has nothing before it.
        if matches!(first, "" | "." | "..") || first.starts_with('~') {
            return Err(InvalidWorkspaceKey::Path);
        }
        if has_secret(&self.0) { Err(InvalidWorkspaceKey::Secret) } else { Ok(()) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part of the key, which people read as the name of the project.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').find(|part| !part.is_empty()).unwrap_or(&self.0)
    }
}

impl FromStr for WorkspaceKey {
    type Err = InvalidWorkspaceKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_key = (1..=KEY_MAX_CHARS).contains(&text.chars().count())
            && text.trim() == text
            && !text.contains(char::is_control);
        if is_key { Ok(Self(text.to_owned())) } else { Err(InvalidWorkspaceKey::Form) }
    }
}

impl TryFrom<String> for WorkspaceKey {
    type Error = InvalidWorkspaceKey;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<WorkspaceKey> for String {
    fn from(key: WorkspaceKey) -> Self {
        key.0
    }
}

impl fmt::Display for WorkspaceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_ways_to_write_a_remote_give_one_key() {
        for url in [
            "https://github.com/acme/shop.git",
            "https://github.com/acme/shop",
            "https://github.com/acme/shop/",
            "https://me:secret@GitHub.com/acme/shop.git",
            "ssh://git@github.com:22/acme/shop.git",
            "git@github.com:acme/shop.git",
            "github.com:acme/shop",
            "  git://github.com/acme/shop.git\n",
            "https://github.com/acme/shop.git?ref=main#top",
        ] {
            assert_eq!(WorkspaceKey::of_remote(url).unwrap().as_str(), "git:github.com/acme/shop", "{url}");
        }
    }

    #[test]
    fn a_path_on_a_disk_is_no_remote() {
        for url in ["/srv/git/shop.git", "../shop", "file:///srv/shop", "C:\\shop", "./a:b", "", "https://github.com/"]
        {
            assert_eq!(WorkspaceKey::of_remote(url), None, "{url}");
        }
    }

    #[test]
    fn a_key_is_one_line_of_at_most_200_characters() {
        for bad in ["", " ", "a ", "a\nb", "a\0b", &"x".repeat(201)] {
            assert!(bad.parse::<WorkspaceKey>().is_err(), "{bad:?}");
        }
        assert_eq!("git:github.com/acme/shop".parse::<WorkspaceKey>().unwrap().name(), "shop");
        assert_eq!("größe".parse::<WorkspaceKey>().unwrap().name(), "größe");
        assert!("x".repeat(200).parse::<WorkspaceKey>().is_ok());
        let secret = "git:github.com/acme/sk-ant-api03-Zq7Xk2LmPv9RtYw3BnHs6JdFgQcE1aUoI8KlMxNz";
        assert_eq!(WorkspaceKey::chosen(secret), Err(InvalidWorkspaceKey::Secret));
        for path in ["/etc", "~/shop", "~", "./shop", "../shop", "."] {
            assert_eq!(WorkspaceKey::chosen(path), Err(InvalidWorkspaceKey::Path), "{path}");
        }
        for key in [
            "git:github.com/acme/shop",
            ".dotfiles",
            "größe",
            "git:git.example.org:8443/a/4f2c9d81e7",
            "payments-api-v2",
        ] {
            assert_eq!(WorkspaceKey::chosen(&format!(" {key} ")).unwrap().as_str(), key);
        }
    }

    proptest! {
        #[test]
        fn no_password_of_a_remote_is_in_its_key(user in "[a-z]{1,8}", password in "[a-z0-9]{12,20}") {
            let key = WorkspaceKey::of_remote(&format!("https://{user}:{password}@example.org/a/b.git")).unwrap();
            prop_assert_eq!(key.as_str(), "git:example.org/a/b");
        }
    }
}
