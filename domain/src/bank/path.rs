//! The path of a file within its bank. No path leads out of the bank, whatever its text.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BankInvalid;
use crate::safety::invisible::drop_invisible;

const MAX_FOLDERS: usize = 3;
const MAX_BYTES: usize = 200;

/// The relative path of a markdown file in a bank, with `/` between its parts: `progress.md`, `notes/api.md`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct BankPath(String);

impl BankPath {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the file for what belongs to no other.
    pub(super) fn notes() -> Self {
        Self("notes.md".to_owned())
    }

    /// Returns the name of the file without its folders and its ending.
    pub fn stem(&self) -> &str {
        let name = self.0.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// Says whether a file is one of decisions by its name or its folder, such as `decisionLog.md` or `adr/0001-queue.md`.
    pub(super) fn is_of_decisions(&self) -> bool {
        const NAMES: [&str; 8] =
            ["adr", "adrs", "decision", "decisions", "decisionlog", "decisionlogs", "decisionrecords", "keydecisions"];
        let is_name = |name: &str| {
            let plain: String = name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
            NAMES.contains(&plain.as_str()) || plain.ends_with("decisionrecords")
        };
        let numbered = self.stem().to_lowercase();
        let is_record = numbered.strip_prefix("adr").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
        let folders = self.as_str().rsplit('/').skip(1);
        is_record || is_name(self.stem()) || folders.into_iter().any(is_name)
    }

    /// Says whether a file is the record of one decision, such as `adr/0001-queue.md` or `adr-12.md`.
    pub(super) fn is_record_of_decision(&self) -> bool {
        self.stem().contains(|c: char| c.is_ascii_digit()) && self.is_of_decisions()
    }
}

impl fmt::Display for BankPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BankPath {
    type Err = BankInvalid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_hidden = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(['.', ' ']);
        let problem = if text.is_empty() {
            "is empty; it must be the name of a file, such as progress.md".to_owned()
        } else if text.len() > MAX_BYTES {
            format!("has more than {MAX_BYTES} bytes; shorten it")
        } else if text.contains(['\\', ':', '\0']) || text.chars().any(char::is_control) {
            "must not have a backslash, a colon or a control character".to_owned()
        } else if drop_invisible(text).dropped > 0 {
            "must not have invisible characters".to_owned()
        } else if text.starts_with('/') {
            "must be relative to the bank".to_owned()
        } else if text.split('/').any(is_hidden) {
            "must not leave the bank or name hidden files: no part may be empty, begin with a dot, or end with a dot or a space".to_owned()
        } else if text.matches('/').count() > MAX_FOLDERS {
            format!("must not be more than {MAX_FOLDERS} folders deep")
        } else if !text.ends_with(".md") {
            "must end with .md".to_owned()
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(BankInvalid::new("target_file", problem))
    }
}

impl TryFrom<String> for BankPath {
    type Error = BankInvalid;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<BankPath> for String {
    fn from(path: BankPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_within_the_bank_are_taken_and_all_others_refused() {
        for path in ["progress.md", "notes/api.md", "a/b/c/d.md", "über uns.md"] {
            assert_eq!(path.parse::<BankPath>().unwrap().as_str(), path);
        }
        let wrong = [
            "",
            "/etc/x.md",
            "../x.md",
            "a/../x.md",
            "a//x.md",
            "./x.md",
            "a\\x.md",
            "C:x.md",
            "x.txt",
            "x",
            ".md",
            ".git/x.md",
            "a/b/c/d/e.md",
            "x\0.md",
            "x\n.md",
            "x\u{202e}.md",
            "a./x.md",
            "x.MD",
        ];
        for path in wrong {
            assert!(path.parse::<BankPath>().is_err(), "{path:?}");
        }
        assert!(format!("{}.md", "x".repeat(200)).parse::<BankPath>().is_err());
        assert_eq!("a/notes.md".parse::<BankPath>().unwrap().stem(), "notes");
    }

    proptest! {
        #[test]
        fn no_path_that_is_taken_leaves_the_bank(text in "([./\\\\a:]|\\.\\.|\\PC){0,12}\\.md") {
            if let Ok(path) = text.parse::<BankPath>() {
                let parts = std::path::Path::new(path.as_str()).components();
                prop_assert!(parts.clone().all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert!(parts.count() <= MAX_FOLDERS + 1);
            }
        }
    }
}
