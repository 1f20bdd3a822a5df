//! The receipt of a set-up. It tells what the set-up wrote, so that it can be taken back: byte for byte where nobody
//! changed the file since, else its own entries alone.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use similar::TextDiff;

use crate::agent_client::AgentClient;
use crate::document::{ConfigChange, ConfigFormat};
use crate::edit::{ConfigEditError, remove};

/// The files that set-ups wrote and that were not taken back yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    pub files: Vec<FileRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    pub path: PathBuf,
    pub format: ConfigFormat,
    /// The clients that need what was written. It is taken back with the last of them.
    pub clients: Vec<AgentClient>,
    /// The name of the backup of what the file was before; none where there was no file.
    pub backup: Option<String>,
    /// The fingerprint of what was written.
    pub written: String,
    /// The directories that were made for the file, the outermost first.
    #[serde(default)]
    pub directories: Vec<PathBuf>,
}

impl Receipt {
    pub fn of(&self, path: &Path) -> Option<&FileRecord> {
        self.files.iter().find(|record| record.path == path)
    }

    /// Notes a file in the place of what was noted of it.
    pub fn note(&mut self, record: FileRecord) {
        self.forget(&record.path);
        self.files.push(record);
    }

    pub fn forget(&mut self, path: &Path) {
        self.files.retain(|record| record.path != path);
    }
}

impl FileRecord {
    /// Returns what the file was before the first change, as far as its owner has not changed it since: `None` for no
    /// file. `backup` is what the backup says, `current` what the file says now.
    ///
    /// # Errors
    /// The file cannot be edited any more.
    pub fn original(
        &self,
        changes: &[ConfigChange],
        backup: Option<&str>,
        current: Option<&str>,
    ) -> Result<Option<String>, ConfigEditError> {
        let Some(current) = current else { return Ok(None) };
        if fingerprint(current) == self.written {
            return Ok(backup.map(str::to_owned));
        }
        let rest = remove(self.format, current, Some(backup.unwrap_or_default()), changes)?;
        Ok(if backup.is_none() && is_blank(self.format, &rest) { None } else { Some(rest) })
    }
}

/// Returns the SHA-256 of a text in hexadecimal digits.
pub fn fingerprint(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Returns the difference of two texts as `diff -u` shows it, empty where there is none.
pub fn unified_diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| text.map_or_else(|| "/dev/null".to_owned(), |_| path.display().to_string());
    let (old, new) = (name(before), name(after));
    TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default())
        .unified_diff()
        .context_radius(3)
        .missing_newline_hint(false)
        .header(&old, &new)
        .to_string()
}

/// Says whether a file has nothing left in it.
fn is_blank(format: ConfigFormat, text: &str) -> bool {
    let rest: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    rest.is_empty() || (format == ConfigFormat::Json && rest == "{}")
}
